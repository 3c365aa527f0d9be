"""Away with a source that is crawled (``site``, ``rss``, ``sitemap``), in two steps and in pieces: jobs for the one writer.

First its documents are deleted at an operator's command; the source is disabled before, so that nothing brings them back.
Then what its feeds and sitemaps list is forgotten. These are the appliance's two steps; a command is never held.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from ingather.app.jobs import Job
from ingather.app.syndication.records import feed_facts, feed_row
from ingather.catalog.deletion.sqlite_evidence import Seen
from ingather.catalog.deletion.sqlite_source_rows import OwnedRow
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.catalog.syndication.sqlite_syndication_rows import FeedRow
from ingather.errors import UsageError
from ingather.model.decided import By

__all__ = ["REASON", "delete_gathered", "forget_gathered"]

REASON: Final = "the source was deleted by the operator"
"""What tombstones say; `ingather undelete --source NAME` finds them."""
_PIECE: Final = 500
_BY_PERSON: Final = 1
_SOON: Final = 5
_FED: Final = frozenset({"rss", "sitemap"})


def delete_gathered(
    run: Callable[[Job], Any], source: Mapping[str, Any], by: By, *, enough: Callable[[], bool]
) -> dict[str, Any]:
    """Delete the documents of a disabled source, in transactions that let others commit in between.

    What a source that is not disabled names, too, goes to that one and is fetched under its rules; documents of a secure
    source never do, for the other may show them to more people.

    Args:
        run: runs a job in a durable transaction.
        source: of the list of sources: ``name``, ``id``, ``kind``, ``access``.
        by: who wants it.
        enough: whether to stop after the piece at hand; asked again it goes on with what is left.

    Returns:
        ``deleted``, ``handed_over`` and ``done``.

    Raises:
        UsageError: somebody enabled the source meanwhile.
    """
    work = _Deleting(source, by)
    run(work.begin)
    after: int | None = 0
    while after is not None:
        after = run(partial(work.piece, after=after))
        if after is not None and enough():
            break
    return {"deleted": work.deleted, "handed_over": work.handed, "done": after is None}


class _Deleting:
    """One source's deletion; what is counted stands for pieces that are durable."""

    def __init__(self, source: Mapping[str, Any], by: By) -> None:
        self._name, self._number = str(source["name"]), int(source["id"])
        self._fed, self._public = source["kind"] in _FED, source["access"] == "public"
        self._by = by
        self._at_s = 0.0
        self.deleted = self.handed = 0

    def begin(self, writer: CatalogWriter, _applied: Applied, now_s: float) -> None:
        """Have the lists that others may take documents over from read whole, and those of the source itself when it is enabled."""
        self._at_s = now_s
        store = writer.syndication
        for feed in (*store.listed_elsewhere(self._number), *store.feeds(self._number)):
            _forget_list(writer, feed)

    def piece(self, writer: CatalogWriter, applied: Applied, now_s: float, after: int) -> int | None:
        """Delete a piece of the documents above row *after*; return the last row, ``None`` = there are no more."""
        if self._name not in writer.registry.disabled_sources():
            raise UsageError(
                f"the source {self._name!r} was enabled meanwhile: {self.deleted} documents are deleted",
                hint="delete it again to go on, undelete to take it back",
            )
        rows, last = writer.source_rows.owned(self._number, after, _PIECE)
        heirs: dict[int, int] = {}
        if self._public:
            heirs = writer.source_rows.heirs(self._number, [row.id for row in rows if not row.pushed])
        decision = writer.deletions.evidence.decide(
            "delete", f"source {self._name}", self._by, self._at_s, source=self._number, reason=REASON,
            documents=len(rows) - len(heirs),
        )  # fmt: skip
        for row in rows:
            heir = heirs.get(row.id)
            if heir is not None:
                self._hand_over(writer, applied, row, heir)
                continue
            writer.deletions.observe(Seen(row.id, self._number, REASON, "delete"), now_s)
            writer.deletions.delete(
                row.id, REASON, now_s, applied, gone=True, decided=_BY_PERSON, decision=decision
            )
            if row.pushed:
                writer.access.delete_acl(row.url, applied)
                writer.feeds.unlist(row.id)
                writer.feeds.rest(row.id)
            # What a feed lists is asked for by its feed; what is crawled when the source may go on.
            writer.syndication.drop_document(row.id)
            writer.source_rows.due_at(row.id, None if self._fed or row.pushed else now_s)
        self.deleted += len(rows) - len(heirs)
        self.handed += len(heirs)
        return last or None

    def _hand_over(self, writer: CatalogWriter, applied: Applied, row: OwnedRow, heir: int) -> None:
        """Let the document belong to who names it, too; it is fetched again, for only the owner's rules count."""
        store, name = writer.syndication, writer.applier.names.source_name(heir)
        store.drop_document(row.id)
        writer.deletions.withdraw([row.id], writer.applier.now_s, applied)
        writer.feeds.move(row.id, heir, applied)
        if writer.applier.names.is_fed(heir):
            store.rest(row.id)  # its feed's next list, read whole, asks for it
        else:
            writer.feeds.wake(row.id, row.host, priority=_SOON, applied=applied)
        writer.feeds.changed(row.id, applied)
        writer.applier.event(
            "source-owner", row.url, f"its source {self._name} was deleted; it belongs to {name} now"
        )


def forget_gathered(run: Callable[[Job], Any], source: Mapping[str, Any], *, rests: bool) -> dict[str, int]:
    """Forget what feeds and sitemaps list for a source without documents, in pieces.

    Args:
        run: runs a job in a durable transaction.
        source: of the list of sources.
        rests: it stays disabled, because the configuration has it still.

    Returns:
        How many ``feeds``, ``sitemaps`` and ``listed`` URLs were forgotten.
    """
    number = int(source["id"])
    feeds, listed = 0, 0
    while gone := run(lambda writer, _a, _n: _forget_registrations(writer, number)):
        listed += gone
    while gone := run(lambda writer, _a, _n: writer.source_rows.forget_feeds(number, _PIECE)):
        listed += gone

    def forget_rss(writer: CatalogWriter, _applied: Applied, _now_s: float) -> int:
        store = writer.syndication
        found = store.feeds(number)
        for feed in found:
            store.rest(feed.url)
        store.drop_source(number)
        writer.source_rows.forget_others(number)
        return len(found)

    feeds = run(forget_rss)
    done, sitemaps = False, 0
    while not done:
        sitemaps, done = run(lambda writer, _a, _n: writer.source_rows.forget_sitemaps(number))

    def end(writer: CatalogWriter, _applied: Applied, _now_s: float) -> None:
        name = str(source["name"])
        if not rests:
            writer.registry.disable_source(name, str(source["kind"]), str(source["access"]), None)
        writer.applier.event("source-destroyed", name, "what its feeds and sitemaps listed is forgotten")

    run(end)
    return {"feeds": feeds, "sitemaps": sitemaps, "listed": listed}


def _forget_registrations(writer: CatalogWriter, number: int) -> int:
    rows = writer.syndication.all_documents(number, 0, _PIECE)
    for row in rows:
        writer.syndication.unasked(row.id)
        writer.syndication.drop_document(row.id)
    return len(rows)


def _forget_list(writer: CatalogWriter, feed: FeedRow) -> None:
    """Have the next list of a feed be read whole: it must not say "unchanged"."""
    facts = msgspec.structs.replace(feed_facts(feed), digest=b"", etag="", last_modified="", anew_s=None)
    writer.syndication.put_feed(feed_row(feed, facts))
    writer.syndication.validators(feed.url, "", "", b"")
