"""Bytes that mean harm: pages that stall parsers, bodies that decode to a gigabyte, robots.txt gone wrong.

Functions of their size, named for what they are; served by :mod:`ingather.testing.faults` and
fed to parsers directly. Legitimate oddities stand beside them: what is deep but honest must
lose nothing.
"""

import zlib
from collections.abc import Iterator
from functools import cache

import zstandard
from isal import isal_zlib

import brotli

__all__ = [
    "ROBOTS",
    "attributes",
    "brotli_bomb",
    "deep_page",
    "entity_flood",
    "giant_title",
    "gzip_bomb",
    "many_links",
    "nesting",
    "open_tables",
    "unclosed_comments",
    "zstd_bomb",
]

_MIB = 1 << 20
_ZEROS = bytes(_MIB)


def _page(title: str, body: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>".encode()


def attributes(count: int = 80_000) -> bytes:
    """Return a page with one element of *count* attributes: quadratic in parsers that compare names."""
    many = " ".join(f"a{n}=x" for n in range(count))
    return _page("attributes", f"<p>before</p><div {many}>inside</div><a href='/ok'>after</a>")


def nesting(depth: int = 100_000) -> bytes:
    """Return a page with *depth* elements inside one another."""
    return _page("nesting", f"{'<div>' * depth}inside{'</div>' * depth}<a href='/ok'>after</a>")


def unclosed_comments(count: int = 100_000) -> bytes:
    """Return a page with *count* comments that never end."""
    return _page("comments", f"<p>before</p>{'<!-- x ' * count}<a href='/ok'>after</a>")


def open_tables(count: int = 5_000) -> bytes:
    """Return a page whose misplaced text is moved in front of one table after the other."""
    return _page("tables", "<table>x" * count + "<a href='/ok'>after</a>")


def entity_flood(count: int = 300_000) -> bytes:
    """Return a page of *count* character references, half of them not ended."""
    return _page("entities", "&amp;&lt" * (count // 2) + "<a href='/ok'>after</a>")


def giant_title(size: int = 5 * _MIB) -> bytes:
    """Return a page with a title of *size* characters."""
    return _page("t" * size, "<a href='/ok'>after</a>")


def many_links(count: int = 100_000) -> bytes:
    """Return a page with *count* different links, none of which leads anywhere."""
    return _page("links", "".join(f"<a href='/missing/{n}'>{n}</a>" for n in range(count)))


def deep_page(depth: int = 400) -> bytes:
    """Return an honest page, *depth* elements deep, with a link at each level (``/missing/N``)."""
    down = "".join(f"<div><a href='/missing/{n}'>level {n}</a>" for n in range(depth))
    return _page("deep", f"{down}bottom{'</div>' * depth}")


@cache
def gzip_bomb(mebibytes: int = 1024) -> bytes:
    """Return about one MB of gzip that decodes to *mebibytes* MiB of zeros, checksum and all."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush the next MiB gives the same bytes again.
    block = deflate.compress(_ZEROS) + deflate.flush(zlib.Z_FULL_FLUSH)
    crc = 0
    for _ in range(mebibytes):
        crc = isal_zlib.crc32(_ZEROS, crc)
    tail = crc.to_bytes(4, "little") + (mebibytes * _MIB & 0xFFFF_FFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + block * mebibytes + b"\x03\x00" + tail


@cache
def brotli_bomb(mebibytes: int = 1024) -> bytes:
    """Return some KB of brotli that decode to *mebibytes* MiB of zeros."""
    compressor = brotli.Compressor(quality=3)
    return b"".join([*(compressor.process(_ZEROS) for _ in range(mebibytes)), compressor.finish()])


@cache
def zstd_bomb(mebibytes: int = 1024) -> bytes:
    """Return some KB of zstd that decode to *mebibytes* MiB of zeros."""
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join([*(compressor.compress(_ZEROS) for _ in range(mebibytes)), compressor.flush()])


def _robots() -> Iterator[tuple[str, bytes]]:
    forbid = b"User-agent: *\nDisallow: /forbidden/\n"
    yield "plain", forbid
    yield "empty", b""
    yield "forbid-all", b"User-agent: *\nDisallow: /\n"
    yield "allow-all", b"User-agent: *\nDisallow:\n"
    yield "allow-wins", b"User-agent: *\nAllow: /forbidden/but-this\nDisallow: /forbidden/\n"
    yield "wildcards", b"User-agent: *\nDisallow: /*/private$\nDisallow: /*.cgi\nDisallow: /forbidden/\n"
    yield "groups", b"User-agent: a\nUser-agent: *\nDisallow: /forbidden/\n\nUser-agent: b\nDisallow: /\n"
    yield "bom", b"\xef\xbb\xbf" + forbid
    yield "cr", forbid.replace(b"\n", b"\r")
    yield "crlf", forbid.replace(b"\n", b"\r\n")
    yield "no-final-newline", forbid.rstrip()
    yield "upper-case", b"USER-AGENT: *\nDISALLOW: /forbidden/\n"
    yield "misspelt", b"useragent *\ndissallow: /forbidden/\n"
    yield "spaces", b"  User-agent :  *  # all\n\tDisallow\t:\t/forbidden/\t# that\n"
    yield "html", b"<!DOCTYPE html><html><body>User-agent: everybody welcome\n<p>Disallow: no</body></html>"
    yield "binary", bytes(range(256)) * 8 + b"\n" + forbid
    yield "nul", forbid.replace(b"*", b"*\0")
    yield "latin-1", b"# f\xfcr alle\n" + forbid
    yield "endless-line", b"Disallow: /" + b"x" * (2 * _MIB) + b"\n" + forbid
    yield "late-rule", b"# padding\n" * 40_000 + forbid
    yield "beyond-limit", b"# padding\n" * 110_000 + forbid
    yield "crawl-delay-2", b"User-agent: *\nCrawl-delay: 2\n"
    yield "crawl-delay-3600", b"User-agent: *\nCrawl-delay: 3600\n"
    yield "crawl-delay-odd", b"User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: 1e999\n"
    yield "sitemaps", forbid + b"Sitemap: /sitemap.xml\nSITEMAP: http://example.com/other.xml\n"


ROBOTS: dict[str, bytes] = dict(_robots())
"""robots.txt bodies by the name of their trait; where rules hold, ``/forbidden/`` is forbidden."""
