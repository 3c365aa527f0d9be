"""``ingather serve``: the keeper gathers on and on, two listeners answer.

Search (page, API, ``/health``) and admin (everything else, with the token) are separate
listeners in threads of their own; what they ask of the keeper goes through its loop. A stop is a
courtesy: killing loses nothing.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Self, TypeVar

import uvicorn
from prometheus_client import CollectorRegistry

from ingather import __version__
from ingather.app.access.accessing import HomeAccess
from ingather.app.access.accounts import Accounts
from ingather.app.access.directory import people_of
from ingather.app.access.groups import Groups
from ingather.app.access.oidc import provider_of
from ingather.app.access.passwords import Passwords
from ingather.app.access.people import CatalogPeople, proxies_of, session_life
from ingather.app.confined.sandbox import Sandbox, probe
from ingather.app.deletion_metering import DeletionMetrics
from ingather.app.deletions import DeletionBook
from ingather.app.descriptions.rdm import RdmService
from ingather.app.descriptions.store import SiteSources, Tally
from ingather.app.explaining import explainer_of
from ingather.app.feeds.gate import FeedListeners, GateParts
from ingather.app.feeds.serving import ServedFeeds
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.hostaliases.served import ServedHosts
from ingather.app.housekeeping import Housekeeping
from ingather.app.jobs import Job
from ingather.app.keeper import Gathering
from ingather.app.listening import Listeners, connection_limits
from ingather.app.machinenames import own_hosts
from ingather.app.metering import FeedMetrics, KeeperMetrics
from ingather.app.nothing import NothingWatch
from ingather.app.notices import Alarm, notifying
from ingather.app.overlay.desk import Edit, OverlayDesk
from ingather.app.owner import forget_address, note_address
from ingather.app.publishing import take_over
from ingather.app.querylog import QueryLog
from ingather.app.reports.desk import HomeReports
from ingather.app.robot.desk import RobotDesk
from ingather.app.robot.form import robot_form
from ingather.app.searching import Seeing, search_service
from ingather.app.served_operations import ServedOperations
from ingather.app.sites.board import served_editing, served_sites
from ingather.app.status import status_form
from ingather.app.syndication.metering import WebFeedMetrics
from ingather.app.syndication.office import SyndicationOffice
from ingather.app.traps.desk import TrapDesk
from ingather.app.watch import (
    Canary,
    CanaryMetrics,
    NoticeMetrics,
    WatchMetrics,
    alarms_of,
    facts_of,
    readiness,
    tidy_canary,
    watch_certificates,
)
from ingather.app.wiring import converter_limits
from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.catalog.sqlite_apply import Applied
from ingather.conf.settings.values import Settings
from ingather.errors import IngatherError
from ingather.explain import Explainer
from ingather.log import get
from ingather.search import SearchRequest, SearchResults, SearchService
from ingather.web import (
    AdminParts,
    Health,
    HttpMetrics,
    Paging,
    Readiness,
    SearchParts,
    Secret,
    WebLimits,
    admin_app,
    listener_config,
    search_app,
)
from ingather.web.endpoint import Role

__all__ = ["Serving"]

_log = get("app")
_SWITCH_S = 100.0
T = TypeVar("T")


def _may_feed(people: CatalogPeople, token: str) -> bool:
    holder = people.token(token)
    return holder is not None and not holder.rights.isdisjoint({Role.FEEDER, Role.ADMINISTRATOR})


def _paging(settings: Settings) -> Paging:
    return Paging(
        settings.count("search.page-size"),
        settings.count("search.page-size-max"),
        settings.count("limits.query-window"),
    )


class Serving:
    """A gathering with its two listeners; ``async with`` from bind to close."""

    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        gathering: Gathering,
        home: Home,
        settings: Settings,
        listeners: Listeners,
        feed_listeners: FeedListeners | None = None,
        canary: Canary | None = None,
    ) -> None:
        self.gathering, self.home, self.settings = gathering, home, settings
        self.listeners = listeners
        self._feed_listeners, self.canary = feed_listeners, canary
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers: list[tuple[uvicorn.Server, threading.Thread]] = []
        self._registry = CollectorRegistry()
        self._background: list[asyncio.Task[None]] = []
        self._housekeeping = Housekeeping(gathering, lambda: self._reload())  # noqa: PLW0108 - it changes
        self.sandbox = Sandbox()
        self.nothing = NothingWatch(gathering)
        self._stopping = False
        self._close: Callable[[], None] = lambda: None
        self._queries: QueryLog | None = None
        self._reload: Callable[[], None] = lambda: None
        self._people: tuple[CatalogPeople | Seeing, ...] = ()

    def index_committed(self, _sequence: int) -> None:
        """Let searchers see a commit of the index; called by the index thread."""
        self._reload()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        gathering = self.gathering
        await self._loop.run_in_executor(None, gathering.follower.opened.wait, 60)
        service, reader, texts = search_service(self.home, self.settings)
        self._close, self._reload = texts.close, reader.reload
        self._queries = self._query_log()
        self._rdm = self._rdm_service(service)
        self._operations, passwords = ServedOperations(gathering, self.ask), Passwords()
        operations = self._operations
        directory = people_of(self.home, self.settings, gathering.clock)
        people = CatalogPeople(
            database_of(self.home), operations.do, gathering.clock, passwords=passwords, life=session_life(self.settings),
            directory=directory,
        )  # fmt: skip
        accounts = Accounts(
            lambda _path, _form, job: operations.do(job), changed=people.refresh, passwords=passwords
        )
        self.feeds = ServedFeeds(gathering)
        await self.feeds.start()
        self._notices = notifying(
            self.home, self.settings, gathering.clock, office=self.feeds.office, do=operations.do, own_ports=gathering.plan.own_ports,
            look=lambda: self._alarms(operations), runs=self._runs, figures=self._figures,
            least_visits=1 if self.canary is None else 2,
        )  # fmt: skip
        if self._notices is not None:
            await self._loop.run_in_executor(None, self._notices.start)
        self._own = own_hosts(self.settings)
        listening = [] if self._feed_listeners is None else self._feed_listeners.listening
        self._gate = GateParts.of(
            self.home, self.settings, listening, desk=self.feeds.desk, clock=gathering.clock,
            status_url=f"{self.listeners.urls[1]}api/v1/feeds/", feeder=lambda token: _may_feed(people, token), own=self._own,
        )  # fmt: skip
        seeing = Seeing(self.home, service, directory=directory)
        self._people = (people, seeing)
        http = HttpMetrics(self._registry)
        KeeperMetrics(self._registry, gathering)
        FeedMetrics(self._registry, self._gate.gate, self._gate.intake, self.feeds.desk)
        WebFeedMetrics(self._registry, database_of(self.home))
        DeletionMetrics(self._registry, database_of(self.home), gathering.clock.wall)
        WatchMetrics(self._registry, self._readiness, gathering.room, database_of(self.home))
        CanaryMetrics(self._registry, self.canary)
        NoticeMetrics(self._registry, {} if self._notices is None else self._notices.outboxes)
        limits = WebLimits(query_s=self.settings.seconds("limits.query-time"))
        search_parts = replace(
            self._search_parts(service, http, limits),
            nothing=self.nothing.told,
            people=people, sees=seeing, proxies=proxies_of(self.settings), clock=gathering.clock,
            sign_on=provider_of(self.home, self.settings, gathering.clock),
        )  # fmt: skip
        admin_parts = replace(
            self._admin_parts(http, limits),
            people=people,
            accounts=accounts,
            groups=Groups(
                database_of(self.home),
                operations.do,
                gathering.clock.wall,
                cut_domains=self.settings.flag("access.cut-domains"),
            ),
            overlay=self._overlay_desk(),
            access=HomeAccess(
                self.home, directory=directory, cut_domains=self.settings.flag("access.cut-domains")
            ),
            rss=SyndicationOffice(
                self.home,
                gathering.sources,
                lambda _path, _form, job: operations.do(job),
                gathering.clock.wall,
            ),
            feeds=self.feeds,
            intake=self._gate.intake,
            deletions=DeletionBook(database_of(self.home)),
            reports=HomeReports(
                self.home, self.settings, lambda: robot_form(gathering), now=gathering.clock.wall
            ),
            traps=TrapDesk(
                database_of(self.home),
                lambda _path, _form, job: operations.do(job),
                served_editing(gathering, self._switch),
            ),
            robot=RobotDesk(gathering, lambda work: self.ask(work, timeout_s=_SWITCH_S)),
            sites=served_sites(gathering, self._switch),
            host_names=ServedHosts(gathering, lambda work: self.ask(work, timeout_s=_SWITCH_S)),
        )
        self._listen(search_app(search_parts), self.listeners.search, "search")
        self._listen(admin_app(admin_parts), self.listeners.admin, "admin")
        host, port = self.listeners.own_ports[1]
        note_address(self.home, host, port)
        self._gate.gate.start()
        self._background = [
            *(asyncio.create_task(work) for work in self._housekeeping.work),
            asyncio.create_task(self._probe()),
            asyncio.create_task(watch_certificates(gathering)),
        ]
        await tidy_canary(gathering, self.canary)
        if self.canary is not None:
            rounds = self.canary.rounds_of(gathering, partial(self._finds, service))
            self._background.append(asyncio.create_task(rounds))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping = True
        forget_address(self.home)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        for server, _thread in self._servers:
            server.should_exit = True
        for _server, thread in self._servers:
            await asyncio.get_running_loop().run_in_executor(None, thread.join, 15)
        await asyncio.get_running_loop().run_in_executor(None, self._gate.stop)
        if self._notices is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._notices.stop)
        await self.feeds.stop()
        self._reload = lambda: None
        self._close()
        for closing in self._people:
            closing.close()

    def ask(self, work: Coroutine[Any, Any, T], *, timeout_s: float = 60.0) -> T:
        """Run *work* on the keeper's loop from another thread and return its answer."""
        if self._loop is None:
            work.close()
            raise RuntimeError("not serving")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def _switch(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* as :meth:`ask`, with time for gatherers to finish."""
        return self.ask(work, timeout_s=_SWITCH_S)

    def _search_parts(self, service: SearchService, http: HttpMetrics, limits: WebLimits) -> SearchParts:
        return SearchParts(
            search=self._watched(service, "search"), health=self._search_health, metrics=http, limits=limits,
            ready=lambda: self._readiness(searching=True), hosts=self._own, paging=_paging(self.settings),
        )  # fmt: skip

    def _query_log(self) -> QueryLog | None:
        if not self.settings.flag("log.queries"):
            return None
        return QueryLog(
            self.home.log, self.gathering.clock, max_bytes=self.settings.size("log.file-size"),
            keep=self.settings.count("log.files"),
        )  # fmt: skip

    def _watched(self, service: SearchService, way: str) -> Callable[[SearchRequest], SearchResults]:
        return service.search if self._queries is None else self._queries.watch(service.search, way)

    def _overlay_desk(self) -> OverlayDesk:
        watch = self.gathering.overlay_watch

        def apply(edit: Edit, author: str, note: str) -> bool:
            return self.ask(watch.edit(edit, author=author, note=note), timeout_s=_SWITCH_S)

        return OverlayDesk(
            self.home, self.home.settings(environment=os.environ), apply, self.gathering.clock.wall
        )

    def _admin_parts(self, http: HttpMetrics, limits: WebLimits) -> AdminParts:
        gathering = self.gathering
        lock = threading.Lock()

        @lru_cache(1)
        def explainer(version: int) -> Explainer:
            return explainer_of(
                self.home, self.settings, gathering.sources, loaded=gathering.loaded, version=version
            )

        def explain(url: str, fetch: bool) -> dict[str, Any]:  # noqa: FBT001 - the port's shape
            with lock:  # the engine belongs to one question at a time
                return explainer(gathering.version).explain(url, fetch=fetch)

        def reconfigure(stage: str, author: str, note: str, base: str) -> dict[str, Any]:
            work = take_over(gathering, stage=stage, author=author, note=note, base=base)
            return self.ask(work, timeout_s=_SWITCH_S).form()

        return AdminParts(
            token=Secret(self.home.admin_token()), clock=gathering.clock, registry=self._registry, health=self._admin_health,
            ready=self._readiness,
            explain=explain, status=self._status, operations=self._operations, reconfigure=reconfigure,
            metrics=http, hosts=self._own,
            search_url=self.listeners.urls[0], version=__version__, limits=limits, rdm=self._rdm_answer,
        )  # fmt: skip

    def _rdm_service(self, service: SearchService) -> RdmService:
        gathering, home = self.gathering, self.home

        def write(job: Job) -> Tally:
            def work(writer: Any, applied: Applied) -> Tally:
                tally: Tally = job(writer, applied, gathering.clock.wall())
                return tally

            tally: Tally = self.ask(gathering.keeper.write(work))
            return tally

        return RdmService(
            reader=lambda: DescriptionReader(database_of(home), home.bodies),
            search=self._watched(service, "rdm"),
            write=write,
            source_of=lambda: SiteSources(gathering.loaded, gathering.sources),
            taxonomy=lambda: gathering.loaded.classification.taxonomy,
            schema=lambda: gathering.loaded.rd_schema,
            address=self.listeners.urls[0],
        )

    def _rdm_answer(self, body: bytes) -> tuple[int, bytes]:
        answer = self._rdm.answer(body)
        return answer.status, answer.body

    def _search_health(self) -> Health:
        if self.gathering.follower.broken:
            return Health(ok=False, text="the index stopped")
        return Health(ok=True, text="disk full: no new work" if self.gathering.keeper.disk_full else "ok")

    def _admin_health(self) -> Health:
        keeper = self.gathering.keeper
        if keeper.failed is not None:
            return Health(ok=False, text=f"the keeper failed: {keeper.failed}")
        if self.gathering.follower.broken:
            return Health(ok=False, text=f"the index stopped: {self.gathering.follower.broken}")
        return Health(ok=True, text="disk full: no new work" if keeper.disk_full else "ok")

    def _status(self) -> dict[str, Any]:
        canary = {} if self.canary is None else {"canary": self.canary.form()}
        return {**status_form(self.gathering, self.sandbox), **canary}

    def _finds(self, service: SearchService, word: str) -> bool:
        """Whether the canary is found by *word*, by anybody; an index that cannot be asked finds nothing."""
        assert self.canary is not None  # noqa: S101 - its rounds ask
        try:
            results = service.search(SearchRequest(word, limit=1)).results
        except IngatherError:
            return False
        return any(result.url == self.canary.url for result in results)

    def _readiness(self, *, searching: bool = False) -> Readiness:
        canary = self.canary.trouble if self.canary is not None else ""
        facts = facts_of(
            self.gathering, findings=self._housekeeping.findings, canary=canary, stopping=self._stopping
        )
        return readiness(facts, searching=searching)

    def _alarms(self, operations: ServedOperations) -> list[Alarm]:
        failing_s = self.settings.seconds("notices.failing-after")
        return list(alarms_of(self.gathering, self._readiness(), operations.holds(), failing_s=failing_s))

    def _runs(self) -> list[dict[str, Any]]:
        reader = self.gathering.reader_once()
        try:
            return [run.form() for run in reader.runs(20)]
        finally:
            reader.close()

    def _figures(self, run: int) -> dict[str, dict[str, int]]:
        reader = ReportReader(database_of(self.home))
        try:
            return reader.figures(run)
        finally:
            reader.close()

    def _listen(self, app: Any, listener: socket.socket, name: str) -> None:
        server = uvicorn.Server(listener_config(app, limits=connection_limits(self.settings)))
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name=f"web-{name}", daemon=True
        )
        thread.start()
        self._servers.append((server, thread))

    async def _probe(self) -> None:
        """Learn how converters are confined here."""
        gathering, run = self.gathering, self.home.run / "converters-probe"
        limits = converter_limits(self.settings, gathering.loaded.robot)
        self.sandbox = await probe(limits, gathering.clock, run)
