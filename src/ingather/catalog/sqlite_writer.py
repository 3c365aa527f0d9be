"""The one writer: batches become transactions, a failure keeps nothing of its batch.

Lives in one thread. After any failure the transaction is rolled back and what was kept in memory is
read again. A caller that gets :class:`CatalogError` may try the batch again or stop, but nobody
has been told that it was kept.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw

from ingather.catalog.access.sqlite_access import AccessStore
from ingather.catalog.access.sqlite_groups import GroupStore
from ingather.catalog.access.sqlite_pending import PendingAcls
from ingather.catalog.access.sqlite_users import Users
from ingather.catalog.deletion.sqlite_deletion import Deletions
from ingather.catalog.deletion.sqlite_source_rows import SourceRows
from ingather.catalog.descriptions.sqlite_descriptions import Descriptions
from ingather.catalog.descriptions.sqlite_overlay import OverlayStore
from ingather.catalog.feeds.sqlite_feeds import FeedStore
from ingather.catalog.frontier.sqlite_budget import BudgetLimits, Budgets
from ingather.catalog.frontier.sqlite_clearing import Clearing
from ingather.catalog.frontier.sqlite_controls import HeaderControls
from ingather.catalog.frontier.sqlite_counts import RunCounts
from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.frontier.sqlite_recheck import Rechecks
from ingather.catalog.frontier.sqlite_traps import TrapStore
from ingather.catalog.likeness.sqlite_aliases import Aliases
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_open import open_writer
from ingather.catalog.sqlite_pagesums import PageSums
from ingather.catalog.sqlite_pruning import Pruning
from ingather.catalog.sqlite_registry import Registry
from ingather.catalog.sqlite_rows import Rows, trouble
from ingather.catalog.sqlite_typed import meant_url
from ingather.catalog.syndication.sqlite_sitemaps import Sitemaps
from ingather.catalog.syndication.sqlite_syndication import SyndicationStore

__all__ = ["CatalogWriter"]

T = TypeVar("T")
_LOG_PAGES = 20_000
"""The write-ahead log is moved into the file when it has so many (80 MB)."""


class CatalogWriter:
    """Owns the write connection, its checkpoints and everything that is cached beside it.

    Args:
        path: the catalog's file, created if new.
        budgets: URL budgets of every source ...
        by_source: ... but these (source's name to its own).
        cache_bytes: page cache.
        vfs: name of a registered SQLite file system, for tests that break it on purpose.

    Raises:
        CatalogError: see :func:`ingather.catalog.sqlite_open.open_writer`.
    """

    def __init__(
        self,
        path: Path,
        *,
        budgets: BudgetLimits | None = None,
        by_source: Mapping[str, BudgetLimits] | None = None,
        cache_bytes: int = 64 << 20,
        vfs: str | None = None,
    ) -> None:
        self.path = path
        self._db = open_writer(path, cache_bytes=cache_bytes, vfs=vfs)
        self._sums, self._log_pages = PageSums(self._db, path), 0
        self._db.set_wal_hook(self._logged)
        rows = Rows(self._db, path)
        try:
            self.applier = Applier(self._db, budgets=Budgets(self._db, budgets, by_source))
        except apsw.Error as error:
            raised = trouble(error, self._db, path, "read")
            with suppress(apsw.Error):
                self._db.close(force=True)
            raise raised from error
        self.frontier = FrontierQueries(rows)
        self._rows = rows
        self.memory = Memory(self._db, rows)
        self.counts = RunCounts(self._db, rows)
        self.registry = Registry(self._db, rows, self.applier)
        self.deletions = Deletions(self._db, self.applier)
        self.source_rows = SourceRows(self._db)
        self.clearing = Clearing(self._db, self.applier.budgets)
        self.pruning = Pruning(self._db, self.memory, self.applier.log)
        self.seed = int(rows.value("select value from meta where name = 'seed'"))
        """The hash seed of this installation's URL keys."""
        self.descriptions = Descriptions(self._db, self.applier, self.deletions, self.seed)
        self.access = AccessStore(self._db, self.applier.acl, self.applier.log, self.seed)
        self.overlays = OverlayStore(self._db, rows, self.applier.log)
        self.users = Users(self._db)
        self.groups = GroupStore(self._db)
        self.feeds = FeedStore(self._db, self.applier, self.seed)
        self.syndication = SyndicationStore(self._db, self.applier, self.seed)
        self.rechecks = Rechecks(self._db)
        self.sitemaps = Sitemaps(self._db, self.applier, self.syndication)
        self.aliases = Aliases(self._db)
        self.traps = TrapStore(self._db)
        self.pending_acls = PendingAcls(self._db, self.applier, self.access)
        self.controls = HeaderControls(self._db, self.applier, self.access, self.feeds)

    def meant(self, text: str) -> str:
        """Return the canonical URL that a person means; see :func:`ingather.catalog.sqlite_typed.meant_url`."""
        return meant_url(self._rows, text)

    def transaction(self, work: Callable[["CatalogWriter"], T]) -> T:
        """Run *work* in one transaction and make it durable before returning.

        Whatever *work* itself raises passes through; nothing of it was kept then.

        Raises:
            DiskFullError: no space; nothing was kept.
            CatalogDamagedError: the file does not read as written; nothing was kept.
            CatalogError: anything else of the storage; nothing was kept.
        """
        try:
            with self._db:
                result = work(self)
                self.applier.flush()
        except apsw.Error as error:
            raised = trouble(error, self._db, self.path, "written")
            self._forget()
            raise raised from error
        except BaseException:
            self._forget()
            raise
        if self._log_pages >= _LOG_PAGES:
            self.checkpoint()
        return result

    def _logged(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _forget(self) -> None:
        self.groups.reload()
        try:
            self.applier.reload()
            self.pending_acls.reload()
        except apsw.Error:  # the storage is worse than full: the next transaction will say so
            return

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file; best effort, readers may hold parts of it."""
        try:
            self._sums.checkpoint()
        except (apsw.Error, OSError):
            return

    def close(self) -> None:
        """Checkpoint and close; not closing loses nothing."""
        with suppress(apsw.Error, OSError):
            self._sums.checkpoint(truncate=True)
        self._db.close(force=True)
