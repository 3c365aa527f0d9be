"""The groups that somebody is in, by way of other groups too, with the way to each.

Breadth first from the user upwards to a fixed point; circles do no harm. At every step whoever is looked up is looked
up as written and folded: a group as such is neutral, the member's entry in a membership decides how it is
compared. Groups are found as written; an access list's entry meets them through ``principals.identity``.

Source: GSA feeds specification, section 12 (googlegsa/secmgr MemberToGroupsResolverMap).
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

from ingather.access.principals import PrincipalKey, identity
from ingather.model.acl import Principal, PrincipalScope

__all__ = ["Expansion", "GroupExpander", "MembershipSource", "Step", "expand"]

_KEPT: Final = 100_000
"""Groups of all expansions that are kept, about 30 MB."""


Step = tuple[int, int, int, Principal]
"""One membership seen from below: who, the group as written and folded (numbers), the group as written."""


class MembershipSource(Protocol):
    """Where memberships are read; used by one thread at a time. See ``catalog.sqlite_groups_reader``."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let several questions see one state."""

    def epoch(self) -> int:
        """Return a number that grows with every change."""

    def find(self, keys: Collection[PrincipalKey]) -> Mapping[PrincipalKey, int]:
        """Return the numbers of those that are known."""

    def above(self, members: Sequence[int], known: AbstractSet[int]) -> Iterable[Step]:
        """Yield the groups that have one of *members* directly, but those among *known*; one may come twice."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Somebody's groups.

    Attributes:
        users: his principals.
        groups: all that he is in, those that the directory named first, then nearest first.
        below: for each group that memberships gave the principal through which he is in it: a user or another group.
        epoch: of the memberships when it was made.
    """

    users: tuple[Principal, ...]
    groups: tuple[Principal, ...] = ()
    below: Mapping[Principal, Principal] = field(default_factory=dict)
    epoch: int = 0

    def way(self, group: Principal) -> tuple[Principal, ...]:
        """Return how he came to *group*: from himself, or from a group that the directory named, up to *group*."""
        found = [group]
        while (lower := self.below.get(found[-1])) is not None and lower not in found:
            found.append(lower)
        return tuple(reversed(found))


def expand(
    source: MembershipSource,
    users: Iterable[Principal],
    groups: Iterable[Principal] = (),
    *,
    cut_domains: bool = True,
) -> Expansion:
    """Return all groups of somebody.

    Args:
        source: the memberships.
        users: his principals, one a namespace; verified by whoever logged him in.
        groups: that a directory or a proxy says he is in; they are starting points too.
        cut_domains: a user's domain is also tried cut to its first label (``corp.example.com``: ``corp``).
    """
    users, groups = tuple(users), tuple(groups)
    given = dict.fromkeys(_neutral(group) for group in groups)
    below: dict[Principal, Principal] = {}
    reached: dict[int, Principal] = {}
    for who in (*users, *groups):
        lower = _neutral(who) if who.scope is PrincipalScope.GROUP else who
        forms = identity((who,), cut_domains=cut_domains and who.scope is PrincipalScope.USER)
        for number in source.find(sorted(forms)).values():
            reached.setdefault(number, lower)
    met = set(reached)
    while reached:
        fresh: dict[int, Principal] = {}
        for member, number, folded, group in source.above(sorted(reached), met):
            if number in met:
                continue
            met.add(number)
            fresh[number] = group
            if not given or group not in given:
                below[group] = reached[member]
            if folded not in met:
                met.add(folded)
                fresh[folded] = group
        reached = fresh
    return Expansion(users, (*given, *below), below, source.epoch())


class GroupExpander:
    """Keeps expansions while the memberships stay as they are. Any thread may ask.

    Args:
        source: the memberships; asked under our lock, closed by its owner.
        cut_domains: see :func:`expand`.
    """

    def __init__(self, source: MembershipSource, *, cut_domains: bool = True) -> None:
        self._source = source
        self._cut_domains = cut_domains
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[tuple[Principal, ...], tuple[Principal, ...]], Expansion] = (
            OrderedDict()
        )
        self._held = 0

    def expand(self, users: Iterable[Principal], groups: Iterable[Principal] = ()) -> Expansion:
        """Return all groups of somebody, as memberships are now: one that was revoked a moment ago does not count.

        Raises:
            CatalogError: memberships could not be read: show nothing.
        """
        key = (tuple(users), tuple(groups))
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.epoch != self._source.epoch():
                with self._source.snapshot():
                    kept = expand(self._source, *key, cut_domains=self._cut_domains)
                self._keep(key, kept)
            else:
                self._kept.move_to_end(key)
            return kept

    def _keep(self, key: tuple[tuple[Principal, ...], tuple[Principal, ...]], made: Expansion) -> None:
        before = self._kept.pop(key, None)
        self._held += _weight(made) - (0 if before is None else _weight(before))
        self._kept[key] = made
        while self._held > _KEPT:
            _, dropped = self._kept.popitem(last=False)
            self._held -= _weight(dropped)


def _weight(made: Expansion) -> int:
    return 1 + len(made.groups)


def _neutral(group: Principal) -> Principal:
    return Principal(group.scope, group.name, group.domain, group.namespace)
