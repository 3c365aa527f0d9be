"""The one truth as its readers see it: search page, explain, the index applier, the console."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ingather.model.change import Change
from ingather.model.description import Description
from ingather.model.lifecycle import Outcome, State

__all__ = ["CatalogReader", "CatalogStats", "UrlRecord", "Visit"]


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a URL: wall time, outcome, HTTP status (0 = none), what people should know."""

    at_s: float
    outcome: Outcome
    status: int = 0
    detail: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class UrlRecord:
    """A URL as the catalog knows it.

    ``due_s`` wall time of the next visit (``None`` = never), ``where`` file:line of the deciding
    directive with ``config_version``, ``referrer`` the page on the shortest known path,
    ``duplicate_of``/``redirects_to`` URLs or ``""``, ``described`` whether it has an RD that readers see.
    """

    id: int
    url: str
    source: str
    state: State
    depth: int
    outcome: Outcome | None = None
    status: int = 0
    detail: str = ""
    where: str = ""
    config_version: int = 0
    fetched_s: float | None = None
    due_s: float | None = None
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    referrer: str = ""
    redirects_to: str = ""
    duplicate_of: str = ""
    size: int = 0
    flags: tuple[str, ...] = ()
    described: bool = False


@dataclass(frozen=True, slots=True)
class CatalogStats:
    """Counts for people: URLs by state, last outcomes, by source; sequence numbers; bytes."""

    states: Mapping[str, int] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    hosts: int = 0
    sequence: int = 0
    catalog_bytes: int = 0
    body_bytes: int = 0


class CatalogReader(Protocol):
    """Read-only view on connections of its own; any thread may hold one, none may share one.

    Every call sees a consistent state at its moment; absence gives ``None`` or an empty answer.
    """

    def find(self, url: str) -> UrlRecord | None:
        """Return the row of canonical *url*."""

    def get(self, ids: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the rows that exist among *ids*."""

    def description(self, url_id: int) -> Description | None:
        """Return the RD of a row, all layers; ``None`` if it has none."""

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the kept extracted texts (from WARC ``conversion`` records)."""

    def body(self, url_id: int) -> bytes | None:
        """Return the kept body, verified against its digest; ``None`` if bodies are not kept.

        Raises:
            CatalogDamagedError: the bytes do not read back as written.
        """

    def visits(self, url_id: int) -> list[Visit]:
        """Return the remembered visits, newest first."""

    def referrers(self, url_id: int) -> list[str]:
        """Return the chain of URLs from *url_id* to its starting point, nearest first."""

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return at most *limit* changes with a sequence above *after*, ascending."""

    def stats(self) -> CatalogStats:
        """Return counts; may take a second on a large catalog."""

    def close(self) -> None:
        """Close the connection."""
