"""Feeds without ``serve``: applied by the command at hand, which owns the home meanwhile."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from ingather.app import sourcerules
from ingather.app.access.policing import place_when_changed, use_policy
from ingather.app.blueprint import Blueprint
from ingather.app.clock import SystemClock
from ingather.app.declaring import declare_sources
from ingather.app.feeds.home import FeedHome, deletion_guard, feed_policy
from ingather.app.feeds.office import FeedOffice
from ingather.app.feeds.outlawing import outlaw_when_changed
from ingather.app.feeds.process import FeedProcess
from ingather.app.feeds.thread import Feeding
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of, load_checked
from ingather.app.operating import follow_directly
from ingather.app.runsites import remembered_sites
from ingather.app.sourcescopes import crawled_sources
from ingather.app.versions import packed
from ingather.app.wiring import budget_limits, source_budgets
from ingather.catalog.bodies import cut_tails
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.feeds.authority import Sender
from ingather.feeds.desk import FeedFields, FeedKind, FeedTicket, Spooled
from ingather.feeds.policy import FeedPolicy
from ingather.feeds.spool import Spool
from ingather.filters import Engine
from ingather.index import IndexFolder
from ingather.model.source_name import BySource, source_key
from ingather.model.url import Canonicaliser
from ingather.ports.clock import Clock
from ingather.robot.settling.deletion import DeletionPolicy

__all__ = ["LocalFeeds", "feed_home", "indexed_sequence", "spool_of"]


def spool_of(home: Home) -> Path:
    """Return the folder where feeds lie."""
    return home.feeds / "spool"


def indexed_sequence(home: Home) -> int:
    """Return the newest change that the index of *home* has applied, 0 = there is none that can be read."""
    try:
        return int(IndexFolder(home.index).reader().snapshot().sequence)
    except Exception:  # noqa: BLE001 - without an index nothing is in it
        return 0


def feed_home(
    home: Home,
    sources: Mapping[str, SourceConf],
    blueprint: Callable[[], Blueprint],
    policies: Callable[[str], DeletionPolicy],
) -> FeedHome:
    """Return where feeds are applied in *home*."""
    return FeedHome(
        path=home.path, bodies=home.bodies, blueprint=blueprint, policy=lambda name: _feed_policy(name, sources),
        guard=deletion_guard(policies), follow=lambda name: _source(name, sources).follow_fed_links,
    )  # fmt: skip


def _source(name: str, sources: Mapping[str, SourceConf]) -> SourceConf:
    return BySource(sources).get(name) or SourceConf(name=name)


def _feed_policy(name: str, sources: Mapping[str, SourceConf]) -> FeedPolicy:
    own = _source(name, sources)
    return feed_policy(
        empty_acl_is_none=own.acl_empty_is_none, one_value_per_meta=own.acl_one_value_per_meta, takes_over=own.takes_over,
        taken_over={source_key(other): conf.taken_over for other, conf in sources.items() if conf.taken_over is not None},
        inherited=own.acls_inherited,
    )  # fmt: skip


class LocalFeeds:
    """A home whose feeds are applied here and now; close it. Needs the home's lock.

    Args:
        home: the home, locked by the caller.
        settings, sources: of its ``ingather.toml``.
        process: the feed worker; stopped at the end unless it was given.
        clock: wall time.
    """

    def __init__(
        self, home: Home, settings: Settings, sources: Mapping[str, SourceConf], *, process: FeedProcess | None = None,
        clock: Clock | None = None,
    ) -> None:  # fmt: skip
        self.home, self._settings = home, settings
        self._clock = clock or SystemClock()
        home.prepare()
        loaded = load_checked(home).with_sites(remembered_sites(home))
        self.writer = CatalogWriter(
            database_of(home), budgets=budget_limits(settings), by_source=source_budgets(settings, sources)
        )
        cut_tails(home.bodies, self.writer.registry.acknowledged())
        now_s = self._clock.wall()
        version = self.writer.transaction(
            lambda w: w.registry.versions.publish(
                loaded.digest, packed(loaded.bodies), now_s, note="as config/ was for a feed"
            )
        )
        canonicaliser = Canonicaliser(settings.words("urls.drop-parameters"))
        self.writer.transaction(
            lambda w: w.feeds.use_shortening(
                canonicaliser.canonical, "\n".join(canonicaliser.drop_parameters)
            )
        )
        known = BySource({"web": SourceConf()}).with_(sources)
        self.writer.transaction(lambda w: declare_sources(w, loaded, known))
        use_policy(self.writer, loaded.policy)
        place_when_changed(
            self.writer, loaded, known, now_s, rescues=settings.flag("access.policy-rescues-broken")
        )
        self._blueprint = Blueprint(
            home=str(home), socket="", seed=self.writer.seed, version=version, files=dict(loaded.bodies), sites=(),
            settings=settings, sources=known, own_ports=(), overrides={},
        )  # fmt: skip
        self.changed = False
        policies = sourcerules.policies_of(settings, known, crawled_sources(loaded))
        self._own_process = process is None
        self._process = process or FeedProcess()
        self.feeding = Feeding(
            feed_home(home, known, lambda: self._blueprint, policies), self._transact, clock=self._clock, process=self._process
        )  # fmt: skip
        outlaw_when_changed(
            self._transact,
            loaded,
            lambda: Engine(loaded),
            deletion_guard(policies),
            self._clock.wall,
        )
        self.office = FeedOffice(home.path, database_of(home), lambda: 0)

    def _transact(self, job: Callable[[CatalogWriter, Applied], Any]) -> Any:
        applied = Applied()

        def work(writer: CatalogWriter) -> Any:
            writer.applier.now_s = self._clock.wall()
            return job(writer, applied)

        answer = self.writer.transaction(work)
        self.changed = self.changed or bool(applied.changes)
        return answer

    def take(self, source: Path, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Copy a file into the spool, durable, and give it its place in the queue.

        Raises:
            FeedRefusedError: it may not be called so.
            OSError: the file cannot be read or copied.
        """
        fields.check()
        folder = spool_of(self.home)
        folder.mkdir(mode=0o700, exist_ok=True)
        file = Spool(folder).begin(b"<record")
        with source.open("rb") as stream:
            while piece := stream.read(1 << 20):
                file.write(piece)
                file.flush()
        return self.take_spooled(file.commit(), fields, sender)

    def take_spooled(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Give a spooled file its place in the queue."""
        ticket: FeedTicket = self._transact(self.feeding.taking(spooled, fields, sender))
        self.feeding.taken(
            ticket.id, ticket.datasource, spooled.records, groups=fields.kind is FeedKind.GROUPS
        )
        return ticket

    def do(self, job: Callable[[CatalogWriter, Applied, float], Any]) -> Any:
        """Run an operator's job."""
        return self._transact(lambda w, a: job(w, a, self._clock.wall()))

    def empty(self, datasource: str) -> str:
        """Put the deletion of everything that feeds brought for *datasource* into its queue; return its name."""
        ticket: FeedTicket = self._transact(self.feeding.emptying(datasource, "the operator"))
        return ticket.name

    def apply(self) -> None:
        """Apply everything that waits."""
        self.feeding.recover()
        self.feeding.drain()

    def index(self) -> None:
        """Let the index catch up with what was applied, also with what somebody applied who died before he indexed it."""
        if self.changed or indexed_sequence(self.home) < self.writer.applier.sequence:
            follow_directly(follower_of(self.home, self._settings, self._clock), self.writer.applier.sequence)
            self.changed = False

    def close(self) -> None:
        """Close the catalog."""
        if self._own_process:
            self._process.stop()
        self.writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
