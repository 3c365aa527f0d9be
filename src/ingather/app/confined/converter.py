"""A converter process: confined, then one job at a time over one socket, until the socket closes.

Frames, all integers big endian. Request: two lengths (4 bytes each), the order (msgpack:
``job``, ``options``, ``cpu_s``), the body. Answer: status (1 byte), length (4 bytes), the content:
what the job gave (``DONE``), or msgpack with ``reason`` and ``text`` (``REFUSED``, ``SPENT``). The first frame
of a converter is ``READY`` with the names of the measures that confine it.

A job is a function ``(body, options) -> bytes`` in a table that is named by its module (``JOBS``).
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from ingather.app.confined.confinement import confine, limit_cpu
from ingather.errors import ExtractError

if TYPE_CHECKING:
    from ingather.model.url import Canonicaliser
    from ingather.plugins import PlugIns

__all__ = ["ANSWER", "DONE", "JOBS", "READY", "REFUSED", "REQUEST", "SPENT", "Job", "main"]

_PLUG_INS = "INGATHER_PLUG_INS"
"""Variable that names the folder of plug-ins, where there are any that read documents."""

Job = Callable[[bytes, Mapping[str, str]], bytes]

REQUEST = struct.Struct(">II")
ANSWER = struct.Struct(">BI")
READY, DONE, REFUSED, SPENT = range(4)
"""Started; done; the document was refused; the memory is spent and this process ends."""


def _convert(body: bytes, options: Mapping[str, str]) -> bytes:
    """Read a document; options ``name``, ``content_type``, ``declared`` and any limit of ``ConversionLimits`` by name.

    A plug-in's converter of either type goes before our own readers.
    """
    from ingather.extract.conversion import ConversionLimits, convert
    from ingather.extract.documents.wire import encode
    from ingather.model.page import Converted

    if _PLUG_INS in os.environ:
        for media_type in (options.get("content_type", ""), options.get("declared", "")):
            own = _plug_ins().converters.get(media_type.partition(";")[0].strip().lower())
            if own is not None:
                return encode(_checked(own(body, options.get("name", "")), Converted))
    names = {field.name for field in fields(ConversionLimits)}
    limits = ConversionLimits(**{name: int(value) for name, value in options.items() if name in names})
    return encode(
        convert(
            body, name=options.get("name"), content_type=options.get("content_type") or None, limits=limits
        )
    )


def _extract(body: bytes, options: Mapping[str, str]) -> bytes:
    """Let a plug-in's extractor make the page; options ``url``, ``content_type``."""
    from ingather.extract.documents.wire import encode
    from ingather.model.page import Page

    own = _plug_ins().extractors.get(options.get("content_type", ""))
    if own is None:
        raise ExtractError("no extractor takes this type", reason="unsupported")
    return encode(_checked(own(body, options.get("url", "")), Page))


@lru_cache(maxsize=1)
def _plug_ins() -> "PlugIns":
    from pathlib import Path

    from ingather.plugins import PlugIns

    return PlugIns(Path(os.environ[_PLUG_INS]))


def _checked(answer: Any, kind: type) -> Any:
    if not isinstance(answer, kind):
        text = f"the plug-in gave {type(answer).__name__} where {kind.__name__} was expected"
        raise ExtractError(text, reason="failed")
    return answer


def _page(body: bytes, options: Mapping[str, str]) -> bytes:
    """Read HTML; options ``url``, ``content_type``, ``agent``, ``drop_parameters``; any other is a response header.

    ``drop_parameters`` has a parameter a line (see :class:`ingather.model.url.Canonicaliser`); without it the
    default ones are dropped.
    """
    from ingather.extract import read_page
    from ingather.extract.documents.wire import encode

    headers = {name: value for name, value in options.items() if name not in _PAGE_OPTIONS and value}
    page = read_page(
        body,
        url=options.get("url", ""),
        content_type=options.get("content_type") or None,
        headers=headers,
        agent=options.get("agent") or "ingather",
        canonicaliser=_canonicaliser(options.get("drop_parameters")),
    )
    return encode(page)


@lru_cache(maxsize=1)
def _canonicaliser(drop: str | None) -> "Canonicaliser":
    from ingather.model.url import DEFAULT_DROP, Canonicaliser

    return Canonicaliser(DEFAULT_DROP if drop is None else drop.split("\n"))


_PAGE_OPTIONS = frozenset({"url", "content_type", "agent", "drop_parameters"})


def _summary(body: bytes, options: Mapping[str, str]) -> bytes:
    """Say what Harvest's HTML.sum would of HTML; option ``content_type``."""
    from ingather.extract.harvest import summarize_html

    return msgspec.msgpack.encode(summarize_html(body, content_type=options.get("content_type") or None))


def _listing(body: bytes, options: Mapping[str, str]) -> bytes:
    """Read a feed or sitemap; options ``url``, ``content_type``, ``kind`` (``rss``, ``sitemap``), ``bytes`` and ``items`` (limits)."""
    from ingather.syndication import ListingLimits, pack_listing
    from ingather.syndication.choosing import list_document

    limits = ListingLimits(body_bytes=int(options["bytes"]), items=int(options["items"]))
    return pack_listing(
        list_document(
            body,
            url=options["url"],
            content_type=options.get("content_type") or None,
            sitemap=options["kind"] == "sitemap",
            limits=limits,
        )
    )


JOBS: Mapping[str, Job] = {
    "convert": _convert,
    "extract": _extract,
    "listing": _listing,
    "page": _page,
    "summary": _summary,
}


def main() -> None:
    """Serve the socket that the pool handed over; the only argument is the pool's order in JSON."""
    order: dict[str, Any] = json.loads(sys.argv[1])
    channel = socket.socket(fileno=order["socket"])
    try:
        measures = confine(
            memory_bytes=order["memory_bytes"], file_bytes=order["file_bytes"], parent=order["parent"]
        )
        jobs: Mapping[str, Job] = import_module(order["jobs"]).JOBS
        _send(channel, READY, msgspec.msgpack.encode(measures))
        while (request := _receive(channel)) is not None:
            status, content = _run(jobs, *request)
            _send(channel, status, content)
            if status == SPENT:
                return
    finally:
        # It closes with the process, not before: the pool takes the end of it for the end of us.
        channel.detach()


def _run(jobs: Mapping[str, Job], order: Mapping[str, Any], body: bytes) -> tuple[int, bytes]:
    try:
        limit_cpu(order["cpu_s"])
        return DONE, jobs[order["job"]](body, order["options"])
    except ExtractError as error:
        refusal = None if error.reason == "memory" else _trouble(error.reason, error.text)
    except MemoryError:
        refusal = None
    except Exception as error:  # noqa: BLE001 (see below)
        # A fault of ours must not look like the death of a process: it is told, and the next job comes.
        refusal = _trouble("failed", f"{type(error).__name__}: {error}")
    # Out here what the job held is free again: there is room to say that there was none.
    return (SPENT, _OUT_OF_MEMORY) if refusal is None else (REFUSED, refusal)


def _trouble(reason: str, text: str) -> bytes:
    return msgspec.msgpack.encode({"reason": reason, "text": text[:1000].encode("utf-8", "replace").decode()})


_OUT_OF_MEMORY = _trouble("memory", "out of memory")


def _send(channel: socket.socket, status: int, content: bytes) -> None:
    channel.sendall(ANSWER.pack(status, len(content)))
    channel.sendall(content)


def _receive(channel: socket.socket) -> tuple[Mapping[str, Any], bytes] | None:
    head = _exactly(channel, REQUEST.size)
    if head is None:
        return None
    order_size, body_size = REQUEST.unpack(head)
    order = _exactly(channel, order_size)
    body = _exactly(channel, body_size)
    if order is None or body is None:
        return None
    return msgspec.msgpack.decode(order), body


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        count = channel.recv_into(view[filled:])
        if not count:
            return None
        filled += count
    return bytes(buffer)


if __name__ == "__main__":
    main()
