"""The walk in Python: what :func:`~ingather.extract.html.read_html` finds is defined here.

The walk visits each element once and knows it by its number (``tag_id``). It notes links, headings,
metas and marked words, puts a line feed where two blocks touch, and remembers what is not to be
seen. Afterwards the invisible goes, and the text is what is left. ``walk/walk.c`` does the same faster
and must not differ: whoever changes one changes both.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingather.extract.elements import (
    AREA,
    BASE,
    BODY,
    BREAK,
    COMMENT,
    FRAME,
    GONE,
    HEADING,
    HTML,
    LINK,
    MARKED,
    MARKED_CELL,
    META,
    NUMBERS,
    SCRIPT,
    TIME,
    TITLE,
    A,
)
from ingather.extract.markup import (
    ANCHOR_CHARS,
    BLOCK_CHARS,
    HEADING_CHARS,
    MARKED_CHARS,
    MOST_BLOCKS,
    MOST_TARGETS,
    SPARE_CHARS,
    TAG_BYTES,
    TIME_CHARS,
    Anchor,
    Document,
    fold,
    media_type_of,
    note_meta,
    note_relation,
)
from ingather.model.page import Heading

__all__ = ["walk_in_python"]

_HIDDEN: Final = re.compile(rb"[\s\"'/][hH]idden[\s=>/]")
_NEVER_HIDDEN: Final = frozenset({"html", "body", "head"})
_JSON_LD: Final = "application/ld+json"

_Targets = list[tuple[LexborNode, dict[str, str | None], str, str]]


@dataclass(slots=True)
class _Walk:
    """What the walk leaves for afterwards: links whose words are not known yet, and what is not to be seen."""

    found: Document
    targets: _Targets = field(default_factory=list)
    gone: list[LexborNode] = field(default_factory=list)
    in_body: bool = False


def walk_in_python(tree: LexborHTMLParser, html: bytes, *, folded: bool) -> Document:  # noqa: C901, PLR0912, PLR0915 - one walk, one dispatch: the hot path
    """Read the tree that Lexbor made of *html*; the tree is changed and no good afterwards."""
    root = tree.root
    found = Document()
    if root is None:
        return found
    walk = _Walk(found)
    targets, gone = walk.targets, walk.gone
    seen: set[str] = set()
    headings: list[LexborNode] = []
    marked: list[LexborNode] = []
    comments: list[LexborNode] = []
    kind_of = NUMBERS.kinds.get
    blocks = NUMBERS.blocks
    a = NUMBERS.a
    rarely = _RARELY

    for node in root.traverse():
        kind = kind_of(node.tag_id)
        if kind is None:
            continue
        if kind == A:
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
            if len(targets) < MOST_TARGETS:
                targets.append((node, attributes, href, "a"))
            before, inside = node.prev, node.first_child
            if before is not None and before.tag_id == a:
                node.insert_before("\n")
            if inside is not None and inside.tag_id in blocks:
                node.insert_before("\n")
                node.insert_after("\n")
        elif kind <= MARKED_CELL:
            before = node.prev
            if before is not None and not before.is_empty_text_node:
                node.insert_before("\n")
            if kind == MARKED_CELL:
                marked.append(node)
        elif kind <= HEADING:
            before = node.prev
            if before is not None and not before.is_empty_text_node:
                node.insert_before("\n")
            after = node.next
            if after is not None and not after.is_empty_text_node:
                node.insert_after("\n")
            if kind == HEADING:
                headings.append(node)
        elif kind == MARKED:
            marked.append(node)
        elif kind == BREAK:
            node.insert_before("\n")
        elif kind == COMMENT:
            comments.append(node)
        elif kind == GONE:
            gone.append(node)
        else:
            rarely[kind](node, walk)

    # Elements may nest, and their texts with them: a hostile page could make us copy the same text for ever.
    budget = 2 * len(html) + SPARE_CHARS
    anchors = found.anchors
    nameless = False
    for node, attributes, href, kind_name in targets:
        text = " ".join(node.text_lexbor().split()) if kind_name == "a" and budget > 0 else ""
        budget -= len(text)
        if not text:
            text = _spoken(node, attributes)
            nameless = nameless or not text
        rel = attributes.get("rel")
        anchors.append((href, text[:ANCHOR_CHARS], " ".join(rel.lower().split()) if rel else "", kind_name))
    if nameless:
        _name_the_nameless(root, anchors)
    if comments:
        gone += _unindexed(root, comments)
    gone += _hidden(tree, html)
    for node in gone:
        node.decompose()
    level_of = NUMBERS.levels
    for node in headings:
        text = node.text_lexbor()
        budget -= len(text)
        text = " ".join(text[:HEADING_CHARS].split())
        if text:
            found.headings.append(Heading(level_of[node.tag_id], text))
        if budget < 0:
            break
    words = []
    for node in marked:
        text = node.text_lexbor()
        budget -= len(text)
        if len(text) <= MARKED_CHARS:
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
    if content is not None:
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        note_meta(walk.found, attributes.get("http-equiv") or "", name or "", content)


def _note_link(node: LexborNode, walk: _Walk) -> None:
    attributes = node.attributes
    rel, href = attributes.get("rel"), attributes.get("href")
    if rel and href:
        note_relation(walk.found, href, attributes.get("title") or "", rel, attributes.get("type") or "")


def _note_script(node: LexborNode, walk: _Walk) -> None:
    written = node.attributes.get("type")
    if written and media_type_of(written) == _JSON_LD and len(walk.found.json_ld) < MOST_BLOCKS:
        text = node.text()
        if len(text) <= BLOCK_CHARS:
            walk.found.json_ld.append(text)
    walk.gone.append(node)


def _note_title(node: LexborNode, walk: _Walk) -> None:
    if not walk.found.titled:
        walk.found.title, walk.found.titled = fold(node.text()), True
    walk.gone.append(node)


def _note_time(node: LexborNode, walk: _Walk) -> None:
    if len(walk.found.times) >= MOST_BLOCKS:
        return
    moment = node.attributes.get("datetime") or node.text()
    walk.found.times.append(moment[:TIME_CHARS])


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
    META: _note_meta,
    LINK: _note_link,
    SCRIPT: _note_script,
    TITLE: _note_title,
    TIME: _note_time,
    BASE: _note_base,
    HTML: _note_html,
    BODY: _note_body,
    FRAME: _note_frame,
    AREA: _note_area,
}


def _spoken(node: LexborNode, attributes: dict[str, str | None]) -> str:
    """Return the words of a link that shows none: its picture's, its title's."""
    for inner in node.traverse():
        if inner.tag_id == NUMBERS.image:
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
        place = nameless.get((node.attributes.get("href") or "").partition("#")[0])
        if place is not None and not anchors[place][1]:
            href, _, rel, kind = anchors[place]
            anchors[place] = (href, fold(node.text())[:ANCHOR_CHARS], rel, kind)


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
            start = max(0, place - TAG_BYTES)
            if html.rfind(b"<", start, place) > html.rfind(b">", start, place):
                return [node for node in tree.css("[hidden]") if node.tag not in _NEVER_HIDDEN]
        place = html.find(b"idden", place + 5)
    return []
