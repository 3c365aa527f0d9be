"""SOIF, the summary object interchange format: what an object is, and the strict writer.

An object is ``@TEMPLATE { URL`` LF, attributes, ``}`` LF; an attribute is ``name{N}:`` TAB value LF with
N the bytes of the value, so a value may hold line breaks and braces (Harvest manual; RFC 2655). Names know
no case. Several values of one name are written ``name-1``, ``name-2``, ...; the number is no part of the
name. ``soif_reader`` reads, more lenient than this writes (specification 12.1, DEC-35).
"""

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ingather.errors import IngatherError

__all__ = [
    "MOST_ATTRIBUTES",
    "MOST_OBJECT_BYTES",
    "MOST_VALUE_BYTES",
    "SoifError",
    "SoifFinding",
    "SoifObject",
    "known_charset",
    "split_name",
    "writable_name",
    "write_object",
]

#: A longer value is an error of its object (DEC-35).
MOST_VALUE_BYTES = 16 * 1024 * 1024
#: More attributes are an error of their object (DEC-35).
MOST_ATTRIBUTES = 10_000
#: All values of one object together: what the reader holds in memory at most.
MOST_OBJECT_BYTES = 64 * 1024 * 1024
#: Longest attribute name and longest head of an object, in bytes.
MOST_NAME_BYTES = 256
MOST_HEAD_BYTES = 65_536

_NUMBERED = re.compile(r"(.+)-([0-9]{1,9})\Z", re.DOTALL)
_NAME = re.compile(r"[^\s{}@\x00-\x20\x7f][^\s{}\x00-\x20\x7f]*\Z")
_TEMPLATE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
_BREAK = re.compile(r"[\x00-\x1f\x7f]")


class SoifError(IngatherError, ValueError):
    """Something that SOIF cannot carry: a name with a blank or a brace, a URL with a line break."""


@dataclass(frozen=True, slots=True)
class SoifFinding:
    """What the reader met: *offset* in bytes from the start, *number* of the object from 1.

    *attribute* is the name as written, '' when the trouble is not in an attribute.
    """

    code: str
    offset: int
    number: int
    attribute: str
    text: str

    @property
    def is_error(self) -> bool:
        """Whether the object, or all from here on, was refused."""
        return self.code.startswith("E-")

    def __str__(self) -> str:
        where = f"byte {self.offset}: object {self.number}"
        if self.attribute:
            where += f": {self.attribute}"
        return f"{where}: {'error' if self.is_error else 'warning'} {self.code}: {self.text}"


@dataclass(frozen=True, slots=True)
class SoifObject:
    """One object: *values* has lower-case base names and the bytes of their values in the order of their numbers.

    *url* is '' where the object has none (written ``-``). *offset* is where its head began.
    """

    template: str
    url: str
    values: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    charset: str = "utf-8"
    offset: int = 0

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of *name* as text; bytes that the charset does not know become U+FFFD."""
        return tuple(value.decode(self.charset, "replace") for value in self.values.get(name.lower(), ()))

    def first(self, name: str, default: str = "") -> str:
        """The first value of *name* as text."""
        found = self.values.get(name.lower())
        return found[0].decode(self.charset, "replace") if found else default

    def texts(self) -> dict[str, tuple[str, ...]]:
        """All attributes as text."""
        return {name: self.all(name) for name in self.values}


def known_charset(name: str) -> str:
    """The codec's name of an ASCII-compatible charset.

    Raises:
        SoifError: The charset is unknown, or not one in which SOIF's own marks are ASCII bytes.
    """
    try:
        codec = codecs.lookup(name)
        marks = "@DOCUMENT { -\nname-1{12}:\t}\n"
        if not codec._is_text_encoding or codec.encode(marks)[0] != marks.encode("ascii"):  # noqa: SLF001  (the only way to ask)
            text = f"charset {name!r} cannot carry SOIF"
            raise SoifError(text, hint="use utf-8 or another charset that extends ASCII")
    except (LookupError, ValueError) as error:
        if isinstance(error, SoifError):
            raise
        text = f"unknown charset {name!r}"
        raise SoifError(text, hint="use a name such as utf-8, iso-8859-1 or windows-1252") from error
    return codec.name


def split_name(written: str) -> tuple[str, int]:
    """Base name in lower case and number of an attribute as written; 0 = no number."""
    found = _NUMBERED.match(written)
    if found:
        return found[1].lower(), int(found[2])
    return written.lower(), 0


def writable_name(name: str) -> bool:
    """Whether *name* can be the name of an attribute."""
    return bool(_NAME.match(name)) and len(name.encode("utf-8", "replace")) <= MOST_NAME_BYTES - 12


def write_object(
    template: str,
    url: str,
    attributes: Mapping[str, str | bytes | Iterable[str | bytes]],
    *,
    charset: str = "utf-8",
) -> bytes:
    """The object as bytes; a single value without number, several as ``-1``, ``-2``, ...

    Text is encoded in *charset*; a character that it lacks becomes ``?``. Bytes are written as they are.

    Raises:
        SoifError: Template, URL or a name cannot be written, or a value is above what the reader takes.
    """
    if not _TEMPLATE.match(template):
        text = f"{template!r} cannot be the template of a SOIF object"
        raise SoifError(text)
    head = url.encode("utf-8", "replace")
    if _BREAK.search(url) or url != url.strip() or len(head) > MOST_HEAD_BYTES - 128:
        text = f"{url[:200]!r} cannot be the URL of a SOIF object"
        raise SoifError(text, hint="a URL has no line breaks or blanks around it")
    parts = [b"@", template.encode("ascii"), b" { ", head or b"-", b"\n"]
    for name, given in attributes.items():
        values = (given,) if isinstance(given, str | bytes) else tuple(given)
        if not writable_name(name):
            text = f"{name[:80]!r} cannot be the name of a SOIF attribute"
            raise SoifError(
                text, hint="names have no blanks, braces or control characters and do not start with @"
            )
        lower = name.lower()
        # A single value keeps its plain name, unless the name itself looks numbered.
        plain = len(values) == 1 and not _NUMBERED.match(lower)
        for number, value in enumerate(values, start=1):
            raw = value if isinstance(value, bytes) else value.encode(charset, "replace")
            if len(raw) > MOST_VALUE_BYTES:
                text = f"a value of {name!r} has {len(raw)} bytes; SOIF readers here take {MOST_VALUE_BYTES}"
                raise SoifError(text)
            written = lower if plain else f"{lower}-{number}"
            parts += [written.encode("utf-8", "replace"), b"{%d}:\t" % len(raw), raw, b"\n"]
    parts.append(b"}\n")
    return b"".join(parts)
