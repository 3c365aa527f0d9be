"""One record: the grammar of its elements, and their values (specification, sections 3 and 7)."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from ingather.overlay.options import DATES, RESERVED, Options
from ingather.overlay.prefix import Fault, Prefix, read_prefix, shown

__all__ = ["Line", "Own", "class_name", "iso_day", "own_of", "read_line"]

Own = dict[str, tuple[str, ...]]
"""What one line says: classes in order, each with its values; no values = the class is cleared."""

_LINE_BYTES: Final = 64 * 1024
_VALUE_BYTES: Final = 8 * 1024
_ELEMENTS: Final = 1000
_BLANKS: Final = " \t"
_PREFIX: Final = re.compile(r"[^ \t]+")
_GAP: Final = re.compile(r"[ \t]+")
_NAME: Final = re.compile(r'[^ \t":]*')
_CLASS: Final = re.compile(r"(?![Ff][Uu][Nn])[A-Za-z0-9]{1,64}\Z")
_QUOTED: Final = re.compile(r'"((?:[^"]++|"")*)"(?!")')
_WORD: Final = re.compile(r'[^ \t"]+')
_PLAIN: Final = re.compile(r"\w+\Z")
_DAY: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})\Z")
_PRINCIPAL: Final = re.compile(r"(?:user|group):.+\Z", re.DOTALL)
# For lines that were read before: no check is made again.
_AGAIN: Final = re.compile(r'([A-Za-z0-9]+):(?:"((?:[^"]++|"")*)"(?!")|([^ \t"]+))')

# One element, quoted, that is what it says: nothing to trim (what is not ASCII may be a blank), nothing doubled.
_SINGLE: Final = re.compile(rb'(?![dX]:)([A-Za-z0-9]+):"(\w|\w[^"]*[!#-~])"').fullmatch


class Line(NamedTuple):
    """A good record.

    Attributes:
        prefix: its canonical prefix.
        elements: where its elements begin, in characters.
        remarks: warnings, as (code, place in characters, sentence).
        expires: whether it sets the last day of validity.
    """

    prefix: Prefix
    elements: int
    remarks: tuple[tuple[str, int, str], ...]
    expires: bool


class _Element(NamedTuple):
    name: str
    value: str
    quoted: bool
    at: int
    value_at: int


def read_line(text: str, options: Options) -> Line:
    """Read a line that is neither blank nor a comment, without its line end.

    Raises:
        Fault: what is wrong with it, first things first.
    """
    if len(text) > _LINE_BYTES or len(text.encode("utf-8", "surrogatepass")) > _LINE_BYTES:
        raise Fault("too-long", 0, "the line is longer than 64 KiB")
    start = len(text) - len(text.lstrip(_BLANKS))
    end = _PREFIX.match(text, start).end()  # type: ignore[union-attr]
    try:
        prefix = read_prefix(text[start:end], options)
    except Fault as fault:
        fault.at += start
        raise
    remarks = [(code, start, sentence) for code, sentence in prefix.remarks]
    dated: set[str] = set()
    count = 0
    for element in _elements(text, end):
        count += 1
        if count > _ELEMENTS:
            raise Fault("too-long", element.at, f"the line has more than {_ELEMENTS} elements")
        remarks += _judged(element, dated, options)
    if not count:
        raise Fault("no-elements", end, f"{shown(text[start:end])} stands alone", "add class:value behind it")
    return Line(prefix, _GAP.match(text, end).end(), tuple(remarks), "X" in dated)  # type: ignore[union-attr]


def own_of(body: bytes, begin: int, end: int, options: Options) -> Own:
    """Return classes and values of a good line's elements, which are *body* from *begin* to *end*.

    Values are trimmed, parted at the delimiter, without duplicates, in order. Days are written ``2004-12-31``.
    """
    single = _SINGLE(body, begin, end)
    if single is not None:  # so it is mostly
        name, value = single[1].decode(), single[2].decode()
        delimiter = (
            options.delimiters.get(name, options.delimiter) if options.delimiters else options.delimiter
        )
        if not (delimiter and delimiter in value):
            return {name: (value,)}
    return _values(body[begin:end].decode(), options)


def _values(elements: str, options: Options) -> Own:
    own: Own = {}
    for name, quoted, word in _AGAIN.findall(elements):
        value = word or (quoted.replace('""', '"') if '""' in quoted else quoted)
        delimiter = (
            options.delimiters.get(name, options.delimiter) if options.delimiters else options.delimiter
        )
        if delimiter and delimiter in value:
            found = tuple(dict.fromkeys(part for piece in value.split(delimiter) if (part := piece.strip())))
        else:
            value = value.strip()
            found = (value,) if value else ()
        if name in DATES:
            found = tuple(iso_day(value) or value for value in (own.get(name) or found)[:1])
        elif name in own:
            found = tuple(dict.fromkeys(own[name] + found))
        own[name] = found
    return own


def iso_day(text: str) -> str | None:
    """Return eight digits as ``2004-12-31``; ``None`` if they are no day of the calendar."""
    match = _DAY.match(text)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    except ValueError:
        return None


def class_name(text: str) -> bool:
    """Tell whether *text* may name a class: 1 to 64 ASCII letters and digits that do not begin with FUN."""
    return _CLASS.match(text) is not None


def _elements(text: str, at: int) -> Iterator[_Element]:
    while True:
        gap = _GAP.match(text, at)
        start = at if gap is None else gap.end()
        if start == len(text):
            return
        name = _NAME.match(text, start)[0]  # type: ignore[index]
        colon = start + len(name)
        if colon == len(text) or text[colon] != ":":
            raise Fault(
                "no-colon", start, f"{shown(_token(text, start))} has no colon", "write it as class:value"
            )
        if not class_name(name):
            raise Fault(
                "bad-class",
                start,
                f"{shown(name)} is no class",
                "classes are 1 to 64 letters and digits that do not begin with FUN",
            )
        value, quoted, at = _value(text, colon + 1, name)
        yield _Element(name, value, quoted, start, colon + 1)


def _value(text: str, at: int, name: str) -> tuple[str, bool, int]:
    """Return a value, whether it was quoted, and where it ends."""
    if at == len(text) or text[at] in _BLANKS:
        raise Fault(
            "missing-value", at, f"class {name} has no value behind its colon", f'{name}:"" clears the class'
        )
    if text[at] == '"':
        match = _QUOTED.match(text, at)
        if match is None:
            raise Fault("unterminated-quote", at, f"the quote in {shown(text[at:])} is not closed")
        if match.end() < len(text) and text[match.end()] not in _BLANKS:
            raise Fault(
                "junk-after-quote",
                match.end(),
                f"{shown(_token(text, match.end()))} follows a closing quote",
                'a quote within quotes is written ""',
            )
        value = match[1].replace('""', '"')
    else:
        match = _WORD.match(text, at)
        assert match is not None  # noqa: S101 - there is a character, and it is neither blank nor quote
        if match.end() < len(text) and text[match.end()] == '"':
            raise Fault("quote-in-word", match.end(), f"{shown(_token(text, at))} has a quote within a word")
        value = match[0]
    if len(value) > _VALUE_BYTES or len(value.encode("utf-8", "surrogatepass")) > _VALUE_BYTES:
        raise Fault("too-long", at, f"the value of class {name} is longer than 8 KiB")
    return value, text[at] == '"', match.end()


def _judged(element: _Element, dated: set[str], options: Options) -> Iterator[tuple[str, int, str]]:
    """Check what a value means to its class, and give the warnings."""
    name, value = element.name, element.value
    if not element.quoted and not _is_plain(value):
        if options.strict:
            text = f"{shown(value)} has punctuation outside quotes"
            raise Fault("bare-punctuation", element.value_at, text, f'write {name}:"{value}"')
        yield "bare-punctuation", element.value_at, f"{shown(value)} has punctuation outside quotes"
    if name in RESERVED:
        yield "reserved-class", element.at, f"class {name} was filled by the original's indexer"
    delimiter = options.delimiter_of(name)
    parts = [part.strip() for part in (value.split(delimiter) if delimiter else [value])]
    parts = [part for part in parts if part]
    if name in DATES:
        for part in parts:
            if iso_day(part) is None:
                raise Fault(
                    "bad-date", element.value_at, f"{shown(part)} is no day", "write it like 20041231"
                )
        if len(parts) > 1 or (parts and name in dated):
            yield "second-date", element.at, f"{name} has a day already, {shown(value)} is not used"
        if parts:
            dated.add(name)
    if name in options.permission_classes:
        _check_permission(element, parts, options)


def _check_permission(element: _Element, parts: list[str], options: Options) -> None:
    if options.acl_overlay != "restrict":
        raise Fault(
            "bad-class",
            element.at,
            f"class {element.name} is of type permission",
            "only a source with acl_overlay=restrict takes it",
        )
    if not parts or not all(_PRINCIPAL.match(part) for part in parts):
        raise Fault(
            "bad-class",
            element.value_at,
            f"{shown(element.value)} names nobody",
            f'write {element.name}:"user:NAME" or {element.name}:"group:NAME"',
        )


def _is_plain(word: str) -> bool:
    return _PLAIN.match(word) is not None or all(
        char == "_" or char.isalnum() or unicodedata.category(char).startswith("M") for char in word
    )


def _token(text: str, at: int) -> str:
    return _PREFIX.match(text, at)[0]  # type: ignore[index]
