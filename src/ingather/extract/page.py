"""A body and its headers become a :class:`~ingather.model.page.Page`, whatever kind of document it is.

Type, then charset, then the reader for the type: markup goes through ``html``, XML of other vocabularies through
the XML reader of ``conversion``, other text is taken as it is, everything else (PDF, Office, ...) gives a page without text, flag ``unread``, for a converter
to fill. On what was read, ``page`` resolves links, unites robots rules, picks language and date.
"""

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ingather.errors import UrlError
from ingather.extract.charset import choose_encoding
from ingather.extract.dates import document_date
from ingather.extract.described import described
from ingather.extract.directives import page_directives
from ingather.extract.html import Document, fold, read_html
from ingather.extract.labels import decode_as
from ingather.extract.language import detect_language, language_tag
from ingather.extract.sniffing import sniff
from ingather.model.page import Converted, Link, Page
from ingather.model.url import Canonicaliser, canonical

__all__ = ["Headers", "Limits", "is_html", "read_converted", "read_page"]

Headers = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may hold; beyond it the page is cut and flagged.

    Attributes:
        text_chars: characters of text (flag ``text-truncated``).
        links: links kept (flag ``links-truncated``); how many are followed is the filter's business.
    """

    text_chars: int = 5_000_000
    links: int = 20_000


_DEFAULT_LIMITS: Final = Limits()
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_TEXT_TYPES: Final = frozenset(
    {"application/json", "application/javascript", "application/ecmascript", "application/x-javascript",
     "application/x-sh", "application/yaml", "application/x-yaml", "application/toml", "application/sql"}
)  # fmt: skip
_FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}
)
_REFRESH: Final = re.compile(
    r"\s*(?:\d+|(?=\.))[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:'(?P<single>[^']*)|\"(?P<double>[^\"]*)|(?P<bare>\S.*))",
    re.IGNORECASE,
)
_DECLARATION: Final = '<?xml version="1.0"?>'
_XML_DECLARATION: Final = re.compile(r"\A\s*<\?xml\s[^>]{0,500}\?>")
_LINK_CANONICAL: Final = re.compile(r"<([^>]*)>\s*;[^,]*?\brel\s*=\s*\"?[^\",;]*\bcanonical\b", re.IGNORECASE)
_WANTED_HEADERS: Final = frozenset(
    {"x-robots-tag", "content-language", "last-modified", "link", "content-type"}
)
_NO_HEADERS: Final[dict[str, list[str]]] = {}


@dataclass(frozen=True, slots=True)
class _Circumstances:
    """What is known of a document beside its body."""

    headers: dict[str, list[str]]
    agent: str
    urls: Canonicaliser
    limits: Limits


_own: Final = threading.local()  # no class of ours: mypyc does not know how such objects are laid out


def _usual() -> Canonicaliser:
    """Return the thread's own, for who brings none."""
    found: Canonicaliser | None = getattr(_own, "canonicaliser", None)
    if found is None:
        found = _own.canonicaliser = Canonicaliser()
    return found


def is_html(media_type: str) -> bool:
    """Tell whether documents of *media_type* are read by the HTML reader."""
    return media_type in _HTML_TYPES


def read_page(  # noqa: PLR0913 - a library face: everything but the body and its URL has a default
    body: bytes,
    *,
    url: str,
    content_type: str | None,
    headers: Headers = (),
    agent: str = "ingather",
    canonicaliser: Canonicaliser | None = None,
    limits: Limits = _DEFAULT_LIMITS,
    folded: bool = True,
) -> Page:
    """Read a document as it arrived (content encoding removed); never raises for what is in it.

    Args:
        body: the bytes.
        url: where it was found, after redirects.
        content_type: the header as received, ``None`` if there was none.
        headers: response headers, any case, as a mapping or as pairs; pairs keep repeated
            ``X-Robots-Tag`` lines apart.
        agent: our product token, for robots rules meant for us alone.
        canonicaliser: makes the keys of links; by default one with the default parameters.
        limits: what a page may hold.
        folded: strip the lines of the text and drop empty ones; ``False`` leaves white space as
            in the source and saves a tenth of the time.
    """
    wanted = _lowered(headers) if headers else _NO_HEADERS
    if content_type is None and "content-type" in wanted:
        content_type = wanted["content-type"][0]
    media_type = sniff(body, name=url, content_type=content_type)
    urls = canonicaliser or _usual()
    around = _Circumstances(wanted, agent, urls, limits)
    page = Page(url=_canonical_or_same(urls, url), media_type=media_type)
    page.base = page.url
    xml = media_type not in _HTML_TYPES and media_type.endswith(("/xml", "+xml"))
    if media_type in _HTML_TYPES or (xml and _is_xhtml(body)):
        encoding = choose_encoding(body, content_type=content_type, markup=True)
        page.charset, page.charset_source = encoding.name, encoding.source
        if encoding.name == "utf-8":
            html = body[encoding.skip :] if encoding.skip else body
        else:
            html = decode_as(body[encoding.skip :], encoding.name).encode("utf-8", "replace")
        if urls.cut:
            urls.take_cut()  # of another page
        _fill(page, read_html(html, folded=folded), around)
        if urls.cut:
            page.cut = urls.take_cut()
    else:
        if xml:
            _read_xml(page, body, content_type, around)
        elif _is_text(media_type):
            encoding = choose_encoding(body, content_type=content_type, markup=False)
            page.charset, page.charset_source = encoding.name, encoding.source
            _set_text(page, _plain(decode_as(body[encoding.skip :], encoding.name)), limits)
        else:
            page.flags.append("unread")
        if wanted:
            page.robots = page_directives({}, wanted.get("x-robots-tag", ()), agent)
            page.canonical = _header_canonical(wanted, page.url)
            page.date = document_date({}, (), (), _first(wanted, "last-modified"))
        _set_language(page, page.metas.get("language", [""])[0], wanted, {})
    return page


def _is_xhtml(body: bytes) -> bool:
    from ingather.extract.documents.kinds import Kind, kind_of

    return kind_of(body) is Kind.HTML


def _read_xml(page: Page, body: bytes, content_type: str | None, around: _Circumstances) -> None:
    """Fill *page* with what the XML reader finds; what it refuses gives what a reader of HTML takes for text."""
    from ingather.errors import ExtractError
    from ingather.extract.conversion import ConversionLimits, convert

    # What lies inside of a flat package (a PDF, an archive) is not for the process that reads pages.
    alone = ConversionLimits(depth=0, parts_bytes=0, links=around.limits.links)
    encoding = choose_encoding(body, content_type=content_type, markup=True)
    page.charset, page.charset_source = encoding.name, encoding.source
    text = decode_as(body[encoding.skip :], encoding.name)
    # The header's charset goes before the declaration's (RFC 7303): the reader gets UTF-8 that declares nothing.
    plain = _DECLARATION + _XML_DECLARATION.sub("", text, count=1)
    try:
        found = convert(
            plain.encode("utf-8", "replace"), name="a.xml", content_type="application/xml", limits=alone
        )
    except ExtractError as error:
        if error.reason in {"empty", "memory"}:
            return
        _set_text(page, _tagless(text), around.limits)
        page.flags.append("malformed-xml" if error.reason == "damaged" else f"xml-{error.reason}")
        return
    page.title = fold(found.metadata.get("title", ""))
    page.metas = {name: [value] for name, value in found.metadata.items() if value and name != "title"}
    whole = found.text
    if "partial" in found.flags:  # broken half-way: a reader of HTML goes on where one of XML has to stop
        whole = max(whole, _tagless(text), key=len)
    _set_text(page, whole, around.limits)
    page.flags += found.flags
    resolve = _resolver(around.urls, page.base)
    known: dict[str, Link] = {}
    for href, text in found.links:
        target = resolve(href)
        if target is not None:
            _add(known, Link(target, fold(text), "", "document"))
    _set_links(page, known, around.limits)


def read_converted(  # noqa: PLR0913 - as read_page
    converted: Converted,
    *,
    url: str,
    media_type: str,
    headers: Headers = (),
    agent: str = "ingather",
    canonicaliser: Canonicaliser | None = None,
    limits: Limits = _DEFAULT_LIMITS,
) -> Page:
    """Make the page of a document that a converter read: its links are of kind ``document``, flag ``converted``.

    Args:
        converted: what the converter gave.
        url: where the document was found.
        media_type: what the document is (not what it was converted to).
        headers: response headers, as for :func:`read_page`.
        agent: our product token.
        canonicaliser: makes the keys of links.
        limits: what a page may hold.
    """
    wanted = _lowered(headers) if headers else _NO_HEADERS
    told = converted.metadata
    urls = canonicaliser or _usual()
    page = Page(
        url=_canonical_or_same(urls, url), media_type=media_type, charset="utf-8", charset_source="converter"
    )
    page.base = page.url
    page.title = fold(told.get("title", ""))
    page.metas = {name: [value] for name, value in told.items() if value and name != "title"}
    _set_text(page, converted.text, limits)
    resolve = _resolver(urls, page.url)
    known: dict[str, Link] = {}
    urls.take_cut()  # of another page
    for href, text in converted.links:
        target = resolve(href)
        if target is not None:
            _add(known, Link(target, fold(text), "", "document"))
    _set_links(page, known, limits)
    page.cut = urls.take_cut()
    page.robots = page_directives({}, wanted.get("x-robots-tag", ()), agent)
    page.canonical = _header_canonical(wanted, page.url)
    dates = {"dcterms.modified": [told.get("modified", "")], "dcterms.created": [told.get("created", "")]}
    page.date = document_date(dates, (), (), _first(wanted, "last-modified"))
    _set_language(page, told.get("language", ""), wanted, {})
    page.flags += ["converted", *converted.flags]
    return page


def _fill(page: Page, found: Document, around: _Circumstances) -> None:
    """Carry over what the HTML reader found."""
    page.title = found.title
    page.marked = found.marked
    page.headings = found.headings
    _set_text(page, found.text, around.limits)
    headers, metas = around.headers, found.metas
    page.metas = metas
    resolve = _resolver(around.urls, page.url)
    if found.base:
        base = resolve(found.base)
        if base is not None and base != page.url:
            page.base = base
            resolve = _resolver(around.urls, base)
    known: dict[str, Link] = {}
    if found.relations:
        _take_relations(page, found, resolve, known)
    if found.pragmas:
        _take_pragmas(page, found, resolve, known)
    new = tuple.__new__  # what Link() calls, without the Python function before it: twice as fast
    for href, text, rel, kind in found.anchors:
        target = resolve(href)
        if target is not None:
            link = new(Link, (target, text, rel, kind))
            if known.setdefault(target, link) is not link:
                _add(known, link)
    _set_links(page, known, around.limits)
    page.robots = page_directives(metas, headers.get("x-robots-tag", ()), around.agent)
    if headers and not page.canonical:
        page.canonical = _header_canonical(headers, page.url)
    page.date = document_date(metas, found.json_ld, found.times, _first(headers, "last-modified"))
    if metas or found.json_ld:
        metas.update(described(metas, found.json_ld))
    _set_language(page, found.language, headers, metas)


def _take_pragmas(
    page: Page, found: Document, resolve: Callable[[str], str | None], known: dict[str, Link]
) -> None:
    """Add what ``http-equiv`` says to the metas, and the target of a refresh to the links."""
    metas = page.metas
    page.pragmas = frozenset([name for name in found.pragmas if name not in metas])
    for name, values in found.pragmas.items():
        metas.setdefault(name, []).extend(values)
    for content in found.pragmas.get("refresh", ()):
        target = _refresh_target(content, resolve)
        if target:
            _add(known, Link(target, "", "", "refresh"))


def _take_relations(
    page: Page, found: Document, resolve: Callable[[str], str | None], known: dict[str, Link]
) -> None:
    """Sort the head's ``<link>`` elements: canonical, feeds, next and alternate pages."""
    for relation in found.relations:
        words = relation.rel.split()
        target = resolve(relation.href.partition("#")[0])
        if target is None:
            continue
        if "canonical" in words:
            page.canonical = page.canonical or target
        elif "feed" in words or relation.type in _FEED_TYPES:
            if target not in page.feeds:
                page.feeds.append(target)
        elif not relation.type or relation.type in _HTML_TYPES:
            kind = "next" if "next" in words else "alternate"
            _add(known, Link(target, relation.title, relation.rel, kind))


def _add(known: dict[str, Link], link: Link) -> None:
    """Keep one link a target: the first, with the first words found, followed if any of them is."""
    old = known.get(link.url)
    if old is None:
        known[link.url] = link
        return
    rel = link.rel if "nofollow" in old.rel and "nofollow" not in link.rel else old.rel
    if rel != old.rel or (link.text and not old.text):
        known[link.url] = Link(old.url, old.text or link.text, rel, old.kind)


def _set_links(page: Page, known: dict[str, Link], limits: Limits) -> None:
    page.links = list(known.values())
    if len(page.links) > limits.links:
        del page.links[limits.links :]
        page.flags.append("links-truncated")


def _set_text(page: Page, text: str, limits: Limits) -> None:
    if len(text) > limits.text_chars:
        text = text[: limits.text_chars]
        page.flags.append("text-truncated")
    page.text = text


def _set_language(
    page: Page, declared: str, headers: dict[str, list[str]], metas: dict[str, list[str]]
) -> None:
    """Take the first declaration that is a language tag; only if there is none look at the words."""
    tag = language_tag(declared) if declared else ""
    if tag:
        page.language, page.language_source = tag, "html"
        return
    for source, word in (("header", _first(headers, "content-language")), ("meta", _declared_in(metas))):
        tag = language_tag(word) if word else ""
        if tag:
            page.language, page.language_source = tag, source
            return
    if page.text:
        page.language = detect_language(page.text)
        page.language_source = "detected" if page.language else ""


def _declared_in(metas: dict[str, list[str]]) -> str:
    for name in ("content-language", "language", "dc.language", "dcterms.language", "og:locale"):
        if name in metas:
            return metas[name][0]
    return ""


def _refresh_target(content: str, resolve: Callable[[str], str | None]) -> str | None:
    match = _REFRESH.match(content)
    if match is None:
        return None
    return resolve((match["single"] or match["double"] or match["bare"] or "").strip())


def _header_canonical(headers: dict[str, list[str]], base: str) -> str:
    for line in headers.get("link", ()):
        match = _LINK_CANONICAL.search(line)
        if match:
            try:
                return canonical(match[1], base)
            except UrlError:
                return ""
    return ""


def _lowered(headers: Headers) -> dict[str, list[str]]:
    """Return the headers that matter here, by lower-case name, one value a line."""
    found: dict[str, list[str]] = {}
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    for name, value in pairs:
        low = name.lower()
        if low in _WANTED_HEADERS:
            found.setdefault(low, []).append(value)
    return found


def _first(headers: Mapping[str, Sequence[str]], name: str) -> str:
    values = headers.get(name)
    return values[0] if values else ""


def _resolver(urls: Canonicaliser, base: str) -> Callable[[str], str | None]:
    try:
        return urls.resolver(base)
    except UrlError:
        return _absolute_only


def _absolute_only(href: str) -> str | None:
    try:
        return canonical(href)
    except UrlError:
        return None


def _canonical_or_same(urls: Canonicaliser, url: str) -> str:
    try:
        return urls.canonical(url)
    except UrlError:
        return url


def _is_text(media_type: str) -> bool:
    return (
        media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+json", "xml"))
    )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")


def _tagless(text: str) -> str:
    """Return the character data of XML of any vocabulary, a line for each piece."""
    return read_html(text.encode("utf-8", "replace")).text
