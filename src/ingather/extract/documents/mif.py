r"""MIF, FrameMaker's interchange format: a small reader for text, headings, hypertext and document information.

Adobe, "MIF Reference": statements ``<Name value>``, nested; text is in ``<String `...'>`` and
``<Char Name>``, escapes are ``\t \> \q \Q \\ \xHH`` and, up to version 7, 8-bit text in
FrameMaker's own character set. Variables, markers and table cells come where the file has them.
"""

import re
from collections.abc import Iterator

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft

__all__ = ["read"]

_TOKEN = re.compile(
    rb"<\s*([A-Za-z_][\w.]*)"  # a statement begins
    rb"|(>)"  # ... and ends
    rb"|(`)"  # a string, see _STRING
    rb"|#[^\n]*"  # a comment
    rb"|^[=&][^\n]*"  # an inset's facet and its data
    rb"|([^\s<>`#]+)",  # a number, keyword or measure
    re.MULTILINE | re.DOTALL,
)
# Some of a string up to its end; one that never ends takes the rest. Bounded, for each round takes memory.
_STRING = re.compile(rb"(?:[^'\\]++|\\.){1,256}", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2}) ?|u([0-9A-Fa-f]{4}) ?|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", ">": ">", "q": "'", "Q": "`", "\\": "\\"}
_CHARACTERS = {
    "Tab": "\t",
    "HardSpace": " ",
    "SoftHyphen": "",
    "HardHyphen": "-",
    "DiscHyphen": "",
    "NoHyphen": "",
    "Cent": "¢",
    "Pound": "£",
    "Yen": "¥",
    "EnDash": "\u2013",
    "EmDash": "—",
    "Dagger": "†",
    "DoubleDagger": "‡",
    "Bullet": "•",
    "HardReturn": "\n",
    "NumberSpace": " ",
    "ThinSpace": " ",
    "EnSpace": " ",
    "EmSpace": " ",
}
_FRAME_ROMAN = "mac_roman"
"""FrameMaker's set is the Macintosh's for letters, which is what words are made of."""
_UTF8_SINCE = 8
_HYPERTEXT = re.compile(r"\b(?:message\s+(?:URL|openfile)|url)\s+(\S+)", re.IGNORECASE)
_HEADING = re.compile(r"(?:head(?:ing)?\s*|h)([1-6])\b", re.IGNORECASE)
_VERSION = re.compile(rb"<MIFFile\s+(\d+)")
_INFORMATION = {"author": "author", "title": "title", "subject": "subject", "keywords": "keywords"}
_DEEPEST = 200
# Catalogs and master pages describe; they hold names of formats, not text.
_SKIPPED = frozenset(
    b"ColorCatalog ConditionCatalog CombinedFontCatalog PgfCatalog FontCatalog RulingCatalog TblCatalog Views"
    b" MarkerTypeCatalog XRefFormats Dictionary ElementDefCatalog BookComponent InitialAutoNums FmtChangeListCatalog"
    b" VariableFormats ImportObject Pgf Font".split()
)


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read a MIF document into *draft*.

    Raises:
        ExtractError: ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    version = _VERSION.search(body[:4096])
    if version is None:
        raise ExtractError("not a MIF document", reason="damaged")
    _Mif(draft, "utf-8" if int(version[1]) >= _UTF8_SINCE else _FRAME_ROMAN).read(body)


class _Mif:
    """Follows the statements: a stack of names, the strings between them."""

    def __init__(self, draft: Draft, encoding: str) -> None:
        self._draft = draft
        self._encoding = encoding
        self._open: list[bytes] = []
        self._information = ""

    def read(self, body: bytes) -> None:
        skipping = 0
        for name, end, string, word in _tokens(body):
            if name:
                self._open.append(name)
                if len(self._open) > _DEEPEST:
                    raise ExtractError("the document is nested too deeply", reason="damaged")
                if skipping or name in _SKIPPED:
                    skipping += 1
            elif end:
                if skipping:
                    skipping -= 1
                elif self._open:
                    self._close(self._open[-1])
                if self._open:
                    self._open.pop()
            elif self._open and not skipping:
                self._value(self._open[-1], string, word)

    def _close(self, name: bytes) -> None:
        if name == b"Para":
            self._draft.end_block()
        elif name == b"ParaLine":
            self._draft.write(" ")

    def _value(self, name: bytes, string: bytes | None, word: bytes | None) -> None:
        text = self._decoded(string) if string is not None else (word or b"").decode("ascii", "replace")
        match name:
            case b"String" if string is not None and b"ParaLine" in self._open:
                self._draft.write(text)
            case b"Char":
                self._draft.write(_CHARACTERS.get(text, " "))
            case b"PgfTag":
                if level := _HEADING.match(text):
                    self._draft.heading(int(level[1]))
            case b"MText":
                self._marker(text)
            case b"PgfNumString":
                self._draft.write(f"{text} ")
            case b"Key":
                self._information = text.lower()
            case b"Value" if key := _INFORMATION.get(self._information):
                self._draft.meta(key, text)

    def _marker(self, text: str) -> None:
        if found := _HYPERTEXT.search(text):
            self._draft.link(found[1])

    def _decoded(self, string: bytes) -> str:
        return _ESCAPE.sub(self._unescaped, string.decode(self._encoding, "replace"))

    def _unescaped(self, found: re.Match[str]) -> str:
        if found[1]:
            return bytes([int(found[1], 16)]).decode(_FRAME_ROMAN, "replace")
        if found[2]:
            return chr(int(found[2], 16))
        return _ESCAPES.get(found[3], found[3])


def _tokens(body: bytes) -> Iterator[tuple[bytes, bytes, bytes | None, bytes | None]]:
    end = 0
    while found := _TOKEN.search(body, end):
        begin = end = found.end()
        string: bytes | None = None
        if found[3]:
            while part := _STRING.match(body, end):
                end = part.end()
            string = body[begin:end]
            end += body[end : end + 1] == b"'"
        yield found[1] or b"", found[2] or b"", string, found[4]
