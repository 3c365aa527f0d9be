"""Text as XML: what may stand in a feed, and how it is written so that a reader gets the same characters."""

import re
from collections.abc import Iterable
from typing import Final, Protocol

from ingather.errors import IngatherError

__all__ = [
    "FeedWriteError",
    "Output",
    "attributes",
    "check_datasource",
    "check_url",
    "escape",
    "is_plain",
    "is_xml",
]

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
_LONGEST_NAME: Final = 200
_LONGEST_URL: Final = 8192
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]")
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_ESCAPES: Final = {
    ord(char): name
    for char, name in {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}.items()
}
_IN_ATTRIBUTES: Final = _ESCAPES | {ord("\n"): "&#10;", ord("\t"): "&#9;"}


class FeedWriteError(IngatherError, ValueError):
    """Something that cannot be said in a feed; nothing of it was written."""


class Output(Protocol):
    """Where a feed goes: a binary file, a connection."""

    def write(self, data: bytes, /) -> object:
        """Take bytes."""


def check_datasource(name: str, what: str = "data source") -> str:
    """Return *name* if an appliance takes it as a data source.

    Raises:
        FeedWriteError: it does not.
    """
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise FeedWriteError(
            f"{name[:_LONGEST_NAME]!r} is not the name of a {what}",
            hint="begin with a letter or _, go on with letters, digits, _ and -, at most 200 characters",
        )
    return name


def check_url(url: str, what: str = "url") -> str:
    """Return *url* without the white space around it.

    Raises:
        FeedWriteError: it is empty, relative, too long, or has characters that XML cannot hold.
    """
    url = url.strip()
    if len(url) > _LONGEST_URL:
        raise FeedWriteError(f"the {what} {url[:60]!r}... is longer than {_LONGEST_URL} characters")
    if _ABSOLUTE.match(url) is None:
        raise FeedWriteError(
            f"the {what} {url[:200]!r} is not absolute", hint="begin it with a scheme, like http://"
        )
    if _NO_XML.search(url) or _CONTROL.search(url):
        raise FeedWriteError(f"the {what} {url[:200]!r} holds a control character", hint="percent-encode it")
    return url


def is_xml(text: str) -> bool:
    """Whether XML 1.0 can hold every character of *text*."""
    return _NO_XML.search(text) is None


def is_plain(text: str) -> bool:
    """Whether *text* survives in an attribute with every reader: it has no line ends, tabs or other controls."""
    return _NO_XML.search(text) is None and _CONTROL.search(text) is None


def escape(text: str) -> str:
    """Return *text* as the text of an element."""
    return text.translate(_ESCAPES)


def attributes(url: str, pairs: Iterable[tuple[str, str | None]]) -> str:
    """Return ``' name="value"'`` for each pair whose value is not ``None``; *url* is named in the error.

    Raises:
        FeedWriteError: a value cannot be held by XML.
    """
    made = []
    for name, value in pairs:
        if value is None:
            continue
        if not is_xml(value):
            raise FeedWriteError(f"{url}: {name} holds a character that XML cannot hold: {value[:100]!r}")
        made.append(f' {name}="{value.translate(_IN_ATTRIBUTES)}"')
    return "".join(made)
