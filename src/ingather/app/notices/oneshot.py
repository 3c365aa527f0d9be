"""Notices of a process that ends: a run of ``ingather crawl`` is told before the command returns, or not at all."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.notices.fanout import Fanout
from ingather.app.notices.outbox import BatchOutbox, Outbox
from ingather.app.notices.runs import MEMORY, RunNotices
from ingather.app.notices.setup import mail_of, webhook_of
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings
from ingather.errors import HomeLockedError, IngatherError
from ingather.log import get
from ingather.ports.clock import Clock

__all__ = ["tell_of_run"]

_log = get("notices")
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.5


def tell_of_run(home: Home, settings: Settings, clock: Clock, run: int, holds: int) -> None:
    """Tell that *run* ended, by the channels of the settings; a channel that fails for long is logged and left.

    States that begin and end (disk, certificates, sources that fail) are told by ``ingather serve``, which sees them
    end; of them this notice counts the *holds* that wait. Blocks for half a minute at most. The home must be free.
    """
    try:
        webhook, mail = webhook_of(home, settings, clock), mail_of(home, settings, clock)
    except IngatherError as error:
        _log.error("the end of the run is not told", error=str(error))
        return
    outboxes: list[Outbox] = []
    if webhook is not None:
        outboxes.append(Outbox(webhook.send, clock, attempts=settings.count("notices.attempts")))
    if mail is not None:
        outboxes.append(
            BatchOutbox(mail.send, clock, attempts=settings.count("notices.attempts"), every_s=0.0)
        )
    if not outboxes:
        return
    with suppress(HomeLockedError), home.lock("ingather crawl"):
        _offer(home, clock, run, holds, Fanout(outboxes, settings.words("notices.kinds")))
    end_s = time.monotonic() + _PATIENCE_S
    while any(outbox.waiting for outbox in outboxes) and time.monotonic() < end_s:
        if not sum(outbox.turn() for outbox in outboxes):
            time.sleep(_PAUSE_S)
    for outbox in outboxes:
        if outbox.waiting:
            _log.error("the end of the run could not be told", run=run, waited_s=_PATIENCE_S)


def _offer(home: Home, clock: Clock, run: int, holds: int, post: Fanout) -> None:
    writer, reader = CatalogWriter(database_of(home)), ReportReader(database_of(home))

    def recall(name: str) -> bytes:
        kept = bytes(writer.memory.recall(name))
        # Nobody listened before: this run is news all the same.
        return kept or (json.dumps(run - 1).encode() if name == MEMORY else b"")

    def remember(name: str, value: bytes) -> None:
        writer.transaction(lambda w: w.memory.remember(name, value))

    def runs() -> list[dict[str, Any]]:
        found = reader.run(run)
        return [] if found is None else [found.form()]

    def more() -> Mapping[str, Any]:
        return {"holds": holds}

    try:
        RunNotices(runs, reader.figures, recall, remember, clock, apart_s=0.0, more=more)(post)
    finally:
        reader.close()
        writer.close()
