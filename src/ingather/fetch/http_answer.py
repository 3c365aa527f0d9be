"""What libcurl reports, read into our words: the response head, and which failure it was."""

import pycurl

from ingather.fetch.limits import Limits
from ingather.fetch.retry_after import read_retry_after
from ingather.model.resource import FailureKind

__all__ = ["Head", "asked_wait", "failure_of", "head_trouble", "read_head"]

Head = tuple[int, str, tuple[tuple[str, str], ...]]
"""Status, HTTP version, fields in order of arrival with names as received."""

_INFORMATIONAL = 200
_CHALLENGES = frozenset({401, 407})
_E_HTTP2_STREAM = 92
_E_TOO_LARGE = 100

_KINDS = {
    pycurl.E_UNSUPPORTED_PROTOCOL: FailureKind.PROTOCOL,  # HTTP/0.9, too
    pycurl.E_URL_MALFORMAT: FailureKind.PROTOCOL,
    pycurl.E_COULDNT_RESOLVE_HOST: FailureKind.DNS,
    pycurl.E_COULDNT_CONNECT: FailureKind.CONNECT,
    8: FailureKind.PROTOCOL,  # CURLE_WEIRD_SERVER_REPLY
    16: FailureKind.PROTOCOL,  # CURLE_HTTP2
    pycurl.E_PARTIAL_FILE: FailureKind.CLOSED,
    pycurl.E_SSL_CONNECT_ERROR: FailureKind.TLS,
    pycurl.E_GOT_NOTHING: FailureKind.CLOSED,
    pycurl.E_SSL_ENGINE_NOTFOUND: FailureKind.TLS,
    pycurl.E_SSL_ENGINE_SETFAILED: FailureKind.TLS,
    pycurl.E_SEND_ERROR: FailureKind.CLOSED,
    pycurl.E_RECV_ERROR: FailureKind.CLOSED,
    pycurl.E_SSL_CERTPROBLEM: FailureKind.TLS,
    pycurl.E_SSL_CIPHER: FailureKind.TLS,
    60: FailureKind.TLS,  # CURLE_PEER_FAILED_VERIFICATION
    pycurl.E_BAD_CONTENT_ENCODING: FailureKind.ENCODING,
    pycurl.E_FILESIZE_EXCEEDED: FailureKind.TOO_LARGE,
    77: FailureKind.TLS,  # CURLE_SSL_CACERT_BADFILE
    80: FailureKind.TLS,  # CURLE_SSL_SHUTDOWN_FAILED
    83: FailureKind.TLS,  # CURLE_SSL_ISSUER_ERROR
    90: FailureKind.TLS,  # CURLE_SSL_PINNEDPUBKEYNOTMATCH
    91: FailureKind.TLS,  # CURLE_SSL_INVALIDCERTSTATUS
    _E_HTTP2_STREAM: FailureKind.CLOSED,
    _E_TOO_LARGE: FailureKind.HEAD_TOO_LARGE,
}


def failure_of(code: int, message: str, limits: Limits) -> tuple[FailureKind, str]:
    """Name the failure behind libcurl's *code*; the detail is libcurl's own sentence."""
    kind = _KINDS.get(code, FailureKind.INTERNAL)
    if code == pycurl.E_OPERATION_TIMEDOUT:  # the backstop: the pace watch knows the phases
        return FailureKind.TOTAL_TIMEOUT, f"no end within {limits.total_s:g} s"
    low = message.lower()
    if "header" in low and ("too large" in low or "too long" in low or "exceed" in low):
        return FailureKind.HEAD_TOO_LARGE, message
    if code == pycurl.E_RECV_ERROR and ("invalid" in low or "illegal" in low or "chunk" in low):
        return FailureKind.PROTOCOL, message
    return kind, message or f"libcurl error {code}"


def read_head(lines: list[bytes]) -> Head | None:
    """Read the lines of a response head as libcurl delivers them; ``None`` when there is no whole one.

    Interim (1xx) heads before the final one are left out, challenges (401, 407) that libcurl met within the
    transfer, and trailer fields after it. A continued line is joined to its field by a blank (RFC 9112 section 5.2).
    """
    start = 0
    while True:
        if start >= len(lines) or not lines[start].startswith(b"HTTP/"):
            return None
        end = _blank(lines, start)
        if end < 0:
            return None
        version, _, rest = lines[start].partition(b" ")
        status = int(rest[:3]) if rest[:3].isdigit() else 0
        final = status >= _INFORMATIONAL or not status
        if final and not (status in _CHALLENGES and _is_head(lines, end + 1)):
            break
        start = end + 1
    fields: list[tuple[str, str]] = []
    for line in b"".join(lines[start + 1 : end]).decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if colon and name[:1] not in {" ", "\t"}:
            fields.append((name.rstrip(), value.strip()))
        elif fields and line.strip():
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}".strip())
    return status, version[5:].decode("latin-1"), tuple(fields)


def _is_head(lines: list[bytes], at: int) -> bool:
    return at < len(lines) and lines[at].startswith(b"HTTP/")


def _blank(lines: list[bytes], start: int) -> int:
    """Find the line that ends a head, with CRLF or a lone LF; -1 when it never came."""
    end = lines.index(b"\r\n", start) if b"\r\n" in lines[start:] else -1
    lone = lines.index(b"\n", start) if b"\n" in lines[start:] else -1
    return min(end, lone) if end >= 0 and lone >= 0 else max(end, lone)


def head_trouble(lines: list[bytes], limits: Limits, *, long: bool) -> tuple[FailureKind, str] | None:
    """Say that a head is too large, ``None`` if it is not. Counted exactly: status line and blank line are no fields."""
    fields = sum(1 for line in lines if b":" in line and not line.startswith(b"HTTP/"))
    size = sum(map(len, lines))
    most_fields, most = limits.max_head_fields, limits.max_head_bytes
    if long:
        most_fields, most = (
            max(most_fields, limits.max_long_head_fields),
            max(most, limits.max_long_head_bytes),
        )
    if fields > most_fields:
        return FailureKind.HEAD_TOO_LARGE, f"{fields} header fields, more than {most_fields}"
    if size > most:
        return FailureKind.HEAD_TOO_LARGE, f"a head of {size} bytes, more than {most}"
    return None


def asked_wait(fields: tuple[tuple[str, str], ...], now_s: float, limits: Limits) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, ``None`` if it does not."""
    for name, value in fields:
        if name.lower() == "retry-after":
            wait = read_retry_after(value, now_s=now_s, max_s=limits.max_retry_after_s)
            return wait.seconds if wait else None
    return None
