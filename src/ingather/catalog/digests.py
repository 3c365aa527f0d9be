"""Digests of what a description is made of, side by side: so that only what changed is written.

Forty bytes a page: text (with headings and what the page sets off), metadata, access list, links, and *steady* text: the
text without what changes by itself, dates, times, counters and tokens. Steady text is made at second visits only; zeros
stand for none. Metadata are without what every answer makes anew (``VOLATILE``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from string import punctuation
from typing import Final

import msgspec
from xxhash import xxh3_64_digest

__all__ = ["DIGESTS_BYTES", "VOLATILE", "Part", "digests_of", "equal", "looks_equal", "steady"]

_SIZE: Final = 8
_ACL: Final = "readacl"
_NONE: Final = bytes(_SIZE)
_NO_ACL: Final = xxh3_64_digest(b"\x90")

VOLATILE: Final = frozenset({
    "age", "content-length", "csrf-param", "csrf-token", "date", "etag", "expires", "ip", "last-modified", "md5", "rd-expires",
    "rd-last-modified",
})  # fmt: skip
"""Attributes that change without the document: when only they do, the description stands as it is."""

_MOVING: Final = re.compile(
    r"\b(?=[0-9a-zA-Z_-]*[0-9])[0-9a-zA-Z_-]{16,}\b"  # tokens
    r"|[0-9]+(?:[-./:,]?[0-9]+)*"  # dates, times, counters
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b",
    re.IGNORECASE,
)

_NAMES: Final = frozenset({
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
})  # fmt: skip
"""How the names of days and months begin: other words of letters alone do not move."""

_encode = msgspec.msgpack.Encoder(order="sorted").encode


class Part(IntEnum):
    """What is compared for itself, in the order of the digests."""

    TEXT = 0
    METADATA = 1
    ACL = 2
    LINKS = 3
    STEADY = 4


DIGESTS_BYTES: Final = len(Part) * _SIZE


def digests_of(
    texts: Sequence[str],
    attributes: Mapping[str, Sequence[str]],
    facts: Iterable[object],
    links: Sequence[bytes],
    *,
    again: bool,
) -> bytes:
    """Return the digests of a description.

    Args:
        texts: what is searched: text, headings, marked.
        attributes: of the page layer; those of ``VOLATILE`` do not count.
        facts: what else is said of it (title, language, type, date, flags).
        links: packed keys, packed anchors.
        again: it was visited before, so steady text is worth its price.
    """
    named = {
        name: list(values) for name, values in attributes.items() if name not in VOLATILE and name != _ACL
    }
    acl = attributes.get(_ACL)
    return b"".join((
        xxh3_64_digest("\0".join(texts).encode("utf-8", "surrogatepass")),
        xxh3_64_digest(_encode([list(facts), named])),
        xxh3_64_digest(_encode(list(acl))) if acl else _NO_ACL,
        xxh3_64_digest(b"".join(links)),
        xxh3_64_digest("\0".join(map(steady, texts)).encode("utf-8", "surrogatepass")) if again else _NONE,
    ))  # fmt: skip


class _Steady(dict[str, str]):
    """Words without what moves; each different word of a text is looked at once."""

    def __missing__(self, word: str) -> str:
        bare = word.strip(punctuation)
        plain = bare.isalpha() and bare[:3].casefold() not in _NAMES
        found = self[word] = word if plain else _MOVING.sub("#", word)
        return found


def steady(text: str) -> str:
    """Return the words of *text* without dates, times, counters and tokens."""
    return " ".join(map(_Steady().__getitem__, text.split()))


def equal(one: bytes | None, two: bytes | None, *parts: Part) -> bool:
    """Whether all *parts* of two pages' digests are equal; what has no digests is equal to nothing."""
    if not one or not two or len(one) != DIGESTS_BYTES or len(two) != DIGESTS_BYTES:
        return False
    return all(_part(one, part) == _part(two, part) for part in parts)


def looks_equal(one: bytes | None, two: bytes | None) -> bool:
    """Whether nothing changed that a person would call a change: metadata are equal, and so is the text but for what moves by itself."""
    if not equal(one, two, Part.METADATA):
        return False
    if equal(one, two, Part.TEXT):
        return True
    return one is not None and _part(one, Part.STEADY) != _NONE and equal(one, two, Part.STEADY)


def _part(digests: bytes, part: Part) -> bytes:
    return digests[part * _SIZE : (part + 1) * _SIZE]
