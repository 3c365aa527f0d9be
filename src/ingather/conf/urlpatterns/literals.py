"""Literal text of patterns in the spelling of canonical URLs."""

import re
from typing import Final

import can_ada

__all__ = ["escaped", "host_of", "octal"]

_WORK: Final = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#\\]")
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_OCTAL: Final = re.compile(r"\\([0-3][0-7]{2})")
_PARTIAL: Final = re.compile(r"%[0-9A-Fa-f]?\Z")


def escaped(text: str, *, whole: bool) -> str:
    """Return literal *text* with the escapes that a canonical URL has (``%7e`` as ``~``, a blank as ``%20``).

    ``#`` and the backslash stay: no canonical URL has them. Half an escape at the end of *text* stays too, unless the
    text is *whole*, that is, nothing may follow it in the URL.
    """
    tail = ""
    if not whole and (found := _PARTIAL.search(text)):
        text, tail = text[: found.start()], found[0].upper()
    return _WORK.sub(_escape, text) + tail


def _escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits:
        code = int(digits, 16)
        return chr(code) if code in _UNRESERVED else f"%{digits.upper()}"
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def octal(text: str) -> str:
    r"""Return *text* with ``\ooo`` replaced by the escape of that byte."""
    return _OCTAL.sub(lambda match: f"%{int(match[1], 8):02X}", text)


def host_of(text: str) -> str:
    """Return the host text of a pattern as URLs carry it: lower case, ASCII.

    Raises:
        ValueError: it is not ASCII, and no host name either.
    """
    text = text.lower()
    if text.isascii():
        return text
    dot = "." if text.startswith(".") else ""
    return dot + can_ada.parse(f"http://{text.strip('.')}/").hostname
