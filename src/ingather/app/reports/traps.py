"""Reports about traps, near-duplicates and canonical links."""

from collections.abc import Iterator
from typing import Any

from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.catalog.frontier.sqlite_traps import TrapReader
from ingather.catalog.likeness.sqlite_likeness_reader import LikenessReader
from ingather.errors import UsageError

__all__ = ["canonicals", "near_duplicates", "traps"]

_NUMBER, _TIME = "number", "time"
_SHOWN = 5
_DIGITS = 18


def traps(context: Context, ask: Ask) -> Table:
    """Crawler traps with what their rules would cost."""
    reader = TrapReader(context.reader.path)
    try:
        found = reader.traps()
    finally:
        reader.close()
    host = ask["host"]
    rows = [
        (
            t.id,
            t.state,
            t.kind,
            t.place,
            t.urls,
            t.visited,
            t.contents,
            t.excluded,
            t.good,
            t.first_s,
            t.last_s,
            t.why,
            t.examples[0],
        )
        for t in found
        if not host or host in (t.origin, t.origin.partition("://")[2])
    ]
    return Table(
        (Column("trap", _NUMBER), Column("state"), Column("kind"), Column("place"), Column("urls", _NUMBER), Column("visited", _NUMBER),
         Column("contents", _NUMBER), Column("rule_excludes", _NUMBER), Column("good_documents", _NUMBER), Column("first", _TIME),
         Column("last", _TIME), Column("why"), Column("example")),
        rows, note="ingather traps show N has the rule, ingather traps publish N puts it into force",
    )  # fmt: skip


def near_duplicates(context: Context, ask: Ask) -> Table:
    """Groups of near-duplicates, the largest first; with the number of one all its members."""
    reader = LikenessReader(context.reader.path)
    try:
        if ask["group"]:
            written = ask["group"].strip()
            members = (
                reader.group_of(int(written))
                if written.isascii() and written.isdigit() and len(written) <= _DIGITS
                else []
            )
            if not members:
                raise UsageError(
                    f"{written!r} is no group of near-duplicates",
                    hint="copy its number from ingather report duplicates --near",
                )
            return Table((Column("url"), Column("bits", _NUMBER)), members)
        groups = reader.groups(ask.limit + 1 if ask.limit else -1, _SHOWN)
    finally:
        reader.close()
    return Table(
        (Column("group"), Column("head"), Column("urls", _NUMBER), Column("near_to_it")),
        [(str(group.head), group.url, group.others + 1, group.members) for group in groups],
        note=f"they are shown and not removed; near_to_it: at most {_SHOWN}; --group N lists all with the bits in which they differ",
    )  # fmt: skip


def canonicals(context: Context, ask: Ask) -> Table:
    """Pages that name another address as their own, and whether that is obeyed."""

    def rows() -> Iterator[tuple[Any, ...]]:
        reader = LikenessReader(context.reader.path)
        try:
            for row, url, named, verdict in reader.ignored(ask.after):
                yield url, named, "waits for the next pass" if verdict is None else verdict or "obeyed", row
        finally:
            reader.close()

    return Table((Column("url"), Column("canonical"), Column("verdict")), rows(), numbered=True)
