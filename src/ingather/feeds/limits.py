"""What a feed may hold (GSA feeds specification, section 15)."""

from dataclasses import dataclass

__all__ = ["FeedLimits"]


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """Limits of the reader. A record or ACL beyond one of them is rejected, and the feed goes on.

    Attributes:
        record_bytes: one record or ACL as it stands in the feed, in UTF-8.
        content_bytes: a record's content after decoding.
        url_chars: any URL.
        metas: ``meta`` elements of a record.
        metadata_bytes: their names and contents together, in UTF-8, after decoding.
        acl_entries: principals of an ACL; beyond it the ACL counts as broken, so nobody may see what it governs.
        members: principals of one group membership.
        tags: start and end tags of one record; what more could only be an attack on memory.
        names: different unknown element and attribute names in a feed; more end it.
        outside_bytes: everything in the feed that is not record, ACL, white space or comment; more ends it.
        warnings: of one record; the rest is counted.
    """

    record_bytes: int = 96 << 20
    content_bytes: int = 64 << 20
    url_chars: int = 8192
    metas: int = 10_000
    metadata_bytes: int = 1 << 20
    acl_entries: int = 100_000
    members: int = 1_000_000
    tags: int = 300_000
    names: int = 10_000
    outside_bytes: int = 64 << 20
    warnings: int = 50
