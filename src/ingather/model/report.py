"""What passes between keeper and gatherers: claims out; discoveries and reports back.

The only values that cross a process border on the hot path, hence msgspec structs that are
encoded as arrays. Field order is the wire order: append only.
"""

import msgspec

from ingather.model.controls import Controls

__all__ = ["Claim", "Denial", "Discovery", "HostGrant", "HostReport", "Report", "Row", "Settled", "Stored"]


class Denial(msgspec.Struct, array_like=True, frozen=True):
    """Why a filter, budget or robots rule said no: category, ``file:line``, reason, configuration version."""

    category: str
    where: str
    reason: str
    version: int


class Discovery(msgspec.Struct, array_like=True):
    """A URL that a gatherer had not seen at this depth, already judged by the MetaData filters.

    ``key`` is the seeded 64-bit hash of origin + path; ``denial`` ``None`` = to be visited.
    ``max_depth`` -1 = no limit, ``None`` = the site's or robot's default. ``wholes``: key and path of the URLs as they stood on
    the page, where parameters were taken from them; the catalog looks whether one of them was pushed.
    """

    key: int
    origin: str
    path: str
    depth: int
    max_depth: int | None = None
    source: str = "web"
    denial: Denial | None = None
    hops: int = 0
    priority: int = 5
    wholes: list[tuple[int, str]] = []


class Stored(msgspec.Struct, array_like=True, frozen=True):
    """Where body and text lie in the WARC segments; ``length`` 0 = body not kept, ``text_length`` 0 = no text."""

    segment: int
    offset: int
    length: int
    text_offset: int
    text_length: int

    @property
    def end(self) -> int:
        """First byte behind both records: what the catalog acknowledges by committing this place."""
        return max(self.offset + self.length, self.text_offset + self.text_length)


class Claim(msgspec.Struct, array_like=True):
    """One URL handed to a gatherer, with what is known from the last visit.

    ``version`` is the configuration under which it was last described, ``suspect`` means that
    it has a strike: it is parsed in a converter. ``intent``: :class:`ingather.model.intent.Intent`. ``pushed``: it is
    crawled because a trusted sender named it, or a page that one named: its host needs no site.
    """

    id: int
    host: int
    path: str
    depth: int
    max_depth: int | None
    source: str
    hops: int = 0
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    version: int = 0
    suspect: bool = False
    intent: int = 0
    pushed: bool = False


class HostGrant(msgspec.Struct, array_like=True):
    """A host lent to a gatherer: its politeness state and what is known of its robots.txt.

    Times are wall seconds; ``robots_kind`` ``""`` = never asked; ``visited`` = treat as just visited, because
    another hand may have asked it a moment ago; ``floor_s`` = least delay that an operator or the hour asks for.
    """

    id: int
    origin: str
    key: str
    own: bool
    not_before_s: float = 0.0
    back_offs: int = 0
    robots_kind: str = ""
    robots_body: bytes = b""
    robots_at_s: float = 0.0
    robots_since_s: float = 0.0
    robots_detail: str = ""
    visited: bool = True
    floor_s: float = 0.0


class HostReport(msgspec.Struct, array_like=True):
    """What a gatherer learnt about a host, to be kept across restarts."""

    id: int
    not_before_s: float = 0.0
    back_offs: int = 0
    robots_kind: str = ""
    robots_body: bytes = b""
    robots_at_s: float = 0.0
    robots_since_s: float = 0.0
    robots_detail: str = ""
    delay_s: float = 0.0


class Report(msgspec.Struct, array_like=True):
    """How one visit ended, with everything that must become one transaction.

    ``attributes`` is the RD's page layer (msgpack map name -> list of values; an integer value n
    stands for the first n characters of the text). ``links`` are packed keys (8 bytes each, little
    endian), ``anchors`` the texts beside them (msgpack list). ``text`` is given along so that the
    index needs no second read; it is kept in the WARC, not in the catalog. ``dedupe``, ``dedupe_links``: the
    generation filter, the enumeration filter asked for one page of each body (filter-by-md5). ``fed``: the body
    came with a pushed feed, nobody visited the URL. ``controls``: what crawl-time headers say of the document.

    ``intent``: that of the claim. ``polled``: of a feed or sitemap (:func:`ingather.model.polled.decode_polled`). Of a
    document that was visited with an intent, redirects were followed: ``final_url`` is the canonical URL that answered
    last, ``""`` = the URL itself; ``soft_404`` says why a 200 may stand for "not found", ``""`` = nothing speaks for it.

    ``expires_s``: wall time until which the answer promises to stay as it is, ``None`` = it does not. ``digests``: of the
    description, part by part (``ingather.catalog.digests``), empty = nobody made them. ``database``: where its site wants the
    description, ``""`` = where it is.

    ``near``: fingerprint of the text (:mod:`ingather.extract.simhash`), signed, 0 = none. ``canonical``: address that the page
    names as its own, if that is another, with its key. ``language_source``, ``date_source``: what said so
    (:class:`ingather.model.page.Page`).
    """

    id: int
    outcome: int
    status: int
    at_s: float
    version: int
    detail: str = ""
    denial: Denial | None = None
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    size: int = 0
    stored: Stored | None = None
    title: str = ""
    attributes: bytes = b""
    links: bytes = b""
    anchors: bytes = b""
    found: list[Discovery] = []
    text: str = ""
    headings: str = ""
    marked: str = ""
    language: str = ""
    media_type: str = ""
    date_s: int | None = None
    flags: tuple[str, ...] = ()
    dedupe: bool = False
    described: bool = False
    retry_s: float | None = None
    redirect: Discovery | None = None
    elapsed_s: float = 0.0
    address: str = ""
    expires_s: float | None = None
    strike: bool = False
    dedupe_links: bool = False
    fed: bool = False
    controls: Controls | None = None
    intent: int = 0
    polled: bytes = b""
    final_url: str = ""
    soft_404: str = ""
    digests: bytes = b""
    database: str = ""
    near: int = 0
    canonical: str = ""
    canonical_key: int = 0
    language_source: str = ""
    date_source: str = ""


class Row(msgspec.Struct, frozen=True):
    """A URL row as the frontier read it when it was claimed: what settling its visit needs.

    ``described`` = it has an RD that readers see; times are wall seconds; ``intent``: why it waits
    (:class:`ingather.model.intent.Intent`). ``asked``: number of the newest visit that a pushed record had asked for; ``pushed``: as
    of :class:`Claim`.
    """

    id: int
    host: int
    path: str
    depth: int
    max_depth: int | None
    source: int
    hops: int
    etag: str
    last_modified: str
    digest: bytes
    version: int | None
    wait_s: float | None
    fails: int
    strikes: int
    missing_s: float | None
    fetched_s: float | None
    duplicate: int | None
    intent: int = 0
    asked: int = 0
    pushed: bool = False


class Settled(msgspec.Struct, frozen=True):
    """A report with what was decided about it: the row's next state and visit, and what readers must learn.

    ``put`` = a change row for the index; ``propose`` = reason of a deletion that goes to the policy, ``""`` = none.
    """

    report: Report
    row: Row
    state: int
    due_s: float | None
    wait_s: float | None
    fails: int
    missing_s: float | None
    strikes: int
    put: bool
    propose: str
    keep_description: bool
