"""Why search is empty, when it is: said by ``serve``, by the status, by the doctor and by the search page."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingather.catalog.sqlite_reader import SqliteReader
from ingather.model.lifecycle import Outcome, State
from ingather.ports.catalog import UrlRecord

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["NothingGathered", "NothingWatch", "failure_of", "why_nothing"]

_LOOKED_AT: Final = 100
"""Starting points that are looked up; what is in the way of so many is in the way of all."""
_ANSWERED: Final = frozenset({
    Outcome.INDEXED, Outcome.UNCHANGED, Outcome.ENUMERATED, Outcome.REDIRECTED, Outcome.DUPLICATE, Outcome.CONVERSION_FAILED,
    Outcome.NOINDEX,
})  # fmt: skip
_CLOSED: Final = "refused-address"


@dataclass(frozen=True, slots=True)
class NothingGathered:
    """Why there is no document.

    Attributes:
        why: for the operator, with the URL that it is about.
        told: for whoever may open the search page: no name of a host or a file stands in it.
        do: what to do about it, ``""`` = wait.
    """

    why: str
    told: str
    do: str = ""

    def __str__(self) -> str:
        """Return the sentence for an operator."""
        return f"nothing gathered yet, because {self.why}" + (f"; {self.do}" if self.do else "")


def failure_of(record: UrlRecord | None) -> str:
    """Say why a starting point failed, ``""`` if it did not."""
    if record is None:
        return "never stored: removed by hand, or a budget refused it"
    if record.state is State.EXCLUDED:
        return f"excluded by {record.where or 'the rules'}: {record.detail}"
    if record.outcome is None:
        return "not visited: its host asked to be left alone or the run ended before"
    if record.outcome in _ANSWERED:
        return ""
    return f"{record.outcome.name.lower().replace('_', ' ')}: {record.detail}" + (
        f" ({record.where})" if record.where else ""
    )


def why_nothing(  # noqa: PLR0911 - the strongest reason first
    reader: SqliteReader, starts: Sequence[str], *, fed: bool = False, rests: str = ""
) -> NothingGathered | None:
    """Return why no source has a document, ``None`` if one has.

    Args:
        reader: of the catalog.
        starts: canonical URLs of the starting points that are in force.
        fed: a source polls feeds or sitemaps.
        rests: the robot's state when it does not visit ("off", "paused").
    """
    if reader.has_documents():
        return None
    if not starts:
        if fed:
            return NothingGathered(
                "no feed has brought a document", "no feed has brought a document", "see: ingather rss list"
            )
        return NothingGathered(
            "no site is configured and nothing was pushed",
            "no site is configured",
            "name a site: ingather site add HOST",
        )
    waiting, failed = 0, list[tuple[str, UrlRecord | None]]()
    for url in starts[:_LOOKED_AT]:
        record = reader.find(url)
        if record is None or (record.outcome is None and record.state is not State.EXCLUDED):
            waiting += 1
        elif failure_of(record):
            failed.append((url, record))
    if failed:
        url, record = failed[0]
        more = f" (and {len(failed) - 1} more starting points failed)" if len(failed) > 1 else ""
        return NothingGathered(f"{url} failed: {_shortly(record)}{more}", _told(record), _do(url, record))
    if rests:
        return NothingGathered(
            f"the robot is {rests}", f"the robot is {rests}", "let it begin: ingather robot start"
        )
    if waiting:
        return NothingGathered(
            "the starting points are not visited yet", "the first visits are still to come"
        )
    return NothingGathered(
        f"no page passed the generation filter; ask: ingather explain {starts[0]}",
        "no page that was visited is let into search",
    )


class NothingWatch:
    """Of a home that is served: asks again until there is a document, and never after; from any thread."""

    def __init__(self, gathering: "Gathering") -> None:
        self._gathering, self._over = gathering, False
        self._lock = threading.Lock()

    def found(self) -> NothingGathered | None:
        """Return why nothing was gathered, ``None`` once something was."""
        if self._over:
            return None
        gathering = self._gathering
        state = str(gathering.conductor.state)
        with self._lock:
            reader = gathering.reader_once()
            try:
                found = why_nothing(
                    reader,
                    gathering.starts,
                    fed=any(source.polls for source in gathering.sources.values()),
                    rests=state if state in {"off", "paused"} else "",
                )
            finally:
                reader.close()
        self._over = found is None
        return found

    def told(self) -> str:
        """Return what the search page says of it, ``""`` = nothing."""
        found = self.found()
        return "" if found is None else found.told


def _shortly(record: UrlRecord | None) -> str:
    """Say why a starting point failed, an address that is not open in its own words."""
    if record is not None and _CLOSED in record.detail:
        return record.detail.partition(f"{_CLOSED}: ")[2] or record.detail
    return failure_of(record)


def _told(record: UrlRecord | None) -> str:
    if record is None or record.state is State.EXCLUDED:
        return "its starting point is excluded by the rules"
    if _CLOSED in record.detail:
        return "the address of its site is private, and the settings do not open it"
    if record.outcome in {Outcome.ROBOTS, Outcome.ROBOTS_UNREACHABLE}:
        return "robots.txt of its site does not let it be read"
    if record.status == 401:  # noqa: PLR2004 - HTTP's "log in first"
        return "its site asks for a login"
    return "its site could not be read"


def _do(url: str, record: UrlRecord | None) -> str:
    if record is not None and _CLOSED in record.detail:
        return f"open its address: ingather site open {url}"
    return f"ask: ingather explain {url}"
