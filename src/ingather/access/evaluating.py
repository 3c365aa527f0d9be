"""Every chain at once: which of them a viewer may see, kept up to date chain by chain.

Chains are read from the catalog and held as numbers; entries are looked up from the viewer's side, so that an evaluation
touches what names him and nothing else. A chain is evaluated once for a viewer and a state of the rights. When ACLs change,
only the chains below them are evaluated again, for whoever asks.

What an evaluation makes of a chain and its parents stands in ``judging``.

Source: GSA feeds specification, sections 11.4 and 11.5.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ingather.access.aclsource import AclSource, ChainData
from ingather.access.judging import ChainGraph, Judging, ParentNode
from ingather.access.needs import needs_of
from ingather.access.principals import Identity, PrincipalKey, identity, key_of
from ingather.access.publicity import PUBLIC
from ingather.access.visible import Visible
from ingather.model.acl import AclEntry, Principal, Right

__all__ = ["Rights"]

_VIEWERS: Final = 1_000
_REMEMBERED: Final = 4_096
_GROUP: Final = 5_000
_UNREAD: Final = (0, 1, "")
"""The stamp of a catalog without ACLs."""


@dataclass(slots=True)
class _Seen:
    """What one viewer was found to see, at an epoch of ours."""

    epoch: int
    allowed: set[int]
    view: Visible


@dataclass(slots=True)
class _Postings:
    """The lists of entries in which a principal stands."""

    permits: list[int] = field(default_factory=list)
    denies: list[int] = field(default_factory=list)


class Rights:
    """The chains of a catalog, and what viewers may see of them. Any thread may ask.

    Args:
        source: the catalog; asked under our lock, closed by its owner.
        cut_domains: whether a user's domain is also tried cut to its first label.
    """

    def __init__(self, source: AclSource, *, cut_domains: bool = True) -> None:
        self._source = source
        self._cut_domains = cut_domains
        self._lock = threading.Lock()
        self._graph = ChainGraph()
        self._urls_of: dict[int, set[str]] = {}
        self._below: dict[str, list[int]] = {}
        self._with: dict[int, list[int]] = {}
        self._rescued: dict[int, list[int]] = {}  # chains of policy rules to the chains that they rescue
        self._postings: dict[PrincipalKey, _Postings] = {}
        self._stamp = _UNREAD
        self._last = PUBLIC
        self._secured = False
        self._changed: deque[tuple[int, frozenset[int]]] = deque(maxlen=_REMEMBERED)
        self._viewers: OrderedDict[Identity, _Seen] = OrderedDict()
        self.epoch = 0
        """Grows when a chain's verdict may have changed for anybody; part of the key of whatever is cached."""

    @property
    def cut_domains(self) -> bool:
        """Whether a user's domain is also tried cut to its first label."""
        return self._cut_domains

    def visible(self, users: Iterable[Principal], groups: Collection[Principal] = ()) -> Visible:
        """Return what somebody may see as the rights are now: *users* are his principals, *groups* his expanded groups.

        Nobody (no principals) sees what is public.

        Raises:
            CatalogError: the rights could not be read: show nothing.
        """
        return self.visible_to(identity(users, groups, cut_domains=self._cut_domains))

    def visible_to(self, viewer: Identity) -> Visible:
        """As :meth:`visible`, for a viewer whose forms are made already."""
        with self._lock:
            self._refresh()
            seen = self._viewers.get(viewer)
            if seen is None or seen.epoch != self.epoch:
                seen = self._viewers[viewer] = self._evaluate(viewer, seen)
                if len(self._viewers) > _VIEWERS:
                    self._viewers.popitem(last=False)
            self._viewers.move_to_end(viewer)
            return seen.view

    def revoked(self, view: Visible, applied: int) -> tuple[int, ...]:
        """Return the documents whose rights changed after change *applied* and that *view* may not see now, ascending.

        The index that has applied no more than that would still show them.

        Raises:
            CatalogError: the rights could not be read: show nothing.
        """
        with self._lock, self._source.snapshot():
            rows = self._source.moved(applied)
            if not rows:
                return ()
            now = self._source.chains_of(rows)
            return tuple(sorted(row for row in rows if not view.sees(now.get(row, 0))))

    def broken(self) -> tuple[int, ...]:
        """Return the chains that show nothing to anybody because they, or what they inherit from, cannot be evaluated.

        ``decide`` says why, given the ACLs of a URL with such a chain.
        """
        with self._lock:
            self._refresh()
            judging = Judging(self._graph, set(), set())
            return tuple(
                number
                for number, chain in self._graph.chains.items()
                if not chain.rescue and judging.is_broken(number)
            )

    def anything_secured(self) -> bool:
        """Whether anything is not for everybody: a secure source, an ACL, a secured document. Once so, it stays so.

        Raises:
            CatalogError: the rights could not be read: show nothing.
        """
        if not self._secured:
            with self._lock:
                self._secured = self._source.anything_secured()
        return self._secured

    # -- following the catalog --------------------------------------------------------------------

    def _refresh(self) -> None:
        if self._source.stamp() == self._stamp:
            return
        with self._source.snapshot():
            stamp = self._source.stamp()
            fresh = list(self._source.chains(self._last))
            try:
                affected = self._follow(fresh)
                if stamp[2] != self._stamp[2]:
                    self._graph.inherited = self._source.inherited()
                    affected |= self._graph.chains.keys()
            except BaseException:
                self._forget()
                raise
        self._stamp = stamp
        if affected:
            self.epoch += 1
            self._changed.append((self.epoch, frozenset(affected)))

    def _forget(self) -> None:
        """Read everything again: what was half read must not be judged by."""
        self._graph = ChainGraph()
        for held in (
            self._urls_of,
            self._below,
            self._with,
            self._rescued,
            self._postings,
            self._viewers,
        ):
            held.clear()
        self._changed.clear()
        self._stamp, self._last = _UNREAD, PUBLIC
        self.epoch += 1

    def _follow(self, fresh: Sequence[ChainData]) -> set[int]:
        """Take in new chains and changed ACLs; return the chains whose verdict may have changed."""
        parents = self._take_chains(fresh)
        affected = {chain.id for chain in fresh}
        if self._stamp != _UNREAD:  # at the first reading all parents are new
            for _, url, number, source in self._source.acls(self._stamp[0]):
                if url in self._graph.parents and url not in parents:
                    self._place(url, ParentNode(number, source))
                    affected |= self._descend(url)
        if parents:
            found = self._source.chains_at(sorted(parents))
            for url in parents:
                self._place(url, ParentNode(*found.get(url, ())))
        return affected

    def _take_chains(self, fresh: Sequence[ChainData]) -> set[str]:
        """Take in new chains with their entries; return the parents that nothing inherited from before."""
        lists: list[int] = []
        for chain in fresh:
            self._graph.chains[chain.id] = chain
            self._last = chain.id
            if chain.entries not in self._with:
                self._with[chain.entries] = []
                lists.append(chain.entries)
            self._with[chain.entries].append(chain.id)
            if chain.parent:
                self._below.setdefault(chain.parent, []).append(chain.id)
            if chain.rescue:
                self._rescued.setdefault(chain.rescue, []).append(chain.id)
        for start in range(0, len(lists), _GROUP):
            for number, entries in self._source.entries(lists[start : start + _GROUP]).items():
                self._post(number, entries)
        return {chain.parent for chain in fresh if chain.parent} - self._graph.parents.keys()

    def _post(self, number: int, entries: Iterable[AclEntry]) -> None:
        for entry in entries:
            key = key_of(entry.principal)
            postings = self._postings.get(key)
            if postings is None:
                postings = self._postings[key] = _Postings()
            (postings.denies if entry.right is Right.DENY else postings.permits).append(number)

    def _place(self, url: str, node: ParentNode) -> None:
        before = self._graph.parents.get(url)
        if before is not None and before.chain is not None:
            self._urls_of[before.chain].discard(url)
        self._graph.parents[url] = node
        if node.chain is not None:
            self._urls_of.setdefault(node.chain, set()).add(url)

    def _descend(self, url: str) -> set[int]:
        """Return every chain that *url* is above of."""
        found: set[int] = set()
        met, waiting = {url}, [url]
        while waiting:
            for number in self._below.get(waiting.pop(), ()):
                found.add(number)
                for child in self._urls_of.get(number, ()):
                    if child not in met:
                        met.add(child)
                        waiting.append(child)
        return found

    # -- evaluating ---------------------------------------------------------------------------------

    def _evaluate(self, viewer: Identity, seen: _Seen | None) -> _Seen:
        permits: set[int] = set()
        denies: set[int] = set()
        for key in viewer:
            if (postings := self._postings.get(key)) is not None:
                permits.update(postings.permits)
                denies.update(postings.denies)
        judging = Judging(self._graph, permits - denies, denies)
        again = None if seen is None else self._since(seen.epoch)
        if seen is None or again is None:
            allowed = {number for number in self._candidates(permits - denies) if judging.permits(number)}
            allowed.add(PUBLIC)
        else:
            allowed = seen.allowed
            for number in again:
                (allowed.add if judging.permits(number) else allowed.discard)(number)
        view = Visible.of(allowed, last_evaluated=self._last, needs=needs_of(viewer))
        return _Seen(self.epoch, allowed, view)

    def _since(self, epoch: int) -> set[int] | None:
        """Return what changed after *epoch* of ours, ``None`` if that is not remembered."""
        if not self._changed or self._changed[0][0] > epoch + 1:
            return None
        return set().union(*(chains for when, chains in self._changed if when > epoch))

    def _candidates(self, permitting: Iterable[int]) -> set[int]:
        """Return the chains in which some ACL permits: no other can come out as permitted."""
        found: set[int] = set()
        for entries in permitting:
            for number in self._with[entries]:
                found.add(number)
                for url in self._urls_of.get(number, ()):
                    found |= self._descend(url)
        if self._rescued:
            for number in tuple(found):
                found.update(self._rescued.get(number, ()))
        return found
