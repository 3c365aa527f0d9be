"""The counter between gate and keeper: a spooled file goes in, a durable ticket comes out.

The gate (or a command) hands over a file that lies in the spool, synced, under its final name. When
:meth:`FeedDesk.accept` returns, the feed has a row in the catalog: it will be applied, whatever dies
in between. Nothing of the file has been parsed by then (GSA feeds specification, sections 4.1, 19 to 21).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from ingather.errors import IngatherError
from ingather.feeds.authority import Sender
from ingather.model.feed import FeedType
from ingather.model.source_name import source_key

__all__ = [
    "LIGHT_BYTES",
    "WEB_ROW",
    "WEB_SOURCE",
    "FeedDesk",
    "FeedFields",
    "FeedFormat",
    "FeedKind",
    "FeedRefusedError",
    "FeedTicket",
    "GroupsFullError",
    "Spooled",
    "feed_name",
    "feed_type",
]

WEB_SOURCE: Final = "web"
"""The data source whose incremental feeds are plain lists of URLs to crawl; many tools share it."""
WEB_ROW: Final = "feed-web"
"""The source whose URLs the data source ``web`` lists: ``web`` itself is what is crawled from starting points."""
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
_LONGEST: Final = 200
LIGHT_BYTES: Final = 1 << 20
"""Feeds up to this size that bring no contents are taken while the disk is full up to the reserve: such are revocations."""


class FeedRefusedError(IngatherError):
    """The feed cannot be taken as it is named; the sender is told why (400) and nothing is kept."""


class GroupsFullError(FeedRefusedError):
    """There is no room for another membership; its text is the appliance's (section 5). Nothing is kept."""


class FeedKind(StrEnum):
    """Which endpoint it was pushed to."""

    DOCUMENTS = "documents"
    GROUPS = "groups"


class FeedFormat(StrEnum):
    """How the spooled file is written."""

    XML = "xml"
    JSON_LINES = "jsonl"


@dataclass(frozen=True, slots=True)
class FeedFields:
    """What the form says about a feed, the fallbacks of section 4.1 already applied.

    Attributes:
        datasource: as given; checked by :meth:`checked`.
        feedtype: ``full``, ``incremental``, ``metadata-and-url``, in any case; for groups ``full`` or ``incremental``,
            ``replace`` or ``cleanup``.
        kind: documents or groups.
        format: of the file.
        groupsource: the group feed's own source name, if it has one.
        replace, cleanup: of group feeds (section 12).
        session: several files are one full feed: their common id, ``""`` = the file is the whole.
        part, last: the file's number in its session, from 1, and whether no other follows.
        dryrun: check only; nothing is applied.
        warnings: what the gate noticed, in words (form field and header differ, say).
    """

    datasource: str
    feedtype: str
    kind: FeedKind = FeedKind.DOCUMENTS
    format: FeedFormat = FeedFormat.XML
    groupsource: str = ""
    replace: bool = False
    cleanup: bool = False
    session: str = ""
    part: int = 0
    last: bool = False
    dryrun: bool = False
    warnings: tuple[str, ...] = ()

    def check(self) -> None:
        """See that a feed may be called so; the gate calls it before it spools a large body, the desk always.

        Raises:
            FeedRefusedError: the name or type is none, or ``web`` was to be replaced as a whole.
        """
        if len(self.datasource) > _LONGEST or not _NAME.fullmatch(self.datasource):
            raise FeedRefusedError(
                f"{self.datasource[:_LONGEST]!r} is not the name of a data source",
                hint="begin with a letter or _, go on with letters, digits, _ and -, at most 200 characters",
            )
        if self.kind is FeedKind.GROUPS:
            return
        if source_key(self.datasource) == WEB_ROW:
            raise FeedRefusedError(
                f"{self.datasource!r} is the name under which the lists of the data source {WEB_SOURCE!r} are kept",
                hint=f"push lists of URLs to {WEB_SOURCE}, or give the feed a data source of its own",
            )
        if feed_type(self.feedtype) is FeedType.FULL and self.datasource == WEB_SOURCE:
            raise FeedRefusedError(
                'the data source "web" cannot be replaced by a full feed: many tools share it',
                hint="push it as incremental, or give the feed a data source of its own",
            )


@dataclass(frozen=True, slots=True)
class Spooled:
    """A file that lies durable in the spool.

    Attributes:
        name: of the file, without folder.
        path: of the file.
        size: bytes.
        sha256: hexadecimal digest of its bytes.
        records: how many records it seems to have (``<record`` counted while it came in).
        contents: whether it may bring contents, as far as its bytes show: without any it needs next to no room.
    """

    name: str
    path: Path
    size: int
    sha256: str
    records: int = 0
    contents: bool = True

    @property
    def light(self) -> bool:
        """Whether it needs next to no room, as feeds do that delete, change rights or name URLs."""
        return not self.contents and self.size <= LIGHT_BYTES


@dataclass(frozen=True, slots=True)
class FeedTicket:
    """What the sender may ask about later: row number, and name in the appliance's form.

    *datasource*: name under which it is kept, as its source was first written or pushed.
    """

    id: int
    name: str
    datasource: str = ""


class FeedDesk(Protocol):
    """Takes feeds; in the keeper's process. Coroutines may be awaited on any event loop of it."""

    async def accept(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Give the feed its durable row and its place in the queue of its source.

        Args:
            spooled: the file; it belongs to the desk from now on.
            fields: what the form said.
            sender: who pushed it; what he may say is kept with the feed.

        Raises:
            FeedRefusedError: see :meth:`FeedFields.check`; the file is still the caller's.
            CatalogError: nothing was kept; the file is still the caller's.
        """

    def backlog(self) -> int:
        """Return how much waits: records of accepted feeds that are not applied yet, and visits that applied ones asked for.

        An estimate for files that nobody has read. Visits count when they may be made now, and at most 900 of them.
        """

    async def report(self, name: str, *, wait_s: float = 0.0) -> dict[str, Any]:
        """Return the feed called *name* (or numbered so) as the API shows it, ``{}`` if there is none.

        *wait_s*: how long to wait for its end at most, for senders that asked to wait.
        """


def feed_type(text: str) -> FeedType:
    """Return the type that *text* names; case does not matter, ``_`` is ``-``.

    Raises:
        FeedRefusedError: it names none.
    """
    try:
        return FeedType(text.strip().lower().replace("_", "-"))
    except ValueError:
        raise FeedRefusedError(
            f"{text[:40]!r} is not a feed type", hint="write full, incremental or metadata-and-url"
        ) from None


def feed_name(datasource: str, kind: str, at_s: float, number: int) -> str:
    """Return an id in the appliance's form: ``sample_feed_20081212_005123_000000_FULL_FEED_0`` (section 14)."""
    at = datetime.fromtimestamp(at_s, UTC)
    return f"{datasource}_{at:%Y%m%d_%H%M%S_%f}_{kind.upper().replace('-', '_')}_FEED_{number}"
