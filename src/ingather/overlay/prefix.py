"""A URL prefix as it is written, and the keys that it stands for (specification, section 4).

Both sides go through the catalog's canonicaliser, then matching is a plain comparison of the first bytes.
"""

import re
from typing import Final, NamedTuple

from ingather.errors import UrlError
from ingather.model.default_page import stripped
from ingather.model.url import fed_url
from ingather.overlay.options import Options

__all__ = ["Fault", "Prefix", "folded", "key_of", "open_ended", "read_prefix"]

_LIMIT_BYTES: Final = 4096
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")
_AUTHORITY: Final = re.compile(r"[^/?\\]*")
_IPV6: Final = re.compile(r"(\[[^\]]*\])(?::(.*))?\Z", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HALF_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HTML: Final = re.compile(r"&(?:amp|lt|gt|quot|apos);", re.IGNORECASE)
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
_FILE_NAME: Final = re.compile(r".+\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
_HALF_DEFAULT: Final = re.compile(
    r"(?:index|welcome|home|default|main)\.[a-z0-9]{0,2}\Z", re.ASCII | re.IGNORECASE
)
_LAST_PORT: Final = 65535
_HOSTLESS: Final = "file"
"""``file:///srv/a`` names no host."""


class Fault(Exception):  # noqa: N818 - a finding about a line, always caught by the reader
    """What is wrong with a line: a code, the place in characters from the text's beginning, and a sentence."""

    def __init__(self, code: str, at: int, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.at = at
        self.text = text
        self.hint = hint


class Prefix(NamedTuple):
    """A prefix in canonical form.

    Attributes:
        key: what the stripped canonical URLs of its documents start with; equal to it when *exact*.
        exact: a default page was stripped: only URLs whose stripped form is *key* are meant.
        twin: the https form, when the line names no scheme and stands for any.
        remarks: warnings, as (code, sentence).
    """

    key: str
    exact: bool
    twin: str | None = None
    remarks: tuple[tuple[str, str], ...] = ()


def read_prefix(text: str, options: Options) -> Prefix:
    """Return the canonical form of a prefix.

    Raises:
        Fault: it names no host, or no documents that could be ours.
    """
    _check_characters(text)
    scheme, rest, start = "http", text, 0
    named = _SCHEME.match(text)
    if named is not None:
        scheme, start = named[1].lower(), named.end()
        rest = text[start:]
        if scheme not in options.schemes:
            known = " and ".join(sorted(options.schemes))
            raise Fault("scheme", 0, f"{shown(text)} has the scheme {scheme}", f"schemes are {known}")
    authority = _AUTHORITY.match(rest)[0]  # type: ignore[index]
    if authority or scheme != _HOSTLESS:
        _check_authority(authority, start, text, full=named is None)
    path, question, query = rest.partition("?")
    half = _HALF_ESCAPE.search(path)
    if half is not None:
        raise Fault(
            "bad-escape", start + half.start(), f"{shown(text)} has a truncated escape", "write % as %25"
        )
    url = _canonical(f"{scheme}://{rest}", text, options)
    twin = None
    if named is None and options.schemeless == "any":
        twin = _canonical(f"https://{rest}", text, options)
    remarks = tuple(_remarks(text, rest, url))
    if question and not query:
        # A canonical URL has no empty query; a prefix that ends at the mark means any query.
        url += "?"
        twin = None if twin is None else f"{twin}?"
    key = stripped(url)
    exact = key != url
    if not exact and open_ended(key):
        remarks += (("open-ended-prefix", f"{shown(text)} covers {text}... too, not only {text}/"),)
    return Prefix(
        folded(key, options), exact, None if twin is None else folded(stripped(twin), options), remarks
    )


def key_of(url: str, options: Options) -> tuple[str, str] | None:
    """Return the canonical and the stripped form of any URL text; ``None`` when it names no document."""
    try:
        whole = fed_url(url, options.canonical)
    except UrlError:
        return None
    return whole, stripped(whole)


def folded(key: str, options: Options) -> str:
    """Return *key*, its path in lower case if its host does not tell case apart."""
    if not options.case_insensitive_hosts:
        return key
    slash = key.find("/", key.find("://") + 3)
    if slash < 0:
        return key
    host = key[key.find("://") + 3 : slash]
    bare, colon, port = host.rpartition(":")
    if (bare if colon and port.isdecimal() else host) in options.case_insensitive_hosts:
        return key[:slash] + key[slash:].lower()
    return key


def open_ended(key: str) -> bool:
    """Tell whether *key* stops within a path segment that is no file name: ``/chem`` covers ``/chemistry/``."""
    if key.endswith("/") or "?" in key:
        return False
    segment = key[key.rfind("/") + 1 :]
    return _FILE_NAME.match(segment) is None or _HALF_DEFAULT.match(segment) is not None


def shown(text: str) -> str:
    """Return *text* for a message: quoted, cut, nothing in it that would steer a terminal."""
    cut = text if len(text) <= 100 else f"{text[:100]}..."  # noqa: PLR2004 - enough for a message
    return "'" + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut) + "'"


def _check_characters(text: str) -> None:
    if len(text) > _LIMIT_BYTES or len(text.encode()) > _LIMIT_BYTES:
        raise Fault("too-long", 0, f"prefix {shown(text)} is longer than 4 KiB")
    at = text.find('"')
    if at >= 0:
        raise Fault("quote-in-prefix", at, f"{shown(text)} has a quote", "write it as %22")
    at = text.find("#")
    if at >= 0:
        raise Fault(
            "fragment", at, f"{shown(text)} has a fragment", "no URL of a document has one; cut it off"
        )
    control = _CONTROL.search(text)
    if control is not None:
        escape = f"%{ord(control[0]):02X}"
        raise Fault(
            "bad-escape", control.start(), f"{shown(text)} has a control character", f"write {escape}"
        )


def _check_authority(authority: str, start: int, text: str, *, full: bool) -> None:
    user = authority.find("@")
    if user >= 0:
        raise Fault("userinfo", start, f"{shown(text)} has a user name", "cut it off")
    in_brackets = _IPV6.match(authority)
    host, port = authority, ""
    if in_brackets is not None:
        host, port = in_brackets[1], in_brackets[2] or ""
    elif not authority.startswith("["):
        host, _, port = authority.partition(":")
    if not host:
        raise Fault("no-host", start, f"{shown(text)} names no host", "write it like www.example.org/path")
    if port and not (port.isascii() and port.isdecimal() and len(port) <= 10 and int(port) <= _LAST_PORT):  # noqa: PLR2004
        raise Fault("bad-port", start + len(host) + 1, f"{shown(port)} is no port", "ports are 0 to 65535")
    bare = host.removesuffix(".")
    if not bare or bare.endswith("."):
        raise Fault("bad-host", start, f"{shown(host)} is no host name")
    if full and not _DOTS.search(bare) and bare.lower() != "localhost" and not bare.startswith("["):
        raise Fault(
            "no-full-host", start, f"{shown(host)} is no full host name", f"write http://{host}/ if it is one"
        )


def _canonical(url: str, text: str, options: Options) -> str:
    try:
        whole = fed_url(url, options.canonical)
    except UrlError:
        whole = ""
    if not whole or (whole.partition("://")[2].startswith("/") and not whole.startswith(f"{_HOSTLESS}:")):
        at = 0 if "://" not in text else text.index("://") + 3
        raise Fault("bad-host", at, f"{shown(text)} has a host name that cannot be")
    return whole


def _remarks(text: str, rest: str, url: str) -> list[tuple[str, str]]:
    remarks = []
    if _HTML.search(text):
        remarks.append(("html-escaped-prefix", f"{shown(text)} is escaped as in HTML: URLs have a plain &"))
    query, canonical_query = rest.partition("?")[2], url.partition("?")[2]
    if query.count("&") > canonical_query.count("&") or (query and not canonical_query):
        remarks.append(("dropped-parameter", f"{shown(text)} names parameters that URLs are kept without"))
    return remarks
