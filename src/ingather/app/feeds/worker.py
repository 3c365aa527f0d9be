"""The process that reads pushed feeds for the keeper: records with content become descriptions here.

It is a gatherer without a network: the same pipeline, the same converters, a WARC segment of its own. It parses the
feed itself, whatever is no plain page is read by converters below it. It keeps nothing that matters: the keeper asks
for what follows a cursor, and asks a new worker for the same when this one dies or hangs.
"""

import asyncio
import os
import signal
import sys
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from resource import RLIMIT_CORE, RLIMIT_DATA, setrlimit
from typing import Final

import msgspec

from ingather.app import wiring
from ingather.app.blueprint import Blueprint
from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.confined.scratch import emptied
from ingather.app.feeds.marks import ContentMarks
from ingather.app.feeds.order import READY, FeedOrder
from ingather.app.gatherer import die_with
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.memory import calm_collector
from ingather.app.plugging import converter_environment, plug_ins
from ingather.app.priority import stand_back
from ingather.catalog.bodies import SegmentWriter
from ingather.conf import load_bodies
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogError, DiskFullError, ExtractError, IsolationError, UrlError
from ingather.extract.allocator import tune_allocator
from ingather.feeds.authority import Grant
from ingather.feeds.batches import Batch, encode_batch, read_batch
from ingather.feeds.cursor import FeedCursor
from ingather.feeds.dates import header_date
from ingather.feeds.limits import FeedLimits
from ingather.feeds.prepared import FeedBatch, Prepared, pack_batch
from ingather.feeds.reading import FeedItem
from ingather.feeds.receipts import not_in_patterns
from ingather.feeds.spool import damage_of
from ingather.filters import Engine
from ingather.log import configure
from ingather.model.acl import Acl
from ingather.model.candidate import Candidate, Pushed
from ingather.model.feed import FeedAcl, FeedHeader, FeedRecord, FeedRejection, FeedType, GroupMembership
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, Report
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser, fed_url
from ingather.model.urlparts import split
from ingather.robot.frontier.seen import Seen
from ingather.robot.visit.discovering import Discoverer, denial_of
from ingather.robot.visit.pipeline import Judged, Pipeline
from ingather.robot.visit.reading import Reading

__all__ = ["FeedWorker", "main"]

_SLICE_S: Final = 1.0
_SLICE_BYTES: Final = 8 << 20
_OPEN: Final = 8
_WEB: Final = frozenset({"http", "https", "ftp"})


_ORDER: Final = msgspec.msgpack.Decoder(FeedOrder)


def main(channel: Connection, blueprint: Blueprint) -> None:
    """Answer orders until the other end closes; the target of the keeper's spawn."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(os.getppid())
    stand_back(blueprint.settings.count("gather.niceness"))
    memory = blueprint.settings.size("gather.gatherer-memory")
    setrlimit(RLIMIT_DATA, (memory, memory))
    setrlimit(RLIMIT_CORE, (0, 0))
    configure(level=blueprint.settings.text("log.level"), pretty=sys.stderr.isatty())
    tune_allocator()
    with suppress(EOFError, OSError):
        asyncio.run(_serve(channel, blueprint))


async def _serve(channel: Connection, blueprint: Blueprint) -> None:
    loop = asyncio.get_running_loop()
    worker = FeedWorker(blueprint)
    calm_collector()
    channel.send_bytes(READY)
    try:
        while True:
            order = _ORDER.decode(await loop.run_in_executor(None, channel.recv_bytes))
            channel.send_bytes(pack_batch(await worker.answer(order)))
    finally:
        await worker.close()


class DamagedFileError(Exception):
    """A spooled file is not what was acknowledged; the text says how it differs."""


@dataclass(slots=True)
class _Held:
    """A batch that was read and is not yet answered to its end."""

    batch: Batch
    at: int = 0
    before: FeedCursor = field(default_factory=FeedCursor)


class FeedWorker:
    """The parts of the process: reads feeds by a blueprint."""

    def __init__(self, blueprint: Blueprint) -> None:
        settings, home = blueprint.settings, Path(blueprint.home)
        own = plug_ins(Home(home), settings)
        loaded = wiring.overridden(
            load_bodies(blueprint.files, vocabulary=own.vocabulary).with_sites(blueprint.sites),
            blueprint.overrides,
        )
        loaded = wiring.bound(loaded, settings, blueprint.sources)
        robot = loaded.robot
        self._clock = clock = SystemClock()
        self._canonicaliser = Canonicaliser(settings.words("urls.drop-parameters"))
        folder = emptied(home / "run" / "converters-feeds")
        self._pool = ConverterPool(
            count=settings.count("gather.converters"),
            limits=wiring.converter_limits(settings, robot),
            clock=clock,
            folder=folder,
            environment=converter_environment(own),
        )
        self._segment = SegmentWriter(
            home / "bodies", "feeds", max_bytes=settings.size("gather.segment-size"),
            keep_bodies=settings.text("gather.keep-bodies") == "all",
        )  # fmt: skip
        self._engine = Engine(loaded)
        self._discoverer = Discoverer(
            self._engine, version=blueprint.version, seed=blueprint.seed, limits=wiring.url_limits(settings)
        )
        self._version = blueprint.version
        agent = wiring.agent_token(robot)
        reading = Reading(
            isolation=self._pool, slot=None, clock=clock, agent=agent, canonicaliser=self._canonicaliser,
            summarizer=wiring.summarizers(self._pool, settings, robot, folder=Path(robot.tmpdir) if robot.tmpdir else None),
            extractors=frozenset(own.extractors),
        )  # fmt: skip
        self._seen = Seen()
        self._pipeline = Pipeline(
            engine=self._engine, discoverer=self._discoverer, reading=reading, segment=self._segment, clock=clock, seen=self._seen,
            limits=wiring.pipeline_limits(settings),
        )  # fmt: skip
        self._limits = _feed_limits(settings)
        self._marks = ContentMarks(database_of(Home(home)), blueprint, own)
        self._spoken: set[str] = set()
        """URLs of which the answer at hand speaks."""
        self._most = settings.count("limits.feed-batch")
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._sound: OrderedDict[str, None] = OrderedDict()
        """Files that were found as they had been acknowledged."""

    async def close(self) -> None:
        """End the converters."""
        self._engine.shut_down()
        await self._pool.close()
        self._segment.close()
        self._marks.close()

    async def answer(self, order: FeedOrder) -> FeedBatch:
        """Return what follows; trouble that concerns the whole feed is an answer too."""
        try:
            return await self._answer(order)
        except (ExtractError, IsolationError) as error:
            self._held.pop(order.feed, None)
            if isinstance(error, IsolationError) and error.reason == "unavailable":
                return FeedBatch([], order.cursor, later=str(error))
            return FeedBatch([], order.cursor, ended=True, trouble=str(error))
        except DamagedFileError as error:
            self._held.pop(order.feed, None)
            return FeedBatch(
                [], order.cursor, ended=True, trouble=f"its file is damaged: {error}", damaged=True
            )
        except FileNotFoundError:
            return FeedBatch([], order.cursor, ended=True, trouble="its file is not in the spool any more")
        except (DiskFullError, CatalogError, OSError) as error:
            self._held.pop(order.feed, None)
            return FeedBatch([], order.cursor, later=str(error))

    async def _answer(self, order: FeedOrder) -> FeedBatch:
        held = self._held.pop(order.feed, None)
        if held is None or held.at != order.done:
            held = self._read(order)
        if order.kind == "groups":
            return self._groups(held)
        batch, begun = held.batch, time.monotonic()
        first = batch.cursor.items - sum(not isinstance(item, FeedHeader) for item in batch.items)
        answer = FeedBatch(
            [], msgspec.json.encode(held.before), segment=self._segment.segment, version=self._version
        )
        n, size = first, 0
        self._spoken.clear()
        for item in batch.items:
            if isinstance(item, FeedHeader):
                answer.warnings += item.warnings
                answer.datasource, answer.feedtype = item.datasource, item.feedtype
                continue
            n += 1
            if n <= order.done:
                continue
            prepared = await self._prepare(n, item, order)
            self._spoken.add(prepared.url)
            self._spelled(prepared, item)
            answer.items.append(prepared)
            held.at = n
            size += len(prepared.report.text) if prepared.report is not None else 200
            late = time.monotonic() - begun > _SLICE_S or size > _SLICE_BYTES
            if n < batch.cursor.items and (late or len(answer.items) >= order.most):
                self._keep(order.feed, held)
                break
        else:
            answer.cursor = msgspec.json.encode(batch.cursor)
            if batch.end is not None:
                answer.ended, answer.complete = True, batch.end.may_delete
                answer.trouble = batch.end.trouble
                answer.warnings += batch.end.warnings
        self._segment.sync()
        return answer

    def _keep(self, feed: int, held: _Held) -> None:
        self._held[feed] = held
        while len(self._held) > _OPEN:
            self._held.popitem(last=False)

    def _read(self, order: FeedOrder) -> _Held:
        """Read one batch behind the cursor.

        Raises:
            DamagedFileError: the file is not what was acknowledged.
        """
        if order.sha256 and order.path not in self._sound:
            if damage := damage_of(Path(order.path), order.size, order.sha256):
                raise DamagedFileError(damage)
            self._sound[order.path] = None
            while len(self._sound) > _OPEN:
                self._sound.popitem(last=False)
        cursor = msgspec.json.decode(order.cursor, type=FeedCursor) if order.cursor else FeedCursor()
        kind = FeedType(order.feedtype) if order.kind != "groups" else None
        batch = read_batch(
            Path(order.path),
            kind=order.kind,
            cursor=cursor,
            feedtype=kind,
            limits=self._limits,
            most_items=self._most,
        )
        return _Held(batch, order.done, cursor)

    @staticmethod
    def _groups(held: _Held) -> FeedBatch:
        batch = held.batch
        items: list[FeedItem] = [*batch.items]
        if batch.end is not None:
            items.append(batch.end)
        return FeedBatch(
            [], msgspec.json.encode(batch.cursor), ended=batch.end is not None, raw=encode_batch(items, batch.cursor)
        )  # fmt: skip

    # -- items --------------------------------------------------------------------------------

    async def _prepare(
        self, n: int, item: FeedRecord | FeedAcl | FeedRejection | GroupMembership, order: FeedOrder
    ) -> Prepared:
        if n == order.pass_over:
            url = getattr(item, "url", "") or getattr(getattr(item, "acl", None), "url", "")
            return Prepared(
                n, item.line, self._url(url) or url, rejected="it brought down its reader", denies=True
            )
        if isinstance(item, FeedRejection):
            return Prepared(
                n, item.line, self._url(item.url) or item.url, rejected=item.reason, denies=item.denies
            )
        if isinstance(item, FeedAcl):
            url = self._url(item.acl.url)
            if not url:
                return Prepared(
                    n,
                    item.line,
                    item.acl.url,
                    rejected=f"its URL {item.acl.url[:200]!r} is no absolute URL",
                    notes=item.warnings,
                )
            return Prepared(
                n, item.line, url, acl=replace(item, acl=self._acl(item.acl, url)), notes=item.warnings
            )
        if isinstance(item, FeedRecord):
            return await self._record(n, item, order)
        return Prepared(n, item.line, "", rejected="a membership belongs into a feed of groups")

    @staticmethod
    def _url(text: str) -> str:
        """Return the key form with all its parameters, ``""`` if *text* is no URL."""
        try:
            return fed_url(text)
        except UrlError:
            return ""

    def _spelled(self, made: Prepared, item: FeedRecord | FeedAcl | FeedRejection | GroupMembership) -> None:
        """Note how the feed writes the URL, and what links to it are cut to."""
        written = item.acl.url if isinstance(item, FeedAcl) else getattr(item, "url", "")
        made.written = written if written != made.url else ""
        if "?" in made.url or ";" in made.url:
            with suppress(UrlError):
                short = fed_url(made.url, self._canonicaliser.canonical)
                made.short = short if short != made.url else ""

    def _acl(self, acl: Acl, url: str) -> Acl:
        """Return *acl* with canonical URLs; a parent that is none makes it untrusted."""
        if not acl.inherit_from:
            return replace(acl, url=url)
        parent = self._url(acl.inherit_from)
        problem = acl.problem or ("" if parent else f"inherit-from {acl.inherit_from[:200]!r} is no URL")
        return replace(acl, url=url, inherit_from=parent, problem=problem)

    async def _record(self, n: int, record: FeedRecord, order: FeedOrder) -> Prepared:
        url = self._url(record.url)
        notes = record.warnings
        if not url:
            return Prepared(
                n, record.line, record.url, rejected=f"its URL {record.url[:200]!r} is no absolute URL", notes=notes
            )  # fmt: skip
        content = record.content
        if record.acl is not None:
            record = msgspec.structs.replace(record, acl=self._acl(record.acl, url))
        kept = msgspec.structs.replace(record, content=None, warnings=())
        made = Prepared(n, record.line, url, record=kept, has_content=content is not None, notes=notes)
        if record.delete:
            return made
        pushed = Pushed.URL if order.listed else Pushed.CONTENT
        refused = self._engine.refusal(Candidate(url=url, source=order.source, pushed=pushed))
        if refused is not None:
            made.rejected = not_in_patterns(url, f"{refused.reason} ({refused.where})")
            made.leaves = refused.banned
            # Its ACL is lost with it: were there a document, the one that it has could be wider.
            made.denies = not refused.banned and bool(record.acl is not None or record.denied)
            return made
        if order.listed:
            if split(url).scheme not in _WEB:
                made.rejected = f"the crawler cannot fetch {split(url).scheme} URLs: send the content"
            else:
                made.found = self._discoverer.discover(
                    url, depth=0, max_depth=None, source=order.source, pushed=Pushed.URL
                )
        elif content is not None:
            headers = _headers(record, text=content.text)
            made.mark = self._marks.mark(url, content.body, headers, order.source, follow=order.follow)
            # What this answer says of the URL before is not in the catalog yet.
            if not order.afresh and url not in self._spoken and self._marks.stands(url, made.mark):
                made.report = self._pipeline.ended(self._claim(url, order), Outcome.UNCHANGED)
            else:
                made.report = await self._content(url, headers, content.body, order)
        return made

    @staticmethod
    def _claim(url: str, order: FeedOrder) -> Claim:
        return Claim(
            id=0, host=0, path=split(url).path, depth=0, max_depth=None, source=order.source, pushed=True
        )

    async def _content(
        self, url: str, headers: tuple[tuple[str, str], ...], body: bytes, order: FeedOrder
    ) -> Report:
        """Let content go through the steps behind a fetch: read, Data filters, links, description, WARC."""
        claim = self._claim(url, order)
        evaluation = self._engine.evaluation(Candidate(url=url, source=order.source, pushed=Pushed.CONTENT))
        if not self._engine.metadata(evaluation):
            denial = denial_of(evaluation, self._version)
            return self._pipeline.ended(claim, Outcome.EXCLUDED, detail=denial.reason, denial=denial)
        got = Response(url, 200, headers, body)
        report = await self._pipeline.process(Judged(claim, url, evaluation), got)
        if not order.follow:
            report.links, report.found = b"", []
            report.anchors = msgspec.msgpack.encode([])
            self._seen.clear()  # what it met here was told to nobody
        elif order.prefixes:
            within = Grant(prefixes=order.prefixes)
            report.found = [found for found in report.found if within.names(found.origin + found.path)]
            self._seen.clear()
        return report


def _content_type(mimetype: str, *, text: bool) -> str:
    """Return the value of a ``Content-Type`` field, ``""`` = a record says nothing that can stand in one."""
    media_type = mimetype.strip()
    if not (media_type.isascii() and media_type.isprintable()):
        return ""
    if text and media_type and "charset" not in media_type.lower():
        return f"{media_type}; charset=utf-8"
    return f"{media_type.partition(';')[0]}; charset=utf-8" if text and media_type else media_type


def _headers(record: FeedRecord, *, text: bool) -> tuple[tuple[str, str], ...]:
    """Return the head that a host would have sent with the content."""
    media_type = _content_type(record.mimetype, text=text)
    headers = [("Content-Type", media_type)] if media_type else []
    date = header_date(record.last_modified) if record.last_modified else ""
    if date:
        headers.append(("Last-Modified", date))
    return tuple(headers)


def _feed_limits(settings: Settings) -> FeedLimits:
    return FeedLimits(content_bytes=settings.size("limits.record-size"))
