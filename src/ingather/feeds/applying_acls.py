"""The ACLs that feeds bring: of named resources, and bound to the records of documents (sections 8 and 11.2)."""

from dataclasses import replace
from typing import Final

from ingather.access.metas import acl_of_metas, is_acl_meta
from ingather.catalog.access.sqlite_pending import Rights
from ingather.catalog.feeds.sqlite_feeds import Known, Listing
from ingather.catalog.sqlite_apply import Applied
from ingather.feeds.ownership import Ownership
from ingather.feeds.policy import FeedPolicy, FeedWriter, Result
from ingather.feeds.receipts import Written
from ingather.model.acl import Acl
from ingather.model.demand import Demand
from ingather.model.feed import FeedAcl, FeedRecord
from ingather.model.lifecycle import State

__all__ = ["AclPart"]

_METAS: Final = 1
_ELEMENT: Final = 2
_SOON: Final = 5
_EARLIER: Final = 4
"""Added to either: not the record that spoke last gave it, but one before it, or a free element."""


class AclPart:
    """Applies ACLs of one batch of the data source that owns *source*."""

    def __init__(  # noqa: PLR0913 - where it applies them, for whom, and behind what
        self,
        writer: FeedWriter,
        applied: Applied,
        source: int,
        policy: FeedPolicy,
        ownership: Ownership,
        *,
        feed: int,
        later: bool,
    ) -> None:
        self._feeds, self._access, self._pending = writer.feeds, writer.access, writer.pending_acls
        self._ownership, self._bound = ownership, ownership.authority.grant.bounded
        self._applied, self._source, self._policy = applied, source, policy
        self._feed, self._later = feed, later
        """The feed, and whether batches of it went before."""
        self._given: dict[str, bool] = {}
        """URLs whose ACL this batch gave, and whether by a free element."""

    def put(self, acl: Acl, *, of_others: bool = False) -> None:
        """Put the ACL of a URL in force, as the source's policy reads empty ones.

        *of_others*: the document is another source's, and we may speak of it: an ACL for our documents alone would not count.
        """
        self._access.put_acl(
            acl,
            self._applied,
            source=self._source,
            bound=self._bound and not of_others,
            empty_is_none=self._policy.empty_acl_is_none,
        )

    @staticmethod
    def speaks(record: FeedRecord) -> bool:
        """Whether a record brings an access list, in whatever form."""
        return (
            record.acl is not None
            or bool(record.denied)
            or any(is_acl_meta(name) for name, _ in record.metadata or ())
        )

    def _note_twice(self, url: str, listing: Listing | None, result: Result, *, free: bool) -> None:
        """Say that a URL has an ACL of its own and one in its record: the later counts (section 11.2)."""
        given = self._given.get(url)
        if given is None and self._later:
            given = self._given_before(url, listing)
        if given is not None and given is not free:
            result.notes.append("this feed gave it an ACL in a record and one of its own: the later counts")
        self._given[url] = free

    def _given_before(self, url: str, listing: Listing | None) -> bool | None:
        """Return whether the last ACL that earlier batches of the feed gave *url* was a free one, ``None`` = they gave none."""
        free = self._feeds.last_free_acl(self._feed, url)
        bound = (
            listing.n
            if listing is not None and listing.feed == self._feed and listing.acl in {_METAS, _ELEMENT}
            else 0
        )
        return free > bound if free or bound else None

    def free(self, item: FeedAcl, result: Result) -> None:
        """A named resource, or the ACL of a document that is not sent along."""
        found = self._feeds.row(item.acl.url)
        self._ownership.authority.check_acl()
        of_others = self._ownership.check(item.acl.url, found)
        listing = None
        if found is not None:
            result.url_id = found.row.id
            listing = found.listing
            if listing is not None and listing.source != self._source:
                result.notes.append(
                    f"the URL belongs to the data source {self._feeds.source_name(listing.source)}"
                )
        rights = None if found is None else self._pending.rights(found.row.id, item.acl.url)
        if item.delete:
            result.state = Written.DELETED
            if not self._access.delete_acl(item.acl.url, self._applied):
                result.notes.append("it had no ACL")
        else:
            self._note_twice(item.acl.url, listing, result, free=True)
            self.put(item.acl, of_others=of_others)
        if listing is not None and listing.web and found is not None:
            self._await_visit(found, item.acl.url, rights)
        if listing is not None and found is not None:
            listing.acl = 0 if item.delete else _ELEMENT + _EARLIER
            self._feeds.put_listing(found.row.id, listing)

    def _await_visit(self, found: Known, url: str, before: Rights | None) -> None:
        """A free ACL is no reason to fetch (section 13); but a visit that may be under way must not undo it."""
        if before is None or before.chain == self._access.chain_of(url):
            return
        if found.state is State.WAITING and self._feeds.ask(
            found.row.id, Demand.USUAL, priority=_SOON, applied=self._applied
        ):
            self._pending.hold(found.row.id, url, before, self._applied)
        else:
            self._pending.renew(found.row.id, url, self._applied)

    def inherit(self, short: str, url: str, *, of_others: bool, problem: str = "") -> None:
        """Let *short* have the ACL of *url*, or nobody see it because of a *problem*.

        It is no source's ACL, so that no full feed leaves it out; what a token brought counts for its own source all the same.
        *of_others*: as with :meth:`put`.
        """
        bound = self._bound and not of_others
        self._access.put_acl(
            Acl(short, inherit_from=url, problem=problem),
            self._applied,
            source=self._source if bound else None,
            of=self._source,
            bound=bound,
        )

    def govern_short(self, url: str, short: str, result: Result, *, gone: bool = False) -> None:
        """Let the ACL of *url* count for the document that links to it find, where no feed names that document itself.

        *short*: what such links are cut to, ``""`` = nothing. *gone*: *url* has no ACL any more. That document inherits; where several pushed URLs are cut to it,
        whose ACLs differ, nobody sees it.
        """
        if not short:
            return
        found = self._feeds.row(short)
        listing = None if found is None else found.listing
        if listing is not None and not (self._feeds.kept_short(listing) and listing.source == self._source):
            return  # feeds name it, with an ACL of its own or none
        of_others = self._ownership.judged(short, found)
        if of_others is None:
            return  # another source's document
        parent = self._access.only_parent(short)
        if gone:
            if parent == url:
                self._access.delete_acl(short, self._applied)
            return
        if parent is None and not self._access.before_whole_urls(short, self._source):
            return  # it has an ACL that is its own
        problem, note = "", f"links to it are cut to {short}, which inherits its ACL"
        if self._access.is_leaf(url):
            note += "; that has the type leaf-node, which lets nobody inherit: nobody sees that one (send inheritance-type)"
        if parent and parent != url and not self._access.same_chain(parent, url):
            note = (
                f"links to it and to {parent} are cut to {short}, and their ACLs differ: nobody sees that one"
            )
            problem = f"it stands for {parent} and {url}, whose ACLs differ"
        self.inherit(short, "" if problem else url, of_others=of_others, problem=problem)
        result.notes.append(note)

    def bound(self, record: FeedRecord, url: str, before: Listing, result: Result) -> int:
        """Give a document the ACL that its record says; return where the ACL comes from by now.

        Metas that are sent without ACL metas take away the ACL that metas gave, not one of an ``acl`` element.
        """
        of_others = result.of_others
        if record.denied:
            self.put(Acl(url, problem=record.denied), of_others=of_others)
            result.notes.append(f"nobody may see it: {record.denied}")
            return _ELEMENT
        metas = None
        if record.metadata is not None:
            metas = acl_of_metas(
                url, record.metadata, one_value_per_meta=self._policy.one_value_per_meta, canonical=self._policy.canonical
            )  # fmt: skip
            result.notes += [*metas.warnings, *metas.notes]
        if record.acl is not None:
            if metas is not None and metas.acl is not None:
                result.notes.append("it has an acl element and ACL metas: the element counts")
            self._note_twice(url, before, result, free=False)
            self.put(replace(record.acl, url=url), of_others=of_others)
            return _ELEMENT
        if metas is not None and metas.acl is not None:
            self._note_twice(url, before, result, free=False)
            self.put(metas.acl, of_others=of_others)
            return _METAS
        if metas is not None and record.overwrite_acls and before.acl & ~_EARLIER == _METAS:
            self._access.delete_acl(url, self._applied)
            return 0
        return before.acl | _EARLIER if before.acl else 0
