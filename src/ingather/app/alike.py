"""Near-duplicates grouped and canonical links judged, when gathering is quiet: from what is kept, beside the link pass."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ingather.app.homeparts import database_of
from ingather.catalog.likeness.sqlite_likeness_reader import LikenessReader
from ingather.catalog.sqlite_apply import Applied
from ingather.conf.settings.values import Settings
from ingather.log import get
from ingather.robot.indexing.likeness import Candidate, Member, near_groups, near_pairs
from ingather.robot.keeper import Keeper
from ingather.robot.settling.canonicals import judge_canonicals
from ingather.robot.settling.writing import Writer

__all__ = ["Alike", "compare", "compare_pages"]

_log = get("alike")
_PIECE = 1_000


class Alike(NamedTuple):
    """What is to be written: group members that are new or changed, rows that left their groups, verdicts that changed."""

    members: list[Member]
    gone: list[int]
    verdicts: list[tuple[int, str, int | None]]


def compare(database: Path, *, near: bool = True, canonical: bool = True) -> Alike:
    """Compare all pages of a catalog.

    Args:
        database: the catalog's file.
        near: whether near-duplicates are grouped; else no page is in a group.
        canonical: whether canonical links are obeyed; else nobody stands behind another.

    Raises:
        CatalogError: it cannot be read.
    """
    reader = LikenessReader(database)
    try:
        members = _groups(reader) if near else []
        kept = reader.near()
        now = {member.id: (member.head, member.bits) for member in members}
        fresh = [member for member in members if kept.get(member.id) != now[member.id]]
        gone = [row for row in kept if row not in now]
        return Alike(fresh, gone, _verdicts(reader, obey=canonical))
    finally:
        reader.close()


def _groups(reader: LikenessReader) -> list[Member]:
    facts: dict[int, Candidate] = {}
    marks: dict[int, int] = {}
    for page in reader.alike():
        marks[page.id] = page.near
        facts[page.id] = Candidate(page.url, page.inlinks, page.named, 0 if page.public else page.source)
    return near_groups(near_pairs((mark, row) for row, mark in marks.items()), facts, marks)


def _verdicts(reader: LikenessReader, *, obey: bool) -> list[tuple[int, str, int | None]]:
    rows = {row.page.id: row for row in reader.canonicals()}
    judged = judge_canonicals(rows) if obey else dict.fromkeys(rows, ("duplicates.canonical = ignore", None))
    return [(row, *said) for row, said in judged.items() if (rows[row].verdict, rows[row].behind) != said]


async def compare_pages(keeper: Keeper, home: Any, settings: Settings, now: Callable[[], float]) -> int:
    """Compare all pages and let the catalog have what changed; return how many are shown, or shown no more, by it."""
    loop = asyncio.get_running_loop()
    near, canonical = (
        settings.text("duplicates.near") == "report",
        settings.text("duplicates.canonical") == "obey",
    )
    found = await loop.run_in_executor(
        None, partial(compare, database_of(home), near=near, canonical=canonical)
    )
    for start in range(0, max(len(found.members), len(found.gone)), _PIECE):
        members, gone = found.members[start : start + _PIECE], found.gone[start : start + _PIECE]
        await keeper.write(partial(_group, members, gone))
    moved = await keeper.write(lambda writer, applied: writer.applier.likeness.release_stale(applied))
    now_s = now()
    for start in range(0, len(found.verdicts), _PIECE):
        moved += await keeper.write(partial(_judge, found.verdicts[start : start + _PIECE], now_s))
    if moved or found.members:
        _log.info("pages compared", near=len(found.members), moved=moved)
    return int(moved)


def _group(members: list[Member], gone: list[int], writer: Writer, _applied: Applied) -> None:
    writer.applier.likeness.group(members, gone)


def _judge(
    verdicts: list[tuple[int, str, int | None]], now_s: float, writer: Writer, applied: Applied
) -> int:
    return writer.applier.likeness.judge(verdicts, now_s, applied)
