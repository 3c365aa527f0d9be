"""A section of ``ingather.toml`` changes nothing of what feeds push but what its keys say.

The matrix: each key, declared before and after the first push, with the name in lower case and in capitals, for a content feed, a list
of URLs and groups, before and after a restart. What comes of it is compared with what comes of the same pushes without a section.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from ingather.app import sourcerules, wiring
from ingather.app.blueprint import Blueprint
from ingather.app.confined.pool import ConverterPool
from ingather.app.feeds.order import FeedOrder
from ingather.app.feeds.process import FeedProcess
from ingather.app.feeds.worker import FeedWorker
from ingather.app.homeparts import database_of, load_checked
from ingather.app.sourcescopes import SourceScopes, crawled_sources
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.bodies import SegmentWriter
from ingather.conf.sources.sections import SOURCE_KEYS
from ingather.feeds.desk import FeedKind
from ingather.feeds.prepared import FeedBatch, pack_batch, unpack_batch
from ingather.feeds.trust import TrustList
from ingather.filters import Engine
from ingather.model.report import Claim, Report, Row
from ingather.model.resource import Response
from ingather.model.source_name import source_key
from ingather.model.url import Canonicaliser
from ingather.robot.frontier.lending import conditions_of
from ingather.robot.frontier.seen import Seen
from ingather.robot.settling.committing import Batch, Committer
from ingather.robot.settling.deletion import DeletionReason, Ledger, Proposal
from ingather.robot.settling.settle import SettleRules
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.reading import Reading
from ingather.testing.feeds import FeedRig, content, record
from ingather.testing.site import html

PUSHED, OWN, FOREIGN = "http://dms.test/list/1", "http://dms.test/found", "http://elsewhere.test/"
LATER, WITH_CONTENT = "http://dms.test/list/2", "http://dms.test/content"
MEMBERS: Final = (
    b"<xmlgroups><membership><principal scope='GROUP'>staff</principal><members><principal scope='USER'>ann</principal>"
    b"</members></membership></xmlgroups>"
)
MEANT: Final[dict[str, tuple[str, set[str]]]] = {
    "kind": ("'site'", set()),
    "hosts": ("['.test']", {"hosts"}),
    "ports": ("[80, 8080]", {"ports", "address_ports"}),
    "addresses": ("['10.9.0.0/16']", {"addresses", "address_ports"}),
    "access": ("'secure'", {"access", "public", "ledger"}),
    "acl": ("['user:ann']", {"public"}),
    "own-hosts": ("['dms.test']", {"own"}),
    "delay": ("'5s'", {"delay"}),
    "schemes": ("['https']", {"schemes"}),
    "verify-tls": ("false", {"verify_tls"}),
    "user-agent": ("'us/1'", {"user_agent"}),
    "deletion-share": ("'33%'", {"deletion.share"}),
    "deletion-documents": ("7", {"deletion.documents"}),
    "deletion-half-share": ("'33%'", {"deletion.half_share"}),
    "deletion-half-floor": ("7", {"deletion.half_floor"}),
    "deletion-confirm-after": ("'3h'", {"deletion.confirm_s", "missing"}),
    "deletion-confirm-looks": ("3", {"deletion.confirm_looks", "missing"}),
    "deletion-cool-down": ("'3h'", {"deletion.cool_down_s"}),
    "deletion-rd-lifetime": ("'3d'", set()),
    "held-shown": ("false", {"deletion.hide_held_public", "deletion.hide_held_secure"}),
    "host-urls": ("7", {"budget"}),
    "prefix-urls": ("7", {"budget"}),
    "path-queries": ("7", {"budget"}),
    "acl-empty-is-none": ("true", {"empty_acl"}),
    "acl-one-value-per-meta": ("true", {"one_value"}),
    "takes-over": ("false", {"takes_over"}),
    "taken-over": ("false", {"taken_over"}),
    "acls-inherited": ("true", {"inherited"}),
    "follow-fed-links": ("false", {"linked", "ledger"}),
    "follow-patterns": ("true", {"follows"}),
    "crawl-time-headers": ("false", {"heeds"}),
    "recheck-min": ("'3h'", {"recheck"}),
    "recheck-max": ("'3d'", {"recheck"}),
    "recheck-first": ("'3h'", {"recheck"}),
    "host-visits": ("9", {"visits"}),
    "sitemaps": ("['http://dms.test/s.xml']", set()),
    "roots": ("['/srv/docs']", set()),
    "file-hidden": ("['.x']", set()),
    "host-keys": ("['SHA256:" + "A" * 43 + "']", set()),
    "known-hosts": ("'/srv/known'", set()),
    "ssh-key": ("'/srv/key'", set()),
    "proxy": ("['http://proxy.test:3128']", set()),
    "no-proxy": ("['dms.test']", set()),
    "schedule": ("['@daily']", set()),
    "windows": ("['22:00-06:00']", set()),
    "delays": ("['22:00-06:00=5s']", set()),
    "time-zone": ("'Europe/Vienna'", set()),
    "overlay-on-error": ("'keep_last_good'", set()),
    "overlay-schemeless": ("'any'", set()),
    "acl-overlay": ("'none'", set()),
    "javascript": ("'auto'", set()),
    "feeds": ("['http://dms.test/f']", set()),
    "code": ("'d'", set()),
    "honoured-query-parameters": ("['q']", set()),
    "link-scope": ("'same-host'", set()),
    "on-max-index-age": ("'keep'", set()),
    "item-metadata": ("'fallback'", set()),
    "on-feed-removed": ("'delete'", set()),
    "soft404": ("'delete'", set()),
}  # fmt: skip
"""Key to a value that is not its default, and to what of the outcome it says. Other flags are turned round, other figures doubled."""
REFERRING: Final = frozenset({"credentials", "proxy-credentials"})
"""They name other tables; the journeys of log-ins have them."""


def value_of(key: str) -> tuple[str, set[str]]:
    if key in MEANT:
        return MEANT[key]
    setting = next(one for one in SOURCE_KEYS if one.key == key)
    default = setting.default
    if isinstance(default, bool):
        return str(not default).lower(), set()
    assert isinstance(default, int | float), key
    return (
        f"'{max(int(default * 2), 60)}s'" if setting.kind.name == "SECONDS" else str(int(default * 2) or 5)
    ), set()


class Reader(FeedProcess):
    """The feed worker itself, without a process around it."""

    def __init__(self) -> None:
        super().__init__()
        self._worker: FeedWorker | None = None
        self._loop = asyncio.new_event_loop()

    def ask(self, order: FeedOrder, blueprint: Blueprint, *, newest_segment: int) -> FeedBatch:
        if self._blueprint is not blueprint:
            self.stop()
            self._worker, self._blueprint = FeedWorker(blueprint), blueprint
        assert self._worker is not None
        batch = unpack_batch(pack_batch(self._loop.run_until_complete(self._worker.answer(order))))
        self.segment = batch.segment or newest_segment
        return batch

    def ahead(self, order: FeedOrder) -> None:
        """Nobody else is there to begin."""

    def stop(self) -> None:
        if self._worker is not None:
            self._loop.run_until_complete(self._worker.close())
        self._worker = self._blueprint = None

    def end(self) -> None:
        self._loop.close()


class Bench:
    """A home with pushes, and the robot's decisions about what was pushed, made by the parts that a gatherer has."""

    def __init__(self, path: Path) -> None:
        self.process = Reader()
        self.rig = FeedRig(path, self.process)
        TrustList(self.rig.home.feeds / "trusted").add("10.1.2.3")

    def close(self) -> None:
        self.process.stop()
        self.process.end()
        self.rig.close()

    def declare(self, name: str, line: str) -> None:
        with (self.rig.home.path / "ingather.toml").open("a") as file:
            file.write(f"\n[source.{name}]\n{line}\n")
        self.restart()

    def restart(self) -> None:
        self.rig.read = self.rig.home.settings(environment={})
        assert not self.rig.read.refused, self.rig.read.diagnostics
        self.process.stop()
        self.rig.reopen()

    def push(self, name: str, url: str) -> list[str]:
        """Push a list with *url*, a document with links, and members of a group; return what became of the records."""
        rig = self.rig
        fed = [
            rig.push(record(url), datasource=name, feedtype="metadata-and-url"),
            rig.push(
                record(
                    WITH_CONTENT, content(f'walrus <a href="/linked">own</a> <a href="{FOREIGN}2">other</a>')
                ),
                datasource=name,
            ),
        ]
        groups = rig.push(body=MEMBERS, datasource=name, kind=FeedKind.GROUPS)
        return [one["state"] for feed in fed for one in rig.records(feed)] + [groups["state"]]

    def outcome(self) -> dict[str, Any]:
        """Return what comes of what was pushed."""
        rig, loaded = self.rig, load_checked(self.rig.home)
        settings, sources = rig.read.settings, rig.read.sources
        writer, crawled = rig.local.writer, crawled_sources(loaded)
        bound = wiring.bound(loaded, settings, sources)
        engine = Engine(bound)
        policies = sourcerules.policies_of(settings, sources, crawled)

        def heeds(claim: Claim) -> bool:
            conf = sources.get(claim.source)
            return claim.pushed if conf is None else conf.heeds(pushed=claim.pushed)

        discoverer = Discoverer(engine, version=1, seed=writer.seed, limits=wiring.url_limits(settings))
        clock = rig.clock
        pipeline = Pipeline(
            engine=engine,
            discoverer=discoverer,
            clock=clock,
            seen=Seen(),
            heeds=heeds,
            segment=SegmentWriter(rig.home.bodies, "robot", max_bytes=1 << 20),
            reading=Reading(
                isolation=ConverterPool(count=1, clock=clock),
                slot=None,
                clock=clock,
                agent="ingather",
                canonicaliser=Canonicaliser(),
            ),
        )
        committer = Committer(
            writer,
            rules=SettleRules(
                recheck=wiring.recheck_limits(settings), own=wiring.own_recheck_limits(settings, sources)
            ),
            policies=policies,
            dice=Random(1),  # noqa: S311 - jitter
            now_s=clock.wall,
            clock_trusted=lambda: True,
        )
        judged: dict[str, tuple[bool, str]] = {}

        def visit(row: Row) -> Report:
            claim = self.claim(row)
            origin, _ = writer.frontier.names([row.host])[row.host]
            url = origin + row.path
            found = pipeline.judge(claim, origin)
            judged[url] = (found.report is None, "" if found.report is None else found.report.detail)
            if found.report is not None:
                return found.report
            page = html("walrus", OWN, FOREIGN) if url in {PUSHED, LATER} else html("walrus")
            got = Response(url, 200, (("Content-Type", "text/html"),), page.encode())
            return asyncio.run(pipeline.process(found, got))

        for _ in range(3):
            rows = [
                row
                for host in writer.frontier.waiting_hosts()
                for _, row in writer.frontier.refill(host, (-1, 0), 100)
            ]
            committer.commit(Batch(visits=[(visit(row), row) for row in rows]))
        row = rig.row(PUSHED)
        assert row is not None
        source = row.source
        conf = sources.get(source)
        scope = SourceScopes(rig.home.feeds, settings, sources, crawled).of(source)
        limits, policy = policies(source).limits, rig.local.feeding._home.policy(source)
        visits = wiring.host_visits(settings, sources)
        facts = writer.deletions.facts(writer.applier.names.source(source), clock.wall())
        missing = policies(source).judge(
            [Proposal(1, DeletionReason.NOT_FOUND, looks=1)], Ledger(100), now_s=clock.wall()
        )[0]
        fetched = {url: said for url, said in judged.items() if "linked" not in url}
        members = GroupReader(database_of(rig.home))
        groups = [(one.source.lower(), one.memberships) for one in members.sources()]
        members.close()
        return {
            "source": source.lower(), "kind": writer.applier.names.kind(writer.applier.names.source(source)),
            "judged": fetched, "linked": judged.get("http://dms.test/linked"),
            "described": [rig.described(url) for url in (PUSHED, LATER, OWN, WITH_CONTENT)],
            "public": [rig.public(url) for url in (PUSHED, OWN, WITH_CONTENT)],
            "access": facts.access, "ledger": (facts.documents, facts.missing, facts.access),
            "hosts": scope.hosts, "ports": scope.ports, "addresses": scope.addresses, "address_ports": scope.address_ports,
            "schemes": scope.schemes, "verify_tls": scope.verify_tls, "user_agent": scope.user_agent,
            "own": any(one.is_own("dms.test", 80) for one in sources.values()),
            "delay": None if conf is None else conf.delay_s,
            **{f"deletion.{name}": getattr(limits, name) for name in limits.__slots__},
            "missing": (missing.decision, None if missing.again_s is None else missing.again_s - clock.wall()),
            "budget": wiring.source_budgets(settings, sources).get(source),
            "empty_acl": policy.empty_acl_is_none, "one_value": policy.one_value_per_meta, "takes_over": policy.takes_over,
            "taken_over": policy.taken_over.get(source_key(source)), "inherited": policy.inherited, "follows": bound.gates.content_follows_of.get(source),
            "heeds": heeds(Claim(1, 1, "/", 0, None, source, pushed=True)),
            "recheck": wiring.own_recheck_limits(settings, sources).get(source),
            "visits": None if visits is None else visits(source), "members": groups,
        }  # fmt: skip

    def claim(self, row: Row) -> Claim:
        """Return the claim that a gatherer gets."""
        source = self.rig.local.writer.applier.names.source_name(row.source)
        return Claim(
            row.id,
            row.host,
            row.path,
            row.depth,
            row.max_depth,
            source,
            row.hops,
            *conditions_of(row, 1),
            pushed=bool(row.pushed),
        )


def went(path: Path, line: str, *, first: bool, name: str, pushed: str) -> dict[str, Any]:
    """Push as *pushed* to a home that declares *name* with *line*: *first* before the pushes, else after; *line* may be nothing."""
    bench = Bench(path)
    try:
        if line and first:
            bench.declare(name, line)
        states = [bench.push(pushed, PUSHED)]
        if line and not first:
            bench.declare(name, line)
        once = bench.outcome()
        bench.restart()
        states.append(bench.push(pushed, LATER))
        return {"states": states} | {
            key: (value, again)
            for (key, value), again in zip(once.items(), bench.outcome().values(), strict=True)
        }
    finally:
        bench.close()


@pytest.fixture(scope="module")
def undeclared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return went(tmp_path_factory.mktemp("undeclared") / "home", "", first=True, name="", pushed="Dms")


def test_what_is_pushed_is_crawled_with_the_links_of_its_host(undeclared: dict[str, Any]) -> None:
    once, again = undeclared["judged"]
    assert {url for url, (passed, _) in once.items() if passed} == {PUSHED, OWN}
    assert {url for url, (passed, _) in again.items() if passed} == {LATER}
    assert undeclared["linked"][0] == (True, "")
    assert undeclared["kind"] == ("gsa", "gsa")
    assert undeclared["described"][1] == [True, True, True, True]
    assert undeclared["addresses"] == (("10.1.2.3/32",), ("10.1.2.3/32",))
    assert undeclared["members"][1] == [("dms", 1)]


KEYS: Final = [setting.key for setting in SOURCE_KEYS if setting.key not in REFERRING]
ALONE: Final = [key for key in KEYS if value_of(key)[1]]
SILENT: Final = [key for key in KEYS if not value_of(key)[1]]
"""Keys that say nothing of what the pushes here come to: all in one section, for none of them may change anything."""
SECTIONS: Final = [SILENT, *(ALONE[at : at + 6] for at in range(0, len(ALONE), 6))]
WAYS: Final = [(first, name) for first in (True, False) for name in ("dms", "DMS")]


def cells() -> Iterator[Any]:
    """Yield each key alone in one way, the ways in turn, and each key with others in all of them."""
    for at, key in enumerate(ALONE):
        first, name = WAYS[at % len(WAYS)]
        yield pytest.param([key], first, name, id=f"{key}-{'before' if first else 'after'}-{name}")
    for keys in SECTIONS:
        for first, name in WAYS:
            yield pytest.param(
                keys, first, name, id=f"{keys[0]}-to-{keys[-1]}-{'before' if first else 'after'}-{name}"
            )


@pytest.mark.parametrize(("keys", "first", "name"), list(cells()))
def test_a_section_changes_nothing_but_what_its_keys_say(
    tmp_path: Path,
    undeclared: dict[str, Any],
    keys: list[str],
    first: bool,  # noqa: FBT001 - a case
    name: str,
) -> None:
    line = "\n".join(f"{key} = {value_of(key)[0]}" for key in keys)
    meant = {one for key in keys for one in value_of(key)[1]}
    got = went(tmp_path / "home", line, first=first, name=name, pushed="Dms")
    different = {key for key, value in got.items() if value != undeclared[key]}
    assert different <= meant, {key: (undeclared[key], got[key]) for key in different - meant}
    if first:  # what was pushed before stays as it was applied then
        assert [key for key in keys if value_of(key)[1] and not value_of(key)[1] & different] == []
