"""Where a reader of a feed stands: enough to go on in another process."""

from dataclasses import dataclass

__all__ = ["FeedCursor", "OpenElement"]


@dataclass(frozen=True, slots=True)
class OpenElement:
    """An element that is open at the cursor.

    Attributes:
        name: without prefix, as written.
        action: of a ``group``: ``add``, ``delete`` or ``""`` (cannot be read).
        pagerank: of a ``group``.
        source: of an ``xmlgroups`` or a ``membership``'s surroundings, unused elsewhere.
    """

    name: str
    action: str = "add"
    pagerank: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class FeedCursor:
    """The state of a reader between two items; the default is the start of a feed.

    Attributes:
        offset, line: where reading goes on; the byte is in the feed's own encoding.
        items: records, ACLs and rejections so far.
        rejected: rejections among them.
        repaired: markup was broken somewhere before.
        rooted: the root element has been seen.
        ended: its end tag has been seen.
        stack: open elements, the root first.
        spaces: name space declarations of those (prefix, name).
        datasource, feedtype: of the header.
        headed: the header has been read.
        outside: bytes so far that are neither piece nor white space.
        met: unknown names that were warned of, the first of them.
    """

    offset: int = 0
    line: int = 0
    items: int = 0
    rejected: int = 0
    repaired: bool = False
    rooted: bool = False
    ended: bool = False
    stack: tuple[OpenElement, ...] = ()
    spaces: tuple[tuple[str, str], ...] = ()
    datasource: str = ""
    feedtype: str = ""
    headed: bool = False
    outside: int = 0
    met: tuple[str, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether anything has been read."""
        return self.line > 0
