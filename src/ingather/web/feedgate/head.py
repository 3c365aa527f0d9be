"""The head of a request, as lenient as the clients are old (GSA feeds specification, sections 3, 4.3 and 6).

A trailing blank in the request line, HTTP/1.0 without ``Host``, bare line feeds and folded fields are taken.
What would make two readers see two different bodies is refused: ``Content-Length`` twice and different, or beside chunks
(RFC 9112, sections 6.3 and 11.2).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from ingather.web.feedgate.refusal import RefusedError, bad

__all__ = ["HEAD_BYTES", "ContentType", "RequestHead", "content_type", "head_length", "parse_head"]

HEAD_BYTES: Final = 16 * 1024 - 4096
"""Longest head. With one read of 4 KiB beyond it a connection stays within 16 KiB."""
_LINE: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32})[ \t]+(\S+)[ \t]+HTTP/1\.([01])[ \t]*")
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)", re.DOTALL)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_MOST_FIELDS: Final = 100
_END: Final = re.compile(rb"\n\r?\n")
_PARAMETER: Final = re.compile(r";\s*([^\s=;]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"?|([^;]*))")
_MOST_PAIRS: Final = 100


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What the head says.

    Attributes:
        method: as sent.
        path: of the target, without the query.
        query: its pairs; of a name given twice the first.
        minor: 0 or 1: the version is HTTP/1.*minor*.
        fields: lower-case name to value; of a field given twice the values joined by ``, ``.
        length: declared length of the body; ``None`` = not declared.
        chunked: whether the body comes in chunks.
    """

    method: str
    path: str
    query: Mapping[str, str]
    minor: int
    fields: Mapping[str, str]
    length: int | None = None
    chunked: bool = False

    @property
    def expects(self) -> bool:
        """Whether the client waits for ``100 Continue`` before it sends the body."""
        return self.minor == 1 and "100-continue" in self.fields.get("expect", "").lower()

    @property
    def has_body(self) -> bool:
        """Whether a body follows."""
        return self.chunked or bool(self.length)


@dataclass(frozen=True, slots=True)
class ContentType:
    """Media type in lower case (``""`` = none given) and its ``boundary``, exactly as meant."""

    media: str = ""
    boundary: bytes = b""


def head_length(buffer: bytes | bytearray) -> int:
    """Return how many bytes the head at the start of *buffer* takes, 0 if it is not complete."""
    found = _END.search(buffer)
    return found.end() if found else 0


def parse_head(raw: bytes) -> RequestHead:
    """Read a complete head.

    Raises:
        RefusedError: it is no HTTP/1 request (400), or has too many fields (431).
    """
    lines = raw.replace(b"\r\n", b"\n").strip(b"\n").split(b"\n")
    match = _LINE.fullmatch(lines[0])
    if match is None:
        raise bad("this is not an HTTP/1 request")
    path, query, authority = _target(match[2].decode("latin-1"))
    fields = _fields(lines[1:])
    if len(fields.get("host", ())) > 1:
        raise bad("Host is given twice")
    if authority:  # it counts, whatever Host says: section 3.2.2 of RFC 9112
        fields["host"] = [authority]
    length, chunked = _length(fields.get("content-length", [])), _chunked(fields.get("transfer-encoding", []))
    if chunked and length is not None:
        raise bad("the body has a Content-Length and comes in chunks; send one or the other")
    return RequestHead(
        method=match[1].decode("ascii"),
        path=path,
        query=query,
        minor=int(match[3]),
        fields={name: ", ".join(values) for name, values in fields.items()},
        length=length,
        chunked=chunked,
    )


def _target(target: str) -> tuple[str, dict[str, str], str]:
    whole = "://" in target.partition("?")[0]
    try:
        parts = urlsplit(target) if whole else urlsplit(f"//x{target}")
        pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_PAIRS)
    except ValueError:
        raise bad("the address of the request cannot be read") from None
    query: dict[str, str] = {}
    for name, value in pairs:
        query.setdefault(name, value)
    return parts.path or "/", query, parts.netloc.rpartition("@")[2] if whole else ""


def _fields(lines: list[bytes]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    last = ""
    for line in lines:
        if line[:1] in {b" ", b"\t"} and last:  # folded: section 5.2 of RFC 9112, seen from old clients
            fields[last][-1] += " " + line.strip().decode("latin-1")
            continue
        match = _FIELD.fullmatch(line)
        if match is None or _CONTROL.search(match[2]):
            raise bad("a header field cannot be read")
        last = match[1].decode("ascii").lower()
        fields.setdefault(last, []).append(match[2].strip().decode("latin-1"))
        if len(fields) > _MOST_FIELDS or len(fields[last]) > _MOST_FIELDS:
            raise RefusedError(431, "Error - too many header fields")
    return fields


def _length(values: list[str]) -> int | None:
    found = {part.strip() for value in values for part in value.split(",")}
    if not found:
        return None
    text = found.pop()
    if found or not re.fullmatch(r"[0-9]{1,18}", text):
        raise bad("Content-Length cannot be read")
    return int(text)


def _chunked(values: list[str]) -> bool:
    codings = [part.strip().lower() for value in values for part in value.split(",")]
    codings = [coding for coding in codings if coding not in {"", "identity"}]
    if codings not in ([], ["chunked"]):
        raise bad(f"the transfer coding {', '.join(codings)[:60]!r} is not known here; send chunked")
    return bool(codings)


def content_type(value: str) -> ContentType:
    """Read the value of ``Content-Type``: any case, extra blanks, the boundary quoted or bare (``<<`` too)."""
    media, _, _ = value.partition(";")
    boundary = ""
    for name, quoted, bare in _PARAMETER.findall(value):
        if name.lower() == "boundary":
            boundary = re.sub(r"\\(.)", r"\1", quoted) if quoted else bare.strip().strip('"')
            break
    return ContentType(media.strip().lower(), boundary.encode("latin-1", "replace"))
