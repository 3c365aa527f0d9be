"""Who owns a URL, asked before anything that a feed says of it: the policy of ``authority`` over what the catalog knows.

Source: GSA feeds specification, section 8.2.
"""

from ingather.catalog.feeds.sqlite_feed_book import FeedRow
from ingather.catalog.feeds.sqlite_feeds import Known
from ingather.catalog.sqlite_apply import Applied
from ingather.feeds.authority import FeedAuthority, UnauthorizedError, grant_in
from ingather.feeds.policy import FeedPolicy, FeedWriter
from ingather.model.lifecycle import State
from ingather.model.source_name import source_key

__all__ = ["Ownership"]


class Ownership:
    """Asks for one batch of a feed of the data source whose row is *source*.

    Attributes:
        authority: what the sender may say.
    """

    def __init__(
        self, writer: FeedWriter, applied: Applied, feed: FeedRow, source: int, policy: FeedPolicy
    ) -> None:
        self._feeds, self._access, self._applier = writer.feeds, writer.access, writer.applier
        self._feed, self._source = feed, source
        self.authority = FeedAuthority(
            grant_in(feed.fields), feed.datasource, takes_over=policy.takes_over, taken_over=policy.taken_over
        )
        if self.authority.grant.bounded:
            self._feeds.keep_apart(source, applied)
        self._names = self._applier.names
        self._names.set_inherited(source, inherited=policy.inherited)

    def check(self, url: str, found: Known | None) -> bool:
        """See that the feed may say something of canonical *url*; return whether the document there is another source's.

        *found*: what the catalog has of it. Of another source is also what that gathers and this one lists.

        Raises:
            UnauthorizedError: it may not; the source stands in the list of conflicts beside the owner.
        """
        self.authority.check_url(url)
        try:
            return self._judged(url, found)
        except UnauthorizedError as refused:
            if found is not None:
                self._feeds.also_listed(found.row.id, self._source, web=False, feed=self._feed.id)
            self._applier.event("feed-owner", url, f"refused to {self._feed.datasource}: {refused}")
            raise

    def judged(self, url: str, found: Known | None) -> bool | None:
        """Return what :meth:`check` returns, ``None`` where it raises; nothing is noted."""
        try:
            return self._judged(url, found)
        except UnauthorizedError:
            return None

    def allows(self, url: str, found: Known | None) -> bool:
        """Whether :meth:`check` would let it pass; nothing is noted."""
        return self.judged(url, found) is not None

    def _judged(self, url: str, found: Known | None) -> bool:
        authority = self.authority
        authority.check_url(url)
        if authority.is_open:
            return False
        owner = self._owner(url, found)
        if owner is None:
            if authority.grant.bounded:
                authority.check_parent(url, inherited=self._access.is_inherited(url, source=self._source))
        elif owner != self._source:
            authority.check_owner(self._feeds.source_name(owner))
            return True
        if found is None or found.row.source == self._source:
            return False
        return found.listing is not None or self._yields(url, found)

    def _yields(self, url: str, found: Known) -> bool:
        """Whether *url* is no more than what links of documents that tokens pushed led to, and the token's prefix names it."""
        grant, source, names = self.authority.grant, found.row.source, self._names
        if (
            not grant.bounded
            or not names.is_apart(source)
            or source_key(names.source_name(source)) in names.crawled
        ):
            return False  # what a site gathers is its own
        return grant.names(url)

    def _owner(self, url: str, found: Known | None) -> int | None:
        """Return the source that *url* belongs to, ``None`` = to none: who lists it, else who gathers it, else whose ACL it has.

        A URL that is merely known belongs to who gathers it where a token asks: it may be a document in a moment. But a token
        could have any page of a host that it shares with others gathered so: it yields to a token whose prefix names the URL.
        """
        if found is not None:
            if found.listing is not None:
                return found.listing.source
            gathered = self.authority.grant.bounded and found.state is not State.EXCLUDED
            if (found.row.version is not None or gathered) and not self._yields(url, found):
                return found.row.source
        return self._access.owner(url)
