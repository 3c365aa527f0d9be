"""What a reading has gathered so far, and the listing it becomes: the same for every format and both tiers."""

from dataclasses import dataclass, field

from ingather.syndication.dates import listing_date, tidy
from ingather.syndication.links import Candidates
from ingather.syndication.listing import Hints, Listing, ListingItem, ListingLimits, Rejection, Tombstone

__all__ = ["Collector", "TooManyItemsError"]


class TooManyItemsError(Exception):
    """The document lists more items than one document may."""


@dataclass(slots=True)
class Collector:
    """Takes items, counts them, rejects those without a link."""

    url: str
    limits: ListingLimits
    kind: str
    version: str = ""
    title: str = ""
    items: list[ListingItem] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    rejected_count: int = 0
    tombstones: list[Tombstone] = field(default_factory=list)
    hints: Hints = field(default_factory=Hints)
    remarks: list[str] = field(default_factory=list)

    def count(self) -> int:
        """Return how many items there were, rejected ones too."""
        return len(self.items) + self.rejected_count

    def add(
        self, found: Candidates, *, published: str = "", modified: str = "", guid: str = "", title: str = ""
    ) -> None:
        """Take one item; texts as they stand in the document.

        Raises:
            TooManyItemsError: one more than the limit.
        """
        number = self.count() + 1
        if number > self.limits.items:
            raise TooManyItemsError
        cut = self.limits.text_chars
        link, rule = found.choose()
        guid = tidy(guid)[:cut]
        if not link:
            self.rejected_count += 1
            if len(self.rejected) < self.limits.rejections:
                self.rejected.append(Rejection(number, guid, found.reason()))
            return
        born, changed = tidy(published)[:cut], tidy(modified)[:cut]
        self.items.append(
            ListingItem(
                link, listing_date(born), listing_date(changed), guid, tidy(title)[:cut], rule, born, changed
            )
        )

    def bury(self, ref: str | None, when: str | None, link: str = "") -> None:
        """Take one tombstone, if it names what is dead.

        Raises:
            TooManyItemsError: one more than the limit of items.
        """
        if len(self.tombstones) >= self.limits.items:
            raise TooManyItemsError
        cut = self.limits.text_chars
        if ref and ref.strip():
            self.tombstones.append(Tombstone(tidy(ref)[:cut], listing_date(tidy(when)[:cut]), link))

    def listing(self, *, malformed: bool = False) -> Listing:
        """Return what was gathered."""
        return Listing(
            self.kind,
            tidy(self.version)[:40],
            tidy(self.title)[: self.limits.text_chars],
            tuple(self.items),
            tuple(self.rejected),
            self.rejected_count,
            tuple(self.tombstones),
            self.hints,
            malformed,
            tuple(self.remarks),
        )
