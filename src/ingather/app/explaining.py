"""The explainer of a home: catalog, filters, index and, on request, the network."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ingather.app import sourcerules, wiring
from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.credentials import CredentialFile
from ingather.app.home import Home
from ingather.app.homeparts import database_of, load_checked
from ingather.app.hostaliases.explaining import alias_answer
from ingather.app.overlay.desk import Edit, OverlayDesk
from ingather.app.plugging import converter_environment, plug_ins
from ingather.app.reaching.logins import LoginBook
from ingather.app.reaching.protocols import protocol_fetchers
from ingather.app.reaching.rested import rested_ways
from ingather.app.runhosts import resolve
from ingather.app.runsites import remembered_sites
from ingather.app.sourcescopes import SourceScopes, crawled_sources
from ingather.app.syndication.reading import WebFeedBook
from ingather.app.visiting import Visitor
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import Loaded, RobotConf, Site
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import ExtractError, IndexingError, IsolationError
from ingather.explain import Explainer, ExplainParts
from ingather.extract.page import read_converted, read_page
from ingather.filters import Convert, Engine
from ingather.index import IndexFolder
from ingather.model.description import Attributes
from ingather.model.page import Converted, Page
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.source_name import BySource
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split

__all__ = ["explainer_of"]

T = TypeVar("T")


def explainer_of(  # noqa: PLR0913 - the parts of one answer, put together in one place
    home: Home,
    settings: Settings,
    sources: Mapping[str, SourceConf],
    *,
    loaded: Loaded | None = None,
    version: int = 0,
    indexed: Callable[[int], tuple[bool, int] | None] | None = None,
) -> Explainer:
    """Return an explainer; the running process gives its own configuration and index, others open them."""
    of_runs = () if loaded is not None else remembered_sites(home)
    configuration = loaded or load_checked(home).with_sites(of_runs)
    robot = configuration.robot
    agent = wiring.agent_token(robot)
    own = plug_ins(home, settings)
    clock = SystemClock()

    def reader() -> SqliteReader | None:
        return SqliteReader(database_of(home), home.bodies) if database_of(home).exists() else None

    def look(row: int) -> tuple[bool, int] | None:
        try:
            snapshot = IndexFolder(home.index).reader().snapshot()
            return snapshot.has(row), snapshot.sequence
        except IndexingError:
            return None

    canonicaliser = Canonicaliser(settings.words("urls.drop-parameters"))

    def read(response: Response) -> Page:
        return read_page(
            response.body, url=response.url, content_type=response.header("content-type") or None, headers=response.headers,
            agent=agent, canonicaliser=canonicaliser,
        )  # fmt: skip

    def convert(wanted: Convert, response: Response) -> Page:
        async def work() -> Page:
            pool = ConverterPool(
                count=1,
                limits=wiring.converter_limits(settings, robot),
                clock=clock,
                environment=converter_environment(own),
            )
            try:
                name = response.url.partition("?")[0].rsplit("/", 1)[-1]
                answer = await pool.run(
                    "convert",
                    response.body,
                    {
                        "name": name,
                        "content_type": wanted.media_type,
                        "declared": response.header("content-type"),
                    },
                )
            finally:
                await pool.close()
            return read_converted(
                msgspec.msgpack.decode(answer, type=Converted), url=response.url, media_type=wanted.media_type,
                headers=response.headers, agent=agent, canonicaliser=canonicaliser,
            )  # fmt: skip

        return _now(work())

    def fetch(request: Request, source: str) -> Response | Failure:
        return _now(_fetch(request, source))

    async def _fetch(request: Request, source: str) -> Response | Failure:
        keys = CredentialFile(home.path, clock.monotonic)
        book = LoginBook(
            home.path,
            settings,
            sources,
            clock,
            sites=() if loaded is None else loaded.rules.sites,
            robot=robot,
        )
        crawled = crawled_sources(configuration)
        reach = _as_the_run(of_runs, sources, request.url, source)
        visitor = Visitor(
            settings, robot, reach, clock=clock, authorization=keys.header, logins=book.find, home=home.path,
            scopes=SourceScopes(home.feeds, settings, reach, crawled).of,
            others=None if loaded is None else lambda resolver: protocol_fetchers(
                loaded, settings, sources, home=home.path, clock=clock, resolver=resolver, passwords=book.password, guards=book.guard
            ),
        )  # fmt: skip
        try:
            state = await visitor.robots(split(request.url).origin, source)
            verdict = state.decide(agent, request.url) if state is not None else None
            if verdict is not None and not verdict.allowed:
                return Failure(
                    request.url, FailureKind.CANCELLED, f"robots.txt: {verdict.text or verdict.reason}"
                )
            return await visitor.fetch(request.url, source)
        finally:
            await visitor.close()

    return Explainer(
        ExplainParts(
            reader=reader,
            engine=Engine(wiring.bound(configuration, settings, sources)),
            version=version,
            agent=agent,
            obey=bool(robot.enable_robots_txt),
            indexed=indexed or look,
            fetch=fetch,
            now_s=clock.wall,
            read_page=read,
            convert=convert,
            summarize=_summarizer(settings, robot),
            overlay=OverlayDesk(home, home.settings(), _no_edit, clock.wall).explain,
            web_feeds=WebFeedBook(home, sources, clock.wall).told_by_explain,
            listed=sourcerules.rules_of(sources).__contains__,
            ways=lambda source, url: rested_ways(database_of(home), source, url, clock.wall()),
            alias=lambda url: alias_answer(home, url, smart=bool(robot.smart_host_heuristics)),
        )
    )


def _as_the_run(
    sites: Sequence[Site], sources: Mapping[str, SourceConf], url: str, source: str
) -> Mapping[str, SourceConf]:
    """Return *sources* with *source* reaching the host of *url*, if a command line named it: as that run did."""
    parts = split(url)
    if not any(site.host == parts.host for site in sites):
        return sources
    known = sources.get(source) or SourceConf(name=source)
    opened = resolve(parts.host, parts.port).private
    return BySource(sources).with_({source: known.reaching(hosts=(parts.host,), addresses=opened)})


def _no_edit(_edit: Edit, _author: str, _note: str) -> bool:
    return False


def _now(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* to its end in a loop of its own; called from threads that have none."""
    return asyncio.run(work)


def _summarizer(settings: Settings, robot: RobotConf) -> Callable[[str, Response], Attributes]:
    """Return what runs a Harvest program over a stored response; nothing comes of one that fails."""

    async def work(program: str, response: Response) -> Attributes:
        pool = ConverterPool(count=1, limits=wiring.converter_limits(settings, robot), clock=SystemClock())
        try:
            runs = wiring.summarizers(pool, settings, robot)
            stated = response.header("content-type")
            return dict(await runs.summarize(program, response.body, content_type=stated))
        except (ExtractError, IsolationError):
            return {}
        finally:
            await pool.close()

    return lambda program, response: _now(work(program, response))
