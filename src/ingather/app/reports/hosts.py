"""Reports about hosts: all that were found, their addresses, what waits at them, which are slow or want to be."""

from collections.abc import Iterator, Mapping
from typing import Any

from ingather.app import wiring
from ingather.app.homeparts import load_checked
from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.catalog.reports.sqlite_reports import HostRow
from ingather.errors import UsageError
from ingather.fetch.robots import parse
from ingather.model.urlparts import host_key
from ingather.robot.politeness.visitbudget import day_of

__all__ = ["budgets", "crawl_delay", "dns_cache", "hosts_named", "queue", "rechecks", "servers", "slow_hosts"]

_NUMBER, _TIME, _SECONDS, _BYTES = "number", "time", "seconds", "bytes"
_DELAYED = 200_000


def hosts_named(context: Context, name: str) -> list[int] | None:
    """Return the rows of the host that *name* means, ``None`` if it is empty: all.

    Raises:
        UsageError: no such host was found.
    """
    if not name:
        return None
    word = name.strip().rstrip("/")
    found = context.reader.host_of(word) or context.reader.host_of(word.lower())
    if not found:
        raise UsageError(
            f"no host {name!r} was found",
            hint="write it like www.example.org or https://www.example.org; ingather report servers lists them",
        )
    return found


def servers(context: Context, ask: Ask) -> Table:
    """All servers found."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for h in context.reader.hosts(ask.after):
            yield (
                h.origin, h.urls, h.excluded, h.visits, h.errors, h.bytes, _mean(h), h.robots or "not asked", h.delay_s,
                h.first_s, h.last_s, h.id,
            )  # fmt: skip

    return Table(
        (Column("server"), Column("urls", _NUMBER), Column("excluded", _NUMBER), Column("visits", _NUMBER), Column("errors", _NUMBER),
         Column("bytes", _BYTES), Column("mean_ms", _NUMBER), Column("robots"), Column("delay", _SECONDS),
         Column("first_visit", _TIME), Column("last_visit", _TIME)),
        rows(), numbered=True, note="visits, errors, bytes and times are counted since figures of hosts are kept (schema 17)",
    )  # fmt: skip


def dns_cache(context: Context, ask: Ask) -> Table:
    """The addresses that names stood for at their last visit."""
    rows = (
        (h.origin, h.address, h.last_s, h.id)
        for h in context.reader.hosts(ask.after)
        if h.address or h.visits
    )
    return Table(
        (Column("server"), Column("address"), Column("asked", _TIME)),
        rows,
        numbered=True,
        note="the address of each server's last visit; the answers themselves live in the gatherers and end with their time",
    )


def queue(context: Context, ask: Ask) -> Table:
    """What waits at each host and when it is asked next; with a host, its URLs in their order."""
    wanted = hosts_named(context, ask["host"])
    if wanted is not None:
        rows = (
            (url, depth, priority)
            for host in wanted
            for _, url, depth, priority in context.reader.waiting_of(host)
        )
        return Table((Column("url"), Column("depth", _NUMBER), Column("priority", _NUMBER)), rows)
    live = context.live()
    usual = float(load_checked(context.home).robot.server_delay)
    slowed: Mapping[str, float] = live.get("slowed") or {}
    told = {row["host"]: row["in_s"] for row in live.get("queue", ())}
    blocked = frozenset(live.get("blocked", ()))

    budget = wiring.host_visits(context.settings, context.home.settings().sources)
    today = context.reader.visits_of(day_of(context.now_s)) if budget else {}

    def listed() -> Iterator[tuple[Any, ...]]:
        for w in context.reader.queue(ask.limit + 1 if ask.limit else -1):
            name = host_key(w.origin)
            stops = name in blocked or told.get(name, 0.0) < 0
            delay = max(w.delay_s if w.asked else max(w.delay_s, usual), slowed.get(name, 0.0))
            not_before = max(w.not_before_s, context.now_s + max(told.get(name, 0.0), 0.0))
            yield (
                w.origin, w.urls, "blocked" if stops else w.next_url, None if stops else not_before, delay,
                None if stops else w.urls * delay, today.get(name, 0) if budget else None, (budget(w.source) or None) if budget else None,
            )  # fmt: skip

    return Table(
        (Column("server"), Column("waiting", _NUMBER), Column("next_url"), Column("not_before", _TIME), Column("delay", _SECONDS),
         Column("estimated", _SECONDS), Column("today", _NUMBER), Column("budget", _NUMBER)),
        listed(), facts={"robot": live.get("state", "unknown"), "waiting": context.reader.waiting()},
        note="" if live.get("state") == "running" else "the robot does not run: times are the earliest ones",
    )  # fmt: skip


def rechecks(context: Context, ask: Ask) -> Table:
    """The next visits that are planned."""
    rows = (
        (url, due, max(due - context.now_s, 0.0), fetched)
        for url, due, fetched in context.reader.rechecks(ask.limit + 1 if ask.limit else -1)
    )
    return Table(
        (Column("url"), Column("due", _TIME), Column("in", _SECONDS), Column("last_visit", _TIME)), rows
    )


def slow_hosts(context: Context, ask: Ask) -> Table:
    """The hosts whose answers take longest."""
    rows = (
        (h.origin, _mean(h), h.slowest_ms, h.visits, h.errors, h.bytes, h.last_s)
        for h in context.reader.slowest_hosts(ask.limit + 1 if ask.limit else -1)
    )
    return Table(
        (Column("server"), Column("mean_ms", _NUMBER), Column("slowest_ms", _NUMBER), Column("visits", _NUMBER),
         Column("errors", _NUMBER), Column("bytes", _BYTES), Column("last_visit", _TIME)),
        rows,
    )  # fmt: skip


def crawl_delay(context: Context, _ask: Ask) -> Table:
    """The hosts whose robots.txt slows us down, and how long what waits there takes."""
    robot = load_checked(context.home).robot
    agent = wiring.agent_token(robot)
    ours, most = float(robot.server_delay), context.settings.seconds("politeness.crawl-delay-max")
    found: list[tuple[Any, ...]] = []
    for host, origin, body in context.reader.robots_files():
        asked = parse(body).crawl_delay(agent)
        if asked is None or asked <= ours:
            continue
        obeyed = min(asked, most)
        waiting = context.reader.waiting_at(host)
        found.append((origin, asked, obeyed, waiting, obeyed * waiting))
        if len(found) >= _DELAYED:
            break
    found.sort(key=lambda row: (-row[4], -row[1], row[0]))
    return Table(
        (Column("server"), Column("asked", _SECONDS), Column("obeyed", _SECONDS), Column("waiting", _NUMBER), Column("estimated", _SECONDS)),
        found,
        note=f"server-delay of robot.conf: {ours:g} s; of several origins of one host each is counted for itself",
    )  # fmt: skip


def budgets(context: Context, ask: Ask) -> Table:
    """The budgets that refused URLs."""
    rows = (
        (origin, kind, name, urls, refused)
        for origin, kind, name, urls, refused in context.reader.refusals(ask.limit + 1 if ask.limit else -1)
    )
    return Table(
        (
            Column("server"),
            Column("budget"),
            Column("of"),
            Column("urls", _NUMBER),
            Column("refused", _NUMBER),
        ),
        rows,
    )


def _mean(host: HostRow) -> int | None:
    return round(host.ms / host.visits) if host.visits else None
