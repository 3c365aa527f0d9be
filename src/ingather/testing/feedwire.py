"""Requests of real feed clients as bytes: the wire shapes (a) to (j) of the GSA feeds specification, section 4.2."""

import gzip
import socket
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote_plus

__all__ = ["FEED", "Reply", "chunked", "exchange", "multipart", "post", "read_reply", "shapes"]

FEED = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "">\n'
    b"<gsafeed><!-- GSA EasyConnector --><header><datasource>inside</datasource><feedtype>incremental</feedtype>"
    b'</header>\n<group><record url="http://a.example/1" mimetype="text/plain">'
    b"<content>1 &lt; 2 + 3 % 20 &amp; more \xc3\xbc</content></record>"
    b'<record url="http://a.example/2" action="delete"/></group></gsafeed>\n'
)
"""A small feed with everything that a careless reader of forms spoils."""

_HOST = b"Host: gsa.example:19900\r\n"


def multipart(boundary: bytes, *parts: tuple[bytes, bytes, bytes, bytes], end: bytes = b"\r\n") -> bytes:
    """Parts of (name, filename, content type, value)."""
    body = b""
    for name, filename, kind, value in parts:
        body += b"--" + boundary + b'\r\nContent-Disposition: form-data; name="' + name + b'"'
        body += b'; filename="' + filename + b'"' if filename else b""
        body += b"\r\nContent-Type: " + kind if kind else b""
        body += b"\r\n\r\n" + value + b"\r\n"
    return body + b"--" + boundary + b"--" + end


def post(
    body: bytes,
    kind: bytes,
    *more: bytes,
    version: bytes = b"1.1",
    path: bytes = b"/xmlfeed",
    length: bool = True,
) -> tuple[bytes, bytes]:
    """Return head and body."""
    head = b"POST " + path + b" HTTP/" + version + b"\r\n"
    head += _HOST if version == b"1.1" else b""
    head += b"Content-Type: " + kind + b"\r\n" if kind else b""
    head += b"Content-Length: %d\r\n" % len(body) if length else b""
    return head + b"".join(line + b"\r\n" for line in more) + b"\r\n", body


def chunked(body: bytes, size: int = 1000) -> bytes:
    """Cut *body* into chunks."""
    cut = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in cut) + b"0\r\n\r\n"


def shapes(
    xml: bytes, source: bytes = b"sample", kind: bytes = b"incremental"
) -> dict[str, tuple[bytes, bytes]]:
    """Every shape with the same feed."""
    java = multipart(
        b"<<", (b"datasource", b"", b"text/plain", source), (b"feedtype", b"", b"text/plain", kind),
        (b"data", b"", b"text/xml", xml),
    )  # fmt: skip
    python = multipart(
        b"----------boundary_of_feed_data$",
        (b"feedtype", b"", b"", kind),
        (b"datasource", b"", b"", source),
        (b"data", b"", b"", xml),
    )
    plone = multipart(
        b"boundary_of_feed_data$", (b"datasource", b"", b"", source), (b"feedtype", b"", b"", kind),
        (b"data", b"xmlfilename", b"text/xml", xml),
    )  # fmt: skip
    curl = multipart(
        b"------------------------d74496d66958873e", (b"data", b"feed.xml", b"application/octet-stream", xml),
        (b"datasource", b"", b"", source), (b"feedtype", b"", b"", kind), (b"submit", b"", b"", b">"),
    )  # fmt: skip
    encoded = b"datasource=%b&feedtype=%b&data=%b" % (source, kind, quote_plus(xml).encode())
    raw = b"datasource=%b&feedtype=%b&data=%b" % (source, kind, xml)
    raw_first = b"data=%b&feedtype=%b&datasource=%b" % (xml.rstrip(), kind, source)
    form = b"application/x-www-form-urlencoded"
    packed = chunked(gzip.compress(java))
    return {
        "a": post(java, b"multipart/form-data; boundary=<<"),
        "a-quoted": post(java, b'Multipart/Form-Data ;  BOUNDARY="<<"'),
        "b": post(packed, b"multipart/form-data; boundary=<<", b"Content-Encoding: gzip", b"Transfer-Encoding: chunked", length=False),
        "c": post(python, b"multipart/form-data; boundary=----------boundary_of_feed_data$"),
        "d": post(plone, b"multipart/form-data; boundary=boundary_of_feed_data$"),
        "e": post(curl, b"multipart/form-data; boundary=------------------------d74496d66958873e"),
        "f": post(encoded, b"multipart/form-data", version=b"1.0"),
        "f-parts": post(java, b"multipart/form-data", version=b"1.0"),
        "g": post(encoded, form),
        "h": post(raw, form),
        "h-first": post(raw_first, form),
        "i": post(chunked(curl), b"multipart/form-data; boundary=------------------------d74496d66958873e", b"Transfer-Encoding: chunked", length=False),
        "j": post(curl, b"multipart/form-data; boundary=------------------------d74496d66958873e", b"Expect: 100-continue"),
        "raw": post(xml, b"text/xml", path=b"/xmlfeed?datasource=%b&feedtype=%b" % (source, kind)),
        "deflate": post(zlib.compress(java), b"multipart/form-data; boundary=<<", b"Content-Encoding: deflate"),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; names of fields in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def read_reply(sock: socket.socket) -> Reply:
    """Read one answer to the end of the connection.

    Raises:
        ConnectionError: the connection ended without one.
    """
    raw = b""
    while piece := sock.recv(65536):
        raw += piece
    while raw.startswith(b"HTTP/1.1 100"):
        raw = raw.partition(b"\r\n\r\n")[2]
    head, found, body = raw.partition(b"\r\n\r\n")
    if not found:
        raise ConnectionError(f"no answer: {raw[:80]!r}")
    lines = head.decode("latin-1").split("\r\n")
    fields = (line.split(": ", 1) for line in lines[1:])
    return Reply(int(lines[0].split()[1]), {name.lower(): value for name, value in fields}, body)


def exchange(sock: socket.socket, pieces: Iterable[bytes], *, end: bool = False) -> Reply:
    """Send *pieces*, each in a packet of its own, close our side if *end*, and read the answer."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for piece in pieces:
            sock.sendall(piece)
        if end:
            sock.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):  # refused early: the answer is there all the same
        pass
    return read_reply(sock)
