"""What a record means: who owns its URL by then, what becomes of document, metadata and ACL.

Runs in the writer's thread, inside the transaction that also moves the feed's cursor: a batch is applied with its
receipts or not at all (promise D2). Source: GSA feeds specification, sections 8, 9 and 11.2.
"""

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ingather.access.metas import is_reserved
from ingather.catalog.access.sqlite_pending import Rights
from ingather.catalog.feeds.sqlite_feed_book import FeedRow, Receipt
from ingather.catalog.feeds.sqlite_feeds import Known, Listing
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import UrlError
from ingather.feeds.applying_acls import AclPart
from ingather.feeds.authority import UnauthorizedError
from ingather.feeds.desk import WEB_SOURCE
from ingather.feeds.ownership import Ownership
from ingather.feeds.policy import FeedPolicy, FeedWriter, RefusedError, Result, source_row_name
from ingather.feeds.prepared import FeedBatch, Prepared
from ingather.feeds.receipts import UNCHANGED, Written, clock_time, joined, not_in_patterns
from ingather.feeds.spelling import Spellings
from ingather.model.acl import Acl
from ingather.model.demand import Demand
from ingather.model.description import DISPLAY_URL
from ingather.model.feed import FeedRecord, FeedType
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Report, Row, Settled

__all__ = ["apply_batch", "stand"]

_BY_PERSON: Final = 1
_FIRST: Final = 0
_SOON: Final = 5


def apply_batch(  # noqa: PLR0913 - what, where to, when and how
    writer: FeedWriter, applied: Applied, feed: FeedRow, batch: FeedBatch, *, now_s: float, policy: FeedPolicy
) -> int:
    """Apply the items of *batch* behind the feed's cursor, write their receipts and move the cursor.

    Items that were applied before (a batch that came twice) are passed over.

    Returns:
        How many items were applied or rejected.
    """
    current = writer.feeds.feed(feed.id)
    if current is None or current.state > 1:
        return 0
    writer.feeds.begin(feed.id, now_s)
    work = _Applying(writer, applied, current, now_s, policy)
    fresh = [item for item in batch.items if item.n > current.done]
    rejected = sum(work.item(item) for item in fresh)
    writer.feeds.receipts(work.receipts)
    done = fresh[-1].n if fresh else current.done
    writer.feeds.advance(feed.id, done, batch.cursor, applied=len(fresh) - rejected, rejected=rejected)
    return len(fresh)


def stand(writer: FeedWriter, batch: FeedBatch) -> bool:
    """Return whether everything that *batch* found unchanged is still kept as it was found; else it is to be read again."""
    return all(
        writer.feeds.stands(item.url, item.mark)
        for item in batch.items
        if item.report is not None and item.report.outcome == Outcome.UNCHANGED
    )


class _Applying:
    """One batch of one feed."""

    def __init__(
        self, writer: FeedWriter, applied: Applied, feed: FeedRow, now_s: float, policy: FeedPolicy
    ) -> None:
        self._writer, self._applied, self._feed = writer, applied, feed
        self._feeds, self._access, self._pending = writer.feeds, writer.access, writer.pending_acls
        self._now_s, self._policy = now_s, policy
        self._source = self._feeds.make_source(source_row_name(feed.datasource))
        self._ownership = Ownership(writer, applied, feed, self._source, policy)
        self._listed = feed.datasource == WEB_SOURCE or feed.feedtype == FeedType.METADATA_AND_URL
        """Whether its records are for the crawler."""
        self._acls = AclPart(
            writer, applied, self._source, policy, self._ownership, feed=feed.id, later=feed.done > 0
        )
        self._spellings = Spellings(self._feeds, feed.id)
        self.receipts: list[Receipt] = []
        """Of the items so far; the caller writes them, all at once."""

    def item(self, item: Prepared) -> bool:
        """Apply one item and note its receipt; return whether it was rejected."""
        result = Result(item.url, notes=[*item.notes, *self._spellings.met(item, self.receipts)])
        action = "add"
        try:
            if item.acl is not None:
                action = "acl-delete" if item.acl.delete else "acl"
                self._acls.free(item.acl, result)
                self._acls.govern_short(item.acl.acl.url, item.short, result, gone=item.acl.delete)
            elif item.record is not None and not item.rejected:
                action = "delete" if item.record.delete else "add"
                self._record(item, item.record, result)
            else:
                self._rejected(item, result)
        except (RefusedError, UnauthorizedError, UrlError) as refused:
            self._name(item)
            result.state = Written.REJECTED
            result.notes.insert(0, str(refused))
        self.receipts.append((
            self._feed.id, item.n, item.line, result.url, result.url_id, action, result.state, self._feeds.sequence,
            joined(result.notes), result.ask,
        ))  # fmt: skip
        return result.state is Written.REJECTED

    # -- what cannot be applied -----------------------------------------------------------------

    def _name(self, item: Prepared) -> None:
        """A full feed does not leave out a document of its source that it named, whatever the record was refused for."""
        with suppress(UrlError):  # what is no URL has no row
            found = self._feeds.row(item.url)
            if found is not None and found.listing is not None and found.listing.source == self._source:
                self._feeds.touch(found.row.id, self._feed.id, item.n)

    def _rejected(self, item: Prepared, result: Result) -> None:
        """What we could not take changes nothing, but a lost denial hides its document."""
        found, named, of_others = None, item.url, False
        with suppress(UrlError):  # what is no URL has no row
            found = self._feeds.row(item.url)
            if found is None and item.short:
                found = self._as_short(item, result)
        try:
            for url in dict.fromkeys((item.url, named)):
                of_others |= self._ownership.check(url, found if url == item.url else None)
        except UnauthorizedError as refused:  # it would change nothing of others if it could be read
            raise RefusedError(f"{item.rejected}; and {refused}") from refused
        if found is not None:
            result.url_id = found.row.id
        if item.denies and item.url:
            for url in dict.fromkeys((item.url, named)):
                self._acls.put(Acl(url, problem=f"a denial was lost: {item.rejected}"), of_others=of_others)
            if found is not None:
                self._pending.renew(found.row.id, item.url, self._applied)
            result.notes.append("its URL is hidden from everybody: a denial was lost with the record")
        if item.leaves and found is not None:
            self._bury(found.row, "a Do-Not-Follow pattern excludes it", result, item.n)
        raise RefusedError(item.rejected)

    # -- records ------------------------------------------------------------------------------

    def _record(self, item: Prepared, record: FeedRecord, result: Result) -> None:
        found = self._feeds.row(item.url)
        if found is None and item.short and (record.delete or not (self._listed or item.report)):
            found = self._as_short(item, result)
        if found is not None:
            result.url_id = found.row.id
        if not self._merely_asks(record):
            result.of_others = self._ownership.check(item.url, found)
        if record.delete:
            self._delete(found, result, item.n)
            return
        if self._acls.speaks(record):
            self._ownership.authority.check_acl()
        if self._is_removed(item, found):
            raise RefusedError("an operator removed this URL by hand; ingather undelete brings it back")
        if record.display_url and not self._may_show(record.display_url):
            result.notes.append(
                f"its display URL {record.display_url[:80]!r} has a scheme that is not shown: its URL is"
            )
        if self._listed:
            self._list(item, record, found, result)
        else:
            self._content_of(item, record, found, result)
        if item.short and result.url_id is not None:
            self._stand_for_short(item, result.url_id, found, result)

    def _is_removed(self, item: Prepared, found: Known | None) -> bool:
        """Whether an operator took the URL away, or what links to it are cut to."""
        removed = self._feeds.removed_by_hand
        by_hand = found is not None and found.by_hand
        return by_hand or removed(item.url) or (bool(item.short) and removed(item.short))

    # -- URLs that links are cut from -----------------------------------------------------------

    def _as_short(self, item: Prepared, result: Result) -> Known | None:
        """Return the document that earlier releases kept of *item* without the parameters that links lose, if it is ours."""
        short = self._feeds.row(item.short)
        if short is None or short.listing is None or short.listing.source != self._source:
            return None
        if not self._feeds.kept_short(short.listing):
            return None
        item.url = result.url = item.short
        item.short = ""
        result.notes.append(
            f"an earlier release keeps it as {item.url}: that is meant until its content comes again"
        )
        return short

    def _stand_for_short(self, item: Prepared, url_id: int, found: Known | None, result: Result) -> None:
        """Links that are cut mean this URL from now on."""
        authority, short = self._ownership.authority, self._feeds.row(item.short)
        if not authority.grant.bounded or (
            authority.grant.names(item.short) and self._ownership.allows(item.short, short)
        ):  # else anybody's token could have the links of others lead to what it pushes
            self._feeds.note_short(url_id, item.short)
        if found is None or found.listing is None:
            self._replace_short(item, result)
        if self._listed and self._access.only_parent(item.url) != "":  # its host may redirect there
            self._acls.govern_short(item.url, item.short, result)

    def _replace_short(self, item: Prepared, result: Result) -> None:
        """The document that we found, or that earlier releases kept, without those parameters is this one: it goes."""
        short = self._feeds.row(item.short)
        if (
            short is None
            or short.by_hand
            or (short.listing is not None and not self._feeds.kept_short(short.listing))
        ):
            return  # none, or feeds name it, too
        row, listing = short.row, short.listing
        owner = row.source if listing is None else listing.source
        if row.version is None and short.state is not State.WAITING:
            return
        of_others = self._ownership.judged(item.short, short)
        if of_others is None:
            result.notes.append(
                f"{item.short} is a document of {self._feeds.source_name(owner)} and stays one"
            )
            return
        what = "found" if listing is None else "kept by an earlier release"
        governed = self._access.only_parent(item.short) != "" and self._access.only_parent(item.url) != ""
        self._bury(row, f"it is {item.url}, which {self._feed.datasource} pushes", Result(item.short), item.n)
        if governed:  # what inherits from it by that name goes on doing so
            self._acls.inherit(item.short, item.url, of_others=of_others)
        self._warn(
            result, "feed-owner", f"{what} as {item.short}, which is deleted: this one is in its place"
        )

    def _merely_asks(self, record: FeedRecord) -> bool:
        """Whether a record says nothing of its URL but that the crawler is to look: anybody who is trusted may, of any URL."""
        plain = self._feed.datasource == WEB_SOURCE and not record.delete and not self._acls.speaks(record)
        return plain and not self._ownership.authority.grant.bounded

    def _delete(self, found: Known | None, result: Result, n: int) -> None:
        """Delete at the sender's command: at once, whoever owns the URL (section 8.2), never held."""
        result.state = Written.DELETED
        if found is None:
            had = self._access.delete_acl(result.url, self._applied)
            result.notes.append(
                "it was no document; its ACL is deleted" if had else "it was not known: nothing to delete"
            )
            return
        row, state, listing = found.row, found.state, found.listing
        owner = row.source if listing is None else listing.source
        if owner != self._source:
            self._warn(
                result, "feed-delete",
                f"deleted by {self._feed.datasource}, but it belonged to {self._feeds.source_name(owner)}",
            )  # fmt: skip
        if row.version is None and state is State.GONE:
            result.notes.append("it was deleted before")
        self._bury(row, f"deleted by a feed of {self._feed.datasource}", result, n)

    def _bury(self, row: Row, reason: str, result: Result, n: int) -> None:
        """Delete a document with its ACL. Should it be brought back by hand, nobody sees it before it is pushed anew."""
        self._writer.deletions.delete(
            row.id, reason, self._now_s, self._applied, gone=True, decided=_BY_PERSON
        )
        if self._access.delete_acl(result.url, self._applied):
            self._access.secure(row.id, self._applied, secured=True)
        self._pending.forget(row.id)
        self._feeds.rest(row.id)
        self._feeds.unlist(row.id)
        self._feeds.no_longer_listed(row.id, self._source)
        self._feeds.deleted_by(row.id, self._feed.id, n)

    def _warn(self, result: Result, kind: str, text: str) -> None:
        result.notes.append(text)
        self._writer.applier.event(kind, result.url, text)

    # -- content feeds ------------------------------------------------------------------------

    def _content_of(self, item: Prepared, record: FeedRecord, found: Known | None, result: Result) -> None:
        """As :meth:`_content`; what the rules exclude now excludes what an earlier release kept of it, too."""
        try:
            self._content(item, record, found, result)
        except RefusedError:
            if found is None and item.short and item.report is not None and not item.report.described:
                self._replace_short(item, result)
            raise

    def _content(self, item: Prepared, record: FeedRecord, found: Known | None, result: Result) -> None:
        """A document of a content feed, or the metadata or ACL of one."""
        listing = None if found is None else found.listing
        report = item.report
        if found is None:
            made = self._feeds.make(item.url, self._source, self._applied)
            if made is None:
                raise RefusedError("another URL has the same key; this one cannot be kept")
            row = made
        else:
            row = found.row
        result.url_id = row.id
        if found is not None:
            self._take_over(row, listing, content=report is not None, result=result)
        before = listing or Listing(self._source, web=False)
        if report is None:
            self._without_content(row, listing, result)
            acl = self._bound_alone(row.id, record, before, result)
        else:
            self._pending.end(row.id, item.url, self._applied)
            acl = self._acls.bound(record, item.url, before, result)
        described = report is not None and report.described
        now = self._listing(before, item, record, acl)
        now.web = before.web and report is None
        now.content = (described or before.content) and not now.web
        now.media_type = record.mimetype if report is not None else before.media_type
        now.last_modified = record.last_modified or ("" if report is not None else before.last_modified)
        self._feeds.put_listing(row.id, now)
        self._protect(row.id, record, before, made=found is None)
        changed = self._metadata(row.id, record, now.display, found, fresh=listing is None)
        if report is not None:
            self._settle(row, report, item.mark, result)
            if report.outcome == Outcome.UNCHANGED and (changed or now.pagerank != before.pagerank):
                self._feeds.changed(row.id, self._applied)
        elif row.version is not None:
            self._writer.deletions.withdraw([row.id], self._now_s, self._applied)
            if changed or now.pagerank != before.pagerank:
                self._feeds.changed(row.id, self._applied)

    def _bound_alone(self, url_id: int, record: FeedRecord, before: Listing, result: Result) -> int:
        """The ACL of a record without content; a visit that is to bring that must not undo it."""
        chain = self._access.chain_of(result.url)
        acl = self._acls.bound(record, result.url, before, result)
        if self._access.chain_of(result.url) != chain:
            self._pending.renew(url_id, result.url, self._applied)
        return acl

    def _take_over(self, row: Row, listing: Listing | None, *, content: bool, result: Result) -> None:
        """The last content feed owns a URL; without content only what feeds own already changes hands."""
        owner = row.source if listing is None else listing.source
        if owner == self._source and (listing is not None or not content):
            return
        if listing is None and not content:
            return
        name = self._feeds.source_name(owner)
        if owner != self._source:
            self._feeds.also_listed(
                row.id,
                owner,
                web=listing is None or listing.web,
                feed=0 if listing is None else listing.feed,
                n=0 if listing is None else listing.n,
            )
            self._feeds.no_longer_listed(row.id, self._source)
            what = "gathered for" if listing is None or listing.web else "pushed by"
            self._warn(
                result, "feed-owner", f"it was {what} {name} and belongs to {self._feed.datasource} now"
            )
            if listing is not None and row.version is not None:
                self._access.adopt(result.url, self._source, self._applied)
        if row.source != self._source and (content or (listing is not None and not listing.web)):
            self._feeds.move(row.id, self._source, self._applied)

    def _without_content(self, row: Row, listing: Listing | None, result: Result) -> None:
        if self._feed.feedtype == FeedType.FULL:
            result.notes.append("a record of a full feed must bring its content; what is kept of it stays")
        if row.version is None and (listing is None or not listing.content):
            result.notes.append("no content came with it and none is kept: it makes no document")

    def _listing(self, before: Listing, item: Prepared, record: FeedRecord, acl: int) -> Listing:
        return Listing(
            source=self._source, web=before.web, content=before.content, feed=self._feed.id, n=item.n, once=record.crawl_once,
            locked=record.lock, pagerank=record.pagerank, authmethod=record.authmethod.lower() or before.authmethod,
            display=record.display_url, media_type=before.media_type, last_modified=before.last_modified, acl=acl,
        )  # fmt: skip

    def _protect(self, url_id: int, record: FeedRecord, before: Listing, *, made: bool = False) -> None:
        """Anything but ``none`` makes a document secure; a record that says ``none`` opens what a feed had closed.

        *made*: the row was made for this record, so there is nothing to open.
        """
        method = record.authmethod.lower()
        closed = method not in {"", "none"}
        if made and not closed:
            return
        new = before.feed == 0
        # What no feed had closed may have been closed by its host: "none" said again opens nothing.
        fed_closed = before.authmethod not in {"", "none"}
        if closed or (method and (fed_closed or new)) or (new and not self._listed):
            self._access.secure(url_id, self._applied, secured=closed)

    def _metadata(
        self, url_id: int, record: FeedRecord, display: str, found: Known | None, *, fresh: bool
    ) -> bool:
        """Replace or keep the layer of feeds; return whether it changed. Reserved names are never for searchers."""
        if record.metadata is None:
            attributes = {} if fresh else dict(self._feeds.metadata(url_id))
            attributes.pop(DISPLAY_URL, None)
        else:
            grouped: dict[str, list[str]] = {}
            for name, value in record.metadata:
                low = name.strip().lower()
                if low and low != DISPLAY_URL and not is_reserved(low):
                    grouped.setdefault(low, []).append(value)
            attributes = {name: tuple(values) for name, values in grouped.items()}
        if display and self._may_show(display):
            attributes[DISPLAY_URL] = (display,)
        return self._feeds.put_metadata(url_id, attributes, self._applied, known=found, new=found is None)

    def _may_show(self, display: str) -> bool:
        return display.partition(":")[0].strip().lower() in self._policy.display_schemes

    def _settle(self, row: Row, report: Report, mark: bytes, result: Result) -> None:
        """Let what the content says become the page layer, as if it had been fetched."""
        report.id, report.fed = row.id, True
        if report.outcome == Outcome.UNCHANGED:
            self._writer.applier.settle(self._settled(report, row, keep=True), self._applied)
            result.notes.append(UNCHANGED)
            return
        if not report.described:
            if row.version is not None:
                self._bury_description(row, report)
            why = report.denial.reason if report.denial is not None else "the rules exclude it"
            self._writer.applier.settle(self._settled(report, row, keep=False), self._applied)
            raise RefusedError(f"no description is made of it: {why}")
        if any(flag.startswith("conversion-failed") for flag in report.flags):
            result.notes.append("Conversion Error: its text cannot be read; it is found by its metadata")
            mark = b""  # another time it may be read
        self._writer.applier.settle(self._settled(report, row, keep=False), self._applied)
        self._feeds.mark(row.id, mark)

    def _bury_description(self, row: Row, report: Report) -> None:
        reason = "the rules exclude it now" if report.denial is None else report.denial.reason
        self._writer.deletions.delete(
            row.id, reason, self._now_s, self._applied, gone=False, decided=_BY_PERSON
        )

    @staticmethod
    def _settled(report: Report, row: Row, *, keep: bool) -> Settled:
        return Settled(
            report=report, row=row, state=int(State.DONE), due_s=None, wait_s=None, fails=0, missing_s=None, strikes=0,
            put=True, propose="", keep_description=keep,
        )  # fmt: skip

    # -- web feeds ----------------------------------------------------------------------------

    def _bare(self, item: Prepared, record: FeedRecord, result: Result) -> FeedRecord:
        """Return what the data source web may say: a URL, and no more (section 8.1)."""
        if self._feed.datasource != WEB_SOURCE:
            return record
        if record.metadata:
            result.notes.append("the data source web brings no metadata: it is ignored")
            record = replace(record, metadata=None)
        if item.has_content:
            result.notes.append("the data source web brings no content: it is ignored")
        return record

    def _list(self, item: Prepared, record: FeedRecord, found: Known | None, result: Result) -> None:
        """A URL for the crawler, with metadata if the feed may bring some."""
        listing = None if found is None else found.listing
        if listing is not None and listing.content:
            self._refuse_content_owned(item, record, listing, result)
            return
        if listing is not None and not listing.web:
            self._warn(
                result, "feed-type",
                f"pushed without content by {self._feeds.source_name(listing.source)}; it is for the crawler now",
            )  # fmt: skip
        if item.found is None:
            raise RefusedError("it cannot be crawled")
        if item.found.denial is not None:
            denial = item.found.denial
            raise RefusedError(
                not_in_patterns(item.url, f"{denial.reason} ({denial.where or denial.category})")
            )
        refused = len(self._applied.refused)
        item.found.priority = _FIRST if record.crawl_immediately else _SOON
        url_id = self._writer.applier.discover(item.found, None, self._applied)
        if url_id is None:
            why = [limit for _, limit in self._applied.refused[refused:]]
            raise RefusedError(f"it is not taken into the frontier: {', '.join(why) or 'its key is taken'}")
        result.url_id = url_id
        before = listing or Listing(self._source, web=True)
        record = self._bare(item, record, result)
        rights = None if found is None else self._pending.rights(url_id, item.url)
        acl = self._acls.bound(record, item.url, before, result)
        now = self._listing(before, item, record, acl)
        now.web, now.last_modified = True, record.last_modified or before.last_modified
        if listing is not None and listing.source != self._source:
            result.notes.append(f"it was listed by {self._feeds.source_name(listing.source)} too")
            self._feeds.also_listed(url_id, listing.source, web=listing.web, feed=listing.feed, n=listing.n)
            self._feeds.no_longer_listed(url_id, self._source)
        self._own_altogether(url_id, found)
        self._feeds.put_listing(url_id, now)
        self._protect(url_id, record, before)
        changes = self._metadata(url_id, record, now.display, found, fresh=listing is None)
        if changes:
            self._feeds.changed(url_id, self._applied)
        if found is None or rights is None:
            self._plan(url_id, record, None, result)
            return
        chain = self._access.chain_of(item.url)
        changes = changes or before.differs(now) or chain not in {rights.chain, rights.said}
        self._plan(url_id, record, found, result, changes=changes)
        self._hold_rights(found, record, rights, result)

    def _hold_rights(self, found: Known, record: FeedRecord, before: Rights, result: Result) -> None:
        """Rights that a record changed count together with those before, until the visit that it asked for."""
        url_id, url = found.row.id, result.url
        opened = bool(record.authmethod) and not before.open and self._pending.rights(url_id, url).open
        if self._access.chain_of(url) == before.chain and not opened:
            return
        if result.state is Written.WAITING:
            self._pending.hold(url_id, url, before, self._applied)
        else:  # no visit is to come
            self._pending.renew(url_id, url, self._applied)

    @staticmethod
    def _is_done(record: FeedRecord, found: Known, *, changes: bool) -> bool:
        """Whether a URL is to be fetched once, and was."""
        once = record.crawl_once or (found.listing is not None and found.listing.once)
        return once and found.row.version is not None and not (changes and found.state is State.WAITING)

    def _own_altogether(self, url_id: int, found: Known | None) -> None:
        """What a token lists is its own source's altogether: its ACL counts for documents of that source alone."""
        bounded = self._ownership.authority.grant.bounded
        if bounded and found is not None and found.row.source != self._source:
            self._feeds.move(url_id, self._source, self._applied)

    def _refuse_content_owned(
        self, item: Prepared, record: FeedRecord, listing: Listing, result: Result
    ) -> None:
        """Who brought the content owns the URL: a web feed changes nothing of it but an ACL of the same source."""
        assert result.url_id is not None  # noqa: S101 - it has a listing
        owner = self._feeds.source_name(listing.source)
        if listing.source != self._source:
            self._feeds.also_listed(result.url_id, self._source, web=True, feed=self._feed.id, n=item.n)
        self._warn(
            result, "feed-type",
            f"its content comes with feeds of {owner}: it is not crawled, and its metadata is not changed; "
            "delete the URL first to change that",
        )  # fmt: skip
        result.state = Written.UNCHANGED
        if record.acl is not None or record.denied:
            result.state = Written.APPLIED
            listing.acl = self._acls.bound(replace(record, metadata=None), item.url, listing, result)
            self._feeds.put_listing(result.url_id, listing)

    def _plan(
        self, url_id: int, record: FeedRecord, found: Known | None, result: Result, *, changes: bool = False
    ) -> None:
        """Plan the visit that a record asks for; the receipt says when it is made, or why none is.

        None is dropped because of visits before: a limit on repeated pushes only delays (section 13). Of ``crawl-once`` only
        ``crawl-immediately`` fetches a document again, or a change while a visit may be under way, which would undo it.
        """
        if (
            found is not None
            and not record.crawl_immediately
            and self._is_done(record, found, changes=changes)
        ):
            result.notes.append("crawl-once: it was fetched, and only crawl-immediately fetches it again")
            return
        demand = Demand.URGENT if record.crawl_immediately or changes else Demand.USUAL
        asked = self._feeds.ask(
            url_id,
            demand,
            priority=_FIRST if record.crawl_immediately else _SOON,
            applied=self._applied,
            new=found is None,
        )
        if asked is None:
            result.notes.append(
                "no visit is planned: it is in quarantine (ingather robot release) or excluded (ingather explain says why)"
            )
            return
        result.state, result.ask = Written.WAITING, asked.number
        if found is not None and found.state is State.GONE:
            self._feeds.deleted_by(url_id, None, None)
        if asked.at_s > self._now_s and asked.last_s is not None:
            result.notes.append(
                f"visited again at the earliest at {clock_time(asked.at_s)}: it was visited {self._now_s - asked.last_s:.0f} s ago"
            )
