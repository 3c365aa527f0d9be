"""Memberships into the catalog: incremental, replacing, clean-up.

A replacing load takes effect in one step, and only if it was read to its end and nothing was torn; what else it brings is
added to what is in force, nothing goes for being absent. A membership that could not be read costs itself: what its
group had before stays.

Source: GSA feeds specification, section 12. A ``full`` load replaces the memberships of its own source and no other's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar

from ingather.access.principals import PrincipalKey, key_of, split
from ingather.catalog.access.sqlite_groups import Written
from ingather.errors import UsageError
from ingather.feeds.authority import TRUSTED, Grant
from ingather.model.acl import Principal
from ingather.model.feed import FeedEnd, FeedHeader, FeedRejection, GroupMembership

__all__ = [
    "AT_CAPACITY",
    "MOST",
    "GroupLoading",
    "GroupReport",
    "GroupWriter",
    "LoadMode",
    "at_capacity",
    "clean_up",
    "load_groups",
    "purge",
]

MOST: Final = 3_000_000
"""Memberships of all sources together."""
AT_CAPACITY: Final = "group db at capacity"
"""The appliance's words for a load that does not fit."""

_BATCH: Final = 2_000
_PAIRS: Final = 20_000
_SHOWN: Final = 100
T = TypeVar("T")
Item = GroupMembership | FeedRejection | FeedEnd | FeedHeader


class LoadMode(StrEnum):
    """What a load does to what its source has in force."""

    INCREMENTAL = "incremental"
    FULL = "full"


class GroupStore(Protocol):
    """See ``catalog.sqlite_groups``."""

    def begin(self, source: str, now_s: float) -> int: ...
    def adding_to(self, source: str, now_s: float) -> int: ...
    def add(
        self, load: int, rows: Iterable[Any], now_s: float, *, written: Mapping[PrincipalKey, Written]
    ) -> int: ...
    def keep(self, load: int, source: str, names: Sequence[str], now_s: float) -> int: ...
    def merge(self, load: int, into: int, after: int, now_s: float) -> int: ...
    def others(self, source: str) -> int: ...
    def size(self, load: int) -> int: ...
    def put_in_force(self, load: int, now_s: float) -> int: ...
    def abandon(self, load: int) -> None: ...
    def clean_up(self, source: str) -> int: ...
    def purge(self, most: int = ...) -> bool: ...


class GroupWriter(Protocol):
    """The catalog's writer, as far as memberships go."""

    @property
    def groups(self) -> GroupStore: ...  # noqa: D102


Transact = Callable[[Callable[[Any], T]], T]
"""Runs its argument with a :class:`GroupWriter` in one durable transaction."""


class _FullError(Exception):
    """The limit is reached; what the transaction did is undone."""


@dataclass(slots=True)
class GroupReport:
    """What became of a load.

    Attributes:
        source, mode: of the load.
        groups: ``membership`` elements that were read.
        added: memberships that were not in force before; of a replacing load all that it brought.
        removed: memberships that went: of a replacing load all that were in force before it.
        rejected: elements that could not be read, ``rejections`` the first of them as (line, reason).
        warnings: the first things that were tolerated, as (line, text).
        replaced: a replacing load has replaced what was in force.
        trouble: why it did not take effect, or not as asked; ``""`` = it did.
    """

    source: str
    mode: LoadMode
    groups: int = 0
    added: int = 0
    removed: int = 0
    rejected: int = 0
    rejections: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[tuple[int, str]] = field(default_factory=list)
    replaced: bool = False
    trouble: str = ""

    def form(self) -> dict[str, Any]:
        """Return the report as JSON shows it."""
        return {
            "source": self.source, "mode": str(self.mode), "groups": self.groups, "added": self.added, "removed": self.removed,
            "rejected": self.rejected, "rejections": [{"line": line, "reason": why} for line, why in self.rejections],
            "warnings": [{"line": line, "text": text} for line, text in self.warnings], "replaced": self.replaced,
            "trouble": self.trouble,
        }  # fmt: skip


class GroupLoading:
    """One load, batch by batch; each call is a transaction or several. After a crash it is begun again from its start.

    Args:
        transact: runs a job on the catalog's writer.
        source: whose memberships these are: the form's ``groupsource``, or the name in ``replace``.
        mode: add, or replace.
        now_s: wall time.
        most: memberships of all sources together.
        on_reject: told of every element that could not be read, or that the sender may not say: line, reason, group.
        grant: what the sender may say.

    Raises:
        UsageError: the source has no name.
    """

    def __init__(  # noqa: PLR0913 - what, whose, how, when
        self,
        transact: Transact[Any],
        source: str,
        mode: LoadMode,
        *,
        now_s: float,
        most: int = MOST,
        on_reject: Callable[[int, str, str], None] = lambda _line, _reason, _group: None,
        grant: Grant = TRUSTED,
    ) -> None:
        if not source.strip():
            raise UsageError("memberships need a source", hint="name it: groupsource, replace or --source")
        self._transact = transact
        self._now_s = now_s
        self._most = most
        self._on_reject = on_reject
        self._grant = grant
        self._kept: dict[str, None] = {}
        self._load = 0
        self.report = GroupReport(source.strip(), mode)

    def begin(self) -> None:
        """Make the place that the memberships go to; what an earlier load left behind is removed."""
        purge(self._transact)
        report, now_s = self.report, self._now_s
        if report.mode is LoadMode.FULL:
            self._load = self._transact(lambda w: w.groups.begin(report.source, now_s))
        else:
            self._load = self._transact(lambda w: w.groups.adding_to(report.source, now_s))

    def take(self, items: Iterable[Item]) -> None:
        """Add a batch of what a reader gave; headers and ends are passed over."""
        rows: list[tuple[PrincipalKey, PrincipalKey, list[PrincipalKey]]] = []
        written: dict[PrincipalKey, Written] = {}
        pairs = 0
        for item in items:
            if isinstance(item, FeedRejection):
                self._reject(item.line, item.reason, item.url)
            elif isinstance(item, GroupMembership) and not self._lost(item) and not self._refused(item):
                self.report.groups += 1
                self._warn(item)
                group = item.group
                forms = (_key(group, with_case=True), _key(group, with_case=False))
                for start in range(0, len(item.members), _PAIRS):
                    part = [_noted(member, written) for member in item.members[start : start + _PAIRS]]
                    rows.append((*forms, part))
                    pairs += len(part)
                    if pairs >= _PAIRS:
                        self._write(rows, written)
                        rows, pairs = [], 0
                        written = {}
        if rows:
            self._write(rows, written)

    def finish(self, end: FeedEnd) -> GroupReport:
        """End the load as its reading ended; return the report."""
        report = self.report
        if report.mode is LoadMode.FULL and self._load:
            if not end.complete:
                self._drop(f"nothing was changed: {end.trouble or 'the feed is not complete'}")
            elif end.repaired:
                self._merge()
            else:
                self._replace()
        elif not end.complete and not report.trouble:
            report.trouble = f"only its beginning was added: {end.trouble or 'the feed is not complete'}"
        purge(self._transact)
        return report

    def _write(self, rows: Sequence[Any], written: Mapping[PrincipalKey, Written]) -> None:
        if not self._load:
            return
        load, report, now_s = self._load, self.report, self._now_s

        def job(writer: GroupWriter) -> int:
            added = writer.groups.add(load, rows, now_s, written=written)
            if added and writer.groups.others(report.source) + writer.groups.size(load) > self._most:
                raise _FullError
            return added

        try:
            report.added += self._transact(job)
        except _FullError:
            self._drop(f"{AT_CAPACITY}: there is room for {self._most:,} memberships")

    def _replace(self) -> None:
        load, report, now_s, names = self._load, self.report, self._now_s, tuple(self._kept)

        def job(writer: GroupWriter) -> tuple[int, int]:
            kept = writer.groups.keep(load, report.source, names, now_s)
            return kept, writer.groups.put_in_force(load, now_s)

        kept, report.removed = self._transact(job)
        report.replaced = True
        if kept:
            report.warnings.append(
                (0, f"{kept} memberships of groups that could not be read were kept as they were")
            )

    def _merge(self) -> None:
        """Add what a load brought to what is in force, a part at a time."""
        load, report, now_s = self._load, self.report, self._now_s
        into = self._transact(lambda w: w.groups.adding_to(report.source, now_s))
        before = self._transact(lambda w: w.groups.size(into))
        after = 0

        def job(writer: GroupWriter) -> int:
            return writer.groups.merge(load, into, after, now_s)

        while after >= 0:
            after = self._transact(job)
        report.added = self._transact(lambda w: w.groups.size(into)) - before
        self._drop("its markup was broken: what it brings was added, nothing was removed")

    def _drop(self, trouble: str) -> None:
        load = self._load
        self._transact(lambda w: w.groups.abandon(load))
        self._load = 0
        self.report.trouble = trouble
        if not trouble.startswith("its"):
            self.report.added = 0 if self.report.mode is LoadMode.FULL else self.report.added

    def _lost(self, item: GroupMembership) -> bool:
        """Whether a name in *item* is no text: half a character, which JSON can spell. It costs the element."""
        try:
            for who in (item.group, *item.members):
                f"{who.name}{who.domain}{who.namespace}".encode()
        except UnicodeEncodeError:
            self._reject(item.line, "a name is not valid Unicode", item.group.name)
            return True
        return False

    def _refused(self, item: GroupMembership) -> bool:
        """Whether the sender may not give *item*'s group members. Unlike what cannot be read, it keeps nothing in force."""
        why = self._grant.refusal_of_group(item.group)
        if why:
            self._count_rejected(item.line, why, item.group.name)
        return bool(why)

    def _count_rejected(self, line: int, reason: str, group: str) -> None:
        self.report.rejected += 1
        self._on_reject(line, reason, group)
        if len(self.report.rejections) < _SHOWN:
            self.report.rejections.append((line, reason))

    def _reject(self, line: int, reason: str, group: str) -> None:
        self._count_rejected(line, reason, group)
        if group.isprintable() and group.strip():
            self._kept[group.strip()] = self._kept[split(group.strip())[0]] = None

    def _warn(self, item: GroupMembership) -> None:
        if item.warnings and len(self.report.warnings) < _SHOWN:
            self.report.warnings += [(item.line, text) for text in item.warnings]


def load_groups(  # noqa: PLR0913 - what, whose, how, when
    transact: Transact[Any],
    items: Iterable[Item],
    source: str,
    mode: LoadMode,
    *,
    now_s: float,
    most: int = MOST,
) -> GroupReport:
    """Load *items*, as ``read_group_items`` gives them; see :class:`GroupLoading`.

    Without a :class:`FeedEnd` the load counts as cut off.
    """
    loading = GroupLoading(transact, source, mode, now_s=now_s, most=most)
    loading.begin()
    end = FeedEnd(complete=False, repaired=True, trouble="it was cut off")
    batch: list[Item] = []
    for item in items:
        if isinstance(item, FeedEnd):
            end = item
        batch.append(item)
        if len(batch) >= _BATCH:
            loading.take(batch)
            batch = []
    loading.take(batch)
    return loading.finish(end)


def at_capacity(writer: GroupWriter, source: str, mode: LoadMode, *, most: int = MOST) -> bool:
    """Whether there is no room for another membership of *source*: then a load need not be begun."""
    groups = writer.groups
    return groups.others(source if mode is LoadMode.FULL else "") >= most


def clean_up(transact: Transact[Any], source: str) -> int:
    """Take the memberships of *source* out of force; return how many those were."""
    removed: int = transact(lambda w: w.groups.clean_up(source))
    purge(transact)
    return removed


def purge(transact: Transact[Any]) -> None:
    """Remove rows that are out of force, a part at a time."""
    while transact(lambda w: w.groups.purge()):
        pass


def _key(group: Principal, *, with_case: bool) -> PrincipalKey:
    return key_of(replace(group, case_sensitive=with_case))


def _noted(member: Principal, written: dict[PrincipalKey, Written]) -> PrincipalKey:
    """Return the form in which *member* is compared; how he is written, if that is another, goes to *written*."""
    key = key_of(member)
    if not member.case_sensitive:
        spelled = (member.namespace, member.domain, member.name)
        if spelled != key[2:]:
            written[key] = spelled
    return key
