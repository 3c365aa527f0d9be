"""HTML as a gatherer reads it: one walk over Lexbor's tree finds everything, in document order.

The walk visits each element once and knows it by its number (``tag_id``). It notes links, headings,
metas and marked words, puts a line feed where two blocks touch, and remembers what is not to be
seen. Afterwards the invisible goes, and the text is what is left. Nothing here resolves a URL,
obeys a rule or knows a header: ``page`` does.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from ingather.model.page import Heading

__all__ = ["Anchor", "Document", "Relation", "fold", "read_html"]

# Kinds of elements; the first six stand in the order in which the walk compares.
(
    _A, _CELL, _MARKED_CELL, _BLOCK, _HEADING, _MARKED, _BREAK, _COMMENT, _GONE,
    _SCRIPT, _META, _LINK, _TITLE, _TIME, _BASE, _HTML, _FRAME, _AREA, _BODY,
) = range(19)  # fmt: skip

_TAGS_OF_KIND: Final = {
    _A: "a",
    # Only followed by their like: a line feed before them is enough.
    _CELL: "li td dd tr option optgroup tbody thead tfoot",
    _MARKED_CELL: "dt th",
    _BLOCK: (
        "address article aside blockquote button caption center details dialog dir div dl fieldset figcaption figure "
        "footer form header hgroup legend listing main menu nav ol p plaintext pre search section select summary "
        "table ul xmp"
    ),
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _MARKED: "strong b em code",
    _BREAK: "br hr",
    _GONE: "style template noscript noframes noembed textarea datalist",
    _SCRIPT: "script",
    _META: "meta",
    _LINK: "link",
    _TITLE: "title",
    _TIME: "time",
    _BASE: "base",
    _HTML: "html",
    _BODY: "body",
    _FRAME: "frame iframe",
    _AREA: "area",
}
_BLOCK_KINDS: Final = frozenset({_CELL, _BLOCK, _HEADING, _MARKED_CELL, _HTML, _BODY})

_ANCHOR_CHARS: Final = 512
_META_CHARS: Final = 16 * 1024
_TIME_CHARS: Final = 64
_HEADING_CHARS: Final = 1000
_MARKED_CHARS: Final = 200
_SPARE_CHARS: Final = 64 * 1024
_MOST_TARGETS: Final = 100_000
_MOST_METAS: Final = 1_000
_MOST_VALUES: Final = 100
_MOST_BLOCKS: Final = 20
_BLOCK_CHARS: Final = 1 << 20
_TAG_BYTES: Final = 4096
_HIDDEN: Final = re.compile(rb"[\s\"'/][hH]idden[\s=>/]")
_NEVER_HIDDEN: Final = frozenset({"html", "body", "head"})
_NO_EVENTS: Final = int(LexborDocumentOptions.WO_EVENTS)
_DOCUMENTS: Final = frozenset({"canonical", "alternate", "feed", "next"})
_JSON_LD: Final = "application/ld+json"


Anchor = tuple[str, str, str, str]
"""A link as the page has it: target as written (fragment cut), text, ``rel`` lower case, the element's name."""


_Targets = list[tuple[LexborNode, dict[str, str | None], str, str]]


class Relation(NamedTuple):
    """A ``<link>`` to another document: target as written, title, ``rel`` lower case, media type."""

    href: str
    title: str
    rel: str
    type: str


@dataclass(slots=True)
class Document:
    """What the walk found; everything as written, white space folded."""

    title: str = ""
    text: str = ""
    base: str = ""
    language: str = ""
    anchors: list[Anchor] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    pragmas: dict[str, list[str]] = field(default_factory=dict)
    marked: str = ""
    json_ld: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    titled: bool = False


@dataclass(slots=True)
class _Walk:
    """What the walk leaves for afterwards: links whose words are not known yet, and what is not to be seen."""

    found: Document
    targets: _Targets = field(default_factory=list)
    gone: list[LexborNode] = field(default_factory=list)
    in_body: bool = False


def fold(text: str) -> str:
    """Return *text* with each run of white space as one space and none at the ends."""
    return " ".join(text.split())


def _learn() -> tuple[dict[int, int], dict[int, int], frozenset[int], int, int]:
    """Ask Lexbor for its numbers: kind by tag, level by heading, what is a block, what is an image."""
    maker = LexborHTMLParser("")
    kinds: dict[int, int] = {}
    levels: dict[int, int] = {}
    for kind, names in _TAGS_OF_KIND.items():
        for name in names.split():
            number = maker.create_node(name).tag_id
            kinds[number] = kind
            if kind == _HEADING:
                levels[number] = int(name[1])
    blocks = frozenset([n for n, kind in kinds.items() if kind in _BLOCK_KINDS])
    comment = LexborHTMLParser("<p><!--x--></p>").css_first("p")
    if comment is not None and comment.first_child is not None:
        kinds[comment.first_child.tag_id] = _COMMENT
    return kinds, levels, blocks, maker.create_node("a").tag_id, maker.create_node("img").tag_id


_KINDS, _LEVELS, _BLOCK_IDS, _A_ID, _IMAGE = _learn()


def read_html(html: bytes, *, folded: bool = True) -> Document:  # noqa: C901, PLR0912, PLR0915 - one walk, one dispatch: the hot path
    """Read a page that is UTF-8 already (bytes that are not become U+FFFD); never fails.

    ``anchors`` holds each target once, its first text; a target whose first link is ``nofollow``
    comes again when another link to it is not.
    """
    tree = LexborHTMLParser(html, options=_NO_EVENTS)
    found = Document()
    root = tree.root
    if root is None:
        return found
    walk = _Walk(found)
    targets, gone = walk.targets, walk.gone
    seen: set[str] = set()
    headings: list[LexborNode] = []
    marked: list[LexborNode] = []
    comments: list[LexborNode] = []
    kind_of = _KINDS.get
    blocks = _BLOCK_IDS
    a = _A_ID
    rarely = _RARELY

    for node in root.traverse():
        kind = kind_of(node.tag_id)
        if kind is None:
            continue
        if kind == _A:
            attributes = node.attributes
            href = attributes.get("href") or attributes.get("xlink:href")
            if not href or href in seen or href[0] == "#":
                continue
            if "#" in href:
                whole, href = href, href.partition("#")[0]
                if href in seen:
                    seen.add(whole)
                    continue
            rel = attributes.get("rel")
            if not rel or "nofollow" not in rel.lower():
                seen.add(href)
            if len(targets) < _MOST_TARGETS:
                targets.append((node, attributes, href, "a"))
            before, inside = node.prev, node.first_child
            if before is not None and before.tag_id == a:
                node.insert_before("\n")
            if inside is not None and inside.tag_id in blocks:
                node.insert_before("\n")
                node.insert_after("\n")
        elif kind <= _MARKED_CELL:
            before = node.prev
            if before is not None and not before.is_empty_text_node:
                node.insert_before("\n")
            if kind == _MARKED_CELL:
                marked.append(node)
        elif kind <= _HEADING:
            before = node.prev
            if before is not None and not before.is_empty_text_node:
                node.insert_before("\n")
            after = node.next
            if after is not None and not after.is_empty_text_node:
                node.insert_after("\n")
            if kind == _HEADING:
                headings.append(node)
        elif kind == _MARKED:
            marked.append(node)
        elif kind == _BREAK:
            node.insert_before("\n")
        elif kind == _COMMENT:
            comments.append(node)
        elif kind == _GONE:
            gone.append(node)
        else:
            rarely[kind](node, walk)

    # Elements may nest, and their texts with them: a hostile page could make us copy the same text for ever.
    budget = 2 * len(html) + _SPARE_CHARS
    anchors = found.anchors
    nameless = False
    for node, attributes, href, kind_name in targets:
        text = " ".join(node.text_lexbor().split()) if kind_name == "a" and budget > 0 else ""
        budget -= len(text)
        if not text:
            text = _spoken(node, attributes)
            nameless = nameless or not text
        rel = attributes.get("rel")
        anchors.append((href, text[:_ANCHOR_CHARS], " ".join(rel.lower().split()) if rel else "", kind_name))
    if nameless:
        _name_the_nameless(root, anchors)
    if comments:
        gone += _unindexed(root, comments)
    gone += _hidden(tree, html)
    for node in gone:
        node.decompose()
    level_of = _LEVELS
    for node in headings:
        text = node.text_lexbor()
        budget -= len(text)
        text = " ".join(text[:_HEADING_CHARS].split())
        if text:
            found.headings.append(Heading(level_of[node.tag_id], text))
        if budget < 0:
            break
    words = []
    for node in marked:
        text = node.text_lexbor()
        budget -= len(text)
        if len(text) <= _MARKED_CHARS:
            words.append(text)
        if budget < 0:
            break
    found.marked = " ".join(" ".join(words).split())
    body = tree.body
    if body is not None:
        text = body.text()
        found.text = "\n".join(filter(None, map(str.strip, text.split("\n")))) if folded else text
    return found


def _note_meta(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    content = attributes.get("content")
    if content is None or len(walk.found.metas) + len(walk.found.pragmas) >= _MOST_METAS:
        return
    content = content[:_META_CHARS]
    pragma = attributes.get("http-equiv")
    if pragma:
        _append(walk.found.pragmas, pragma, content)
    name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
    if name:
        _append(walk.found.metas, name, content)


def _append(told: dict[str, list[str]], name: str, content: str) -> None:
    values = told.setdefault(name.strip().lower(), [])
    if len(values) < _MOST_VALUES:
        values.append(content)


def _note_link(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    rel, href = attributes.get("rel"), attributes.get("href")
    if rel and href and (words := _followed(rel)):
        title = fold(attributes.get("title") or "")
        walk.found.relations.append(Relation(href, title, words, _type(attributes)))


@lru_cache(maxsize=256)
def _followed(rel: str) -> str:
    """Return *rel* folded and in lower case if it speaks of documents, else ``""``."""
    words = rel.lower().split()
    return "" if "stylesheet" in words or _DOCUMENTS.isdisjoint(words) else " ".join(words)


def _note_script(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    if attributes.get("type") and _type(attributes) == _JSON_LD and len(walk.found.json_ld) < _MOST_BLOCKS:
        text = node.text()
        if len(text) <= _BLOCK_CHARS:
            walk.found.json_ld.append(text)
    walk.gone.append(node)


def _note_title(node: LexborNode, walk: _Walk) -> None:
    if not walk.found.titled:
        walk.found.title, walk.found.titled = fold(node.text()), True
    walk.gone.append(node)


def _note_time(node: LexborNode, walk: _Walk) -> None:
    if len(walk.found.times) >= _MOST_BLOCKS:
        return
    moment = node.attributes.get("datetime") or node.text()
    walk.found.times.append(moment[:_TIME_CHARS])


def _note_base(node: LexborNode, walk: _Walk) -> None:
    if not walk.found.base:
        walk.found.base = node.attributes.get("href") or ""


def _note_html(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    walk.found.language = attributes.get("lang") or attributes.get("xml:lang") or ""


def _note_body(_node: LexborNode, walk: _Walk) -> None:
    """Leave alone what stands before the body: its text is not the page's."""
    if not walk.in_body:
        walk.in_body = True
        walk.gone.clear()


def _note_frame(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    source = attributes.get("src")
    if source:
        walk.targets.append((node, attributes, source.partition("#")[0], node.tag or "frame"))
    walk.gone.append(node)


def _note_area(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    href = attributes.get("href")
    if href:
        walk.targets.append((node, attributes, href.partition("#")[0], "area"))


_RARELY: Final = {
    _META: _note_meta,
    _LINK: _note_link,
    _SCRIPT: _note_script,
    _TITLE: _note_title,
    _TIME: _note_time,
    _BASE: _note_base,
    _HTML: _note_html,
    _BODY: _note_body,
    _FRAME: _note_frame,
    _AREA: _note_area,
}


def _type(attributes: dict[str, str | None]) -> str:
    return (attributes.get("type") or "").partition(";")[0].strip().lower()


def _spoken(node: LexborNode, attributes: dict[str, str | None]) -> str:
    """Return the words of a link that shows none: its picture's, its title's."""
    for inner in node.traverse():
        if inner.tag_id == _IMAGE:
            alternative = inner.attributes.get("alt")
            if alternative and alternative.strip():
                return fold(alternative)
    for name in ("alt", "aria-label", "title"):
        value = attributes.get(name)
        if value and value.strip():
            return fold(value)
    return ""


def _name_the_nameless(root: LexborNode, anchors: list[Anchor]) -> None:
    """Give a target whose first link shows no words the words of a later one (logo first, then menu)."""
    nameless = {href: n for n, (href, text, _, kind) in enumerate(anchors) if kind == "a" and not text}
    for node in root.css("a[href]") if nameless else ():
        place = nameless.get((node.attributes["href"] or "").partition("#")[0])
        if place is not None and not anchors[place][1]:
            href, _, rel, kind = anchors[place]
            anchors[place] = (href, fold(node.text())[:_ANCHOR_CHARS], rel, kind)


def _unindexed(root: LexborNode, comments: list[LexborNode]) -> list[LexborNode]:
    """Return the text between ``<!--stopindex-->`` and ``<!--startindex-->`` (robot specification, section 7.9)."""
    if not any((comment.comment_content or "").lower() == "stopindex" for comment in comments):
        return []
    texts: list[LexborNode] = []
    stopped = False
    for node in root.traverse(include_text=True):
        if node.is_comment_node:
            word = (node.comment_content or "").lower()
            stopped = word == "stopindex" or (stopped and word != "startindex")
        elif stopped and node.is_text_node:
            texts.append(node)
    return texts


def _hidden(tree: LexborHTMLParser, html: bytes) -> list[LexborNode]:
    """Return the elements with the attribute ``hidden``; asks the tree only when the bytes speak of it.

    What styles hide is text: tabs and folded sections are opened by their readers.
    """
    place = html.find(b"idden")  # a plain search, minding the case: twice as fast as any pattern
    while place >= 0:
        if _HIDDEN.match(html, max(0, place - 2)):
            start = max(0, place - _TAG_BYTES)
            if html.rfind(b"<", start, place) > html.rfind(b">", start, place):
                return [node for node in tree.css("[hidden]") if node.tag not in _NEVER_HIDDEN]
        place = html.find(b"idden", place + 5)
    return []
