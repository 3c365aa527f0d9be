"""What the keeper asks of the worker that reads feeds, and what the worker says first."""

from typing import Final

import msgspec

__all__ = ["READY", "FeedOrder"]

READY: Final = b"ready"
"""What a worker says first: from now on a death has to do with what it was asked for."""


class FeedOrder(msgspec.Struct, array_like=True):
    """What the keeper wants: the items of a feed behind a cursor.

    Attributes:
        feed: its row.
        path: the spooled file.
        kind: ``xml``, ``jsonl`` or ``groups``.
        feedtype: what the form said.
        source: who owns its URLs.
        listed: its records are for the crawler.
        cursor: where its reader stood behind the last items that are applied all together.
        done: items that are applied.
        most: items wanted at most.
        pass_over: number of the item that brought down its reader, 0 = none.
        follow: whether links in its contents are followed.
        prefixes: URLs at or below which those links must be; none = anywhere.
        afresh: contents are read although what is kept was made from the same.
        size, sha256: of the file as it was acknowledged; without *sha256* it is not looked at.
    """

    feed: int
    path: str
    kind: str
    feedtype: str
    source: str
    listed: bool
    cursor: bytes = b""
    done: int = 0
    most: int = 500
    pass_over: int = 0
    follow: bool = True
    prefixes: tuple[str, ...] = ()
    size: int = 0
    sha256: str = ""
    afresh: bool = False
