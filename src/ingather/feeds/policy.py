"""What applying a feed needs: the writer, what the operator decided of a data source, what one record came to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ingather.catalog.access.sqlite_access import AccessStore
from ingather.catalog.access.sqlite_pending import PendingAcls
from ingather.catalog.deletion.sqlite_deletion import Deletions
from ingather.catalog.feeds.sqlite_feeds import FeedStore
from ingather.catalog.sqlite_apply import Applier
from ingather.feeds.desk import WEB_ROW, WEB_SOURCE
from ingather.feeds.receipts import Written

__all__ = ["FeedPolicy", "FeedWriter", "RefusedError", "Result", "source_row_name"]


class FeedWriter(Protocol):
    """The catalog's one writer as feeds use it."""

    applier: Applier
    deletions: Deletions
    access: AccessStore
    pending_acls: PendingAcls
    feeds: FeedStore


@dataclass(frozen=True, slots=True)
class FeedPolicy:
    """What the operator decided about a data source.

    Attributes:
        empty_acl_is_none: the appliance's rule: an explicit empty ACL is none, not "nobody".
        one_value_per_meta: a comma in an ACL meta is part of the name.
        display_schemes: of display URLs.
        takes_over: whether the data source may take documents that belong to others; ``None`` = its settings do not say.
        taken_over: whether others may take those of a source, by its key; absent = its settings do not say.
        inherited: whether ACLs of other sources may inherit from its ACLs as from their own, though a token brought them.
        canonical: makes URLs in metas canonical.
    """

    empty_acl_is_none: bool = False
    one_value_per_meta: bool = False
    display_schemes: frozenset[str] = frozenset({"http", "https", "ftp", "file", "smb", "notes"})
    canonical: Callable[[str], str] | None = None
    takes_over: bool | None = None
    taken_over: Mapping[str, bool] = field(default_factory=dict)
    inherited: bool = False


class RefusedError(Exception):
    """A record is not applied; the text says why."""


@dataclass(slots=True)
class Result:
    """What one record came to."""

    url: str
    url_id: int | None = None
    state: Written = Written.APPLIED
    notes: list[str] = field(default_factory=list)
    ask: int | None = None
    """Number of the visit that it asked for."""
    of_others: bool = False
    """The document is another source's, and the sender may speak of it (``ownership``)."""


def source_row_name(datasource: str) -> str:
    """Return the name of the source that owns what *datasource* pushes."""
    return WEB_ROW if datasource == WEB_SOURCE else datasource
