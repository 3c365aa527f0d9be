"""What the configuration says of web feeds, and what the catalog has of them: brought into line at each start."""

import msgspec

from ingather.app.syndication.desk import Desk
from ingather.app.syndication.records import document_of, feed_facts, feed_row, registration, source_row
from ingather.catalog.sqlite_apply import Applied
from ingather.log import get
from ingather.robot.settling.writing import Writer
from ingather.syndication.facts import SourceFacts

__all__ = ["reconcile"]

_log = get("syndication")
_GROUP = 1_000
_REMOVED = "its source was removed from the settings"


def reconcile(desk: Desk, writer: Writer, applied: Applied, *, whole: bool) -> None:
    """Make the catalog follow the settings; inside a transaction.

    New feeds are due, feeds that are named no more end, the documents of a source that is gone are held.

    Args:
        desk: of the sources that are configured.
        writer: the one writer.
        applied: takes what readers must learn.
        whole: the desk has all sources of the home; else those that it does not have are left alone.
    """
    store, now_s = writer.syndication, writer.applier.now_s
    for name, source in desk.sources.items():
        number = writer.applier.source(name, source.conf.kind, source.conf.access)
        desk.adopt(number, name)
        if store.source(number) is None:
            store.put_source(source_row(number, SourceFacts(), next_s=now_s, cycle=None))
    numbers = [number for number, _ in desk.numbers()]
    for row in store.sources() if whole else ():
        if row.id not in numbers:
            _end_source(writer, row.id, applied)
    for number in numbers:  # what ends comes first, everywhere: a feed may have changed its source
        _end_feeds(desk, writer, number, applied)
    for number in numbers:
        _new_feeds(desk, writer, number, applied)
        _replan(desk, writer, number)
    if whole:
        desk.close(writer, applied, clock_trusted=True)


def _end_feeds(desk: Desk, writer: Writer, number: int, applied: Applied) -> None:
    named = set(desk.sources[desk.name(number)].conf.syndication.feeds)
    for feed in writer.syndication.feeds(number):
        if feed.configured and not feed.parent and feed.name not in named:
            desk.end_feed(writer, feed, applied)


def _new_feeds(desk: Desk, writer: Writer, number: int, applied: Applied) -> None:
    carrying = desk.carrying(writer, number, applied)
    polled = {feed.name for feed in writer.syndication.feeds(number) if feed.configured and not feed.parent}
    for url in dict.fromkeys(desk.sources[desk.name(number)].conf.syndication.feeds):
        if url not in polled:
            carrying.add(url)


def _replan(desk: Desk, writer: Writer, number: int) -> None:
    """Let every registration be due by the clocks that are in force now, if they are other ones than the last time."""
    name = desk.name(number)
    decider, store = desk.deciders[name], writer.syndication
    remembered, clocks = f"rss-clocks:{number}", repr(decider.limits).encode()
    if writer.memory.recall(remembered) == clocks:
        return
    writer.memory.remember(remembered, clocks)
    after = 0
    while rows := store.all_documents(number, after, _GROUP):
        after = rows[-1].id
        store.put_documents(document_of(number, decider.planned(registration(row))) for row in rows)


def _end_source(writer: Writer, number: int, applied: Applied) -> None:
    """A source is configured no more: a person says whether its documents go, for a section may be missing by mistake.

    A source that comes back finds them anew, which ends the hold.
    """
    store, now_s, name = writer.syndication, writer.applier.now_s, writer.applier.names.source_name(number)
    why = f"[source.{name}] is not in the settings any more"
    after, held = 0, 0
    for feed in store.listed_elsewhere(
        number
    ):  # their next list is read whole: it may take over what is free now
        facts = msgspec.structs.replace(feed_facts(feed), digest=b"", etag="", last_modified="", anew_s=None)
        store.put_feed(feed_row(feed, facts))
        store.validators(feed.url, "", "", b"")
        store.unlist(feed.id, number)
    while rows := store.all_documents(number, after, _GROUP):
        after = rows[-1].id
        for row in rows:
            if store.owner(row.id) == number and store.described(row.id):
                writer.deletions.hold(row.id, number, _REMOVED, now_s, applied=applied, why=why)
                held += 1
            store.unasked(row.id)
    for feed in store.feeds(number):
        store.rest(feed.url)
    store.drop_source(number)
    cause = f"source {name} is configured no more: {held} documents are held; release them to let them go"
    writer.applier.event("rss-source", name, cause)
    _log.warning(
        "a source of web feeds is configured no more",
        source=name,
        held=held,
        hint="write it again, or let its documents go: ingather holds release",
    )
