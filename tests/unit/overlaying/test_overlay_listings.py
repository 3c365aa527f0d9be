"""Listings that are fetched, and the watch of a process that gathers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ingather.app.homeparts import database_of
from ingather.app.overlay.fetching import Listings
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.watch import OverlayWatch
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.resource import Failure, FailureKind, Response

PAGE = {"title": "Old", "partial-text": "something to read"}
ONE, TWO = "http://cms.example/one", "http://cms.example/two"


class Direct:
    """A keeper without processes."""

    def __init__(self, writer: CatalogWriter) -> None:
        self._writer = writer

    async def write(self, job: Callable[[Any, Applied], Any]) -> Any:
        return self._writer.transaction(lambda w: job(w, Applied()))


def played(
    desk: Any,
    rounds: list[dict[str, Response | Failure]],
    meanwhile: Callable[[OverlayWatch], Awaitable[object]] | None = None,
) -> list[tuple[bool, dict[str, str]]]:
    """Fetch once a round; return what became of each. *meanwhile* is done while a listing is fetched."""
    read = desk.home.settings()
    writer = CatalogWriter(database_of(desk.home))
    overlays = Overlays(desk.home, read.settings, read.sources, read.classes, desk.clock.wall)
    answers: dict[str, Response | Failure] = {}

    async def fetch(url: str, source: str) -> Response | Failure:
        assert source == "web"
        if meanwhile is not None:
            await meanwhile(watch)
        return answers[url]

    watch = OverlayWatch(
        overlays, Direct(writer), lambda: SqliteReader(database_of(desk.home), desk.home.bodies), 60.0
    )

    async def play() -> list[tuple[bool, dict[str, str]]]:
        listings = Listings(overlays, watch, read.settings, fetch)
        done = []
        for one in rounds:
            answers.update(one)
            done.append((await listings.round(), dict(overlays.problems)))
        return done

    try:
        overlays.begin(writer)
        done = asyncio.run(play())
        desk.sequence = writer.applier.sequence
    finally:
        writer.close()
    desk.follow()
    return done


def listing(url: str, text: str) -> Response:
    return Response(url=url, status=200, headers=(), body=text.encode())


def test_listings_are_laid_below_file_and_records(desk: Any) -> None:
    desk.settings(f'[overlay]\nlistings = ["{ONE}", "{TWO}"]')
    desk.put(("http://a.com/1", PAGE))
    desk.write("a.com/ t:File x:file\n")
    (done,) = played(
        desk, [{ONE: listing(ONE, "a.com/ t:One x:one\n"), TWO: listing(TWO, "a.com/1 x:two y:two\n")}]
    )
    assert done == (True, {})
    (result,) = desk.search("read").results
    assert (result.title, dict(result.classes)) == ("File", {"x": ("file", "one", "two"), "y": ("two",)})
    assert desk.take_in().problems == {}  # a start without network keeps them
    assert desk.found("y:two") == ["http://a.com/1"]


def test_a_listing_that_fails_takes_nothing_away(desk: Any) -> None:
    desk.settings(f'[overlay]\nlistings = ["{ONE}"]')
    desk.put(("http://a.com/1", PAGE))
    done = played(
        desk,
        [
            {ONE: listing(ONE, "a.com/ x:one\n")},
            {ONE: Failure(ONE, FailureKind.CONNECT_TIMEOUT, "too slow")},
            {ONE: Response(url=ONE, status=404, headers=(), body=b"")},
            {ONE: listing(ONE, "bad line\n")},
            {ONE: listing(ONE, "a.com/ x:one\n")},
        ],
    )
    assert [changed for changed, _ in done] == [True, False, False, False, False]
    said = [next(iter(problems.values()), "") for _, problems in done]
    assert "too slow" in said[1]
    assert "it answered 404" in said[2]
    assert "it has errors: fetched:http://cms.example/one:1:1" in said[3]
    assert said[0] == said[4] == ""
    assert desk.found("x:one") == ["http://a.com/1"]


def test_a_file_that_changes_while_a_listing_is_fetched_stays_changed(desk: Any) -> None:
    desk.settings(f'[overlay]\nlistings = ["{ONE}"]')
    desk.put(("http://a.com/1", PAGE))
    desk.write("a.com/ x:before\n")

    async def edited(watch: OverlayWatch) -> None:
        desk.write("a.com/ x:after\n")
        assert await watch.take_in()

    assert played(desk, [{ONE: listing(ONE, "a.com/ y:one\n")}], edited)[0][0] is True
    assert desk.found("x:after y:one") == ["http://a.com/1"]
    assert desk.found("x:before") == []


def test_a_bad_listing_is_told_where_errors_refuse_all(desk: Any) -> None:
    desk.settings(
        f'[overlay]\nlistings = ["{ONE}", "{TWO}"]\non-error = "fail"\nlisting-fail-on-error = false'
    )
    desk.put(("http://a.com/1", PAGE))
    both: dict[str, Response | Failure] = {
        ONE: listing(ONE, "bad line\n"),
        TWO: listing(TWO, "a.com/ x:two\n"),
    }
    ((changed, problems),) = played(desk, [both])
    assert changed
    assert "it has errors: fetched:http://cms.example/one:1:1" in problems[f"fetched:{ONE}"]
    assert desk.found("x:two") == ["http://a.com/1"]


def test_one_failure_holds_the_round_unless_told_otherwise(desk: Any) -> None:
    desk.put(("http://a.com/1", PAGE))
    both: dict[str, Response | Failure] = {
        ONE: listing(ONE, "a.com/ x:one\n"),
        TWO: Failure(TWO, FailureKind.CONNECT_TIMEOUT, ""),
    }
    desk.settings(f'[overlay]\nlistings = ["{ONE}", "{TWO}"]')
    assert played(desk, [both])[0][0] is False
    desk.settings("listing-fail-on-error = false")
    assert played(desk, [both])[0][0] is True
    assert desk.found("x:one") == ["http://a.com/1"]


def test_a_listing_that_nobody_names_any_more_goes(desk: Any) -> None:
    desk.settings(f'[overlay]\nlistings = ["{ONE}"]')
    desk.put(("http://a.com/1", PAGE))
    played(desk, [{ONE: listing(ONE, "a.com/ x:one\n")}])
    desk.home.settings_file.write_text("")
    desk.take_in()
    assert desk.found("x:one") == []
