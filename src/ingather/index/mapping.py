"""RD -> index document: the one place that knows which attribute fills which field.

Attribute names are the RD schema's (robot specification, sections 7 and 12): ``title``,
``description``, ``keywords``, ``author``, ``toc`` (headings, one a line), ``content-type``,
``last-modified`` and whatever META names the page had.
"""

import calendar
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import Final, NamedTuple, Protocol

from ingather.index.tantivy_schema import MOST_BOOST
from ingather.model.description import DISPLAY_URL, AttributesView, Description
from ingather.ports.catalog import UrlRecord
from ingather.ports.index import IndexDocument

__all__ = ["PageFacts", "ShownRow", "document", "kind_of", "page_document"]

_KINDS: Final[Mapping[str, str]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/csv": "csv",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "application/epub+zip": "epub",
    "application/vnd.mif": "mif",
    "application/x-mif": "mif",
    "message/rfc822": "eml",
    "application/vnd.ms-outlook": "msg",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.graphics": "odg",
}
_MAX_KIND_CHARS: Final = 8
_USUAL_PAGERANK: Final = 96
"""A feed's pagerank of 97 to 100 raises a document; 96 is the usual one, and nothing lowers (GSA feeds specification, section 7.3)."""

# Fields of their own, bookkeeping and instructions to programs: not text that people look for.
_NOT_TEXT: Final = frozenset({
    "title", "toc", "headings", "marked", "full-text", "partial-text", "md5", "depth", "rd-expires", "rd-last-modified",
    "content-type", "content-length", "content-charset", "content-encoding", "content-language", "last-modified",
    "expires", "date", "language", "url", "readacl", "virtual-db-id", "ip", "robots", "googlebot", "ingather", "viewport",
    "generator", "charset", "referrer", "theme-color", "format-detection", "refresh", "content-security-policy",
    DISPLAY_URL, "csrf-token", "csrf-param", "google-site-verification", "msvalidate.01", "x-ua-compatible", "etag",
})  # fmt: skip
_NOT_TEXT_PREFIXES: Final = (
    "og:",
    "twitter:",
    "fb:",
    "msapplication-",
    "apple-",
    "http-",
    "readability-",
    "google:",
)  # google:acl... may stand in pages, too
_MAX_META_VALUES: Final = 64
_MAX_META_CHARS: Final = 1_000
_LEAD_CHARS: Final = 1_000
_MONTHS: Final = {name: i for i, name in enumerate(calendar.month_abbr)}
_HTTP_DATE_CHARS: Final = 29
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


class ShownRow(Protocol):
    """What the catalog's row says of a resource that readers may see."""

    @property
    def url(self) -> str:
        """Canonical URL."""

    @property
    def source(self) -> str:
        """Owning source."""

    @property
    def size(self) -> int:
        """Bytes of the body."""

    @property
    def anchors(self) -> Sequence[str]:
        """Distinct anchor texts of links on public pages that lead here."""

    @property
    def database(self) -> str:
        """Named partition that its description is in."""

    @property
    def pagerank(self) -> int:
        """What a content feed says of its rank, 0 = nothing."""


class PageFacts(Protocol):
    """What a visit found out about a page beside its attributes: a report, or what the catalog kept of it."""

    @property
    def headings(self) -> str:
        """One a line."""

    @property
    def marked(self) -> str:
        """What the page sets off."""

    @property
    def language(self) -> str:
        """Tag, or nothing."""

    @property
    def media_type(self) -> str:
        """May have parameters."""

    @property
    def date_s(self) -> int | None:
        """Epoch seconds of the document's date."""

    @property
    def flags(self) -> Sequence[str]:
        """``nosnippet`` among others."""


class _Row(NamedTuple):
    url: str
    source: str
    size: int
    anchors: Sequence[str]
    database: str = "default"
    pagerank: int = 0


class _Facts(NamedTuple):
    media_type: str
    flags: Sequence[str]
    headings: str = ""
    marked: str = ""
    language: str = ""
    date_s: int | None = None


def document(
    record: UrlRecord, description: Description, text: str, anchors: Sequence[str], chain: int
) -> IndexDocument:
    """Return what the index is to know of one described resource.

    Args:
        record: the catalog's row.
        description: its RD; the effective attributes count.
        text: kept extracted text, ``""`` if the document could not be read.
        anchors: distinct anchor texts of links on public pages that lead here.
        chain: access chain id (1 = public, 0 = nobody).
    """
    found = description.effective()
    row = _Row(record.url, record.source, record.size, tuple(anchors))
    facts = _Facts(_first(found, "content-type"), record.flags)
    return page_document(record.id, row, facts, "", found, text, chain)


def page_document(  # noqa: PLR0913, PLR0917 - what a document is made of, called for every page
    row_id: int, row: ShownRow, facts: PageFacts, title: str, found: AttributesView, text: str, chain: int
) -> IndexDocument:
    """Return what the index is to know of a page: as :func:`document`, from the parts that a visit leaves.

    Args:
        row_id: the catalog's row.
        row: what it says.
        facts: what the visit found out; it goes before attributes of the same meaning, but for the language.
        title: of the page, unless an attribute says another.
        found: effective attributes.
        text: kept extracted text.
        chain: access chain id (1 = public, 0 = nobody).
    """
    site, path = _site_and_path(row.url)
    headings = facts.headings or "\n".join(found.get("toc") or found.get("headings") or ())
    media_type = facts.media_type.partition(";")[0].strip().lower()
    if "title" in found:
        title = _first(found, "title")
    language = _first(found, "language") if "language" in found else facts.language
    date_s = facts.date_s
    if date_s is None:
        date_s = _epoch(_first(found, "date")) or _epoch(_first(found, "last-modified"))
    return IndexDocument(
        id=row_id,
        url=row.url,
        chain=chain,
        title=title.strip() or headings.partition("\n")[0].strip(),
        headings=headings,
        marked=facts.marked or " ".join(found.get("marked", ())),
        # A description that came without its document may bring the text with it.
        body=text or "\n".join(found.get("full-text") or found.get("partial-text") or ()),
        anchors=row.anchors,
        language=(language or _first(found, "content-language")).partition(",")[0].strip(),
        media_type=media_type,
        kind=kind_of(media_type, path),
        site=site,
        path=path,
        date_s=date_s,
        size=row.size,
        meta=_meta(found, text),
        source=row.source,
        categories=tuple(found.get("classification", ())),
        snippet="nosnippet" not in facts.flags and not _forbids_snippets(found),
        database=row.database,
        display=_first(found, DISPLAY_URL),
        boost=min(max(row.pagerank - _USUAL_PAGERANK, 0), MOST_BOOST),
    )


def kind_of(media_type: str, path: str = "") -> str:
    """Return the short name of a media type: what people call the file (``pdf``, ``docx``).

    Unknown types go by the suffix of *path*, then by the subtype; ``""`` if nothing is known.
    """
    kind = _KINDS.get(media_type)
    if kind:
        return kind
    suffix = PurePosixPath(path).suffix[1:].lower()
    if suffix.isalnum() and len(suffix) <= _MAX_KIND_CHARS:
        return suffix
    subtype = media_type.partition("/")[2].removeprefix("x-").removeprefix("vnd.")
    return subtype if subtype.isalnum() and len(subtype) <= _MAX_KIND_CHARS else media_type.partition("/")[0]


def _first(found: AttributesView, name: str) -> str:
    values = found.get(name)
    return values[0] if values else ""


def _site_and_path(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    site, slash, tail = rest.partition("/")
    path = slash + tail
    cut = path.find("?")
    return site.removesuffix(_DEFAULT_PORTS.get(scheme, "//")), path if cut < 0 else path[:cut]


def _meta(found: AttributesView, text: str) -> dict[str, tuple[str, ...]]:
    lead = text[:_LEAD_CHARS].replace("\n", " ")
    kept: dict[str, tuple[str, ...]] = {}
    left = _MAX_META_VALUES
    for name, values in found.items():
        if name in _NOT_TEXT or name.startswith(_NOT_TEXT_PREFIXES):
            continue
        if left <= 0:
            break
        # A description that was copied from the beginning of the text says nothing new.
        own = [
            v[:_MAX_META_CHARS]
            for v in values[:left]
            if v and not _stands_in(v[:_LEAD_CHARS].replace("\n", " "), lead)
        ]
        if own:
            kept[name] = tuple(own)
            left -= len(own)
    return kept


def _stands_in(value: str, lead: str) -> bool:
    """Return whether *lead* has *value* as words of its own: Ann is no part of an annual report."""
    at = lead.find(value)
    while at >= 0:
        end = at + len(value)
        if not (lead[at - 1 : at].isalnum() or lead[end : end + 1].isalnum()):
            return True
        at = lead.find(value, at + 1)
    return False


def _forbids_snippets(found: AttributesView) -> bool:
    return "robots" in found and any("nosnippet" in value.lower() for value in found["robots"])


def _epoch(value: str) -> int | None:
    """Return epoch seconds of an RFC 3339 or HTTP date; ``None`` for anything else."""
    if not value:
        return None
    try:
        if len(value) == _HTTP_DATE_CHARS and value.endswith(" GMT"):
            moment = datetime(
                int(value[12:16]), _MONTHS[value[8:11]], int(value[5:7]),
                int(value[17:19]), int(value[20:22]), int(value[23:25]), tzinfo=UTC,
            )  # fmt: skip
        elif value[:1].isdigit():
            moment = datetime.fromisoformat(value)
        else:
            moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp())
    except (ValueError, KeyError, OverflowError, TypeError, IndexError):
        return None
