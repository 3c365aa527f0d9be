"""Bodies that are too large, endless, or not coded as they say: part of :mod:`ingather.testing.misbehaviour`."""

import gzip
import zlib
from collections.abc import Callable

from ingather.testing import hostile
from ingather.testing.exchange import Exchange, Fault, page

__all__ = ["BODY_FAULTS"]

BODY_FAULTS: dict[str, Fault] = {}


def _fault(name: str) -> Callable[[Fault], Fault]:
    def enter(function: Fault) -> Fault:
        BODY_FAULTS[name] = function
        return function

    return enter


@_fault("infinite")
async def _infinite(x: Exchange) -> None:
    """A body without end and without length."""
    await x.head(200, ("Content-Type", "text/html"))
    await x.for_ever(b"<p>more and more</p>\n" * 4096)


@_fault("infinite-chunked")
async def _infinite_chunked(x: Exchange) -> None:
    """Chunks without end."""
    await x.head(200, ("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"))
    await x.for_ever(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


@_fault("large")
async def _large(x: Exchange) -> None:
    """``/large/50`` is 50 MiB of honest text, with its length (default 20)."""
    mebibytes = int(x.argument) if x.argument.isdigit() else 20
    await x.head(200, ("Content-Type", "text/plain"), ("Content-Length", str(mebibytes << 20)))
    for _ in range(mebibytes * 16):
        await x.send(b"text and " * 7281 + b"text\n\n\n")


async def _coded(x: Exchange, body: bytes, coding: str) -> None:
    await x.reply(body, 200, ("Content-Encoding", coding))


@_fault("gzip")
async def _gzip(x: Exchange) -> None:
    """An honest gzip body."""
    await _coded(x, gzip.compress(page("gzip", "/ok"), mtime=0), "gzip")


@_fault("gzip-bomb")
async def _gzip_bomb(x: Exchange) -> None:
    """One MB that decodes to 1 GiB."""
    await _coded(x, hostile.gzip_bomb(), "gzip")


@_fault("brotli-bomb")
async def _brotli_bomb(x: Exchange) -> None:
    """Two KB that decode to 1 GiB."""
    await _coded(x, hostile.brotli_bomb(), "br")


@_fault("zstd-bomb")
async def _zstd_bomb(x: Exchange) -> None:
    """Some KB that decode to 1 GiB."""
    await _coded(x, hostile.zstd_bomb(), "zstd")


@_fault("deflate-bomb")
async def _deflate_bomb(x: Exchange) -> None:
    """A raw deflate stream that decodes to 1 GiB."""
    await _coded(x, hostile.gzip_bomb()[10:-8], "deflate")


@_fault("double-gzip")
async def _double_gzip(x: Exchange) -> None:
    """Gzip inside gzip, and said so."""
    await _coded(x, gzip.compress(gzip.compress(page("double"), mtime=0), mtime=0), "gzip, gzip")


@_fault("bad-gzip")
async def _bad_gzip(x: Exchange) -> None:
    """Said to be gzip and is not."""
    await _coded(x, page("not gzip"), "gzip")


@_fault("cut-gzip")
async def _cut_gzip(x: Exchange) -> None:
    """Gzip without its end."""
    await _coded(x, gzip.compress(hostile.many_links(1000), mtime=0)[:2000], "gzip")


@_fault("zlib-deflate")
async def _zlib_deflate(x: Exchange) -> None:
    """An honest deflate body in its zlib wrapping."""
    await _coded(x, zlib.compress(page("deflate", "/ok")), "deflate")


@_fault("unknown-coding")
async def _unknown_coding(x: Exchange) -> None:
    """A content coding that nobody knows."""
    await _coded(x, page("unknown"), "rot13")
