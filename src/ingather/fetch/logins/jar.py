"""Cookies: RFC 6265 sections 5.1 to 5.4, of one source or one login, in memory, bounded."""

import re
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

__all__ = ["Jar"]

_MOST: Final = 1_000
_MOST_OF_HOST: Final = 50
_LONGEST: Final = 4_096
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_DASHES: Final = re.compile(r"(\d{1,2})-([A-Za-z]{3})-(\d{2,4})")
_FOREVER: Final = float("inf")


@dataclass(slots=True)
class _Cookie:
    name: str
    value: str = field(repr=False)
    domain: str
    path: str
    host_only: bool
    secure: bool
    until_s: float
    made: int


class Jar:
    """Takes what hosts set and gives what belongs to a URL. A domain without a dot, or one that is an address, covers itself alone."""

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], _Cookie] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._cookies)

    def clear(self) -> None:
        """Forget all cookies."""
        self._cookies.clear()

    def take(self, url: str, line: str, now_s: float) -> str:
        """Take a ``Set-Cookie`` line of the answer to *url*; return the name of a cookie that it removed, else ``""``."""
        pair, *rest = line.split(";")
        name, sign, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if (
            not sign
            or not _TOKEN.match(name)
            or len(line) > _LONGEST
            or any(c < " " or c == "\x7f" for c in value)
        ):
            return ""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        told = {}
        for one in rest:
            word, _, said = one.partition("=")
            told[word.strip().lower()] = said.strip()
        domain = told.get("domain", "").lower().lstrip(".")
        host_only = not domain
        if domain and domain != host and (not _matches(host, domain) or "." not in domain):
            return ""
        secure = "secure" in told
        if secure and parts.scheme != "https":
            return ""
        if name.startswith(("__Secure-", "__Host-")) and (
            not secure or (name.startswith("__Host-") and (not host_only or told.get("path") != "/"))
        ):
            return ""
        path = told.get("path", "")
        if not path.startswith("/"):
            path = parts.path.rpartition("/")[0] or "/"
        key = (domain or host, path, name)
        until_s = _until(told, now_s)
        if until_s <= now_s:
            return name if self._cookies.pop(key, None) is not None else ""
        old = self._cookies.get(key)
        if old is None:
            self._make_room(key[0], now_s)
            self._made += 1
        made = self._made if old is None else old.made
        self._cookies[key] = _Cookie(name, value, key[0], path, host_only, secure, until_s, made)
        return ""

    def header(self, url: str, now_s: float) -> bytes | None:
        """Return the header line for *url*, ``None`` = there are none for it."""
        fit = self._fitting(url, now_s)
        if not fit:
            return None
        fit.sort(key=lambda one: (-len(one.path), one.made))
        return b"Cookie: " + "; ".join(f"{one.name}={one.value}" for one in fit).encode("latin-1", "replace")

    def names(self, url: str, now_s: float) -> set[str]:
        """Return the names of the cookies for *url*."""
        return {one.name for one in self._fitting(url, now_s)}

    def _fitting(self, url: str, now_s: float) -> list[_Cookie]:
        if not self._cookies:
            return []
        parts = urlsplit(url)
        host, path, secure = (parts.hostname or "").lower(), parts.path or "/", parts.scheme == "https"
        for key in [key for key, one in self._cookies.items() if one.until_s <= now_s]:
            del self._cookies[key]
        return [
            one for one in self._cookies.values()
            if (host == one.domain if one.host_only else _matches(host, one.domain))
            and (secure or not one.secure)
            and (path == one.path or (path.startswith(one.path) and (one.path.endswith("/") or path[len(one.path)] == "/")))
        ]  # fmt: skip

    def _make_room(self, domain: str, now_s: float) -> None:
        of_host = [key for key in self._cookies if key[0] == domain]
        if len(of_host) >= _MOST_OF_HOST:
            del self._cookies[min(of_host, key=lambda key: self._cookies[key].made)]
        if len(self._cookies) >= _MOST:
            dead = [key for key, one in self._cookies.items() if one.until_s <= now_s]
            for key in dead or [min(self._cookies, key=lambda key: self._cookies[key].made)]:
                del self._cookies[key]


def _matches(host: str, domain: str) -> bool:
    if host == domain:
        return True
    if not host.endswith("." + domain):
        return False
    try:
        ip_address(host)
    except ValueError:
        return True
    return False


def _until(told: dict[str, str], now_s: float) -> float:
    age = told.get("max-age", "")
    if re.fullmatch(r"-?\d{1,15}", age, re.ASCII):
        return now_s + int(age) if int(age) > 0 else -_FOREVER
    if "expires" in told:
        try:
            return parsedate_to_datetime(_DASHES.sub(r"\1 \2 \3", told["expires"])).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
            return _FOREVER
    return _FOREVER
