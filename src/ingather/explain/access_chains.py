"""Which chain of ACLs decides about a URL, and which chains are broken, as the explanation of rights reads them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ingather.access.aclsource import ChainData
from ingather.access.decision import MAX_DEPTH, RESCUABLE, Defect, chain_defect
from ingather.model.acl import Acl, Inheritance

__all__ = ["AclFacts", "broken_chains", "governing"]


class AclFacts(Protocol):
    """See ``catalog.sqlite_access_reader``."""

    def snapshot(self) -> AbstractContextManager[None]: ...  # noqa: D102
    def chains(self, after: int) -> Iterator[ChainData]: ...  # noqa: D102
    def chains_at(self, urls: Sequence[str]) -> Mapping[str, tuple[int, int]]: ...  # noqa: D102
    def marks_of(self, url_id: int) -> tuple[int, str, int] | None: ...  # noqa: D102
    def chain_of(self, url: str) -> list[Acl]: ...  # noqa: D102
    def rescue_of(self, url: str) -> list[Acl]: ...  # noqa: D102
    def documents_of(self, chains: Sequence[int], *, limit: int = ...) -> list[tuple[str, int]]: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102


def governing(acls: AclFacts, url: str) -> tuple[list[Acl], Defect | None]:
    """Return the ACLs that decide about *url*, root first; with why not its own do, where policy rules rescue it."""
    chain = acls.chain_of(url)
    defect = chain_defect(chain) if chain else None
    if defect is not None and defect[0] in RESCUABLE and (rules := acls.rescue_of(url)):
        return rules, defect
    return chain, None


def broken_chains(acls: AclFacts) -> set[int]:
    """Return the chains that cannot be evaluated wherever they stand; a parent is looked up once."""
    chains = {chain.id: chain for chain in acls.chains(0)}
    at = acls.chains_at(sorted({chain.parent for chain in chains.values() if chain.parent}))
    depth: dict[str, int] = {"": 0}  # of what a URL stands at the end of; -1 = broken

    def above(url: str) -> int:
        path: list[str] = []
        met: set[str] = set()
        while url not in depth:
            chain = chains.get(at.get(url, (-1, 0))[0])
            if chain is None or url in met or chain.problem or chain.inheritance is Inheritance.LEAF_NODE:
                depth[url] = -1
                break
            met.add(url)
            path.append(url)
            url = chain.parent
        known = depth[url]
        for lower in reversed(path):
            known = depth[lower] = -1 if known < 0 or lower == url else known + 1
        return known

    return {
        number
        for number, chain in chains.items()
        if not chain.rescue and (chain.problem or not 0 <= above(chain.parent) < MAX_DEPTH)
    }
