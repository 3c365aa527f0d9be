"""Memberships of groups: what the operator does with them, on a home that nobody owns and on one that is served."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from ingather.access import principal
from ingather.access.groups import Expansion, expand
from ingather.access.principals import PrincipalKey, key_of
from ingather.app.homeparts import database_of
from ingather.app.jobs import Job
from ingather.app.operating import Operations
from ingather.catalog.access.sqlite_groups_reader import GroupReader, Member
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import HomeLockedError, UsageError
from ingather.explain.access_forms import principal_form, principal_text
from ingather.feeds.groups_applying import GroupLoading, LoadMode, clean_up, load_groups
from ingather.feeds.groups_lines import group_line, read_group_lines
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.feed import FeedEnd, FeedRejection, GroupMembership

__all__ = ["Groups", "HomeGroups", "mode_of", "ways"]

_OPEN: Final = 8
_SHOWN: Final = 10_000
_PART_BYTES: Final = 2 << 20
_PART_ITEMS: Final = 5_000

Do = Callable[[Job], Any]
Item = GroupMembership | FeedRejection | FeedEnd


class Groups:
    """Memberships of one catalog; what :class:`ingather.web.parts.GroupBoard` promises. Any thread may call.

    Args:
        database: the catalog's file.
        do: runs a job in a transaction.
        wall: the wall clock.
        cut_domains: as search has it (``access.cut-domains``).
    """

    def __init__(
        self, database: Path, do: Do, wall: Callable[[], float], *, cut_domains: bool = True
    ) -> None:
        self._database = database
        self._cut_domains = cut_domains
        self._do = do
        self._wall = wall
        self._lock = threading.Lock()
        self._loads: OrderedDict[str, GroupLoading] = OrderedDict()

    def listed(self, text: str = "", *, limit: int = 100) -> dict[str, Any]:
        """Return ``sources`` with what each has in force, and ``groups`` whose name has *text*."""
        reader = GroupReader(self._database)
        try:
            found = reader.groups(text, limit=limit + 1)
            return {
                "sources": [
                    {"source": row.source, "memberships": row.memberships, "began": _time(row.began_s), "changed": _time(row.changed_s)}
                    for row in reader.sources()
                ],
                "groups": [{**_key_form(key), "members": count} for key, count in found[:limit]],
                "more": len(found) > limit,
            }  # fmt: skip
        finally:
            reader.close()

    def shown(self, *, user: str = "", group: str = "", namespace: str = "") -> dict[str, Any]:
        """Return the groups of a user, each with the way to it, or a group's direct members and the groups above it.

        Raises:
            UsageError: not one of the two is named.
        """
        if bool(user.strip()) == bool(group.strip()):
            raise UsageError(
                "name a user or a group", hint="ingather groups show --user NAME, or --group NAME"
            )
        scope = PrincipalScope.USER if user.strip() else PrincipalScope.GROUP
        who = principal(user if user.strip() else group, scope, namespace=namespace)
        if who is None:  # white space was ruled out above
            raise UsageError("the name is empty")
        reader = GroupReader(self._database)
        try:
            with reader.snapshot():
                if scope is PrincipalScope.USER:
                    return {
                        "user": principal_form(who),
                        "groups": ways(expand(reader, (who,), cut_domains=self._cut_domains)),
                    }
                members = _members(reader, who)
                above = expand(reader, (), (who,))
            return {
                "group": principal_form(who),
                "members": [{**principal_form(m.who), "case_sensitive": m.key[1], "source": m.source} for m in members[:_SHOWN]],
                "more": len(members) > _SHOWN,
                "above": ways(above)[1:],
            }  # fmt: skip
        finally:
            reader.close()

    def begin(self, source: str, mode: str) -> dict[str, Any]:
        """Begin a load; ``load`` is its key. At most eight are open: the one that rested longest is dropped.

        Raises:
            UsageError: the source has no name, or the mode is none.
        """
        loading = GroupLoading(self._transact, source, mode_of(mode), now_s=self._wall())
        loading.begin()
        key = token_hex(16)
        with self._lock:
            self._loads[key] = loading
            if len(self._loads) > _OPEN:
                self._loads.popitem(last=False)
        return {"load": key, "source": loading.report.source, "mode": str(loading.report.mode)}

    def add(self, load: str, body: bytes) -> dict[str, Any]:
        """Add a part of a load, JSON lines.

        Raises:
            UsageError: no such load is open.
        """
        loading = self._loading(load)
        loading.take(read_group_lines(body))
        return loading.report.form()

    def finish(
        self, load: str, *, complete: bool, repaired: bool = False, trouble: str = ""
    ) -> dict[str, Any]:
        """End a load; the answer is its report.

        Raises:
            UsageError: no such load is open.
        """
        loading = self._loading(load)
        with self._lock:
            del self._loads[load]
        return loading.finish(FeedEnd(complete=complete, repaired=repaired, trouble=trouble)).form()

    def clean_up(self, source: str) -> dict[str, Any]:
        """Take the memberships of a source out of force.

        Raises:
            UsageError: the source has no name.
        """
        if not source.strip():
            raise UsageError(
                "memberships need a source", hint="ingather groups list names those that there are"
            )
        return {"source": source.strip(), "removed": clean_up(self._transact, source.strip())}

    def _loading(self, key: str) -> GroupLoading:
        with self._lock:
            loading = self._loads.get(key)
            if loading is None:
                raise UsageError(
                    f"there is no load {key[:40]!r}", hint="begin one with POST /api/v1/groups/begin"
                )
            self._loads.move_to_end(key)
            return loading

    def _transact(self, work: Callable[[Any], Any]) -> Any:
        return self._do(lambda writer, _applied, _now_s: work(writer))


class HomeGroups(Operations):
    """The same on a home: done here when nobody owns it, asked of its owner when somebody does."""

    def load(self, items: Iterable[Item], source: str, mode: str) -> dict[str, Any]:
        """Load *items*; return the report.

        Raises:
            UsageError: the source has no name.
        """
        wanted = mode_of(mode)
        try:
            lock = self._home.lock("ingather groups")
        except HomeLockedError as locked:
            return self._hand_over(items, {"source": source, "mode": str(wanted)}, locked)
        with lock:
            writer = CatalogWriter(database_of(self._home))
            try:
                now_s = self._clock.wall()
                return load_groups(writer.transaction, items, source, wanted, now_s=now_s).form()
            finally:
                writer.close()

    def clean_up(self, source: str) -> dict[str, Any]:
        """Take the memberships of a source out of force."""
        try:
            lock = self._home.lock("ingather groups")
        except HomeLockedError as locked:
            answer: dict[str, Any] = self._ask("groups/cleanup", {"source": source}, locked)
            return answer
        with lock:
            writer = CatalogWriter(database_of(self._home))
            try:
                board = Groups(
                    database_of(self._home),
                    lambda job: writer.transaction(lambda w: job(w, Applied(), self._clock.wall())),
                    self._clock.wall,
                )
                return board.clean_up(source)
            finally:
                writer.close()

    def reading(self) -> Groups:
        """Return what only reads; no lock is needed for that."""

        def refuse(_job: Job) -> Any:
            raise UsageError("this reads only")

        cut = self._settings.flag("access.cut-domains")
        return Groups(database_of(self._home), refuse, self._clock.wall, cut_domains=cut)

    def _hand_over(
        self, items: Iterable[Item], form: Mapping[str, str], locked: HomeLockedError
    ) -> dict[str, Any]:
        load = str(self._ask("groups/begin", form, locked)["load"])
        end = FeedEnd(complete=False, repaired=True, trouble="it was cut off")
        waiting = iter(items)
        while part := list(islice(waiting, _PART_ITEMS)):
            end = next((item for item in part if isinstance(item, FeedEnd)), end)
            for lines in _lines(part):
                self._ask("groups/add", {"load": load, "lines": lines}, locked)
        ended = {
            "load": load,
            "complete": _yes(end.complete),
            "repaired": _yes(end.repaired),
            "trouble": end.trouble,
        }
        answer: dict[str, Any] = self._ask("groups/finish", ended, locked)
        return answer


def mode_of(text: str) -> LoadMode:
    """Return the mode that *text* names; ``replace`` is ``full``.

    Raises:
        UsageError: it names none.
    """
    word = text.strip().lower()
    try:
        return LoadMode("full" if word == "replace" else word)
    except ValueError:
        raise UsageError(f"{text[:40]!r} is no mode", hint="write incremental or full") from None


def ways(found: Expansion) -> list[dict[str, Any]]:
    """Return somebody's groups as JSON shows them, each with the way to it."""
    return [
        {**principal_form(group), "way": [principal_text(step) for step in found.way(group)]}
        for group in found.groups
    ]


def _key_form(key: PrincipalKey) -> dict[str, Any]:
    scope, _, namespace, domain, name = key
    return principal_form(Principal(scope, name, domain, namespace))


def _members(reader: GroupReader, group: Principal) -> list[Member]:
    numbers = reader.find([key_of(group)])
    return reader.below(list(numbers.values()), most=_SHOWN + 1) if numbers else []


def _lines(items: Iterable[Item]) -> Iterator[str]:
    """Yield *items* as JSON lines, in parts that a request may bring; a large group is divided."""
    held: list[bytes] = []
    size = 0
    for item in items:
        if isinstance(item, FeedEnd):
            continue
        for one in _divided(item):
            line = group_line(one)
            if held and size + len(line) > _PART_BYTES:
                yield b"".join(held).decode()
                held, size = [], 0
            held.append(line)
            size += len(line)
    if held:
        yield b"".join(held).decode()


def _divided(item: GroupMembership | FeedRejection) -> Iterator[GroupMembership | FeedRejection]:
    if isinstance(item, FeedRejection) or len(item.members) <= _PART_ITEMS:
        yield item
        return
    for start in range(0, len(item.members), _PART_ITEMS):
        yield replace(item, members=item.members[start : start + _PART_ITEMS])


def _yes(value: bool) -> str:  # noqa: FBT001 - a word for it
    return "1" if value else "0"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
