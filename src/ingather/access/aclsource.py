"""Where ACLs are read: chains, and the ACLs by URL that they are made of."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ingather.model.acl import AclEntry, Inheritance

__all__ = ["AclSource", "ChainData"]


class ChainData(Protocol):
    """One chain: number, number of its own entries, parent's URL (``""`` = root), type, why it is not trusted.

    *rescue*: the chain of policy rules that decides where this one is broken, 0 = none. *source*: whose ACL it is, 0 = not
    known; *bound*: a token brought it.
    """

    @property
    def id(self) -> int: ...  # noqa: D102
    @property
    def entries(self) -> int: ...  # noqa: D102
    @property
    def parent(self) -> str: ...  # noqa: D102
    @property
    def inheritance(self) -> Inheritance: ...  # noqa: D102
    @property
    def problem(self) -> str: ...  # noqa: D102
    @property
    def rescue(self) -> int: ...  # noqa: D102
    @property
    def source(self) -> int: ...  # noqa: D102
    @property
    def bound(self) -> bool: ...  # noqa: D102


class AclSource(Protocol):
    """Where ACLs are read; used by one thread at a time. See ``catalog.sqlite_access_reader``."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let several questions see one state."""

    def inherited(self) -> frozenset[int]:
        """Return the sources from whose ACLs those of others may inherit as from their own."""

    def stamp(self) -> tuple[int, int, str]:
        """Return (newest epoch, newest chain, what changes with :meth:`inherited`)."""

    def chains(self, after: int) -> Iterator[ChainData]:
        """Yield the chains above *after*, ascending."""

    def acls(self, after: int) -> Iterator[tuple[int, str, int | None, int]]:
        """Yield (epoch, URL, chain or ``None``, source or 0) of what changed after an epoch."""

    def chains_at(self, urls: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return the chains of the ACLs of *urls*, each with its source or 0; those without one are left out."""

    def entries(self, ids: Sequence[int]) -> Mapping[int, tuple[AclEntry, ...]]:
        """Return lists of entries."""

    def anything_secured(self) -> bool:
        """Return whether anything is not for everybody."""

    def moved(self, after: int) -> Sequence[int]:
        """Return the documents that changes above *after* moved to another chain."""

    def chains_of(self, ids: Sequence[int]) -> Mapping[int, int]:
        """Return the chains of documents as they are now."""
