"""What people and programs ask of web feeds in a home: lists, one feed, one document. Reading needs nobody's leave."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.syndication.opml import export_opml
from ingather.app.syndication.probing import feed_url
from ingather.app.syndication.records import feed_facts, listed_dates, registration
from ingather.app.syndication.sources import limits_of
from ingather.app.syndication.viewing import (
    document_form,
    event_form,
    feed_form,
    feed_totals,
    listing_form,
    source_form,
)
from ingather.catalog.syndication.sqlite_syndication_reader import FeedRecord, SyndicationReader
from ingather.conf.sources.source import SourceConf
from ingather.errors import UrlError, UsageError
from ingather.explain.syndicated import because, upcoming
from ingather.model.url import canonical
from ingather.syndication.deciding import Decider
from ingather.syndication.facts import DocState

__all__ = ["WebFeedBook"]

_EVENTS: Final = 20
_CYCLES: Final = 10
_LISTED: Final = 50
_TROUBLE: Final = (DocState.RETRY, DocState.GONE_HELD, DocState.HIDDEN, DocState.EXCLUDED)


class WebFeedBook:
    """Web feeds of a home, read; any thread may ask. Each answer has a connection of its own.

    Args:
        home: whose; its catalog need not be there yet.
        sources: those of the settings.
        now_s: wall time.
    """

    def __init__(self, home: Home, sources: Mapping[str, SourceConf], now_s: Callable[[], float]) -> None:
        self._database, self._sources, self._now_s = database_of(home), sources, now_s

    def feeds(self, source: str = "") -> list[dict[str, Any]]:
        """Return the feeds of all sources or of *source*; those that were never met by a keeper have only what is configured.

        Raises:
            UsageError: there is no such source.
        """
        if source:
            self._known(source)
        with self.reading() as reader:
            records = [] if reader is None else reader.feeds(source=source, configured=False)
            met = {(record.source, record.row.name) for record in records}
            unmet = [
                (name, url)
                for name, conf in self._sources.items()
                if source in {"", name} and conf.syndicates
                for url in conf.syndication.feeds
                if (name, url) not in met
            ]
            there = (
                {} if reader is None or not unmet else {one.row.name: one.source for one in reader.feeds()}
            )
        found = [self._form(record) for record in records]
        found += [_unmet(name, url, there.get(url, "")) for name, url in unmet]
        return sorted(found, key=lambda feed: (feed["source"], feed["id"] or 1 << 62))

    def status(self) -> dict[str, Any]:
        """Return the sources with what waits for a person, and the newest notices."""
        with self.reading() as reader:
            if reader is None:
                return {"sources": [], "notices": []}
            made = [
                source_form(
                    record,
                    reader.feeds(source=record.name),
                    self._sources.get(record.name),
                    reader.cycles(record.name, limit=_CYCLES),
                    reader.holds(record.name),
                )
                for record in reader.sources()
            ]
            notices = [event_form(event) for event in reader.events(notices=True, limit=_EVENTS)]
        return {"sources": made, "notices": notices}

    def feed(self, name: str) -> dict[str, Any]:
        """Return one feed (number or URL) with totals, its last events and the documents with trouble.

        Raises:
            UsageError: there is none.
        """
        with self.reading() as reader:
            record = self.record(reader, name)
            if reader is None or record is None:
                return _unmet(*self._configured(name)) | {"events": [], "trouble": []}
            number = record.row.id
            trouble = [
                {"url": one.url, "state": DocState(one.row.state).name.lower(), "reason": registration(one.row).reason,
                 "status": registration(one.row).status or None, "hold": one.hold or None}
                for one in reader.documents(feed=number, states=_TROUBLE, limit=_LISTED)
            ]  # fmt: skip
            return {
                **self._form(record),
                "totals": feed_totals(reader, number, self._now_s()),
                "events": [
                    event_form(event) for event in reader.events(feed=number, own=True, limit=_EVENTS)
                ],
                "trouble": trouble,
            }

    def _form(self, record: FeedRecord) -> dict[str, Any]:
        """Return a feed; one whose source is off is not polled, whatever its clocks say."""
        form, source = feed_form(record), self._sources.get(record.source)
        if source is None or source.syndication.enable_indexer or not record.row.configured:
            return form
        return form | {
            "next_poll": None,
            "why": f"the source {record.source} is off (enable-indexer = false)",
        }

    def explain(self, url: str) -> dict[str, Any]:
        """Return what feeds say of a document, how it stands, and what happens next; ``known`` is ``False`` if no feed ever listed it.

        Raises:
            UsageError: it is no URL.
        """
        key = _canonical(url)
        with self.reading() as reader:
            record = None if reader is None else reader.document(key)
            if reader is None or record is None:
                return {
                    "url": key,
                    "known": False,
                    "foreign": [] if reader is None else _foreign(reader, key),
                }
            listings = reader.listings(record.row.id)
            found = registration(record.row)
            told = self._decider(record.source).explain(
                found,
                [listed_dates(row) for _, row in listings],
                {feed.row.id: feed_facts(feed.row) for feed, _ in listings},
                self._now_s(),
            )
            form = document_form(
                record,
                listings,
                reader.events(document=record.row.id, limit=_EVENTS),
                upcoming(found, told, hold=record.hold),
                alias=reader.url(record.row.alias) if record.row.alias else "",
            )
            return {**form, "known": True, "because": because(form), "story": list(told.why)}

    def told_by_explain(self, url: str) -> dict[str, Any] | None:
        """Return what belongs to the explanation of canonical *url*: its listings and clocks, or the feed that it is; ``None`` = neither."""
        found = self.explain(url)
        if found["known"] or found["foreign"]:
            return found
        with self.reading() as reader:
            record = None if reader is None else reader.feed(url)
        return (
            None
            if record is None
            else {"known": False, "url": url, "foreign": [], "feed": self._form(record)}
        )

    def documents(
        self,
        *,
        source: str = "",
        feed: str = "",
        states: Sequence[str] = (),
        after: int = 0,
        limit: int = 100,
    ) -> dict[str, Any]:
        """Return registrations in the order of their rows: ``documents``, and ``after`` for the next page (``None`` = no more).

        Raises:
            UsageError: there is no such source, feed or state.
        """
        wanted = [_state(state) for state in states]
        if source:
            self._known(source)
        with self.reading() as reader:
            record = self.record(reader, feed) if feed else None
            if reader is None or (feed and record is None):
                return {"documents": [], "after": None}
            rows = reader.documents(
                source=source, feed=record.row.id if record else 0, states=wanted, after=after, limit=limit
            )
        made, now_s = [], self._now_s()
        for row in rows:
            found = registration(row.row)
            made.append(
                {"url": row.url, "source": row.source, "state": DocState(row.row.state).name.lower(), "reason": found.reason,
                 "status": found.status or None, "hold": row.hold or None, "next": upcoming(found, self._decider(row.source).explain(found, (), {}, now_s), hold=row.hold)}
            )  # fmt: skip
        return {"documents": made, "after": rows[-1].row.id if len(rows) == limit else None}

    def conflicts(self, source: str = "") -> list[dict[str, str]]:
        """Return documents that a feed lists and another source owns, the first hundred.

        Raises:
            UsageError: there is no such source.
        """
        if source:
            self._known(source)
        with self.reading() as reader:
            found = [] if reader is None else reader.conflicts(source=source)
        return [{"url": url, "owner": owner, "listed_by": also} for _, url, owner, also in found]

    def opml(self) -> bytes:
        """Return the feeds of all sources of kind ``rss`` as OPML."""
        with self.reading() as reader:
            titles = {} if reader is None else _titles(reader)
        return export_opml(self._sources, titles)

    # -- parts --------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[SyndicationReader | None]:
        """Give a reader; ``None`` without a catalog."""
        if not self._database.exists():
            yield None
            return
        reader = SyndicationReader(self._database)
        try:
            yield reader
        finally:
            reader.close()

    def _decider(self, source: str) -> Decider:
        conf = self._sources.get(source)
        return Decider(limits_of(conf) if conf is not None else None)

    def _known(self, source: str) -> None:
        conf = self._sources.get(source)
        if conf is not None and conf.syndicates:
            return
        with self.reading() as reader:
            if reader is not None and source in {record.name for record in reader.sources()}:
                return
        raise UsageError(
            f"there is no source {source!r} with feeds", hint="list them with: ingather rss status"
        )

    def record(self, reader: SyndicationReader | None, name: str) -> FeedRecord | None:
        """Return a feed; ``None`` for one that is configured and was not met yet."""
        record = None
        if reader is not None:
            record = reader.feed(name) or reader.feed(_loose(name))
        if record is None:
            self._configured(name)
        return record

    def _configured(self, name: str) -> tuple[str, str]:
        for source, conf in self._sources.items():
            for url in conf.syndication.feeds if conf.syndicates else ():
                if url in {name, _loose(name)}:
                    return source, url
        raise UsageError(f"there is no feed {name!r}", hint="list them with: ingather rss list")


def _state(name: str) -> DocState:
    with suppress(KeyError):
        return DocState[name.upper().replace("-", "_")]
    known = ", ".join(state.name.lower() for state in DocState)
    raise UsageError(f"there is no state {name!r}", hint=f"there are: {known}")


def _canonical(url: str) -> str:
    try:
        return canonical(url if "://" in url else f"https://{url}")
    except UrlError as error:
        raise UsageError(f"{url!r} is no URL: {error.text}") from error


def _loose(name: str) -> str:
    """Return *name* as a feed's URL would be kept, as it is if it is none."""
    with suppress(UsageError):
        return feed_url(name)
    return name


def _foreign(reader: SyndicationReader, url: str) -> list[dict[str, Any]]:
    """Return what feeds say of a document that another source owns."""
    row = reader.row(url)
    return [] if not row else [listing_form(*listing) for listing in reader.listings(row)]


def _titles(reader: SyndicationReader) -> dict[str, str]:
    return {record.row.name: feed_facts(record.row).title for record in reader.feeds()}


def _unmet(source: str, url: str, there: str = "") -> dict[str, Any]:
    """Return a feed that *source* names and that is not polled for it; *there*: the source for which it is polled."""
    why = f"it is a feed of the source {there}: a feed is polled for one source alone"
    return {
        "id": None, "source": source, "url": url, "address": url, "configured": True, "paused": False, "state": "new",
        "why": why if there else "no keeper has met it: start ingather serve", "title": "", "next_poll": None, "last_poll": None,
        "error": "",
    }  # fmt: skip
