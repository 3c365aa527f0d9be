"""LDAP filters: built from values, or read from an operator's text.

Source: RFC 4511, section 4.5.1.7; RFC 4515 for the text. What people type never becomes a text of a filter: it goes
into :func:`equals` as a value, so there is nothing to escape and nothing to inject.
"""

import re
from typing import Final

from ingather.app.access.directory.ber import SEQUENCE, octets, tlv
from ingather.errors import UsageError

__all__ = ["IN_CHAIN", "all_of", "any_of", "equals", "in_chain", "parse_filter", "present"]

IN_CHAIN: Final = "1.2.840.113556.1.4.1941"
"""LDAP_MATCHING_RULE_IN_CHAIN of Active Directory: a value reached by way of others, too."""
_AND, _OR, _NOT, _EQUAL, _PARTS, _GREATER, _LESS, _PRESENT, _ALIKE, _RULE = (
    0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0x87, 0xA8, 0xA9
)  # fmt: skip
_OPERATORS: Final = {"=": _EQUAL, ">=": _GREATER, "<=": _LESS, "~=": _ALIKE}
_ITEM: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9.;-]*)(?P<dn>:dn)?(?::(?P<rule>[A-Za-z0-9.-]+))?"
    r"(?P<operator>:=|>=|<=|~=|=)(?P<value>[^()\0]*)"
)
_ESCAPE: Final = re.compile(r"\\([0-9A-Fa-f]{2})|\\")
_DEEPEST: Final = 50


def equals(name: str, value: str | bytes) -> bytes:
    """Return the filter: attribute *name* has *value*, whatever characters that has."""
    return tlv(_EQUAL, octets(name), octets(value))


def present(name: str) -> bytes:
    """Return the filter: there is an attribute *name*."""
    return octets(name, _PRESENT)


def in_chain(name: str, value: str) -> bytes:
    """Return the filter: attribute *name* leads to *value*, in however many steps."""
    return tlv(_RULE, octets(IN_CHAIN, 0x81), octets(name, 0x82), octets(value, 0x83))


def all_of(*filters: bytes) -> bytes:
    """Return the filter that every one of *filters* must fit."""
    return filters[0] if len(filters) == 1 else tlv(_AND, *filters)


def any_of(*filters: bytes) -> bytes:
    """Return the filter that one of *filters* must fit."""
    return filters[0] if len(filters) == 1 else tlv(_OR, *filters)


def parse_filter(text: str) -> bytes:
    """Return the filter that an operator wrote.

    Raises:
        UsageError: it is none; the text says at which character.
    """
    found, end = _parsed(text, 0, 0)
    if end != len(text):
        raise _wrong(text, end)
    return found


def _parsed(text: str, at: int, depth: int) -> tuple[bytes, int]:
    if depth > _DEEPEST or text[at : at + 1] != "(":
        raise _wrong(text, at)
    mark = text[at + 1 : at + 2]
    if mark in {"&", "|", "!"}:
        inner: list[bytes] = []
        end = at + 2
        while text[end : end + 1] == "(":
            one, end = _parsed(text, end, depth + 1)
            inner.append(one)
        if text[end : end + 1] != ")" or not inner or (mark == "!" and len(inner) > 1):
            raise _wrong(text, end)
        return tlv({"&": _AND, "|": _OR, "!": _NOT}[mark], *inner), end + 1
    match = _ITEM.match(text, at + 1)
    if match is None or text[match.end() : match.end() + 1] != ")":
        raise _wrong(text, at if match is None else match.end())
    return _item(text, match), match.end() + 1


def _item(text: str, match: re.Match[str]) -> bytes:
    name, operator, value = match["name"], match["operator"], match["value"]
    if operator == ":=":
        parts = [octets(match["rule"], 0x81)] if match["rule"] else []
        parts += [octets(name, 0x82), octets(_raw(text, match, value), 0x83)]
        return tlv(_RULE, *parts, *([tlv(0x84, b"\xff")] if match["dn"] else []))
    if match["rule"] or match["dn"]:
        raise _wrong(text, match.start("operator"))
    if operator == "=" and value == "*":
        return present(name)
    if operator == "=" and "*" in value:
        return tlv(_PARTS, octets(name), tlv(SEQUENCE, *_substrings(text, match, value)))
    return tlv(_OPERATORS[operator], octets(name), octets(_raw(text, match, value)))


def _substrings(text: str, match: re.Match[str], value: str) -> list[bytes]:
    pieces = [_raw(text, match, piece) for piece in value.split("*")]
    last = len(pieces) - 1
    tags = [0x80 if n == 0 else 0x82 if n == last else 0x81 for n in range(last + 1)]
    return [octets(piece, tag) for piece, tag in zip(pieces, tags, strict=True) if piece]


def _raw(text: str, match: re.Match[str], value: str) -> bytes:
    def byte(escape: re.Match[str]) -> bytes:
        if not escape[1]:
            raise _wrong(text, match.start("value"))
        return bytes.fromhex(escape[1])

    made, at = bytearray(), 0
    for escape in _ESCAPE.finditer(value):
        made += value[at : escape.start()].encode() + byte(escape)
        at = escape.end()
    return bytes(made + value[at:].encode())


def _wrong(text: str, at: int) -> UsageError:
    return UsageError(
        f"{text!r} is no LDAP filter at character {at + 1}", hint="write it like (objectClass=person)"
    )
