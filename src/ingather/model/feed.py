"""What a pushed feed says, record by record (GSA feeds specification, sections 7 to 10)."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from ingather.model.acl import Acl, Principal

__all__ = [
    "FeedAcl",
    "FeedContent",
    "FeedEnd",
    "FeedHeader",
    "FeedRecord",
    "FeedRejection",
    "FeedType",
    "GroupMembership",
    "MetaPair",
]

MetaPair = tuple[str, str]
"""A metadata value: name as written (trimmed), content."""


class FeedType(StrEnum):
    """What a feed does to its data source."""

    FULL = "full"
    INCREMENTAL = "incremental"
    METADATA_AND_URL = "metadata-and-url"


@dataclass(frozen=True, slots=True)
class FeedHeader:
    """What the XML's own header says; form fields win over it. ``""`` = absent.

    ``warnings``: what is odd about the beginning of the feed.
    """

    datasource: str = ""
    feedtype: str = ""
    warnings: tuple[str, ...] = ()


class FeedContent(msgspec.Struct, frozen=True, array_like=True):
    """A record's content, decoded (base64, zlib, gzip, raw deflate).

    ``text`` says that it stood in the XML as text: then *body* is UTF-8 whatever the feed's own
    encoding. Else *body* is the document's bytes as they are.
    """

    body: bytes
    text: bool


class FeedRecord(msgspec.Struct, frozen=True, array_like=True):
    """One ``record`` element.

    Attributes:
        line, offset: of its start tag: line from 1, byte from 0, in the feed's own encoding.
        delete: the action that counts (the record's wins over the group's).
        url: as written, white space trimmed; not canonical yet.
        display_url, mimetype, authmethod, scoring, last_modified: as written, ``""`` = absent.
        pagerank: the record's, else the group's.
        metadata: ``None`` = no ``metadata`` element (what is stored stays); ``()`` = clear.
        overwrite_acls: ``False`` = ACL metas that are absent do not clear the stored ACL.
        acl: the bound ACL, its ``url`` as written.
        content: ``None`` = no content element.
        warnings: what was tolerated, in words.
        denied: why nobody may see the document although it is kept (a lost reference in an ACL meta, say).
    """

    line: int
    offset: int
    url: str
    delete: bool = False
    display_url: str = ""
    mimetype: str = ""
    last_modified: str = ""
    lock: bool = False
    authmethod: str = ""
    pagerank: int | None = None
    crawl_immediately: bool = False
    crawl_once: bool = False
    scoring: str = ""
    metadata: tuple[MetaPair, ...] | None = None
    overwrite_acls: bool = True
    acl: Acl | None = None
    content: FeedContent | None = None
    warnings: tuple[str, ...] = ()
    denied: str = ""

    @property
    def action(self) -> str:
        """``add`` or ``delete``."""
        return "delete" if self.delete else "add"


@dataclass(frozen=True, slots=True)
class FeedAcl:
    """A free ``acl`` element (a named resource)."""

    line: int
    offset: int
    acl: Acl
    delete: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """``add`` or ``delete``."""
        return "delete" if self.delete else "add"


@dataclass(frozen=True, slots=True)
class FeedRejection:
    """A record or ACL that could not be read; costs itself and nothing else. ``url`` may be empty."""

    line: int
    offset: int
    url: str
    reason: str
    denies: bool = False
    """Whether a deny was lost with it: then *url*, if known, is hidden from everybody."""


@dataclass(frozen=True, slots=True)
class GroupMembership:
    """A ``membership`` of a group feed: who is in a group.

    Attributes:
        line, offset: of its start tag.
        group: whose members these are; its case option means nothing.
        members: users and groups; empty is legal.
        source: the element's own ``source``, which the form field overrides.
        warnings: what was tolerated, in words.
    """

    line: int
    offset: int
    group: Principal
    members: tuple[Principal, ...] = ()
    source: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedEnd:
    """How reading a feed ended; always the last item.

    Attributes:
        complete: it was read to the end tag of its root.
        repaired: markup was broken somewhere, whatever became of it. Such a feed, or one that is not complete, must not
            delete by omission.
        line: the last line.
        items: records, ACLs, memberships and rejections.
        rejected: rejections among them.
        trouble: why it is not complete, ``""`` if it is.
        warnings: what is odd about the feed as a whole.
    """

    complete: bool
    repaired: bool
    line: int = 0
    items: int = 0
    rejected: int = 0
    trouble: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def may_delete(self) -> bool:
        """Whether what a ``full`` feed does not mention may be deleted for that."""
        return self.complete and not self.repaired
