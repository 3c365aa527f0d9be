"""What every implementation of a port must pass: one class a port, whoever writes the adapter.

A suite is a class of ``test_...`` methods; an adapter's tests subclass it and say how one is made::

    class TestMyFetcher(FetcherContract):
        def make(self) -> Fetcher:
            return MyFetcher()

pytest runs that as it stands; :func:`run_contract` runs it without pytest. Nothing here imports
pytest, and plain ``assert`` says what failed.
"""
# ruff: noqa: PLR2004 - a number in an expectation is its own name

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.catalog import CatalogReader
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.ports.index import IndexDocument, IndexWriter
from ingather.ports.resolver import Resolver
from ingather.testing.server import SyntheticServer
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import WebShape

__all__ = [
    "CatalogContract",
    "ClockContract",
    "FetcherContract",
    "IndexContract",
    "ResolverContract",
    "Sown",
    "run_contract",
]

T = TypeVar("T")


def run_contract(suite: type[object]) -> list[str]:
    """Run every test of *suite* on a fresh instance; return the names of those that ran.

    Raises:
        AssertionError: of the first test that fails.
    """
    names = [name for name in dir(suite) if name.startswith("test_")]
    for name in names:
        getattr(suite(), name)()
    return names


class ClockContract(ABC):
    """:class:`ingather.ports.clock.Clock`."""

    @abstractmethod
    def make(self) -> Clock:
        """Return a clock."""

    def test_monotonic_time_never_goes_back(self) -> None:
        """A thousand readings ascend."""
        clock = self.make()
        times = [clock.monotonic() for _ in range(1000)]
        assert times == sorted(times)

    def test_wall_time_is_of_this_century(self) -> None:
        """Seconds since 1970, not milliseconds, not since something else."""
        assert 946_684_800 < self.make().wall() < 4_102_444_800


class ResolverContract(ABC):
    """:class:`ingather.ports.resolver.Resolver`."""

    @abstractmethod
    def make(self) -> Resolver:
        """Return a resolver; called in the loop that uses it."""

    def _resolve(self, host: str) -> Sequence[str]:
        async def ask() -> Sequence[str]:
            return await self.make().resolve(host)

        return asyncio.run(ask())

    def test_an_address_resolves_to_itself(self) -> None:
        """IPv4 and IPv6 literals need no name service."""
        assert list(self._resolve("127.0.0.1")) == ["127.0.0.1"]
        assert list(self._resolve("::1")) == ["::1"]


class FetcherContract(ABC):
    """:class:`ingather.ports.fetcher.Fetcher`, asked for the pages of a small synthetic web."""

    scope = Scope(addresses=("127.0.0.0/8",))
    seed = 5
    shape = WebShape(sites=2, pages=40)

    @abstractmethod
    def make(self, web: SyntheticWeb) -> Fetcher:
        """Return a fetcher that can reach *web* within :attr:`scope`; called in the loop that uses it."""

    @contextmanager
    def world(self) -> Iterator[SyntheticWeb]:
        """Give the web its addresses; by default served over HTTP on loopback."""
        with SyntheticServer(SyntheticWeb(self.seed, self.shape)) as server:
            yield server.web

    def _fetch(
        self, *requests: Callable[[SyntheticWeb], Request]
    ) -> tuple[SyntheticWeb, list[Response | Failure]]:
        async def ask(web: SyntheticWeb) -> list[Response | Failure]:
            fetcher = self.make(web)
            try:
                return list(
                    await asyncio.gather(*(fetcher.fetch(request(web), self.scope) for request in requests))
                )
            finally:
                await fetcher.close()

        with self.world() as web:
            return web, asyncio.run(ask(web))

    def _respond(self, request: Callable[[SyntheticWeb], Request]) -> tuple[SyntheticWeb, Response]:
        web, [got] = self._fetch(request)
        assert isinstance(got, Response), got
        return web, got

    def test_a_page_comes_back_whole(self) -> None:
        """Status, headers, body, the URL that was asked."""
        web, got = self._respond(lambda web: Request(web.url(0, 0)))
        answer = web.answer(0, "/")
        assert (got.status, got.url, got.body) == (200, web.url(0, 0), answer.body)
        assert got.header("content-type") == "text/html; charset=utf-8"
        assert got.header("etag") == dict(answer.headers)["ETag"]

    def test_a_missing_page_is_a_response(self) -> None:
        """404 is an answer."""
        _, got = self._respond(lambda web: Request(f"{web.origins[0]}/nowhere"))
        assert got.status == 404

    def test_a_redirect_is_not_followed(self) -> None:
        """The Location is the caller's business."""
        _, got = self._respond(lambda web: Request(f"{web.origins[0]}/go/1"))
        assert 300 < got.status < 309
        assert got.header("location")

    def test_validators_go_back_as_they_came(self) -> None:
        """A page that has not changed gives 304 and no body."""
        _, by_tag = self._respond(
            lambda web: Request(web.url(0, 0), etag=dict(web.answer(0, "/").headers)["ETag"])
        )
        _, by_date = self._respond(
            lambda web: Request(
                web.url(0, 0), last_modified=dict(web.answer(0, "/").headers)["Last-Modified"]
            )
        )
        assert [(got.status, got.body) for got in (by_tag, by_date)] == [(304, b"")] * 2

    def test_a_head_request_brings_no_body(self) -> None:
        """HEAD asks for headers only."""
        _, got = self._respond(lambda web: Request(web.url(0, 0), method="HEAD"))
        assert (got.status, got.body) == (200, b"")

    def test_a_body_beyond_the_limit_is_a_typed_failure(self) -> None:
        """More bytes than wanted are not kept."""
        _, [got] = self._fetch(lambda web: Request(web.url(0, 0), max_wire_bytes=100))
        assert isinstance(got, Failure)
        assert got.kind is FailureKind.TOO_LARGE

    def test_a_scheme_out_of_scope_is_refused(self) -> None:
        """Only http and https, unless the scope says otherwise."""
        _, [got] = self._fetch(lambda web: Request(web.url(0, 0).replace("http:", "gopher:")))
        assert isinstance(got, Failure)
        assert got.kind is FailureKind.EGRESS

    def test_a_host_that_is_not_there_is_a_failure_and_no_exception(self) -> None:
        """A closed port, or a name that does not exist."""
        _, [got] = self._fetch(lambda _: Request("http://127.0.0.1:9/"))
        assert isinstance(got, Failure)
        assert got.kind in {FailureKind.CONNECT, FailureKind.DNS}

    def test_many_calls_run_in_one_loop(self) -> None:
        """Each gets its own answer."""

        def page(number: int) -> Callable[[SyntheticWeb], Request]:
            return lambda web: Request(web.url(number % 2, number // 2))

        web, got = self._fetch(*(page(n) for n in range(80)))
        for number, response in enumerate(got):
            assert isinstance(response, Response)
            site, page_number = number % 2, number // 2
            assert response.body == web.answer(site, web.path(site, page_number)).body

    def test_a_cancelled_call_leaves_the_fetcher_usable(self) -> None:
        """Its connection is closed, the others go on."""

        async def ask(web: SyntheticWeb) -> Response | Failure:
            fetcher = self.make(web)
            try:
                doomed = asyncio.ensure_future(fetcher.fetch(Request(web.url(0, 0)), self.scope))
                await asyncio.sleep(0)
                doomed.cancel()
                await asyncio.gather(doomed, return_exceptions=True)
                return await fetcher.fetch(Request(web.url(0, 0)), self.scope)
            finally:
                await fetcher.close()

        with self.world() as web:
            got = asyncio.run(ask(web))
        assert isinstance(got, Response)
        assert got.status == 200


class IndexContract(ABC):
    """:class:`ingather.ports.index.IndexWriter`, judged by what a reader of the folder finds."""

    @abstractmethod
    def open(self, folder: Path) -> IndexWriter:
        """Open the index in *folder*, made if it is not there."""

    @abstractmethod
    def find(self, folder: Path, word: str) -> set[int]:
        """Return the ids of the public documents with *word*, as a searcher that starts now sees them."""

    @staticmethod
    def _document(number: int, body: str) -> IndexDocument:
        return IndexDocument(
            number, f"http://site.test/{number}", 1, title=f"page {number}", body=body, site="site.test"
        )

    def _with(self, work: Callable[[Path], T]) -> T:
        with TemporaryDirectory() as folder:
            return work(Path(folder))

    def _write(
        self, folder: Path, sequence: int, *documents: IndexDocument, remove: Sequence[int] = ()
    ) -> None:
        writer = self.open(folder)
        writer.put(documents)
        writer.remove(remove)
        writer.commit(sequence)
        writer.close()

    def test_an_empty_index_is_at_zero(self) -> None:
        """Nothing applied, nothing found."""

        def work(folder: Path) -> None:
            writer = self.open(folder)
            assert writer.sequence() == 0
            writer.close()

        self._with(work)

    def test_what_is_committed_is_found_and_the_sequence_kept(self) -> None:
        """Also by the next process."""

        def work(folder: Path) -> None:
            self._write(folder, 7, self._document(1, "granite quarry"), self._document(2, "granite tower"))
            assert self.find(folder, "granite") == {1, 2}
            assert self.find(folder, "tower") == {2}
            writer = self.open(folder)
            assert writer.sequence() == 7
            writer.close()

        self._with(work)

    def test_what_is_not_committed_is_dropped(self) -> None:
        """Documents and sequence belong to one commit."""

        def work(folder: Path) -> None:
            self._write(folder, 1, self._document(1, "granite"))
            writer = self.open(folder)
            writer.put([self._document(2, "granite")])
            writer.remove([1])
            assert self.find(folder, "granite") == {1}
            writer.close()
            assert self.find(folder, "granite") == {1}
            writer = self.open(folder)
            assert writer.sequence() == 1
            writer.close()

        self._with(work)

    def test_putting_an_id_again_replaces_it(self) -> None:
        """In the same commit and in a later one."""

        def work(folder: Path) -> None:
            self._write(folder, 1, self._document(1, "granite"), self._document(1, "timber"))
            assert (self.find(folder, "granite"), self.find(folder, "timber")) == (set(), {1})
            self._write(folder, 2, self._document(1, "harbour"))
            assert (self.find(folder, "timber"), self.find(folder, "harbour")) == (set(), {1})

        self._with(work)

    def test_removing_is_final_and_absent_ids_are_no_error(self) -> None:
        """Removed is removed, twice as well."""

        def work(folder: Path) -> None:
            self._write(folder, 1, self._document(1, "granite"), self._document(2, "granite"))
            self._write(folder, 2, remove=(1, 99))
            self._write(folder, 3, remove=(1,))
            assert self.find(folder, "granite") == {2}

        self._with(work)

    def test_a_commit_may_carry_nothing_but_its_sequence(self) -> None:
        """Changes that concern no document move the index on."""

        def work(folder: Path) -> None:
            self._write(folder, 41)
            writer = self.open(folder)
            assert writer.sequence() == 41
            writer.close()

        self._with(work)

    def test_nobody_sees_a_document_of_chain_zero(self) -> None:
        """Chain 0 is nobody."""

        def work(folder: Path) -> None:
            hidden = self._document(1, "granite")
            hidden.chain = 0
            self._write(folder, 1, hidden, self._document(2, "granite"))
            assert self.find(folder, "granite") == {2}

        self._with(work)


@dataclass(frozen=True, slots=True)
class Sown:
    """A page that a catalog was made to know: visited, described, found on *referrer* (``""`` = starting point)."""

    url: str
    title: str
    text: str
    depth: int = 0
    referrer: str = ""


class CatalogContract(ABC):
    """:class:`ingather.ports.catalog.CatalogReader`, over a catalog that knows :attr:`PAGES`."""

    PAGES = (
        Sown("http://site.test/", "Start", "granite quarry"),
        Sown("http://site.test/a", "A", "timber yard", 1, "http://site.test/"),
        Sown("http://site.test/a/b", "B", "harbour light", 2, "http://site.test/a"),
    )

    @abstractmethod
    def make(self, pages: Sequence[Sown]) -> AbstractContextManager[CatalogReader]:
        """Return a reader of a catalog in which *pages* were visited, in this order, and nothing else happened."""

    def test_absence_is_none_or_empty(self) -> None:
        """No call raises for what is not there."""
        with self.make(()) as reader:
            assert reader.find("http://site.test/") is None
            assert reader.get([1, 2]) == {}
            assert reader.description(1) is None
            assert reader.texts([1]) == {}
            assert reader.changes(0, 10) == []
            assert reader.stats().hosts == 0

    def test_every_page_is_found_by_its_url_and_by_its_id(self) -> None:
        """Both ways lead to the same row."""
        with self.make(self.PAGES) as reader:
            for page in self.PAGES:
                row = reader.find(page.url)
                assert row is not None
                assert (row.url, row.depth, row.referrer) == (page.url, page.depth, page.referrer)
                assert reader.get([row.id, 999_999]) == {row.id: row}

    def test_descriptions_and_texts_are_kept(self) -> None:
        """The page layer says the title, the text is the one that was extracted."""
        with self.make(self.PAGES) as reader:
            for page in self.PAGES:
                row = reader.find(page.url)
                assert row is not None
                description = reader.description(row.id)
                assert description is not None
                assert description.effective()["title"] == (page.title,)
                assert reader.texts([row.id]) == {row.id: page.text}

    def test_the_chain_of_referrers_ends_at_the_starting_point(self) -> None:
        """Nearest first."""
        with self.make(self.PAGES) as reader:
            row = reader.find(self.PAGES[-1].url)
            assert row is not None
            assert reader.referrers(row.id) == ["http://site.test/a", "http://site.test/"]

    def test_changes_ascend_and_can_be_read_in_pieces(self) -> None:
        """Whoever follows misses nothing."""
        with self.make(self.PAGES) as reader:
            changes = reader.changes(0, 100)
            assert [c.sequence for c in changes] == sorted({c.sequence for c in changes})
            ids = {row.id for page in self.PAGES if (row := reader.find(page.url))}
            assert {c.url_id for c in changes} >= ids
            pieces, after = [], 0
            while piece := reader.changes(after, 1):
                pieces += piece
                after = piece[-1].sequence
            assert pieces == changes
            assert reader.stats().sequence == changes[-1].sequence

    def test_every_page_has_been_visited(self) -> None:
        """Newest first; a row without visits would be a visit lost."""
        with self.make(self.PAGES) as reader:
            for page in self.PAGES:
                row = reader.find(page.url)
                assert row is not None
                visits = reader.visits(row.id)
                assert visits
                assert [v.at_s for v in visits] == sorted((v.at_s for v in visits), reverse=True)
