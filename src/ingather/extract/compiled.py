"""The compiled walk: ``walk/walk.c`` by way of ctypes.

The C code is given the address of the tree and of the Lexbor functions that selectolax brings, walks once
and returns one msgpack buffer. A page that it does not take (:func:`load` returns a function that may
return ``None``) is walked in Python. Building it is optional: without it everything works, slower.
"""

import ctypes
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import selectolax.lexbor
from selectolax.lexbor import LexborHTMLParser

from ingather.extract.elements import NUMBERS
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
    note_meta,
    note_relation,
)
from ingather.model.page import Heading

__all__ = ["Walk", "load"]

Walk = Callable[[LexborHTMLParser, bytes, bool], Document | None]
"""Tree, the bytes it was made of, whether to fold the text: what was found, ``None`` for a page it does not take."""

_LIBRARY: Final = Path(__file__).parent / "walk" / "walk.so"
_NODE_BYTES: Final = 192  # no node of Lexbor is larger before its text
_PROBE: Final = b"where does a text node keep its text?"

_FUNCTIONS: Final = (
    "lxb_dom_node_first_child_noi",
    "lxb_dom_node_next_noi",
    "lxb_dom_node_prev_noi",
    "lxb_dom_node_parent_noi",
    "lxb_dom_node_tag_id_noi",
    "lxb_dom_node_type_noi",
    "lxb_dom_element_first_attribute_noi",
    "lxb_dom_element_next_attribute_noi",
    "lxb_dom_attr_qualified_name",
    "lxb_dom_attr_value_noi",
)
_NUMBERS: Final = (
    "text_tag", "a_tag", "image_tag", "iframe_tag", "head_tag", "anchor_chars", "time_chars", "heading_chars",
    "marked_chars", "spare_chars", "most_targets", "most_values", "block_chars", "tag_bytes",
)  # fmt: skip


class _Setup(ctypes.Structure):
    """``struct setup`` of lexbor.h."""

    _fields_: ClassVar[Sequence[Any]] = (
        ("functions", ctypes.c_void_p * len(_FUNCTIONS)),
        ("text_offset", ctypes.c_size_t),
        ("key", ctypes.c_uint64 * 2),
        ("kinds", ctypes.c_char_p),
        ("levels", ctypes.c_char_p),
        ("n_kinds", ctypes.c_size_t),
        *((name, ctypes.c_size_t) for name in _NUMBERS),
    )


class _Result(ctypes.Structure):
    _fields_: ClassVar[Sequence[Any]] = (("at", ctypes.c_void_p), ("n", ctypes.c_size_t))


_BLOCK_MARK: Final = 128  # IS_BLOCK of lexbor.h

# What the buffer holds, in the order of write_down in telling.h.
_decode: Final = msgspec.msgpack.Decoder(
    tuple[
        str, bool, str, str, str, list[Anchor], list[tuple[str, str, str, str]], list[Heading],
        list[tuple[str, str, str]], str, list[str], list[str],
    ]
).decode  # fmt: skip


def load() -> Walk | None:
    """Return the compiled walk, ``None`` if it was not built or this selectolax is not as it expects."""
    if not _LIBRARY.exists() or sys.byteorder != "little":
        return None
    try:
        lexbor = ctypes.CDLL(selectolax.lexbor.__file__)
        library = ctypes.CDLL(str(_LIBRARY))
        setup = _setup(lexbor, library)
        walk_page, walk_free = library.walk_page, library.walk_free
    except (OSError, AttributeError):
        return None
    if setup is None:
        return None
    walk_page.argtypes = (
        ctypes.POINTER(_Setup), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int,
        ctypes.POINTER(_Result),
    )  # fmt: skip
    walk_free.argtypes = (ctypes.c_void_p,)
    walk_free.restype = None

    def walk(tree: LexborHTMLParser, html: bytes, folded: bool) -> Document | None:  # noqa: FBT001 - the type's
        root, body = tree.root, tree.body
        if root is None:
            return None
        result = _Result()
        if walk_page(
            setup,
            root.mem_id,
            None if body is None else body.mem_id,
            html,
            len(html),
            folded,
            ctypes.byref(result),
        ):
            return None
        try:
            told = ctypes.string_at(result.at, result.n)
        finally:
            walk_free(result.at)
        return _document(told)

    return walk


def _document(told: bytes) -> Document | None:
    try:
        title, titled, text, base, language, anchors, links, headings, metas, marked, json_ld, times = (
            _decode(told)
        )
    except msgspec.DecodeError:  # bytes that are not UTF-8
        return None
    found = Document(
        title, text, base, language, anchors, [], headings, {}, {}, marked, json_ld, times, titled
    )
    for href, name, rel, media_type in links:
        note_relation(found, href, name, rel, media_type)
    for pragma, name, content in metas:
        note_meta(found, pragma, name, content)
    return found


def _setup(lexbor: ctypes.CDLL, library: ctypes.CDLL) -> _Setup | None:
    """Return what the C code must know; ``None`` if Lexbor's text nodes are not as expected."""
    offset = _text_offset(library)
    if not offset:
        return None
    size = max(NUMBERS.kinds) + 1
    kinds, levels = bytearray(size), bytearray(size)
    for tag, kind in NUMBERS.kinds.items():
        kinds[tag] = kind + 1 | (_BLOCK_MARK if tag in NUMBERS.blocks else 0)
    for tag, level in NUMBERS.levels.items():
        levels[tag] = level
    functions = [ctypes.cast(getattr(lexbor, name), ctypes.c_void_p) for name in _FUNCTIONS]
    return _Setup(
        (ctypes.c_void_p * len(functions))(*[function.value for function in functions]),
        offset,
        (ctypes.c_uint64 * 2)(secrets.randbits(64), secrets.randbits(64)),
        bytes(kinds),
        bytes(levels),
        size,
        NUMBERS.text, NUMBERS.a, NUMBERS.image, NUMBERS.iframe, NUMBERS.head,
        ANCHOR_CHARS, TIME_CHARS, HEADING_CHARS, MARKED_CHARS, SPARE_CHARS,
        MOST_TARGETS, MOST_BLOCKS, BLOCK_CHARS, TAG_BYTES,
    )  # fmt: skip


def _text_offset(library: ctypes.CDLL) -> int:
    """Return how far into a text node Lexbor keeps its text, 0 if that was not found; comments keep it there too."""
    library.walk_learn.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t)
    library.walk_learn.restype = ctypes.c_size_t
    tree = LexborHTMLParser(b"<p>" + _PROBE + b"<!--" + _PROBE + b"--><p>" + b"more <b>of</b> a page, " * 20)
    probes = [
        node
        for node in (tree.root.traverse(include_text=True) if tree.root else ())
        if node.is_comment_node or node.text_content == _PROBE.decode()
    ]
    offsets = {library.walk_learn(node.mem_id, _PROBE, len(_PROBE), _NODE_BYTES) for node in probes}
    return int(offsets.pop()) if len(offsets) == 1 and len(probes) > 1 else 0
