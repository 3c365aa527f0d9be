"""What a replay reads: every known URL in turn, with what decided about it and what is kept of it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ingather.catalog.deletion.sqlite_accounts import SourceAccount, source_accounts
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_reader_more import PageExtra
from ingather.catalog.sqlite_rows import located
from ingather.catalog.sqlite_versions import Versions
from ingather.model.lifecycle import Outcome, State

__all__ = ["KnownUrl", "ReplayReader", "SourceAccount"]

_GROUP = 1000
_decode_extra = msgspec.msgpack.Decoder(PageExtra).decode

_KNOWN = (
    "select u.id, h.origin || u.path, s.name, u.depth, u.maxdepth, u.hops, u.state, u.outcome, u.version is not null, "
    "u.described, u.held is not null, coalesce(u.seg and u.len, 0) > 0, coalesce(d.place, ''), coalesce(d.category, ''), "
    "coalesce(d.reason, u.detail, ''), coalesce(d.version, 0), coalesce(u.version, 0), u.fetched is not null, "
    "(exists (select 1 from fed f where f.id = u.id) or s.kind = 'gsa' and coalesce(d.category, '') != 'site not allowed') "
    "from url u join host h on h.id = u.host join source s on s.id = u.source left join directive d on d.id = u.verdict "
    "where u.id > ?1 and (?3 = '' or s.name = ?3 collate nocase) and not exists (select 1 from rss_feed f where f.url = u.id) "
    "order by u.id limit ?2"
)


class KnownUrl(NamedTuple):
    """A row as a replay needs it.

    ``described``: it has an RD; ``described_s``: when that was made (wall seconds); ``kept``: its body is
    kept; ``where``, ``category``, ``reason``, ``version``: what denied it, under which configuration;
    ``described_version``: the configuration that described it, 0 = none; ``gathered``: it was visited, not only brought in by
    somebody; ``pushed``: its host needs no site, because a feed or a pushed page named it.
    """

    id: int
    url: str
    source: str
    depth: int
    max_depth: int | None
    hops: int
    state: State
    outcome: Outcome | None
    described: bool
    described_s: float | None
    held: bool
    kept: bool
    where: str
    category: str
    reason: str
    version: int
    described_version: int
    gathered: bool
    pushed: bool = False


class ReplayReader(SqliteReader):
    """A reader that walks the whole catalog; nothing is held between groups of rows."""

    def known_urls(self, source: str = "") -> Iterator[list[KnownUrl]]:
        """Yield all rows by number, tombstones too and web feeds not, in groups; *source* ``""`` = of all sources."""
        after = 0
        while rows := self._rows.all(_KNOWN, (after, _GROUP, source)):
            after = rows[-1][0]
            yield [self._known(row) for row in rows]

    def _known(self, row: tuple[Any, ...]) -> KnownUrl:
        with located(self._rows.path, f"the row of {row[1]}"):
            return _known(row)

    def packed_pages(self, ids: Sequence[int]) -> dict[int, tuple[bytes, str]]:
        """Return (page layer as it is packed, media type) of *ids*."""
        rows = self._rows.among("select id, attrs, extra from page where id in ({ids})", ids)
        return {url_id: (attrs, _decode_extra(extra).media_type) for url_id, attrs, extra in rows}

    def configuration(self, version: int) -> dict[str, bytes] | None:
        """Return name -> bytes of a published configuration, ``None`` if it is not kept."""
        return Versions(self._rows).files(version)

    def source_accounts(self, now_s: float) -> list[SourceAccount]:
        """Return every source's account at *now_s* (wall), as :class:`Deletions` counts it."""
        return source_accounts(self._rows, now_s)


def _known(row: tuple[Any, ...]) -> KnownUrl:
    first, (state, outcome, described, at_s, held, kept), last = row[:6], row[6:12], row[12:]
    url_id, url, source, depth, limit, hops = first
    where, category, reason, version, described_version, gathered, pushed = last
    return KnownUrl(
        url_id, url, source, depth, limit, hops, State(state), None if outcome is None else Outcome(outcome), bool(described), at_s,
        bool(held), bool(kept), where, category, reason, version, described_version, bool(gathered), bool(pushed),
    )  # fmt: skip
