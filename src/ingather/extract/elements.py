"""The elements a walk looks for, and the numbers by which Lexbor knows them."""

from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser

__all__ = ["NUMBERS", "Numbers"]

# Kinds of elements; the first six stand in the order in which the walk compares. lexbor.h has the same order.
(
    A, CELL, MARKED_CELL, BLOCK, HEADING, MARKED, BREAK, COMMENT, GONE,
    SCRIPT, META, LINK, TITLE, TIME, BASE, HTML, FRAME, AREA, BODY,
) = range(19)  # fmt: skip

_TAGS_OF_KIND: Final = {
    A: "a",
    # Only followed by their like: a line feed before them is enough.
    CELL: "li td dd tr option optgroup tbody thead tfoot",
    MARKED_CELL: "dt th",
    BLOCK: (
        "address article aside blockquote button caption center details dialog dir div dl fieldset figcaption figure "
        "footer form header hgroup legend listing main menu nav ol p plaintext pre search section select summary "
        "table ul xmp"
    ),
    HEADING: "h1 h2 h3 h4 h5 h6",
    MARKED: "strong b em code",
    BREAK: "br hr",
    GONE: "style template noscript noframes noembed textarea datalist",
    SCRIPT: "script",
    META: "meta",
    LINK: "link",
    TITLE: "title",
    TIME: "time",
    BASE: "base",
    HTML: "html",
    BODY: "body",
    FRAME: "frame iframe",
    AREA: "area",
}
_BLOCK_KINDS: Final = frozenset({CELL, BLOCK, HEADING, MARKED_CELL, HTML, BODY})


class Numbers(NamedTuple):
    """Lexbor's numbers (``tag_id``): kind by tag, level by heading, what is a block, and single ones."""

    kinds: dict[int, int]
    levels: dict[int, int]
    blocks: frozenset[int]
    a: int
    image: int
    iframe: int
    head: int
    text: int


def _learn() -> Numbers:
    """Ask Lexbor for its numbers, which differ from version to version."""
    maker = LexborHTMLParser("")
    kinds: dict[int, int] = {}
    levels: dict[int, int] = {}
    for kind, names in _TAGS_OF_KIND.items():
        for name in names.split():
            number = maker.create_node(name).tag_id
            kinds[number] = kind
            if kind == HEADING:
                levels[number] = int(name[1])
    blocks = frozenset([n for n, kind in kinds.items() if kind in _BLOCK_KINDS])
    tree = LexborHTMLParser("<p>x<!--x--></p>")
    text = -1
    for node in tree.root.traverse(include_text=True) if tree.root else ():
        if node.is_comment_node:
            kinds[node.tag_id] = COMMENT
        elif node.is_text_node:
            text = node.tag_id
    a, image, iframe, head = [maker.create_node(name).tag_id for name in ("a", "img", "iframe", "head")]
    return Numbers(kinds, levels, blocks, a, image, iframe, head, text)


NUMBERS: Final = _learn()
