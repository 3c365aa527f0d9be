"""A file of external metadata, text to :class:`~ingather.overlay.laid.Overlay`, in one pass."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, Literal

from ingather.errors import ConfigurationError
from ingather.model.default_page import stripped
from ingather.model.diagnostic import Diagnostic
from ingather.model.url import canonical
from ingather.overlay.findings import Counts, Findings
from ingather.overlay.laid import Overlay
from ingather.overlay.line import read_line
from ingather.overlay.options import LIMIT_BYTES, OnError, Options, Schemeless
from ingather.overlay.prefix import Fault, open_ended
from ingather.overlay.table import Gathered, Table

__all__ = ["overlay_of", "read"]

_BOM: Final = b"\xef\xbb\xbf"
_LINE_BYTES: Final = 64 * 1024
_COMMENT_OR_BLANK: Final = re.compile(rb"[ \t]*(?:#|\r?\Z)")
# A line that is good as it stands, in the form that exports have: no work for the canonicaliser, nothing to warn of
# but the end of its prefix. Whatever else a line may be is the business of line.py.
_ELEMENT: Final = (
    rb"(?!(?i:fun)|[dXhikmuvK]:)[A-Za-z0-9]{1,64}+:"
    rb"""(?:"[^"]{0,2000}+"|[A-Za-z0-9_]{1,2000}+)(?=[ \t\r]|\Z)"""
)
_QUICK: Final = re.compile(
    rb"[ \t]*+(https?+://|)"
    rb"((?!xn--)[a-z0-9][a-z0-9\-]*+\.(?:(?!xn--)[a-z0-9][a-z0-9\-]*+\.)*(?!xn--)[a-z][a-z\-]*+)"
    rb"(/(?!\.)(?!\S*/\.)[A-Za-z0-9\-._~!$&'()*+,:@=/]*+|)"
    rb"[ \t]++(" + _ELEMENT + rb"(?:[ \t]++" + _ELEMENT + rb"){0,19})[ \t]*+\r?"
)


def read(  # noqa: PLR0913 - the switches of a source, each by its name
    body: bytes,
    *,
    name: str = "external_metadata.cfg",
    on_error: OnError = "ignore_file",
    strict: bool = False,
    schemeless: Schemeless = "http",
    schemes: Collection[str] = ("http", "https"),
    case_insensitive_hosts: Collection[str] = (),
    delimiter: str = "|",
    delimiters: Mapping[str, str] | None = None,
    permission_classes: Collection[str] = (),
    acl_overlay: Literal["none", "restrict"] = "none",
    limit_bytes: int = LIMIT_BYTES,
    canonical: Callable[[str], str] = canonical,
    last_good: Overlay | None = None,
) -> Overlay:
    """Read a file whole; what the switches mean stands at :class:`~ingather.overlay.options.Options`.

    Bad text never raises: it is found in ``diagnostics``, and *on_error* says which records apply. The overlay keeps
    *body*, and reads a line's values again when a URL asks for them.

    Args:
        body: the file's bytes.
        name: the file's name in diagnostics and explanations.
        on_error: what a bad line does to the file.
        strict: punctuation outside quotes is an error.
        schemeless: what a prefix without a scheme stands for, ``http`` or ``any``.
        schemes: which schemes a prefix may name.
        case_insensitive_hosts: hosts whose paths are compared without regard to case.
        delimiter: parts the values of one element.
        delimiters: the delimiter of single classes.
        permission_classes: classes that narrow access.
        acl_overlay: ``restrict`` takes them, ``none`` finds an error.
        limit_bytes: the largest file that is read.
        canonical: gives the key form of a URL.
        last_good: the version that goes on after a mistake with ``keep_last_good``.

    Raises:
        ConfigurationError: the file has an error and *on_error* is ``fail``; carries the diagnostics.
        ValueError: a switch has a value that it cannot have.
    """
    options = Options(
        on_error=on_error,
        strict=strict,
        schemeless=schemeless,
        schemes=frozenset(schemes),
        case_insensitive_hosts=frozenset(case_insensitive_hosts),
        delimiter=delimiter,
        delimiters=dict(delimiters or {}),
        permission_classes=frozenset(permission_classes),
        acl_overlay=acl_overlay,
        limit_bytes=limit_bytes,
        canonical=canonical,
    )
    return overlay_of(body, name, options, last_good)


def overlay_of(
    body: bytes, name: str, options: Options, last_good: Overlay | None = None, *, size: int | None = None
) -> Overlay:
    """Do what :func:`read` says, with the switches in one value.

    *size* is that of a file of which *body* is not the whole, because it is beyond the limit.
    """
    reader = _Reader(body, name, options, len(body) if size is None else size)
    table = reader.table()
    diagnostics, counts = reader.findings.all(), reader.counts
    if not counts.errors or options.on_error == "skip_line":
        return Overlay(body, table, options, name, diagnostics, counts)
    if options.on_error == "fail":
        raise ConfigurationError(_located(diagnostics, counts))
    if options.on_error == "keep_last_good" and last_good is not None:
        return last_good.going_on(diagnostics, counts)
    return Overlay(b"", Table(), options, name, diagnostics, counts, refused=True)


def _located(diagnostics: tuple[Diagnostic, ...], counts: Counts) -> tuple[Diagnostic, ...]:
    more = counts.errors - sum(found.is_error for found in diagnostics)
    if more <= 0:
        return diagnostics
    last = next(found for found in reversed(diagnostics) if found.is_error)
    return (*diagnostics, Diagnostic(last.code, last.place, f"and {more} more errors", severity="error"))


class _Reader:
    def __init__(self, body: bytes, name: str, options: Options, size: int) -> None:
        self._body = body
        self._size = size
        self._options = options
        self._gathered = Gathered()
        self._ascii = body.isascii()
        self._narrowing = _naming(options.permission_classes)
        self.counts = Counts()
        self.findings = Findings(name, self.counts)

    def table(self) -> Table:
        """Read every line."""
        body, options, counts = self._body, self._options, self.counts
        if self._size > options.limit_bytes:
            text = f"the file has {self._size:,} bytes; beyond {options.limit_bytes:,} none of it is read"
            self.findings.error("too-long", 1, 1, text, "make several of it: one for each source")
            return Table()
        begin, size, number = (len(_BOM) if body.startswith(_BOM) else 0), len(body), 0
        find = body.find
        quick = _QUICK.fullmatch if {"http", "https"} <= options.schemes else None
        while begin < size:
            number += 1
            end = find(b"\n", begin)
            if end < 0:
                end = size
            if end - begin > _LINE_BYTES or quick is None:
                self._line(number, begin, end)
            else:
                match = quick(body, begin, end)
                if match is None or not self._plainly(number, match):
                    self._line(number, begin, end)
            begin = end + 1
        counts.lines = number
        table, duplicates = self._gathered.table(body)
        told = 0
        for line, first in duplicates:
            if line != told:  # a line that stands for two schemes is told once
                counts.duplicates += 1
                text = f"line {first} has the same prefix, this line has no effect"
                self.findings.warning(f"duplicate-of-line-{first}", line, 1, text)
            told = line
        return table

    def _plainly(self, number: int, match: re.Match[bytes]) -> bool:
        """Take a line that needs no work; ``False`` if it is not one after all."""
        options = self._options
        if (
            (not match[1] and options.schemeless == "any")
            or (options.case_insensitive_hosts and match[2].decode() in options.case_insensitive_hosts)
            or (self._narrowing is not None and self._narrowing.search(match[4]))
        ):
            return False
        if not self._ascii:
            try:
                match[0].decode()
            except UnicodeDecodeError:
                return False
        key = b"%s%s%s" % (match[1] or b"http://", match[2], match[3] or b"/")
        if len(key) > 2048:  # noqa: PLR2004 - far from the limit, whatever was written
            return False
        exact = False
        if not key.endswith(b"/"):
            url = key.decode("ascii")
            bare = stripped(url)
            if bare != url:
                key, exact = bare.encode("ascii"), True
            elif open_ended(url):
                return False  # there is something to say about it
        begin, end = match.span(4)
        self._gathered.add(key, exact, begin, end, number)
        self.counts.records += 1
        return True

    def _line(self, number: int, begin: int, end: int) -> None:
        body, counts = self._body, self.counts
        if _COMMENT_OR_BLANK.match(body, begin, end):
            return
        counts.records += 1
        if end > begin and body[end - 1 : end] == b"\r":
            end -= 1
        if end - begin > _LINE_BYTES:
            counts.bad += 1
            self.findings.error("too-long", number, 1, f"the line has {end - begin} bytes, more than 64 KiB")
            return
        raw = body[begin:end]
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            counts.bad += 1
            column = len(raw[: error.start].decode()) + 1
            around = ascii(raw[max(0, error.start - 10) : error.end + 10])[1:]
            self.findings.error(
                "bad-utf8",
                number,
                column,
                f"byte {raw[error.start]:#04x} in {around} is not UTF-8",
                "save the file as UTF-8",
            )
            return
        try:
            line = read_line(text, self._options)
        except Fault as fault:
            counts.bad += 1
            self.findings.error(fault.code, number, fault.at + 1, fault.text, fault.hint)
            return
        for code, at, sentence in line.remarks:
            self.findings.warning(code, number, at + 1, sentence)
        counts.expiring += line.expires
        first = begin + len(text[: line.elements].encode())
        prefix = line.prefix
        self._gathered.add(prefix.key.encode("ascii"), prefix.exact, first, end, number)
        if prefix.twin is not None:
            self._gathered.add(prefix.twin.encode("ascii"), prefix.exact, first, end, number)


def _naming(classes: Collection[str]) -> re.Pattern[bytes] | None:
    """Return what finds one of *classes* among elements, or perhaps within a value."""
    if not classes:
        return None
    return re.compile(rb"(?:\A|[ \t])(?:" + "|".join(map(re.escape, sorted(classes))).encode() + rb"):")
