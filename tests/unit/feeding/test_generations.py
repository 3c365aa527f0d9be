"""A full feed of several batches replaces another: whoever reads meanwhile finds each document old or new, and no hole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.app.homeparts import database_of
from ingather.app.searching import search_service
from ingather.catalog.sqlite_open import open_reader
from ingather.search import SearchRequest
from ingather.testing.feeds import FeedRig, content, feed_xml, record

HOSTS, EACH = 6, 95
"""570 documents: two batches of a feed; 95 fit into one page of results."""
LEFT_OUT = 50
"""Not so many that they would be held."""


def url(number: int) -> str:
    return f"http://h{number % HOSTS}.gen.test/{number}"


def page(number: int, generation: str) -> str:
    return record(url(number), content(f"walrus {generation} page{number}"))


OLD = range(HOSTS * EACH)
NEW = range(LEFT_OUT, HOSTS * EACH + 20)
KEPT, GONE, ADDED = ({url(n) for n in found} for found in (range(LEFT_OUT, HOSTS * EACH), range(LEFT_OUT), range(HOSTS * EACH, NEW.stop)))  # fmt: skip


class Looking:
    """What readers find in a home, asked as they ask: the catalog on a connection of its own, the search through the index."""

    def __init__(self, rig: FeedRig) -> None:
        self._rig = rig
        self._database = database_of(rig.home)
        self.looks = 0

    def catalog(self) -> tuple[set[str], bool]:
        """Return the URLs that are described and shown, and whether the newest feed was read to its end tag; one snapshot."""
        db = open_reader(self._database)
        try:
            with db:
                rows = db.execute(
                    "select h.origin || u.path from url u join host h on h.id = u.host where u.version is not null and u.dup is null "
                    "and u.held is not 2"
                ).fetchall()
                ended = db.execute("select complete from feed order by id desc limit 1").get
        finally:
            db.close()
        return {str(found) for (found,) in rows}, bool(ended)

    def search(self) -> dict[str, str]:
        """Return what a search finds: URL to generation."""
        service, _, texts = search_service(self._rig.home, self._rig.read.settings)
        try:
            return {
                result.url: "old" if "old" in str(result.snippet) else "new"
                for host in range(HOSTS)
                for result in service.search(
                    SearchRequest("walrus", limit=100, sites=(f"h{host}.gen.test",))
                ).results
            }
        finally:
            texts.close()

    def check(self) -> None:
        """See that nothing is missing now."""
        self.looks += 1
        shown, ended = self.catalog()
        assert shown >= KEPT
        assert shown >= GONE or ended
        assert shown <= KEPT | GONE | ADDED


@contextmanager
def looked_at(rig: FeedRig, look: Callable[[], None]) -> Iterator[None]:
    """Have somebody look after every transaction of the feed thread."""
    feeding: Any = rig.local.feeding
    transact = feeding._transact

    def transacted(job: Any) -> Any:
        answer = transact(job)
        look()
        return answer

    for part in (feeding, feeding._groups):
        part._transact = transacted
    try:
        yield
    finally:
        for part in (feeding, feeding._groups):
            part._transact = transact


@pytest.fixture
def own(tmp_path: Path) -> Iterator[FeedRig]:
    process = FeedProcess()
    made = FeedRig(tmp_path / "home", process)
    told = made.push(*(page(n, "old") for n in OLD), datasource="gen", feedtype="full")
    assert told["state"] == "completed"
    made.local.index()
    yield made
    made.close()
    process.stop()


def test_gsa_T18_readers_find_old_or_new_at_every_moment_and_what_goes_goes_last(own: FeedRig) -> None:
    looking = Looking(own)
    found: list[dict[str, str]] = []

    def look() -> None:
        looking.check()
        own.local.index()  # as if the index kept up with every commit
        shown = looking.search()
        found.append(shown)
        assert set(shown) >= KEPT
        assert set(shown) >= GONE or looking.catalog()[1]

    with looked_at(own, look):
        told = own.push(*(page(n, "new") for n in NEW), datasource="gen", feedtype="full")
    assert (told["state"], told["deleted"]) == ("completed", LEFT_OUT)
    assert looking.catalog()[0] == KEPT | ADDED
    assert found[-1] == dict.fromkeys(KEPT | ADDED, "new")
    ages = [sorted(set(shown.values())) for shown in found]
    assert ages[0] == ["old"]
    # An index that commits every batch: a flip (unit/robot/test_flip) keeps this from searchers.
    assert ["new", "old"] in ages


def test_after_deaths_between_transactions_readers_find_the_same_and_it_goes_on(own: FeedRig) -> None:
    looking = Looking(own)
    lives, left = 0, 0

    class DeadError(Exception):
        pass

    def look() -> None:
        nonlocal left
        looking.check()
        left -= 1
        if not left:
            raise DeadError

    own.take(feed_xml(*(page(n, "new") for n in NEW), datasource="gen", feedtype="full"), "gen", "full")
    while True:
        lives += 1
        left = 2 * lives  # the first lives end before anything is applied, the others each a little later
        try:
            with looked_at(own, look):
                own.local.apply()
            break
        except DeadError:
            own.reopen()
            looking.check()
    assert lives > 2
    own.local.index()
    assert looking.catalog()[0] == KEPT | ADDED
    assert looking.search() == dict.fromkeys(KEPT | ADDED, "new")
