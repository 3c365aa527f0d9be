"""Reports about documents: equal bodies, the largest, those that no link leads to, those that are not in the index."""

from collections.abc import Iterator, Sequence
from typing import Any

from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.app.reports.traps import near_duplicates
from ingather.app.syndication.records import feed_facts
from ingather.catalog.syndication.sqlite_syndication_reader import SyndicationReader
from ingather.errors import IndexingError, UsageError
from ingather.index import IndexFolder
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome, State
from ingather.model.sitemap import EntryState

__all__ = ["duplicates", "largest", "listed", "orphans", "pending", "ready"]

_NUMBER, _TIME, _BYTES, _SECONDS = "number", "time", "bytes", "seconds"
_SHOWN = 5
_HIDDEN = 2
_MD5_BYTES = 16


def duplicates(context: Context, ask: Ask) -> Table:
    """Groups of equal bodies, with ``near`` of texts that are nearly alike, the largest first; with the name of one its members."""
    if ask["near"]:
        return near_duplicates(context, ask)
    if ask["group"]:
        return _members(context, ask["group"])
    rows = (
        (g.digest, g.head, g.count + 1, g.members)
        for g in context.reader.groups(ask.limit + 1 if ask.limit else -1, _SHOWN)
    )
    return Table(
        (Column("group"), Column("shown"), Column("urls", _NUMBER), Column("behind")), rows,
        note=f"behind: at most {_SHOWN} of those that stand behind the one that is shown; --group DIGEST lists all",
    )  # fmt: skip


def _members(context: Context, written: str) -> Table:
    try:
        digest = bytes.fromhex(written.strip())
    except ValueError:
        digest = b""
    if len(digest) != _MD5_BYTES:
        raise UsageError(
            f"{written!r} is no digest of a group", hint="copy it from ingather report duplicates"
        )
    return Table((Column("url"), Column("depth", _NUMBER)), context.reader.group_members(digest))


def largest(context: Context, ask: Ask) -> Table:
    """The largest documents."""
    most = ask.limit or 10_000
    rows = [(size, url, source, fetched) for size, url, source, fetched in context.reader.largest(most + 1)]
    return Table(
        (Column("bytes", _BYTES), Column("url"), Column("source"), Column("last_visit", _TIME)), rows
    )


def orphans(context: Context, ask: Ask) -> Table:
    """Documents to which no link leads any more."""
    rows = ((url, fetched, due, row) for row, url, fetched, due in context.reader.orphans(ask.after))
    return Table(
        (Column("url"), Column("last_visit", _TIME), Column("next_visit", _TIME)),
        rows,
        numbered=True,
        note="they stay in search and are visited by their own schedule: nothing is deleted for want of a link",
    )


def listed(context: Context, ask: Ask) -> Table:
    """What sitemaps list and the index does not have, with the reason; what=unlisted: the opposite; what=files: the sitemaps."""
    what = ask["what"] or "missing"
    if what == "files":
        return _sitemap_files(context)
    if what == "unlisted":
        return _unlisted(context, ask)
    if what != "missing":
        raise UsageError(f"{what!r} is nothing that this report shows", hint="missing, unlisted or files")
    feeds, own = _fed_sitemaps(context), context.reader.sitemaps()

    return Table(
        (Column("url"), Column("sitemap"), Column("why")), _missing(context, feeds, own), facts={"sitemaps": len(feeds) + len(own)},
        note="" if feeds or own else "no sitemap was read: neither robots.txt nor settings name one, and there are no sources of kind rss or sitemap",
    )  # fmt: skip


def _missing(
    context: Context, feeds: Sequence[tuple[int, str]], own: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    for number, sitemap in feeds:
        for row in context.reader.listed(number):
            if why := _why_not(row):
                yield row[1], sitemap, why
    for number, sitemap, *_ in own:
        for row in context.reader.sitemap_entries(number):
            if why := _ENTRIES.get(row[10]) or _why_not(row[:10]):
                yield row[1], sitemap, why


_ENTRIES = {
    EntryState.NEW: "waits to be judged",
    EntryState.FOREIGN: "the sitemap may not list it: robots.txt of its host does not name the sitemap",
    EntryState.REFUSED: "refused by a budget, or removed by hand",
}


def _fed_sitemaps(context: Context) -> list[tuple[int, str]]:
    reader = SyndicationReader(context.reader.path)
    try:
        kinds = {name: kind for name, kind, *_ in context.reader.sources()}
        return [
            (record.row.id, record.url)
            for record in reader.feeds(configured=False)
            if kinds.get(record.source) == "sitemap" or feed_facts(record.row).kind.startswith("sitemap")
        ]
    finally:
        reader.close()


def _sitemap_files(context: Context) -> Table:
    rows = (
        (url, source, kind or "never read", count, good, due, error)
        for _, url, source, kind, count, good, due, error in context.reader.sitemaps()
    )
    return Table(
        (Column("sitemap"), Column("source"), Column("kind"), Column("listed", _NUMBER), Column("last_read", _TIME),
         Column("next", _TIME), Column("error")),
        rows,
        note="sitemaps of sites; those of sources of kind rss and sitemap are listed by ingather rss list",
    )  # fmt: skip


def _unlisted(context: Context, ask: Ask) -> Table:
    rows = ((url, fetched, row) for row, url, fetched in context.reader.unlisted(ask.after))
    return Table(
        (Column("url"), Column("last_visit", _TIME)), rows, numbered=True,
        note="documents of hosts that have sitemaps, which list them nowhere; nothing is deleted for that",
    )  # fmt: skip


def _why_not(row: tuple[Any, ...]) -> str:
    _, _, described, duplicate, held, state, outcome, status, detail, reason = row
    if described:
        hidden = "its deletion is held, and it is hidden" if held == _HIDDEN else ""
        return "a copy of another document is shown" if duplicate else hidden
    if outcome is None:
        return "waits for its first visit" if state == State.WAITING else State(state).name.lower()
    said = Outcome(outcome).name.lower().replace("_", " ")
    more = reason or detail or (f"HTTP {status}" if status else "")
    return f"{said}: {more}" if more else said


def pending(context: Context, ask: Ask) -> Table:
    """Changes that the index has not followed yet."""
    applied: int | None
    try:
        applied = IndexFolder(context.home.index).reader().snapshot().sequence
    except IndexingError:
        applied = None
    last = context.reader.last_change()
    rows = (
        (url, ChangeKind(kind).name.lower(), sequence)
        for sequence, url, kind in (
            context.reader.changes_after(applied, ask.limit + 1 if ask.limit else -1)
            if applied is not None
            else ()
        )
    )
    return Table(
        (Column("url"), Column("change"), Column("number", _NUMBER)), rows,
        facts={"catalog": last, "index": applied, "behind": None if applied is None else max(last - applied, 0)},
        note="" if applied is not None else "the index cannot be read: see ingather index check",
    )  # fmt: skip


def ready(context: Context, _ask: Ask) -> Table:
    """URLs that may be asked for now, host by host; what waits for its host's time comes last."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for w in sorted(context.reader.queue(-1), key=lambda w: (w.not_before_s > context.now_s, -w.urls)):
            waits = max(w.not_before_s - context.now_s, 0.0)
            for _, url, depth, priority in context.reader.waiting_of(w.host):
                yield url, waits, depth, priority

    return Table(
        (Column("url"), Column("in", _SECONDS), Column("depth", _NUMBER), Column("priority", _NUMBER)),
        rows(),
        facts={"waiting": context.reader.waiting()},
    )
