"""May this viewer see what a chain of access lists governs? The written rule, for one chain at a time.

Source: GSA feeds specification, section 11.4. ``evaluating`` does the same for all chains at once and ends in the
same :func:`local_verdict` and :func:`combine`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ingather.access.principals import Identity, identity, key_of
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, Right

__all__ = [
    "MAX_DEPTH",
    "RESCUABLE",
    "ChainStatus",
    "Decision",
    "Defect",
    "Step",
    "Verdict",
    "chain_defect",
    "combine",
    "decide",
    "decide_for",
    "local_verdict",
]

MAX_DEPTH: Final = 1_000
"""ACLs in one chain; a longer one is broken."""


class Verdict(StrEnum):
    """What an ACL, or a chain of them, says about one viewer. Only ``PERMIT`` shows anything."""

    PERMIT = "permit"
    DENY = "deny"
    INDETERMINATE = "indeterminate"


class ChainStatus(StrEnum):
    """Whether a chain can be evaluated; the first four have the appliance's names."""

    CHAIN_OK = "CHAIN_OK"
    CHAIN_HAS_CYCLE = "CHAIN_HAS_CYCLE"
    INHERITANCE_DATA_MISSING = "INHERITANCE_DATA_MISSING"
    INVALID_INHERITANCE_TYPE = "INVALID_INHERITANCE_TYPE"
    CHAIN_TOO_DEEP = "CHAIN_TOO_DEEP"
    ACL_UNREADABLE = "ACL_UNREADABLE"


RESCUABLE: Final = frozenset({
    ChainStatus.CHAIN_HAS_CYCLE, ChainStatus.INHERITANCE_DATA_MISSING, ChainStatus.INVALID_INHERITANCE_TYPE,
})  # fmt: skip
"""Broken chains that an appliance left open for its next mechanism. Policy rules decide about those, if they are told to; of an ACL
that cannot be trusted, and of a chain beyond our own bound, nobody knows what it denied."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one ACL of a chain says by itself: *matched* are its entries that name the viewer, in order."""

    url: str
    verdict: Verdict
    matched: tuple[AclEntry, ...] = ()
    inheritance: Inheritance = Inheritance.LEAF_NODE


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer for one viewer and one chain.

    Attributes:
        verdict: ``INDETERMINATE`` for a broken chain only. It shows nothing either.
        status: whether, and why not, the chain could be evaluated.
        entry: the entry that decided; ``None`` if the chain is broken or nobody named the viewer.
        url: the ACL that decided, or at which the chain breaks.
        detail: in words, why the chain is broken.
        steps: every ACL, root first; empty if the chain is broken.
    """

    verdict: Verdict
    status: ChainStatus = ChainStatus.CHAIN_OK
    entry: AclEntry | None = None
    url: str = ""
    detail: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def permitted(self) -> bool:
        """Whether the viewer may see it."""
        return self.verdict is Verdict.PERMIT


def combine(parent: Verdict, child: Verdict, inheritance: Inheritance) -> Verdict:
    """Return what *parent*, whose type is *inheritance*, makes of the verdict of everything below it.

    Raises:
        ValueError: the parent is a leaf node, which has nothing below it.
    """
    if inheritance is Inheritance.CHILD_OVERRIDES:
        return parent if child is Verdict.INDETERMINATE else child
    if inheritance is Inheritance.PARENT_OVERRIDES:
        return child if parent is Verdict.INDETERMINATE else parent
    if inheritance is Inheritance.AND_BOTH_PERMIT:
        return Verdict.PERMIT if parent is child is Verdict.PERMIT else Verdict.DENY
    raise ValueError("An ACL of the type leaf-node cannot be inherited from")


def local_verdict(acl: Acl, viewer: Identity) -> tuple[Verdict, tuple[AclEntry, ...]]:
    """Return what *acl* says by itself, and its entries that name the viewer. A deny beats any permit."""
    matched = tuple(entry for entry in acl.entries if key_of(entry.principal) in viewer)
    if any(entry.right is Right.DENY for entry in matched):
        return Verdict.DENY, matched
    return (Verdict.PERMIT if matched else Verdict.INDETERMINATE), matched


Defect = tuple[ChainStatus, str, str]
"""Why a chain cannot be evaluated: status, the URL at which it breaks, the reason in words."""


def chain_defect(chain: Sequence[Acl]) -> Defect | None:
    """Return why *chain* (root first) cannot be evaluated, ``None`` if it can.

    It is checked as a chain: each ACL must name the one before it as its parent, and the first one none.
    """
    if not chain:
        return ChainStatus.INHERITANCE_DATA_MISSING, "", "there is no ACL"
    if len(chain) > MAX_DEPTH:
        return (
            ChainStatus.CHAIN_TOO_DEEP,
            chain[-1].url,
            f"more than {MAX_DEPTH:,} ACLs inherit from each other",
        )
    for acl in chain:
        if acl.problem:
            return ChainStatus.ACL_UNREADABLE, acl.url, f"the ACL of {acl.url} is not trusted: {acl.problem}"
    return _missing_link(chain) or _wrong_type(chain)


def _missing_link(chain: Sequence[Acl]) -> Defect | None:
    urls = {acl.url for acl in chain}
    if len(urls) < len(chain):
        return ChainStatus.CHAIN_HAS_CYCLE, chain[0].url, "an ACL inherits from itself by way of its parents"
    above = ""
    for acl in chain:
        if acl.inherit_from != above:
            if acl.inherit_from in urls:
                detail = f"{acl.url} inherits from {acl.inherit_from}, which inherits from it"
                return ChainStatus.CHAIN_HAS_CYCLE, acl.url, detail
            detail = f"{acl.url} inherits from {acl.inherit_from}, whose ACL is not known"
            if not acl.inherit_from:
                detail = f"{acl.url} does not inherit from {above}"
            return ChainStatus.INHERITANCE_DATA_MISSING, acl.url, detail
        above = acl.url
    return None


def _wrong_type(chain: Sequence[Acl]) -> Defect | None:
    for parent in chain[:-1]:
        if parent.inheritance is Inheritance.LEAF_NODE:
            detail = f"{parent.url} has the type leaf-node and is inherited from"
            return ChainStatus.INVALID_INHERITANCE_TYPE, parent.url, detail
    return None


def decide(
    chain: Sequence[Acl], user: Principal, groups: Collection[Principal], *, cut_domains: bool = True
) -> Decision:
    """Return whether *user* with his expanded *groups* may see what *chain* (root first) governs."""
    return decide_for(chain, identity((user,), groups, cut_domains=cut_domains))


def decide_for(chain: Sequence[Acl], viewer: Identity) -> Decision:
    """As :func:`decide`, for a viewer whose forms are made already.

    An ACL that cannot be trusted denies everybody; every other defect of a chain leaves it ``INDETERMINATE``.
    """
    defect = chain_defect(chain)
    if defect is not None:
        status, where, detail = defect
        verdict = Verdict.DENY if status is ChainStatus.ACL_UNREADABLE else Verdict.INDETERMINATE
        return Decision(verdict, status, url=where, detail=detail)
    steps: list[Step] = []
    for acl in chain:
        said, matched = local_verdict(acl, viewer)
        steps.append(Step(acl.url, said, matched, acl.inheritance))
    # From the leaf upwards the table may be applied step by step: what is "already combined below" is known then.
    verdict, decider = steps[-1].verdict, steps[-1]
    for parent in reversed(steps[:-1]):
        made = combine(parent.verdict, verdict, parent.inheritance)
        if made is not verdict or (
            parent.inheritance is Inheritance.PARENT_OVERRIDES and made is parent.verdict
        ):
            decider = parent
        verdict = made
    if verdict is Verdict.INDETERMINATE:
        return Decision(Verdict.DENY, steps=tuple(steps))
    right = Right.PERMIT if verdict is Verdict.PERMIT else Right.DENY
    entry = next((e for e in decider.matched if e.right is right), None)
    return Decision(verdict, entry=entry, url=decider.url, steps=tuple(steps))
