"""What keeper and gatherers say to each other over their Unix socket: length-prefixed msgpack frames.

Gatherer to keeper: :class:`Hello`, :class:`Want`, :class:`Reports`, :class:`AskStart`, :class:`AskCounts`,
:class:`Ended`, :class:`Refused`, :class:`HandBack`, :class:`Rested`, :class:`Ways`.
Keeper to gatherer: :class:`Work`, :class:`Kept`, :class:`Starts`, :class:`Counted`, :class:`Touched`, :class:`Hold`,
:class:`Recall`, :class:`Slow`, :class:`Ways`, :class:`Stop`.
"""

import asyncio
import struct
from typing import Any

import msgspec

from ingather.model.judgement import Judgement
from ingather.model.report import Claim, HostGrant, HostReport, Report
from ingather.robot.politeness.ways import WayState

__all__ = [
    "AskCounts",
    "AskStart",
    "Counted",
    "Ended",
    "Folded",
    "HandBack",
    "Hello",
    "Hold",
    "Kept",
    "Recall",
    "Refused",
    "Reports",
    "Rested",
    "Slow",
    "Starts",
    "Stop",
    "ToGatherer",
    "ToKeeper",
    "Touched",
    "Want",
    "Ways",
    "Work",
    "decode_to_gatherer",
    "decode_to_keeper",
    "frame",
    "read_frame",
]

_HEAD = struct.Struct("<I")
MAX_FRAME_BYTES = 256 << 20


class Hello(msgspec.Struct, array_like=True, tag="hello"):
    """First frame of a gatherer: which slot it fills."""

    slot: int
    pid: int


class Want(msgspec.Struct, array_like=True, tag="want"):
    """The gatherer can take *pages* more claims; *busy_hosts* are still in its hands, *idle_hosts* are handed back."""

    pages: int
    idle_hosts: list[int] = []


class Reports(msgspec.Struct, array_like=True, tag="reports"):
    """Finished visits, their bodies durable; *hosts* what was learnt about hosts.

    *stop*: the line of a filter that asked to end the run in order, or nothing. *judged*: lines for filter.log.
    """

    reports: list[Report]
    hosts: list[HostReport] = []
    bytes_read: int = 0
    stop: str = ""
    judged: list[Judgement] = []


class AskStart(msgspec.Struct, array_like=True, tag="ask"):
    """May a connection to *address* start? ``host`` is set when the host is not lent to this gatherer (robots redirects)."""

    token: int
    address: str
    host_key: str = ""


class AskCounts(msgspec.Struct, array_like=True, tag="count"):
    """May one more pass (filter-by-max)? Of each question: what is counted, key, limit."""

    token: int
    counts: list[tuple[int, int, int]]


class Counted(msgspec.Struct, array_like=True, tag="counted"):
    """The answers to the questions of one :class:`AskCounts`, in their order."""

    token: int
    answers: list[bool]


class Ended(msgspec.Struct, array_like=True, tag="ended"):
    """Connections to these addresses that were granted have ended."""

    addresses: list[str]


class Work(msgspec.Struct, array_like=True, tag="work"):
    """Claims with the hosts that they belong to; empty = nothing now, ask again when woken."""

    claims: list[Claim]
    hosts: list[HostGrant]


class Kept(msgspec.Struct, array_like=True, tag="kept"):
    """This many reports are durable in the catalog."""

    reports: int


class Starts(msgspec.Struct, array_like=True, tag="starts"):
    """Granted starts: token and seconds from now."""

    grants: list[tuple[int, float]]


class Touched(msgspec.Struct, array_like=True, tag="touched"):
    """Somebody else asked a host that is in this hand (a redirect of a robots.txt): it counts as a visit."""

    host_key: str


class Hold(msgspec.Struct, array_like=True, tag="hold"):
    """Begin no further visit while *on*; what is under way ends, claims stay in hand."""

    on: bool


class Recall(msgspec.Struct, array_like=True, tag="recall"):
    """Hand back all claims of these hosts (politeness names); what is under way ends."""

    host_keys: list[str]


class Slow(msgspec.Struct, array_like=True, tag="slow"):
    """From now on these hosts bear no shorter delay than so many seconds; 0 = what their source and robots.txt say."""

    floors: list[tuple[str, float]]


class Stop(msgspec.Struct, array_like=True, tag="stop"):
    """Finish what is being fetched, report it, end."""


class Refused(msgspec.Struct, array_like=True, tag="refused"):
    """An address answered 429 or 503; sent before the connection is given back, so that nobody else starts there."""

    address: str
    asked_s: float | None


class HandBack(msgspec.Struct, array_like=True, tag="back"):
    """Claims that were not visited: their host asked for time; *host_key* is left alone for *seconds*."""

    claims: list[int]
    host_key: str
    seconds: float


class Rested(msgspec.Struct, array_like=True, tag="rested"):
    """Claims of one source that were not visited: *way* to their hosts may be tried again in *seconds*."""

    claims: list[int]
    source: str
    way: str
    seconds: float


class Ways(msgspec.Struct, array_like=True, tag="ways"):
    """What somebody learnt of ways; both directions: the keeper tells the other gatherers."""

    states: list[WayState]


class Folded(msgspec.Struct, array_like=True, tag="folded"):
    """smart-host-heuristics folds the keys of *alias* into those of *host*; *why* is for people."""

    alias: str
    host: str
    why: str


ToKeeper = Hello | Want | Reports | AskStart | AskCounts | Ended | Refused | HandBack | Folded | Rested | Ways
ToGatherer = Work | Kept | Starts | Counted | Touched | Hold | Recall | Slow | Stop | Ways

_encoder = msgspec.msgpack.Encoder()
_to_keeper = msgspec.msgpack.Decoder(ToKeeper)
_to_gatherer = msgspec.msgpack.Decoder(ToGatherer)


def frame(message: Any) -> bytes:
    """Encode one message with its length."""
    body = _encoder.encode(message)
    return _HEAD.pack(len(body)) + body


def decode_to_keeper(body: bytes) -> ToKeeper:
    """Decode what a gatherer said.

    Raises:
        msgspec.DecodeError: not a message of ours.
    """
    message: ToKeeper = _to_keeper.decode(body)
    return message


def decode_to_gatherer(body: bytes) -> ToGatherer:
    """Decode what the keeper said.

    Raises:
        msgspec.DecodeError: not a message of ours.
    """
    message: ToGatherer = _to_gatherer.decode(body)
    return message


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Return the next frame's body, ``None`` at the end of the stream."""
    try:
        head = await reader.readexactly(_HEAD.size)
        (length,) = _HEAD.unpack(head)
        if length > MAX_FRAME_BYTES:
            return None
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
