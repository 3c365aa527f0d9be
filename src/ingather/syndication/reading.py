"""A document to a listing: which format, which tier, which limits."""

import re
from dataclasses import replace
from typing import Final

from ingather.syndication.collecting import Collector, TooManyItemsError
from ingather.syndication.encodings import decode_listing
from ingather.syndication.jsonfeed import NotJsonFeedError, read_json_feed
from ingather.syndication.lenient import read_leniently
from ingather.syndication.listing import Listing, ListingLimits
from ingather.syndication.mending import mended
from ingather.syndication.strict import NotWellFormedError, RefusedError, read_xml
from ingather.syndication.verbatim import markup

__all__ = ["read_listing", "read_strictly"]

_DEFAULT: Final = ListingLimits()
_BLANK: Final = "\ufeff \t\r\n\x0b\x0c\x00"
_FEED_TAG: Final = re.compile(
    r"<(?:[A-Za-z][\w.-]*:)?(?:rss|rdf|feed|channel|item|entry)[\s>]", re.IGNORECASE
)


def read_listing(
    body: bytes, *, url: str, content_type: str | None = None, limits: ListingLimits = _DEFAULT
) -> Listing:
    """Read RSS 0.9x, 1.0, 1.1 or 2.0, Atom 0.3 or 1.0, or a JSON Feed. Never raises for what is in it; pure.

    Strict first. What is not well-formed is mended where nothing has to be guessed and read strictly once more, and
    what then is left goes to a lenient parser; both are flagged ``malformed``. That parser may take seconds for
    hostile bytes: foreign documents are read in a limited process.

    Args:
        body: as it arrived, content encoding undone.
        url: from which it was finally retrieved (Content-Location goes before it); base of relative links.
        content_type: the header as received; only its charset counts, after byte order mark and declaration.
        limits: see :class:`ListingLimits`.
    """
    return _read(body, url, content_type, limits, lenient=True)


def read_strictly(
    body: bytes, *, url: str, content_type: str | None = None, limits: ListingLimits = _DEFAULT
) -> Listing | None:
    """Read as :func:`read_listing` does what a strict parser can read; ``None`` = it takes the other tiers, and their dangers.

    Time and memory grow with the document's size alone.
    """
    try:
        return _read(body, url, content_type, limits, lenient=False)
    except NotWellFormedError:
        return None


def _read(
    body: bytes, url: str, content_type: str | None, limits: ListingLimits, *, lenient: bool
) -> Listing:
    if len(body) > limits.body_bytes:
        return Listing("", error=f"larger than {limits.body_bytes} bytes")
    text, broken = decode_listing(body, content_type)
    remarks = [broken] if broken else []
    try:
        return _text(text, url, limits, remarks, lenient=lenient)
    except (NotJsonFeedError, RefusedError) as error:
        return Listing("", malformed=bool(remarks), remarks=tuple(remarks), error=str(error))
    except TooManyItemsError:
        return Listing("", remarks=tuple(remarks), error=f"more than {limits.items} items")


def _text(text: str, url: str, limits: ListingLimits, remarks: list[str], *, lenient: bool) -> Listing:
    bare = text.lstrip(_BLANK)
    if not bare:
        raise RefusedError("empty")
    if bare[0] in "{[":
        return _finished(read_json_feed(bare, url=url, limits=limits), remarks, malformed=bool(remarks))
    return _xml(text, bare, url, limits, remarks, lenient=lenient)


def _xml(  # noqa: PLR0913 - what a reading carries along
    text: str, bare: str, url: str, limits: ListingLimits, remarks: list[str], *, lenient: bool
) -> Listing:
    if "<!ENTITY" in bare and "<!ENTITY" in markup(bare):
        raise RefusedError("refused: declares entities")
    if text != bare and bare.startswith("<?xml"):
        remarks.append("does not begin with its XML declaration")
    # A remark already: not what it should be, though it may parse.
    broken = bool(remarks)
    try:
        return _finished(read_xml(bare, url=url, limits=limits), remarks, malformed=broken)
    except NotWellFormedError as error:
        if not _FEED_TAG.search(bare):
            raise RefusedError("not a feed") from None
        if not lenient:
            raise
        remarks.append(f"not well-formed: {error}")
    better = mended(bare)
    if len(better) > 2 * limits.body_bytes:
        raise RefusedError("refused: too much of it is not XML")
    try:
        read = read_xml(better, url=url, limits=limits)
    except NotWellFormedError:
        read = read_leniently(better, url=url, limits=limits)
    if not read.count() and not read.tombstones:
        raise RefusedError("not well-formed, and nothing was found in it")
    return _finished(read, remarks, malformed=True)


def _finished(read: Collector, remarks: list[str], *, malformed: bool) -> Listing:
    if not read.count() and not read.tombstones:
        read.remarks.append("lists nothing: no item or entry was found in it")
    elif not read.items and read.rejected_count:
        read.remarks.append(
            f"lists nothing that has a link: {read.rejected[0].reason}"
            if read.rejected
            else "no item has a link"
        )
    listing = read.listing(malformed=malformed)
    return replace(listing, remarks=(*remarks, *listing.remarks)) if remarks else listing
