"""What the misbehaving server does wrong, by name; each docstring says what."""

import socket
from collections.abc import Callable
from email.utils import formatdate
from time import time

from ingather.testing import hostile
from ingather.testing.badbodies import BODY_FAULTS
from ingather.testing.exchange import Exchange, Fault, page

__all__ = ["FAULTS", "redirect"]

FAULTS: dict[str, Fault] = {}
"""Every fault by its name, which is the first segment of its path."""


def _fault(name: str) -> Callable[[Fault], Fault]:
    def enter(function: Fault) -> Fault:
        FAULTS[name] = function
        return function

    return enter


# --- honest -----------------------------------------------------------------------------------


@_fault("ok")
async def _ok(x: Exchange) -> None:
    """Nothing is wrong."""
    await x.reply(page("ok", "/"))


@_fault("deep-page")
async def _deep_page(x: Exchange) -> None:
    """An honest page, 400 elements deep; no link may be lost."""
    await x.reply(hostile.deep_page())


@_fault("status")
async def _status(x: Exchange) -> None:
    """``/status/418`` answers 418."""
    status = int(x.argument) if x.argument.isdigit() and len(x.argument) == len("200") else 404
    await x.reply(b"" if status in {204, 304} else page(str(status)), status)


# --- connection and framing -------------------------------------------------------------------


@_fault("drop")
async def _drop(x: Exchange) -> None:
    """The connection closes without a byte."""


@_fault("reset")
async def _reset(x: Exchange) -> None:
    """The connection is reset in the middle of the body."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "100000"))
    await x.send(b"x" * 1000)
    sock: socket.socket = x.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    x.writer.transport.abort()


@_fault("partial")
async def _partial(x: Exchange) -> None:
    """Half of the promised body, then the end."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "2000"))
    await x.send(page("partial").ljust(1000))


@_fault("wrong-length")
async def _wrong_length(x: Exchange) -> None:
    """More body than Content-Length says."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "10"))
    await x.send(page("wrong length"))


@_fault("negative-length")
async def _negative_length(x: Exchange) -> None:
    """Content-Length: -1."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "-1"))
    await x.send(page("negative"))


@_fault("two-lengths")
async def _two_lengths(x: Exchange) -> None:
    """Two Content-Lengths that contradict one another."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "10"), ("Content-Length", "2000"))
    await x.send(page("two lengths").ljust(2000))


@_fault("broken-chunked")
async def _broken_chunked(x: Exchange) -> None:
    """A chunk, then something that is no chunk size."""
    await x.head(200, ("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"))
    await x.send(b"5\r\nhello\r\nno size\r\nrest")


@_fault("cut-chunked")
async def _cut_chunked(x: Exchange) -> None:
    """Chunks without the last one."""
    await x.head(200, ("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"))
    await x.send(b"5\r\nhello\r\n")


@_fault("bad-status")
async def _bad_status(x: Exchange) -> None:
    """A status line that is none."""
    await x.send(b"HTTP/1.1 abc Odd\r\nContent-Length: 0\r\n\r\n")


@_fault("not-http")
async def _not_http(x: Exchange) -> None:
    """Another protocol answers."""
    await x.send(b"SSH-2.0-OpenSSH_9.2\r\n" + bytes(200))


@_fault("nul-header")
async def _nul_header(x: Exchange) -> None:
    """A NUL inside a header."""
    await x.send(b"HTTP/1.1 200 OK\r\nX-Odd: a\0b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@_fault("huge-head")
async def _huge_head(x: Exchange) -> None:
    """One header of a megabyte."""
    await x.head(200, ("X-Huge", "h" * (1 << 20)), ("Content-Length", "0"))


@_fault("many-headers")
async def _many_headers(x: Exchange) -> None:
    """Ten thousand headers."""
    await x.head(200, *((f"X-{n}", "v") for n in range(10_000)), ("Content-Length", "0"))


@_fault("endless-head")
async def _endless_head(x: Exchange) -> None:
    """Headers that never end."""
    await x.send(b"HTTP/1.1 200 OK\r\n")
    await x.for_ever(b"X-More: and more\r\n" * 64)


# --- time -------------------------------------------------------------------------------------


@_fault("no-answer")
async def _no_answer(x: Exchange) -> None:
    """The request is taken and never answered."""
    await x.silence()


@_fault("slow-head")
async def _slow_head(x: Exchange) -> None:
    """The head comes byte by byte, for ever."""
    await x.send(b"HTTP/1.1 200 OK\r\n")
    await x.for_ever(b"X", x.pause_s)


@_fault("slow-drip")
async def _slow_drip(x: Exchange) -> None:
    """The body comes byte by byte, for ever."""
    await x.head(200, ("Content-Type", "text/html"))
    await x.for_ever(b"x", x.pause_s)


@_fault("stall")
async def _stall(x: Exchange) -> None:
    """Half a body, then silence."""
    await x.head(200, ("Content-Type", "text/html"), ("Content-Length", "2000"))
    await x.send(page("stall").ljust(1000))
    await x.silence()


# --- size and coding --------------------------------------------------------------------------

FAULTS.update(BODY_FAULTS)


# --- redirects --------------------------------------------------------------------------------


async def redirect(x: Exchange, location: str, status: int = 302) -> None:
    """Answer with a redirect."""
    await x.reply(b"", status, ("Location", location))


@_fault("redirect")
async def _one_redirect(x: Exchange) -> None:
    """``/redirect/3`` comes to ``/ok`` after three hops."""
    left = int(x.argument) if x.argument.isdigit() else 1
    await redirect(x, f"/redirect/{left - 1}" if left > 1 else "/ok")


@_fault("endless-redirect")
async def _endless_redirect(x: Exchange) -> None:
    """Always one more hop, never the same URL."""
    await redirect(x, f"/endless-redirect/{int(x.argument or 0) + 1 if x.argument.isdigit() else 1}")


@_fault("redirect-loop")
async def _redirect_loop(x: Exchange) -> None:
    """There and back again."""
    await redirect(x, "/redirect-loop/b" if x.argument != "b" else "/redirect-loop")


@_fault("redirect-self")
async def _redirect_self(x: Exchange) -> None:
    """To itself."""
    await redirect(x, "/redirect-self", 301)


@_fault("redirect-nowhere")
async def _redirect_nowhere(x: Exchange) -> None:
    """Without Location."""
    await x.reply(b"", 302)


@_fault("redirect-bad")
async def _redirect_bad(x: Exchange) -> None:
    """To something that is no URL."""
    await redirect(x, "http://[not a url")


@_fault("redirect-file")
async def _redirect_file(x: Exchange) -> None:
    """To a file of the crawler's machine."""
    await redirect(x, "file:///etc/passwd")


@_fault("redirect-metadata")
async def _redirect_metadata(x: Exchange) -> None:
    """To the cloud's metadata address."""
    await redirect(x, "http://169.254.169.254/latest/meta-data/")


@_fault("redirect-mapped")
async def _redirect_mapped(x: Exchange) -> None:
    """To the metadata address in IPv6 clothes."""
    await redirect(x, "http://[::ffff:169.254.169.254]/")


# --- asking for time --------------------------------------------------------------------------


@_fault("429-seconds")
async def _429_seconds(x: Exchange) -> None:
    """429, ``Retry-After: 2`` (``/429-seconds/30``: 30)."""
    await x.reply(b"", 429, ("Retry-After", x.argument or "2"))


@_fault("429-date")
async def _429_date(x: Exchange) -> None:
    """429, ``Retry-After`` as a date two seconds away (``/429-date/30``: 30)."""
    away = int(x.argument) if x.argument.isdigit() else 2
    now = time()
    await x.reply(
        b"",
        429,
        ("Date", formatdate(now, usegmt=True)),
        ("Retry-After", formatdate(now + away, usegmt=True)),
    )


@_fault("429-bare")
async def _429_bare(x: Exchange) -> None:
    """429 without Retry-After."""
    await x.reply(b"", 429)


@_fault("429-once")
async def _429_once(x: Exchange) -> None:
    """429 with ``Retry-After: 1`` the first time, then an ordinary page."""
    await (x.reply(page("at last"), 200) if x.times else x.reply(b"", 429, ("Retry-After", "1")))


@_fault("503-seconds")
async def _503_seconds(x: Exchange) -> None:
    """503, ``Retry-After: 2``."""
    await x.reply(b"", 503, ("Retry-After", x.argument or "2"))


@_fault("503")
async def _503(x: Exchange) -> None:
    """503 without Retry-After."""
    await x.reply(page("unavailable"), 503)


@_fault("500")
async def _500(x: Exchange) -> None:
    """500."""
    await x.reply(page("broken"), 500)


# --- traps ------------------------------------------------------------------------------------


@_fault("calendar")
async def _calendar(x: Exchange) -> None:
    """A calendar with a next and a previous day, for ever."""
    day = int(x.argument) if x.argument.lstrip("-").isdigit() and len(x.argument) <= len("-99999999") else 0
    await x.reply(page(f"day {day}", f"/calendar/{day + 1}", f"/calendar/{day - 1}"))


@_fault("query-trap")
async def _query_trap(x: Exchange) -> None:
    """One path, a new query on each page."""
    await x.reply(
        page("query", f"/query-trap?page={x.times + 1}&order=up", f"/query-trap?page={x.times + 1}")
    )


@_fault("session-trap")
async def _session_trap(x: Exchange) -> None:
    """The same page under a new session number each time."""
    await x.reply(page("session", f"/session-trap?sid={x.times:08x}a{x.times}", "/ok"))


@_fault("path-trap")
async def _path_trap(x: Exchange) -> None:
    """A relative link that makes the path longer each time."""
    await x.reply(page("path", "a/b/", "/ok"))


# --- documents --------------------------------------------------------------------------------


def _document(name: str, make: Callable[[], bytes]) -> None:
    async def serve(x: Exchange) -> None:
        await x.reply(make())

    serve.__doc__ = make.__doc__
    FAULTS[name] = serve


for _name, _make in {
    "attributes-80000": hostile.attributes,
    "nesting-100000": hostile.nesting,
    "unclosed-comments": hostile.unclosed_comments,
    "open-tables": hostile.open_tables,
    "entity-flood": hostile.entity_flood,
    "giant-title": hostile.giant_title,
    "many-links": hostile.many_links,
}.items():
    _document(_name, _make)
