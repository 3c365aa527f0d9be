"""Sites with sitemaps on a real catalog: the desk of sitemaps, a clock of its own and a web that is a dictionary."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from ingather.app.sitemaps.desk import SitemapDesk
from ingather.app.sitemaps.limits import SitemapLimits
from ingather.app.syndication.reconciling import reconcile
from ingather.catalog.sqlite_apply import Applied
from ingather.conf import Site, load_bodies
from ingather.conf.shipped import shipped
from ingather.filters import Engine
from ingather.model.report import HostReport
from ingather.robot.settling.committing import Batch, Committer
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.robot.settling.settle import SettleRules
from ingather.robot.visit.discovering import Discoverer
from ingather.testing.fedhome import FedHome

__all__ = ["SiteHome"]


@dataclass
class SiteHome(FedHome):
    """A home that gathers the hosts of ``sites``; ``limits`` bound their sitemaps."""

    sites: tuple[str, ...] = ("a.test",)
    limits: SitemapLimits = field(default_factory=SitemapLimits)

    def open(self) -> None:
        """Start, as a process does."""
        super().open()
        loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
        assert loaded.ok
        loaded = loaded.with_sites([Site(name=host, host=host) for host in self.sites])
        self.discoverer = Discoverer(Engine(loaded), version=1, seed=self.writer.seed)
        self.maps = SitemapDesk(self.sources, lambda: self.discoverer, self.desk, self.limits)
        self.committer = Committer(
            self.writer, rules=SettleRules(), policies=lambda _: DeletionPolicy(), dice=Random(1),  # noqa: S311 - jitter
            now_s=lambda: self.now_s, clock_trusted=lambda: self.trusted, syndicator=self.maps,
        )  # fmt: skip
        self.job(lambda writer, applied: reconcile(self.desk, writer, applied, whole=True))
        self.job(self.maps.declare)

    def close(self) -> None:
        """End; nothing is lost."""
        self.discoverer.engine.shut_down()
        super().close()

    def start(self, url: str) -> None:
        """Put in a starting point."""
        found = self.discoverer.discover(url, depth=0, max_depth=None, source="web")
        self.job(lambda writer, applied: writer.applier.discover(found, None, applied))

    def robots(self, origin: str, text: str | None) -> None:
        """Let a host answer with this robots.txt; ``None`` = it has none."""

        def host(writer: Any, _: Applied) -> int:
            return int(writer.applier.host(origin))

        kind = "none" if text is None else "rules"
        report = HostReport(id=self.job(host), robots_kind=kind, robots_body=(text or "").encode())
        self.commit(Batch(hosts=[report]))

    def maps_step(self) -> bool:
        """Ask for what is due and take in what is listed."""

        def job(writer: Any, applied: Applied) -> bool:
            asked = writer.sitemaps.ask_due(writer.applier.now_s, applied)
            return bool(self.maps.take(writer, applied, 500) or asked)

        return bool(self.job(job))

    def rest(self) -> None:
        """Do everything that is to be done now."""
        for _ in range(1_000):
            self.step()
            if not (self.visit() + self.maps_step()):
                return
        msg = "it never rests"
        raise AssertionError(msg)

    def later(self, hours: float) -> None:
        """Let *hours* pass, then visit what is due and rest."""
        self.now_s += hours * 3600.0
        self.job(self._promote)
        self.rest()

    def _promote(self, writer: Any, applied: Applied) -> None:
        for host, count in writer.registry.promote_due(self.now_s, 10_000).items():
            applied.wakes(host, count)
