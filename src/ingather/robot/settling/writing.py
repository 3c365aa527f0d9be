"""What the robot needs of the catalog's one writer, and of who decides beside it inside its transactions."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ingather.catalog.access.sqlite_pending import PendingAcls
from ingather.catalog.deletion.sqlite_deletion import Deletions
from ingather.catalog.feeds.sqlite_feeds import FeedStore
from ingather.catalog.frontier.sqlite_controls import HeaderControls
from ingather.catalog.frontier.sqlite_counts import RunCounts
from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_apply import Applied, Applier
from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_pruning import Pruning
from ingather.catalog.sqlite_registry import Registry
from ingather.catalog.syndication.sqlite_sitemaps import Sitemaps
from ingather.catalog.syndication.sqlite_syndication import SyndicationStore
from ingather.model.report import HostReport, Settled

__all__ = ["Syndicator", "Writer"]

T = TypeVar("T")


class Writer(Protocol):
    """The catalog's one writer as the robot uses it."""

    applier: Applier
    registry: Registry
    deletions: Deletions
    frontier: FrontierQueries
    memory: Memory
    pruning: Pruning
    controls: HeaderControls
    pending_acls: PendingAcls
    counts: RunCounts
    feeds: FeedStore
    syndication: SyndicationStore
    sitemaps: Sitemaps

    def transaction(self, work: "Callable[[Writer], T]") -> T:
        """Run *work* in one durable transaction."""


class Syndicator(Protocol):
    """Who decides about visits that web feeds ask for; every call is inside the batch's transaction."""

    def settle(self, writer: Writer, item: Settled, applied: Applied) -> Settled | None:
        """Settle a visit and carry out what follows from it; ``None``: it is an ordinary visit."""

    def close(self, writer: Writer, applied: Applied, *, clock_trusted: bool) -> None:
        """All visits of the batch are settled."""

    def hosts(self, writer: Writer, reports: Sequence[HostReport], applied: Applied) -> None:
        """Hosts said something of themselves; it is written."""

    def forget(self) -> None:
        """The transaction failed: what was noted in memory is void."""
