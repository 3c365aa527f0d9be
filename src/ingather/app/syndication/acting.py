"""Poll, pause, resume: what a person does to feeds, as jobs inside the one writer's transaction."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ingather.app.jobs import Job
from ingather.app.syndication.records import feed_facts, feed_row
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.catalog.syndication.sqlite_syndication_rows import EventRow, FeedRow
from ingather.syndication.deciding import Decider
from ingather.syndication.facts import FeedState

__all__ = ["VERBS", "act_job"]

_DECIDER: Final = Decider()
"""What a person wants of a feed does not depend on limits."""

Act = Callable[[CatalogWriter, FeedRow, float], str]
"""Does something to a feed; returns why it could not be done, ``""`` if it was."""


def _poll(writer: CatalogWriter, row: FeedRow, now_s: float) -> str:
    if not row.configured:
        return "the configuration does not name it any more"
    if row.paused:
        return "it is paused: resume it"
    if row.state == FeedState.GONE:
        return "its server says that it is gone: resume it"
    if row.asked_s is not None:
        return "a poll is under way"
    _due(writer, row, now_s)
    return ""


def _pause(writer: CatalogWriter, row: FeedRow, now_s: float) -> str:
    if row.paused:
        return "it is paused already"
    row.paused = True
    writer.syndication.put_feed(row)
    _note(writer, row, now_s, "paused by a person")
    return ""


def _resume(writer: CatalogWriter, row: FeedRow, now_s: float) -> str:
    if not row.paused and row.state != FeedState.GONE:
        return "it is neither paused nor gone"
    before = FeedState(row.state).name.lower()
    row.paused = False
    _due(writer, row, now_s)
    _note(writer, row, now_s, "resumed by a person", before=before)
    return ""


def _due(writer: CatalogWriter, row: FeedRow, now_s: float) -> None:
    """Let a feed be due now, and its source's next cycle with it."""
    writer.syndication.put_feed(feed_row(row, _DECIDER.resumed(feed_facts(row), now_s)))
    source = writer.syndication.source(row.source)
    if source is not None and source.next_s is not None and source.next_s > now_s:
        source.next_s = now_s
        writer.syndication.put_source(source)


def _note(writer: CatalogWriter, row: FeedRow, now_s: float, cause: str, *, before: str = "") -> None:
    after = FeedState(row.state).name.lower()
    writer.syndication.events([EventRow(0, now_s, row.source, row.id, None, before or after, after, cause)])


_ACTS: Final[Mapping[str, Act]] = {"poll": _poll, "pause": _pause, "resume": _resume}
VERBS: Final = frozenset(_ACTS)
"""What can be done to a feed."""


def act_job(verb: str, feeds: Mapping[int, str]) -> Job:
    """Return the job that does *verb* to *feeds* (number to URL); its answer has ``verb`` and, for each of ``feeds``, ``done`` and ``why`` not."""

    def job(writer: CatalogWriter, _: Applied, now_s: float) -> dict[str, Any]:
        done = []
        for number, url in feeds.items():
            row = writer.syndication.feed(number)
            why = _ACTS[verb](writer, row, now_s) if row is not None else "it is gone from the catalog"
            done.append({"id": number, "url": url, "done": not why, "why": why})
        return {"verb": verb, "feeds": done}

    return job
