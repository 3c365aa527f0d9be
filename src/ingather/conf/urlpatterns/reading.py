"""One line of a list of URL patterns: which form it has, and what it asks of a URL."""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import re2
from ingather.conf.patterns.dialects import options
from ingather.conf.urlpatterns.finding import Finding, PatternError
from ingather.conf.urlpatterns.gnu import GnuError, translate
from ingather.conf.urlpatterns.literals import escaped, host_of, octal

__all__ = ["ANY_PORT", "MAX_BYTES", "Form", "Pattern", "read_pattern"]

MAX_BYTES: Final = 4096
ANY_PORT: Final = 0
_LAST_PORT: Final = 65535
_KEYWORD: Final = re.compile(r"(contains|regexp|regexpcase|regexpignorecase):", re.IGNORECASE)
_KEYWORDS: Final = frozenset({"contains", "regexp", "regexpCase", "regexpIgnoreCase"})
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://")
_PORT: Final = re.compile(r":([^:\[\]]*)\Z")
_HOST: Final = re.compile(r"[a-z0-9.\-_~%]*\Z|\[[0-9a-f:.]+\]\Z")
_BARE_HOST: Final = re.compile(r"[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+(?::[^/:]*)?\Z")
_EQUAL_SEGMENTS: Final = r"/([^/]*)/\1/\1/"


class Form(Enum):
    """What a pattern asks of a URL."""

    EXACT = "the whole URL"
    PREFIX = "a whole host, and the start of the path"
    SUFFIX = "the end of the host, and the start of the path"
    HOST_START = "the start of the host"
    ENDING = "the end of the URL"
    HOST_ENDING = "the end of the host, and the whole path"
    PATH = "the path"
    ALL = "nothing"
    CONTAINS = "any place"
    EXPRESSION = "an expression"
    EQUAL_SEGMENTS = "three equal segments"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern.

    Attributes:
        line: from 1.
        text: as written, without blanks around it.
        exception: it takes away from its list.
        form: what it asks.
        scheme: ``""`` = any.
        host: host text, lower case.
        port: effective port that it asks for, 0 = any.
        path: start or whole of path and query.
        literal: what the URL or path contains or ends with.
        expression: RE2's.
        folded: without regard to case.
        named_port: the port is named, also as ``*``.
    """

    line: int
    text: str
    exception: bool
    form: Form
    scheme: str = ""
    host: str = ""
    port: int = ANY_PORT
    path: str = ""
    literal: str = ""
    expression: str = ""
    folded: bool = False
    named_port: bool = field(default=False, compare=False)


def read_pattern(
    text: str, line: int = 1, *, label: bool = False, bare_hosts: bool = False
) -> tuple[Pattern, list[Finding]]:
    """Return the pattern that *text* (trimmed) is, and what to warn of.

    Args:
        text: of the line, not empty.
        line: its number.
        label: host texts begin at a label (``host-boundary = label``).
        bare_hosts: a host name alone is a host (policy rules).

    Raises:
        PatternError: it is none.
    """
    return _Reading(text, line, label=label, bare_hosts=bare_hosts).run()


class _Reading:
    def __init__(self, text: str, line: int, *, label: bool, bare_hosts: bool) -> None:
        self.text, self.line = text, line
        self.label, self.bare_hosts = label, bare_hosts
        self.exception = False
        self.warned: list[Finding] = []

    def run(self) -> tuple[Pattern, list[Finding]]:
        if len(self.text.encode("utf-8", "replace")) > MAX_BYTES:
            raise PatternError("too-long", f"a pattern of more than {MAX_BYTES} bytes")
        body, at = self.text, 0
        if body.startswith("+-"):
            self._warn("plus-minus", "+- begins an exception")
            at = 2
        elif body.startswith("-"):
            at = 1
        self.exception = at > 0
        rest = body[at:].strip(" \t")
        at = len(body) - len(rest)
        if not rest.strip("^$"):
            raise PatternError("empty-pattern", "there is no pattern", at)
        keyword = _KEYWORD.match(rest)
        if keyword is not None:
            return self._keyword(keyword[1], rest[keyword.end() :], at, at + keyword.end()), self.warned
        return self._plain(rest, at), self.warned

    def _warn(self, name: str, text: str, offset: int = 0) -> None:
        self.warned.append(Finding(name, text, offset, error=False))

    def _made(self, form: Form, **more: object) -> Pattern:
        return Pattern(self.line, self.text, self.exception, form, **more)  # type: ignore[arg-type]

    # -- keywords -------------------------------------------------------------------------------

    def _keyword(self, word: str, rest: str, at: int, after: int) -> Pattern:
        if word not in _KEYWORDS:
            raise PatternError("keyword-case", f"{word}: is not a keyword as it is spelt", at)
        if not rest:
            raise PatternError("empty-pattern", f"there is nothing behind {word}:", after)
        if word != "contains":
            return self._expression(rest, after, folded=word == "regexpIgnoreCase")
        text = octal(rest)
        for mark, name in (("#", "a #"), ("\\", "a backslash")):
            if mark in text:
                self._warn("never-matches", f"no canonical URL has {name}", after + max(rest.find(mark), 0))
                break
        return self._made(Form.CONTAINS, literal=escaped(text, whole=False))

    def _expression(self, rest: str, after: int, *, folded: bool) -> Pattern:
        written = rest.replace("\\\\", "\\")
        if written == _EQUAL_SEGMENTS:
            return self._made(Form.EQUAL_SEGMENTS, folded=folded)
        try:
            expression, warnings = translate(written)
        except GnuError as error:
            raise PatternError(error.kind, str(error), after) from error
        for name in sorted(warnings):
            what = "a border of a word" if name == "approximate" else "a backslash before a letter"
            self._warn(name, what, after)
        try:
            re2.compile(expression, options(folded=folded))
        except re2.error as error:
            raw = error.args[0] if error.args else ""
            said = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
            raise PatternError("regex", said or "not an expression", after) from error
        except UnicodeEncodeError as error:
            raise PatternError("regex", "not valid Unicode", after) from error
        return self._made(Form.EXPRESSION, expression=expression, folded=folded)

    # -- everything else ------------------------------------------------------------------------

    def _plain(self, rest: str, at: int) -> Pattern:
        if rest.startswith("*"):
            raise PatternError("leading-star", "a star at the beginning", at)
        if rest.startswith("www?:"):
            raise PatternError("unsupported-form", "www?: is not supported", at)
        start, end = rest.startswith("^"), rest.endswith("$")
        body = rest[1 if start else 0 : len(rest) - 1 if end else len(rest)]
        if "#" in body:
            self._warn("never-matches", "no canonical URL has a #", at + rest.index("#"))
        scheme = _SCHEME.match(body)
        if scheme is not None:
            inside = at + (1 if start else 0) + scheme.end()
            return self._absolute(scheme[1].lower(), body[scheme.end() :], inside, start=start, end=end)
        if start:
            raise PatternError("no-scheme", "^ is the start of the URL, which is a scheme", at)
        return self._relative(body, at, end=end)

    def _relative(self, body: str, at: int, *, end: bool) -> Pattern:
        """Read a pattern without scheme and without ``^``."""
        head, marked, tail = body.partition("</>")
        if marked:
            if "/" in head:
                raise PatternError("unsupported-form", "a slash before </>", at)
            return self._host_and_path(head, f"/{tail}", at, end=end)
        if end:
            return self._ending(body, at)
        if body.startswith("/"):
            return self._made(Form.ALL if body == "/" else Form.PATH, literal=escaped(body, whole=False))
        host, slash, path = body.partition("/")
        if not slash:
            return self._without_slash(body, at)
        return self._host_and_path(host, f"/{path}", at, end=False)

    def _without_slash(self, body: str, at: int) -> Pattern:
        if self.bare_hosts and _BARE_HOST.match(body):
            self._warn("no-slash", f"{body} is read as the host {body}/", at)
            return self._host_and_path(body, "/", at, end=False)
        name, colon, port = body.partition(":")
        if colon and name and port.isdigit():
            raise PatternError("no-slash", f"{body[:80]} has no slash behind the port", at)
        raise PatternError("no-slash", f"{body[:80]!r} has no slash: host or path?", at)

    def _absolute(self, scheme: str, rest: str, at: int, *, start: bool, end: bool) -> Pattern:
        """Read what follows ``scheme://``."""
        rest = rest.replace("</>", "/", 1)
        authority, slash, path = rest.partition("/")
        if not slash and not authority and not end:
            return self._made(Form.HOST_START, scheme=scheme)  # a protocol
        host, port, named = self._authority(authority, at)
        if not slash and start and not end and not named:
            return self._made(Form.HOST_START, scheme=scheme, host=host)
        if not slash:
            self._warn("no-slash", f"{authority} is read as the whole host", at)
        elif not host and scheme != "file":
            self._warn("never-matches", "a URL has a host", at)
        form = Form.EXACT if end else Form.PREFIX
        target = f"/{escaped(path, whole=end)}"
        return self._made(form, scheme=scheme, host=host, port=port, path=target, named_port=named)

    def _host_and_path(self, written: str, path: str, at: int, *, end: bool) -> Pattern:
        host, port, named = self._authority(written, at)
        form = Form.HOST_ENDING if end else Form.SUFFIX
        if host and not self.label and not host.startswith((".", "[")):
            self._warn("open-host", f"{host}/ takes every host whose name ends so", at)
        return self._made(form, host=host, port=port, path=escaped(path, whole=end), named_port=named)

    def _ending(self, body: str, at: int) -> Pattern:
        """Read ``text$``; a port can be named only where a host is."""
        head, slash, path = body.partition("/")
        if slash and head:
            if "@" in head:
                raise PatternError("userinfo", "a user name before the host", at)
            if head != head.lower() and head.isascii():
                self._warn("upper-case-host", f"{head} has capitals", at)
            if _PORT.search(head) and not head.endswith("]"):
                host, port, named = self._authority(head, at)
                return self._made(
                    Form.HOST_ENDING, host=host, port=port, path=escaped(f"/{path}", whole=True), named_port=named
                )  # fmt: skip
            if not self.label and not head.startswith((".", "[")):
                self._warn("open-host", f"{head}/ takes every host whose name ends so", at)
        return self._made(Form.ENDING, literal=escaped(body, whole=True))

    def _authority(self, written: str, at: int) -> tuple[str, int, bool]:
        """Return host text, port (0 = any), and whether a port is named."""
        if "@" in written:
            raise PatternError("userinfo", "a user name before the host", at)
        host, port, named = written, ANY_PORT, False
        found = _PORT.search(written)
        if found is not None:
            named, host = True, written[: found.start()]
            digits = found[1]
            if digits != "*":
                port = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else 0  # noqa: PLR2004
                if not 1 <= port <= _LAST_PORT:
                    raise PatternError("bad-port", f"{digits[:20]!r} is no port", at + found.start() + 1)
        try:
            host = host_of(host)
        except (ValueError, TypeError) as error:
            raise PatternError("unsupported-form", f"{host[:80]!r} is no host", at) from error
        if not _HOST.match(host):
            self._warn("never-matches", f"no host has {host[:80]!r} in its name", at)
        return host, port, named
