"""Feeds under ``serve``: the desk for the gate, the office for the admin listener, the feed thread between them."""

import asyncio
import os
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from ingather.app.crossing import Crossing
from ingather.app.feeds.emptying import delete_gathered, forget_gathered
from ingather.app.feeds.home import deletion_guard
from ingather.app.feeds.local import feed_home, spool_of
from ingather.app.feeds.office import FeedOffice, again_job, forget_job
from ingather.app.feeds.outlawing import outlaw_when_changed
from ingather.app.feeds.sources import SourceOffice, still_configured, switch_job
from ingather.app.feeds.thread import Feeding
from ingather.app.homeparts import database_of
from ingather.app.keeper import Gathering
from ingather.app.sourcescopes import crawled_sources, own_addresses
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import IngatherError, UsageError
from ingather.feeds.authority import Sender, grant_in
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind, Spooled
from ingather.log import get
from ingather.model.decided import NOBODY, By

__all__ = ["ServedFeeds"]

_log = get("feeds")
_PIECE = 100
_TEN_MINUTES_S = 600.0
_LOOK_S = 2.0
_PART_S = 20.0
"""No call of the API takes much longer; whoever waits gives up after 60."""
Work = Callable[[Any, Applied], Any]


class ServedFeeds:
    """The feeds of a gathering; made on the keeper's loop, used from any thread and loop of the process.

    Attributes:
        desk: where the gate hands feeds in.
        office: receipts.
    """

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering
        self._loop = asyncio.get_running_loop()
        home = gathering.home
        spool_of(home).mkdir(mode=0o700, parents=True, exist_ok=True)
        closed = own_addresses(gathering.sources, crawled_sources(gathering.loaded))
        self.office = FeedOffice(home.path, database_of(home), lambda: gathering.follower.applied, closed)
        self._sources = SourceOffice(database_of(home), gathering.sources, self.office, closed)
        self.desk = Feeding(
            feed_home(home, gathering.sources, lambda: gathering.blueprint, gathering.policies), self._transact, clock=gathering.clock,
            write=Crossing(gathering.keeper.post).ask, look=self.office.look, count=self.office.due_visits,
            showing=gathering.follower, room=gathering.room,
        )  # fmt: skip
        gathering.busy_segment = self.desk.segment
        self._pruning: asyncio.Task[None] | None = None
        self._outlawing: asyncio.Task[None] | None = None
        self._job: asyncio.Future[Any] | None = None
        self._stopping = False

    def _transact(self, work: Work) -> Any:
        """Run *work* in the keeper's writer, from the feed thread."""
        return asyncio.run_coroutine_threadsafe(self._gathering.keeper.write(work), self._loop).result()

    def _unless_stopping(self, work: Work) -> Any:
        if self._stopping:
            raise IngatherError("the next start does it")
        return self._transact(work)

    # -- life ---------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up what was left and begin to apply."""
        left = await self._loop.run_in_executor(None, self.desk.recover)
        if left:
            _log.info("feeds go on", feeds=left, records=self.desk.backlog())
        self.desk.start()
        self._pruning = asyncio.create_task(self._prunings())
        self._outlawing = asyncio.create_task(self._outlawings())

    async def stop(self) -> None:
        """End after the batch at hand."""
        tasks = [task for task in (self._pruning, self._outlawing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._stopping = True
        if self._job is not None:  # its thread ends with the transaction at hand
            await asyncio.gather(self._job, return_exceptions=True)
        await self._loop.run_in_executor(None, self.desk.stop)

    async def _outlawings(self) -> None:
        """Let what was pushed go when a changed list excludes it: at start, and after each change of configuration."""
        gathering, seen = self._gathering, -1
        guard = deletion_guard(gathering.policies)
        while True:
            if (version := gathering.version) != seen:
                loaded, judge = gathering.loaded, gathering.discoverer.engine
                try:
                    self._job = self._loop.run_in_executor(
                        None, outlaw_when_changed, self._unless_stopping, loaded, lambda e=judge: e, guard, gathering.clock.wall
                    )  # fmt: skip
                    done = await asyncio.shield(self._job)
                except IngatherError as error:
                    _log.warning("URL patterns wait", error=str(error))
                else:
                    seen = version
                    if done is not None and (done.deleted or done.held):
                        _log.info(
                            "URL patterns exclude what was pushed", deleted=done.deleted, held=done.held
                        )
            await asyncio.sleep(_LOOK_S)

    async def _prunings(self) -> None:
        """Forget feeds and their files when their time is over."""
        gathering = self._gathering
        keep_s = gathering.settings.seconds("feeds.receipt-retention")
        while True:
            before_s = gathering.clock.wall() - keep_s
            gone: list[tuple[int, str]] = []
            if gathering.keeper.clock_trusted:
                gone = await gathering.keeper.write(partial(_prune, before_s=before_s))
            for _, file in gone:
                self._unlink(file)
            if len(gone) < _PIECE:
                await asyncio.sleep(_TEN_MINUTES_S)

    def _unlink(self, file: str) -> None:
        if file:
            (self._gathering.home.path / file).unlink(missing_ok=True)

    # -- the operator's wishes, from the admin listener's threads --------------------------------

    def listed(self, *, datasource: str = "", before: int = 0, limit: int = 100) -> dict[str, Any]:
        """Return feeds, newest first, and the backlog."""
        feeds = self.office.feeds(datasource=datasource, before=before, limit=limit)
        return {"backlog": self.desk.backlog(), "feeds": feeds}

    def shown(self, name: str) -> dict[str, Any]:
        """Return one feed."""
        return self.office.feed(name)

    def records(
        self, name: str, *, after: int = 0, limit: int = 1000, state: str = ""
    ) -> list[dict[str, Any]]:
        """Return receipts of a feed."""
        return self.office.records(name, after=after, limit=limit, state=state)

    def file(self, name: str) -> Path:
        """Return where a feed's original lies."""
        return self.office.file(name)

    def retry(self, name: str) -> dict[str, Any]:
        """Apply a feed that ended once more, from its beginning.

        Raises:
            UsageError: there is none, it did not end, or its file is gone.
        """
        feed = self.office.feed(name)
        self.office.file(name)
        if not self._do(again_job([int(feed["id"])])):
            raise UsageError(f"feed {name} is not at its end yet")
        self.desk.taken(
            int(feed["id"]), feed["datasource"], feed["estimate"], groups=feed["kind"] == FeedKind.GROUPS
        )
        return self.office.feed(name)

    def replay(self, name: str) -> dict[str, Any]:
        """Push the file of a feed again, as a feed of its own.

        Raises:
            UsageError: there is none, or its file is gone.
        """
        feed, path = self.office.feed(name), self.office.file(name)
        copy = path.with_name(secrets.token_hex(16))
        os.link(path, copy)
        folder = os.open(copy.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        groups = feed["kind"] == FeedKind.GROUPS
        fields = FeedFields(
            feed["datasource"], feed["feedtype"], kind=FeedKind(feed["kind"]), format=FeedFormat(feed["format"]),
            groupsource=feed["groupsource"], replace=groups and feed["feedtype"] == "full",
            cleanup=groups and feed["feedtype"] == "cleanup", warnings=(f"the file of {feed['name']} once more",),
        )  # fmt: skip
        sender = Sender(feed["sender"], grant_in(feed))
        spooled = Spooled(
            copy.name, copy, feed["size"], feed["sha256"], feed["estimate"]
        )  # its contents are not looked for again
        ticket = self._transact(self.desk.taking(spooled, fields, sender))
        self.desk.taken(ticket.id, fields.datasource, spooled.records, groups=groups)
        return self.office.feed(ticket.name)

    def forget(self, name: str) -> dict[str, Any]:
        """Forget a feed that ended, with its receipts and its file; what it brought stays.

        Raises:
            UsageError: there is none, or it is not at its end.
        """
        feed = self.office.feed(name)
        file = self._do(forget_job(int(feed["id"])))
        if file is None:
            raise UsageError(f"feed {name} is not at its end yet")
        self._unlink(file)
        return {"forgotten": feed["name"]}

    def delete_documents(self, datasource: str) -> dict[str, Any]:
        """Delete what feeds brought for a data source, at once, as a feed of type "deleted".

        Raises:
            UsageError: the data source never pushed anything.
        """
        if not self.office.feeds(datasource=datasource, limit=1):
            raise UsageError(f"no feed of a data source {datasource!r} is known")
        self._sources.to_delete(datasource)
        ticket = self._transact(self.desk.emptying(datasource, "the operator"))
        self.desk.taken(ticket.id, datasource, 1, light=True)
        return self.office.feed(ticket.name)

    def sources(self) -> list[dict[str, Any]]:
        """Return every source with what it owns."""
        return self._sources.listed()

    def source(self, name: str) -> dict[str, Any]:
        """Return one source.

        Raises:
            UsageError: there is none.
        """
        return self._sources.shown(name)

    def conflicts(self, name: str = "", *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Return URLs that one source owns and another names, too.

        Raises:
            UsageError: there is no such source.
        """
        return self._sources.conflicts(name, after=after, limit=limit)

    def destroy(self, name: str) -> dict[str, Any]:
        """Forget what feeds and sitemaps listed for a source that has no documents any more; pushed feeds with receipts and files.

        Raises:
            UsageError: there is none, it has documents, a feed is not at its end, or it is crawled and not disabled.
        """
        found, feeds = self._sources.to_destroy(name)
        for number in feeds:
            self.forget(str(number))
        answer = {"source": str(found["datasource"] or found["name"]), "forgotten": len(feeds)}
        if found["disabled"] is None:
            return answer
        gathering = self._gathering
        conf = gathering.sources.get(str(found["name"]))
        sites = [(site.name, site.source) for site in gathering.loaded.rules.sites]
        still = still_configured(found, sites, declared=conf is not None and bool(conf.origins))
        made = forget_gathered(self._do, found, rests=bool(still))
        self.desk.rest(self._transact(lambda w, _: w.registry.disabled_sources()))
        return answer | made | {"still": still}

    def delete_source(self, name: str, by: By = NOBODY) -> dict[str, Any]:
        """Delete the documents of a source: at a data source as a feed of type "deleted", else here and now.

        Of a source with many documents one call deletes a part, within a time that a caller waits: ``done`` says whether
        that was all.

        Raises:
            UsageError: there is none, or it has nothing.
        """
        found = self._sources.to_empty(name)
        if found["pushed_for"]:
            return self.delete_documents(str(found["datasource"]))
        if found["disabled"] is None:
            self.switch_source(str(found["name"]), off=True)
        until = monotonic() + _PART_S
        done = delete_gathered(self._do, found, by, enough=lambda: monotonic() > until)
        return self._sources.shown(str(found["name"])) | done

    def switch_source(self, name: str, *, off: bool) -> dict[str, Any]:
        """Disable a source, or enable it again; return it.

        Raises:
            UsageError: there is none.
        """
        found = self._sources.to_switch(name)
        job = switch_job(found, off=off)
        gathering = self._gathering
        made = gathering.switch_source(lambda w, a: job(w, a, gathering.clock.wall()), off=off)
        changed = asyncio.run_coroutine_threadsafe(made, self._loop).result()
        self.desk.rest(self._transact(lambda w, _: w.registry.disabled_sources()))
        return self._sources.shown(str(found["name"])) | {"changed": changed}

    def _do(self, job: Callable[[CatalogWriter, Applied, float], Any]) -> Any:
        return self._transact(lambda w, a: job(w, a, self._gathering.clock.wall()))


def _prune(writer: Any, _applied: Applied, *, before_s: float) -> list[tuple[int, str]]:
    gone: list[tuple[int, str]] = writer.feeds.prune(before_s, _PIECE)
    return gone
