"""HTML and XHTML inside documents (mail, EPUB, archives): the room's own page reader reads them."""

import html
import re

from ingather.extract.charset import decode
from ingather.extract.documents.draft import Draft, clean
from ingather.extract.hostile import SuspectLimits, suspect_reason
from ingather.model.page import Link, Page

__all__ = ["page_of", "read", "write_links", "write_page"]

_BASE = "http://document.invalid/"
"""Stands for the unknown place of the document: links that resolve into it lead nowhere."""
_BEARABLE = SuspectLimits(attributes=10_000, open_elements=30_000)
"""What the page reader may be given here: about two seconds. Beyond, markup is only stripped."""
_HIDDEN = re.compile(
    r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<[a-zA-Z/!?][^>]*+(?:>|\Z)")
_HREF = re.compile(r"<a\s[^>]{0,4000}?\bhref\s*=\s*[\"']?([^\"'\s>]{1,2000})", re.IGNORECASE)
_METAS = {"author": "author", "description": "description", "keywords": "keywords", "dc.title": "title"}


def read(body: bytes, draft: Draft, _name: str, content_type: str | None) -> None:
    """Read an HTML document into *draft*.

    Raises:
        ExtractError: the page reader refused it.
        LimitReachedError: a limit of the draft's budget.
    """
    known = content_type is not None and "html" in content_type.lower()
    declared = content_type if known else "text/html"
    page = page_of(body, declared)
    draft.meta("title", page.title)
    draft.meta("language", page.language)
    for name, key in _METAS.items():
        for value in page.metas.get(name, ()):
            draft.meta(key, value)
    if page.date:
        draft.meta("modified", page.date.value)
    write_page(page, draft)
    if draft.depth == 0:
        # What was given is the page itself: its relative links lead somewhere.
        for link in page.links:
            if link.url.startswith(_BASE) and link.url != _BASE:
                draft.link(link.url.removeprefix(_BASE), link.text)


def page_of(body: bytes, content_type: str | None) -> Page:
    """Read HTML whose place is unknown; what would stall a parser is stripped of its tags, flag ``suspect-html``."""
    if suspect_reason(body, _BEARABLE):
        return _stripped(decode(body, content_type=content_type)[0])
    from ingather.extract.page import read_page

    return read_page(body, url=_BASE, content_type=content_type)


def _stripped(markup: str) -> Page:
    text = _HIDDEN.sub(" ", markup)
    lines = (clean(html.unescape(line)) for line in _TAG.sub("\n", text).split("\n"))
    urls = (html.unescape(url) for url in _HREF.findall(text))
    return Page(
        text="\n".join(line for line in lines if line),
        links=[Link(url) for url in urls if "://" in url],
        flags=["suspect-html"],
    )


def write_page(page: Page, draft: Draft) -> None:
    """Write a page's text, headings and links into *draft*; its metadata stays the caller's business."""
    waiting = [(heading.text, heading.level) for heading in page.headings]
    position = 0
    for line in page.text.split("\n"):
        level = 0
        if position < len(waiting) and line == waiting[position][0]:
            level = waiting[position][1]
            position += 1
        draft.block(line, level=level)
    write_links(page, draft)
    for flag in page.flags:
        draft.flag(flag)


def write_links(page: Page, draft: Draft) -> None:
    """Write the links that lead out of the document."""
    for link in page.links:
        if not link.url.startswith(_BASE):
            draft.link(link.url, link.text)
