"""Reading the catalog: rows with their URLs, descriptions, texts, histories, counts.

Implements :class:`ingather.ports.catalog.CatalogReader` on a read-only connection of its own. What the
index, the link pass, explain and the checks read beside the port is in
:mod:`ingather.catalog.sqlite_reader_more`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ingather.catalog.packing import unpack_attributes, unpack_visits
from ingather.catalog.renewal import renew
from ingather.catalog.sqlite_reader_more import MoreReader, PageExtra, ShownRow
from ingather.catalog.sqlite_rows import located
from ingather.catalog.sqlite_typed import meant_url
from ingather.catalog.statements import SQL
from ingather.errors import CatalogDamagedError
from ingather.model.change import Change, ChangeKind
from ingather.model.description import Attributes, Description
from ingather.model.lifecycle import Outcome, State
from ingather.model.resource import Response
from ingather.model.urlparts import key
from ingather.ports.catalog import CatalogReader, CatalogStats, UrlRecord, Visit

__all__ = ["PageExtra", "ShownRow", "SqliteReader"]

_T = TypeVar("_T")
_RECORD = SQL["record"]
_PLACE = "select id, seg, coalesce(off, 0), coalesce(len, 0), coalesce(toff, 0), coalesce(tlen, 0), digest from url where id"
_REFERRERS = 1000


class SqliteReader(MoreReader):
    """One connection; one thread at a time.

    Args:
        path: the catalog's file.
        bodies: the folder of WARC segments.

    Raises:
        CatalogError: see :func:`ingather.catalog.sqlite_open.open_reader`.
    """

    def __init__(self, path: Path, bodies: Path) -> None:
        super().__init__(path, bodies)
        self._seed = int(self._rows.value("select value from meta where name = 'seed'"))

    # -- rows ---------------------------------------------------------------------------------

    def find(self, url: str) -> UrlRecord | None:
        """Return the row of canonical *url*."""
        row = self._rows.one(_RECORD + " u.key = ?", (key(url, self._seed),))
        return None if row is None or row[1] != url else self._made(row)

    def meant(self, text: str) -> str:
        """Return the canonical URL that a person means; see :func:`ingather.catalog.sqlite_typed.meant_url`."""
        return meant_url(self._rows, text)

    def get(self, ids: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the rows that exist among *ids*."""
        return {row[0]: self._made(row) for row in self._rows.among(_RECORD + " u.id in ({ids})", ids)}

    def _made(self, row: tuple[Any, ...]) -> UrlRecord:
        with located(self._rows.path, f"the row of {row[1]}"):
            return _record(row)

    def visits(self, url_id: int) -> list[Visit]:
        """Return the remembered visits, newest first."""
        with self._rows.snapshot():
            found = []
            for visit, directive in unpack_visits(
                self._rows.value("select hist from url where id = ?", (url_id,))
            ):
                said = (
                    self._rows.one("select place, reason from directive where id = ?", (directive,))
                    if directive
                    else None
                )
                if said is None:
                    found.append(visit)
                else:
                    found.append(
                        Visit(visit.at_s, visit.outcome, visit.status, detail=said[1], where=said[0])
                    )
            return found

    def referrers(self, url_id: int) -> list[str]:
        """Return the chain of URLs from *url_id* to its starting point, nearest first."""
        rows = self._rows.all(
            "with recursive up (id, parent, n) as (select id, parent, 0 from url where id = ?1 union all "
            "select u.id, u.parent, up.n + 1 from url u join up on u.id = up.parent where up.n < ?2) "
            "select h.origin || u.path from up join url u on u.id = up.id join host h on h.id = u.host where up.n > 0 order by up.n",
            (url_id, _REFERRERS),
        )
        return [url for (url,) in rows]

    # -- descriptions, texts, bodies ----------------------------------------------------------

    def description(self, url_id: int) -> Description | None:
        """Return the RD of a row, all layers; values that live in a damaged text are left out.

        Dates are renewed by visits that found the page unchanged; a tombstone's RD is still there.
        """
        with self._rows.snapshot():
            row = self._rows.one(
                "select h.origin || u.path, p.attrs, u.described, u.seen from page p join url u on u.id = p.id "
                "join host h on h.id = u.host where p.id = ? and u.described is not null",
                (url_id,),
            )
            if row is None:
                return None
            uppers = self._rows.all("select name, attrs from layer where id = ?", (url_id,))
        url, attrs, described_s, seen_s = row
        page = unpack_attributes(attrs, self.texts([url_id]).get(url_id))
        renew(page, described_s=described_s, seen_s=seen_s)
        layers: dict[str, Attributes] = {"page": page}
        layers.update((name, unpack_attributes(blob, None)) for name, blob in uppers)
        return Description(url=url, layers=layers)

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the kept extracted texts; a damaged one is left out (``catalog check`` names it)."""
        return self._each_text(ids, self._bodies.text, "")

    def openings(self, ids: Sequence[int], most_bytes: int) -> dict[int, tuple[str, bool]]:
        """Return the first *most_bytes* (about) of the kept texts, and whether each is all of it; as :meth:`texts`."""

        def read(segment: int, offset: int, length: int) -> tuple[str, bool]:
            return self._bodies.opening(segment, offset, length, most_bytes)

        return self._each_text(ids, read, ("", True))

    def _each_text(
        self, ids: Sequence[int], read: Callable[[int, int, int], _T], nothing: _T
    ) -> dict[int, _T]:
        found: dict[int, _T] = {}
        for url_id, segment, _, _, offset, length, _ in self._rows.among(f"{_PLACE} in ({{ids}})", ids):
            try:
                found[url_id] = read(segment, offset, length) if segment else nothing
            except CatalogDamagedError:
                moved = self._moved(url_id, (segment, offset), text=True)
                if moved is None:
                    continue
                try:
                    found[url_id] = read(moved[0], moved[3], moved[4])
                except CatalogDamagedError:
                    continue
        return found

    def body(self, url_id: int) -> bytes | None:
        """Return the kept body, verified against its digest; ``None`` if it is not kept.

        Raises:
            CatalogDamagedError: it does not read back as written.
        """
        response = self.stored_response(url_id)
        return None if response is None else response.body

    def stored_response(self, url_id: int) -> Response | None:
        """Return the kept response, verified; ``None`` if bodies are not kept.

        Raises:
            CatalogDamagedError: it does not read back as written.
        """
        place = self._rows.one(f"{_PLACE} = ?", (url_id,))
        if place is None or not place[1] or not place[3]:
            return None
        _, segment, offset, length, _, _, digest = place
        try:
            kept = self._bodies.body(segment, offset, length, digest or b"")
        except CatalogDamagedError:
            moved = self._moved(url_id, (segment, offset), text=False)
            if moved is None:
                raise
            kept = self._bodies.body(moved[0], moved[1], moved[2], moved[5] or b"")
        return Response(url=kept.url, status=kept.status, headers=kept.headers, body=kept.body)

    def _moved(self, url_id: int, before: tuple[int, int], *, text: bool) -> tuple[Any, ...] | None:
        """Return where a row's bytes are now, ``None`` if still at *before* (segment, offset), or nowhere.

        Compaction may have moved them between the look at the row and the look at the file; only when the
        place is the same the bytes are damaged.
        """
        place = self._rows.one(f"{_PLACE} = ?", (url_id,))
        if place is None or not place[1] or before == (place[1], place[4 if text else 2]):
            return None
        return place[1:]

    # -- the log, counts ----------------------------------------------------------------------

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return at most *limit* changes above *after*, ascending."""
        rows = self._rows.all(
            "select seq, id, kind from change where seq > ? order by seq limit ?", (after, limit)
        )
        return [Change(sequence, url_id, ChangeKind(kind)) for sequence, url_id, kind in rows]

    def has_documents(self) -> bool:
        """Whether any source has a document."""
        return self._rows.value("select 1 from source where documents > 0 limit 1") is not None

    def stats(self) -> CatalogStats:
        """Return counts; reads every row once."""
        rows = self._rows
        with located(rows.path, "a state or outcome in table url"), rows.snapshot():
            states = rows.all("select state, count(*) from url group by state order by state")
            outcomes = rows.all(
                "select outcome, count(*) from url where outcome is not null group by outcome order by outcome"
            )
            return CatalogStats(
                states={State(state).name.lower(): count for state, count in states},
                outcomes={Outcome(outcome).name.lower(): count for outcome, count in outcomes},
                sources=dict(rows.all("select name, documents from source where documents > 0 order by name")),
                hosts=rows.value("select count(*) from host"),
                sequence=self.last_sequence(),
                catalog_bytes=sum(path.stat().st_size for path in _files(rows.path) if path.exists()),
                body_bytes=rows.value("select coalesce(sum(coalesce(len, 0) + coalesce(tlen, 0)), 0) from url where seg is not null"),
            )  # fmt: skip


def _files(path: Path) -> tuple[Path, Path]:
    return path, path.with_name(path.name + "-wal")


def _record(r: tuple[Any, ...]) -> UrlRecord:
    (url_id, url, source, state, depth, outcome, status, detail, place, denied_under, reason, fetched, due, etag, lastmod, digest,
     size, version, extra, parent, target, head) = r  # fmt: skip
    return UrlRecord(
        id=url_id, url=url, source=source, state=State(state), depth=depth,
        outcome=None if outcome is None else Outcome(outcome), status=status or 0, detail=detail or reason or "",
        where=place or "", config_version=denied_under or version or 0, fetched_s=fetched, due_s=due, etag=etag or "",
        last_modified=lastmod or "", digest="" if digest is None else digest.hex(), referrer=parent or "",
        redirects_to=target or "", duplicate_of=head or "", size=size or 0, described=version is not None,
        flags=() if extra is None or version is None else msgspec.msgpack.decode(extra, type=PageExtra).flags,
    )  # fmt: skip


_proof: type[CatalogReader] = SqliteReader
