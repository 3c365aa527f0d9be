"""What people and programs may ask about feeds, and may have done: lists, receipts, the file, again, away."""

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingather.app.reaching.rested import way_states, ways_to
from ingather.catalog.feeds.sqlite_feed_reader import FeedReceipts
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import UnknownNameError, UsageError
from ingather.feeds.admitting import admitted_by, login_wanted
from ingather.feeds.receipts import FEED_STATES, FeedState, Standing, clock_time, log_line, shown_state
from ingather.model.lifecycle import Outcome, State
from ingather.robot.politeness.ways import WayState

__all__ = ["FeedOffice", "again_job", "forget_job"]

_WRITTEN = {
    "rejected": (1,),
    "waiting": (2,),
    "deleted": (3,),
    "held": (4,),
    "applied": (0,),
    "unchanged": (5,),
}
_DERIVED = ("superseded", "needs-scope")


class FeedOffice:
    """Reads receipts; each call opens and closes its own connection.

    Args:
        home: feeds name their files relative to it.
        database: the catalog.
        indexed: newest change that the index has applied.
        declared: the sources of ``ingather.toml`` whose own addresses count alone.
    """

    def __init__(
        self, home: Path, database: Path, indexed: Callable[[], int], declared: Container[str] = ()
    ) -> None:
        self._home, self._database, self._indexed, self._declared = home, database, indexed, declared

    def feeds(self, *, datasource: str = "", before: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Return feeds, newest first."""
        with _Open(self._database) as receipts:
            found = receipts.feeds(datasource=datasource, before=before, limit=limit)
        return [self._feed_form(feed) for feed in found]

    def after(self, number: int, limit: int) -> list[dict[str, Any]]:
        """Return feeds with numbers above *number*, oldest first."""
        with _Open(self._database) as receipts:
            return [self._feed_form(feed) for feed in receipts.after(number, limit)]

    def newest(self) -> int:
        """Return the highest number of a feed, 0 = there is none."""
        with _Open(self._database) as receipts:
            return receipts.newest()

    def look(self, name: str) -> dict[str, Any]:
        """Return one feed by name or number, ``{}`` if there is none."""
        with _Open(self._database) as receipts:
            found = receipts.feed(name)
        return {} if found is None else self._feed_form(found)

    def feed(self, name: str) -> dict[str, Any]:
        """Return one feed.

        Raises:
            UsageError: there is none.
        """
        found = self.look(name)
        if not found:
            raise UnknownNameError(
                f"there is no feed {name!r}",
                kind="feed",
                name=name,
                hint="list them with: ingather feed list",
            )
        return found

    def records(
        self, name: str, *, after: int = 0, limit: int = 1000, state: str = ""
    ) -> list[dict[str, Any]]:
        """Return the receipts of a feed in document order; *state*: only those written so, or in that state by now.

        Raises:
            UsageError: there is no such feed or state.
        """
        if state and state not in {*_WRITTEN, *_DERIVED}:
            raise UsageError(
                f"{state!r} is no state to ask for", hint=f"one of {', '.join((*_WRITTEN, *_DERIVED))}"
            )
        number, indexed = int(self.feed(name)["id"]), self._indexed()
        with _Open(self._database) as receipts:
            rows = receipts.records(
                number, indexed=indexed, after=after, limit=limit, written=_WRITTEN.get(state, ()),
                derived=state if state in _DERIVED else "",
            )  # fmt: skip
        ways = way_states(self._database)
        return [_record_form(row, self._declared, ways) for row in rows]

    def due_visits(self, now_s: float, most: int) -> int:
        """Return how many visits that pushed records asked for may be made now, *most* if there are more."""
        with _Open(self._database) as receipts:
            return receipts.due_visits(now_s, most)

    def file(self, name: str) -> Path:
        """Return where the original of a feed lies.

        Raises:
            UsageError: there is no such feed, or its file is not kept any more.
        """
        found = self.feed(name)
        path = self._home / str(found["file"])
        if not found["file"] or not path.is_file():
            raise UnknownNameError(f"the file of feed {name} is not kept any more", kind="file", name=name)
        return path

    def _feed_form(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        form = dict(feed)
        rest = form.pop("fields")
        form["state_number"], form["state"] = form["state"], FEED_STATES[form["state"]]
        form["format"], form["warnings"] = rest.get("format", "xml"), rest.get("warnings", [])
        form["grant"] = rest.get("grant", {})
        form["groupsource"], form["part"], form["last"] = (
            rest.get("groupsource", ""),
            rest.get("part", 0),
            rest.get("last", False),
        )
        form["complete"], form["rests"] = bool(form["complete"]), bool(form["rests"])
        form["indexed"] = form["ended"] is not None and form["seq"] <= self._indexed()
        form["waiting"] = max(form["estimate"] - form["done"], 0) if form["ended"] is None else 0
        return form


def _record_form(
    row: Mapping[str, Any], declared: Container[str], ways: Sequence[WayState]
) -> dict[str, Any]:
    state, outcome = row["state"], row["outcome"]
    found = shown_state(
        Standing(
            written=row["written"], adds=row["action"] == "add", in_index=bool(row["in_index"]), superseded=bool(row["superseded"]),
            asked=row["asked"], answered=row["answered"], waits=bool(row["waits"]), state=None if state is None else State(state),
            outcome=None if outcome is None else Outcome(outcome), status=row["status"], detail=row["detail"], rule=row["rule"],
            fetched_s=row["fetched_s"], due_s=row["due_s"], buried_s=row["buried_s"], why=row["why"], received_s=row["received_s"],
            held=bool(row["held"]), described=bool(row["described"]), out_of_scope=bool(row["out_of_scope"]),
        )
    )  # fmt: skip
    form = {name: row[name] for name in ("n", "line", "url", "action", "note")} | {"state": found.state}
    for name, at_s in (("visited", found.visited_s), ("until", found.until_s)):
        if at_s is not None:
            form[name] = clock_time(at_s)
    owner = str(row["owner"])
    reason = found.reason
    if ways and found.state == "waiting for crawl":
        failed = ways_to(ways, owner, str(row["url"]))
        reason = f"{failed[0].way} of its source failed: {failed[0].detail}" if failed else reason
    if reason:
        form["reason"] = reason
    if found.state == "needs-scope":
        form["needs"] = admitted_by(str(row["detail"]), owner, declared=owner in declared)
    elif found.state in {"refused", "visited"} and outcome is not None:
        wanted = login_wanted(row["url"], owner, row["authmethod"], Outcome(outcome), row["status"])
        form |= {"needs": wanted} if wanted else {}
    return form | {"log": log_line(form)}


class _Open:
    def __init__(self, database: Path) -> None:
        self._receipts = FeedReceipts(database)

    def __enter__(self) -> FeedReceipts:
        return self._receipts

    def __exit__(self, *_: object) -> None:
        self._receipts.close()


def again_job(numbers: Sequence[int]) -> Callable[[CatalogWriter, Applied, float], list[int]]:
    """Return the job that lets feeds be applied from their beginning once more; its answer: those that will be."""
    return lambda writer, _applied, _now: [number for number in numbers if writer.feeds.again(number)]


def forget_job(number: int) -> Callable[[CatalogWriter, Applied, float], str | None]:
    """Return the job that forgets a feed that ended; its answer: the file, ``None`` = it did not end."""

    def job(writer: CatalogWriter, _applied: Applied, _now: float) -> str | None:
        feed = writer.feeds.feed(number)
        if feed is None or feed.state < FeedState.COMPLETED:
            return None
        writer.feeds.forget(number)
        return feed.file

    return job
