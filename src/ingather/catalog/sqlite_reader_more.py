"""What is read beside the port: for the index, the link pass, explain and the checks."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ingather.catalog.access.sqlite_access_reader import CHAIN, WITH_ACL
from ingather.catalog.bodies import SegmentReader
from ingather.catalog.deletion.sqlite_tombstones import (
    Observation,
    Stone,
    evidence_of,
    observed_hold,
    stone_of,
)
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader
from ingather.catalog.likeness.sqlite_alike import likeness_of
from ingather.catalog.packing import unpack_attributes
from ingather.catalog.renewal import renew
from ingather.catalog.reports.sqlite_runs import Run, last_runs
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows, located
from ingather.catalog.statements import SQL
from ingather.model.description import DISPLAY_URL, LAYERS, Attributes, overlay, stacked

__all__ = ["MoreReader", "PageExtra", "ShownRow"]

_GROUP = 1000
_decode_words = msgspec.msgpack.Decoder(list[str]).decode


class PageExtra(msgspec.Struct, array_like=True):
    """What the index document needs beside title, attributes and text, and what said language and date (not known of old rows)."""

    headings: str = ""
    marked: str = ""
    language: str = ""
    media_type: str = ""
    date_s: int | None = None
    flags: tuple[str, ...] = ()
    language_source: str = ""
    date_source: str = ""


_decode_extra = msgspec.msgpack.Decoder(PageExtra).decode


class ShownRow(NamedTuple):
    """One row that readers may see."""

    url: str
    source: str
    chain: int
    size: int
    anchors: list[str]
    database: str = "default"
    pagerank: int = 0


class MoreReader:
    """One read-only connection and the segments beside it; one thread at a time."""

    def __init__(self, path: Path, bodies: Path) -> None:
        self._rows = Rows(open_reader(path), path)
        self._bodies = SegmentReader(bodies)

    def close(self) -> None:
        """Close the connection and the open segments."""
        self._bodies.close()
        self._rows.close()

    @property
    def overlays(self) -> OverlayReader:
        """External metadata."""
        return OverlayReader(self._rows)

    # -- for the index ------------------------------------------------------------------------

    def last_sequence(self) -> int:
        """Return the newest change's number."""
        return int(self._rows.value("select coalesce(max(seq), 0) from change"))

    def first_sequence(self) -> int:
        """Return the oldest change's number that the log still has, 0 if it has none."""
        return int(self._rows.value("select coalesce(min(seq), 0) from change"))

    def shown(self) -> Iterator[int]:
        """Yield the ids that the index must hold, ascending."""
        for rows in self._rows.pages(SQL["shown"], size=5 * _GROUP):
            yield from (url_id for (url_id,) in rows)

    def shown_rows(self, ids: Sequence[int]) -> dict[int, ShownRow]:
        """Return what readers may see among *ids*: address, source, access chain, size, informative anchors."""
        rows = self._rows.among(
            f"select u.id, h.origin || u.path, s.name, {CHAIN}, coalesce(u.size, 0), i.anchors, coalesce(d.name, 'default'), "  # noqa: S608 - a constant
            "coalesce(f.pagerank * f.content, 0) "
            "from url u join host h on h.id = u.host join source s on s.id = u.source left join inlink i on i.id = u.id "
            f"left join rd_database d on d.id = u.part left join fed f on f.id = u.id {WITH_ACL} "
            "where u.id in ({ids}) and u.version is not null and u.dup is null and u.held is not 2 and u.behind is null",
            ids,
        )
        return {
            url_id: ShownRow(
                url,
                source,
                chain,
                size,
                [] if anchors is None else _decode_words(anchors),
                database,
                pagerank,
            )
            for url_id, url, source, chain, size, anchors, database, pagerank in rows
        }

    def hidden_holds(self, ids: Sequence[int]) -> set[int]:
        """Return those of *ids* that are hidden while their deletion waits for a person."""
        return {
            url_id
            for (url_id,) in self._rows.among("select id from url where id in ({ids}) and held = 2", ids)
        }

    def page_layers(self, ids: Sequence[int]) -> dict[int, tuple[str, Attributes, PageExtra]]:
        """Return (title, short attributes of all layers merged, extra) for the index document."""
        found: dict[int, tuple[str, Attributes, PageExtra]] = {}
        for url_id, title, attrs, extra, described_s, seen_s in self._rows.among(
            "select p.id, p.title, p.attrs, p.extra, u.described, u.seen from page p join url u on u.id = p.id where p.id in ({ids})",
            ids,
        ):
            with located(self._rows.path, f"the description of row {url_id}"):
                attributes = unpack_attributes(attrs, None)
                attributes.pop(DISPLAY_URL, None)
                renew(attributes, described_s=described_s, seen_s=seen_s)
                found[url_id] = (title, attributes, _decode_extra(extra))
        for url_id, upper in self.upper_layers(ids).items():
            if url_id in found:
                overlay(found[url_id][1], upper)
        return found

    def upper_layers(self, ids: Sequence[int]) -> dict[int, Attributes]:
        """Return the attributes of the layers above the page's, for :func:`overlay`, of rows that have such layers."""
        rows = self._rows.among("select id, name, attrs from layer where id in ({ids})", ids)
        layers: dict[int, list[tuple[str, Attributes]]] = {}
        for url_id, name, attrs in sorted(rows, key=lambda row: (row[0], LAYERS.index(row[1]))):
            layers.setdefault(url_id, []).append((name, unpack_attributes(attrs, None)))
        return {url_id: stacked(own) for url_id, own in layers.items()}

    # -- autoclassify ---------------------------------------------------------------------------

    def layer_rows(self, layer: str) -> dict[int, Attributes]:
        """Return the rows that have *layer*, with its attributes."""
        rows = self._rows.all("select id, attrs from layer where name = ?", (layer,))
        return {url_id: unpack_attributes(attrs, None) for url_id, attrs in rows}

    def page_values(self, ids: Sequence[int], name: str) -> dict[int, tuple[str, ...]]:
        """Return what the page layers of rows say of one short attribute."""
        rows = self._rows.among("select id, attrs from page where id in ({ids})", ids)
        return {url_id: unpack_attributes(attrs, None).get(name, ()) for url_id, attrs in rows}

    # -- for the link pass --------------------------------------------------------------------

    def links_pass(self) -> Iterator[tuple[int, bytes, bytes, int]]:
        """Yield (page, packed keys, anchors, source) of every page with links whose source is public.

        The source is 0 unless it is kept apart: then its links count for its own documents (:meth:`kept_apart`) alone.
        """
        for rows in self._rows.pages(
            "select p.id, p.out, p.anchor, iif(s.apart, s.id, 0) from page p join url u on u.id = p.id join source s on s.id = u.source "
            "where p.id > ? and p.out != x'' and s.access = 'public' and u.acl = 0 and u.state != 3 order by p.id limit ?",
            size=_GROUP,
        ):
            yield from ((page, keys, anchors, source) for page, keys, anchors, source in rows)

    def kept_apart(self) -> dict[int, int]:
        """Return the source of every document of a source that is kept apart, by row."""
        return dict(
            self._rows.all(
                "select u.id, u.source from url u join source s on s.id = u.source where s.apart and u.version is not null",
                (),
            )
        )

    def keys(self) -> Iterator[tuple[int, int]]:
        """Yield (key, id) of every URL that the index holds."""
        for rows in self._rows.pages(
            "select id, key from url where version is not null and dup is null and held is not 2 and id > ? order by id limit ?",
            size=5 * _GROUP,
        ):
            yield from ((key, url_id) for url_id, key in rows)

    def titles(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (title, path) of pages."""
        rows = self._rows.among(
            "select p.id, p.title, u.path from page p join url u on u.id = p.id where p.id in ({ids})",
            list(ids),
        )
        return {row: (title, path) for row, title, path in rows}

    def inlinks(self) -> dict[int, bytes]:
        """Return the packed informative anchors that are kept per row."""
        return dict(self._rows.all("select id, anchors from inlink"))

    # -- for explain --------------------------------------------------------------------------

    def access(self, url_id: int) -> str:
        """Return who sees a row: ``public`` or ``secure``, as its source says and its own access list narrows."""
        return str(
            self._rows.value(
                "select iif(u.acl, 'secure', s.access) from url u join source s on s.id = u.source where u.id = ?",
                (url_id,),
            )
            or "secure"
        )

    def disabled(self, url_id: int) -> float | None:
        """Return since when the source of a row is disabled, ``None`` = it is not."""
        found = self._rows.value(
            "select s.disabled from url u join source s on s.id = u.source where u.id = ?", (url_id,)
        )
        return None if found is None else float(found)

    def disabled_sources(self) -> list[str]:
        """Return the names of the sources that are disabled, ascending."""
        return [
            name
            for (name,) in self._rows.all("select name from source where disabled is not null order by name")
        ]

    def inlink(self, url_id: int) -> tuple[int, list[str]]:
        """Return how many public pages link to a row, and what they call it."""
        row = self._rows.one("select n, anchors from inlink where id = ?", (url_id,))
        return (0, []) if row is None else (row[0], _decode_words(row[1]))

    def page_extra(self, url_id: int) -> PageExtra | None:
        """Return what a visit found out about a page beside its attributes; ``None`` without a description by a visit or an import."""
        blob = self._rows.value("select extra from page where id = ?", (url_id,))
        with located(self._rows.path, f"the description of row {url_id}"):
            return None if blob is None else _decode_extra(blob)

    def likeness(self, url_id: int) -> dict[str, Any]:
        """Return what a row is like: its fingerprint, its group of near-duplicates, its canonical link."""
        return likeness_of(self._rows, url_id)

    def origin_host(self, origin: str) -> tuple[object, ...] | None:
        """Return what is kept about an origin.

        (id, robots kind, robots detail, robots at, not before, back-offs, delay, robots body); times in wall seconds.
        """
        return self._rows.one(
            "select id, robots_kind, robots_detail, robots_at, not_before, back_offs, delay, coalesce(robots_body, x'') "
            "from host where origin = ?",
            (origin,),
        )

    def tombstone(self, url_id: int) -> tuple[float, str] | None:
        """Return when and why a URL was deleted."""
        row = self._rows.one("select at, reason from tombstone where id = ?", (url_id,))
        return None if row is None else (row[0], row[1])

    def stone(self, url_id: int) -> Stone | None:
        """Return the tombstone of a URL with who wanted it."""
        return stone_of(self._rows, url_id)

    def evidence(self, url_id: int) -> list[Observation]:
        """Return what was seen of a document that may have to go, since it was found last, oldest first."""
        return evidence_of(self._rows, url_id)

    def hold_of(self, url_id: int) -> int | None:
        """Return the open hold that a URL is in."""
        return observed_hold(self._rows, url_id)

    def runs(self, limit: int = 10) -> list[Run]:
        """Return the last runs, newest first."""
        return last_runs(self._rows, limit)

    def held_count(self) -> int:
        """Return how many documents wait in open holds."""
        return int(self._rows.value("select count(*) from hold_item"))

    def held(self, url_id: int) -> str | None:
        """Return the reason of the open hold that a URL is in."""
        found: str | None = self._rows.value(
            "select h.reason from hold_item i join hold h on h.id = i.hold where i.id = ?", (url_id,)
        )
        return found

    def pushed(self, url_id: int) -> bool:
        """Whether the host of a URL needs no site, because a trusted sender named the URL or the page that led to it."""
        return bool(self._rows.value(SQL["pushed_url"], (url_id,)))

    def listings(self, url_id: int) -> list[dict[str, Any]]:
        """Return what feeds say of a URL: its owner first (``owner``), then the other sources that list it, the last first."""
        rows = self._rows.all(
            "select 1, s.name, f.web, q.name, f.n, f.once, f.locked, f.pagerank, f.authmethod, f.display, null "
            "from fed f join source s on s.id = f.source left join feed q on q.id = f.feed where f.id = ?1 union all "
            "select 0, s.name, o.web, q.name, o.n, 0, 0, null, '', '', o.at "
            "from fed_other o join source s on s.id = o.source left join feed q on q.id = o.feed where o.id = ?1 order by 1 desc, 11 desc",
            (url_id,),
        )
        names = (
            "owner", "source", "web", "feed", "record", "crawl_once", "lock", "pagerank", "authmethod", "display_url", "at",
        )  # fmt: skip
        flags = ("owner", "web", "crawl_once", "lock")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [{key: bool(value) if key in flags else value for key, value in row.items()} for row in found]

    def refusals(self) -> list[tuple[str, str, str, int, int]]:
        """Return (origin, kind, name, URLs, refused) of every budget that refused something; most refusals first."""
        rows = self._rows.all(
            "select h.origin, b.kind, b.name, b.n, b.refused from budget b join host h on h.id = b.host where b.refused > 0 "
            "order by b.refused desc, h.origin, b.kind, b.name limit ?",
            (_GROUP,),
        )
        return [(origin, kind, name, urls, refused) for origin, kind, name, urls, refused in rows]

    def events(self, limit: int = 100) -> list[tuple[float, str, str, str]]:
        """Return (wall time, kind, subject, detail) of the newest events, newest first."""
        rows = self._rows.all(
            "select at, kind, subject, detail from event order by id desc limit ?", (limit,)
        )
        return [(at, kind, subject, detail) for at, kind, subject, detail in rows]

    def robots_unreachable(self, before_s: float) -> list[tuple[str, float, str]]:
        """Return (origin, since, why) of hosts whose robots.txt has not been had since wall time *before_s* or longer."""
        rows = self._rows.all(
            "select origin, robots_since, robots_detail from host where robots_kind = 'unreachable' and robots_since > 0 "
            "and robots_since <= ? order by robots_since, origin limit ?",
            (before_s, _GROUP),
        )
        return [(origin, since, why) for origin, since, why in rows]

    # -- for the checks -----------------------------------------------------------------------

    def integrity(self) -> list[str]:
        """Run SQLite's own full check; return its findings, empty when sound."""
        found = [str(line) for (line,) in self._rows.all("pragma integrity_check(100)")]
        return [] if found == ["ok"] else found

    def rot(self) -> list[str]:
        """Compare every page with its sum; return what is not as it was written, empty when all is."""
        return self._rows.rot()

    def places(self) -> Iterator[tuple[int, int, int, int, int, int, bytes]]:
        """Yield (id, segment, offset, length, text offset, text length, digest) of everything kept in WARC segments."""
        for rows in self._rows.pages(
            "select id, seg, coalesce(off, 0), coalesce(len, 0), coalesce(toff, 0), coalesce(tlen, 0), coalesce(digest, x'') "
            "from url where seg is not null and id > ? order by id limit ?",
            size=_GROUP,
        ):
            yield from ((r[0], r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows)
