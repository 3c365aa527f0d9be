"""Writing what pages are like: fingerprints, canonical links, groups of near-duplicates, and who stands behind whom.

A page stands behind another (``url.behind``) while its canonical link is obeyed: it is described and visited as
before, but not shown. Nobody loses sight of anything by it: both must be public, and when the other is shown no more,
or not to everybody, those behind it are shown again in the same transaction.
"""

from collections.abc import Iterable, Sequence

import apsw

from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_rows import fetch
from ingather.model.change import ChangeKind
from ingather.model.report import Report

__all__ = ["PUBLIC", "SHOWN", "Likeness"]

SHOWN = "{u}.version is not null and {u}.dup is null and {u}.held is not 2 and {u}.state != 3"
"""Whether a row has a description that readers may see, but for who it stands behind."""
PUBLIC = "{u}.acl = 0 and {u}.policy is null and {u}.source in (select id from source where access = 'public' and disabled is null and not apart)"
"""Whether everybody may see a row."""

_SHOWN, _PUBLIC = SHOWN.format(u="url"), PUBLIC.format(u="url")


class Likeness:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, log: ChangeLog) -> None:
        self._cursor = db.cursor()
        self._log = log
        self._heads: set[int] = set()
        log.watch = self._changed

    def reload(self) -> None:
        """Read again behind whom others stand."""
        self._heads = {
            row for (row,) in fetch(self._cursor, "select distinct behind from url where behind is not null")
        }

    def put(self, url_id: int, report: Report, *, new: bool) -> None:
        """Keep what a visit's description says of its text and its address; of a *new* page there is nothing to take back."""
        execute = self._cursor.execute
        if report.near:
            execute(
                "insert into fingerprint (id, near) values (?1, ?2) on conflict do update set near = ?2 where near != ?2",
                (url_id, report.near),
            )
        elif not new:
            execute("delete from fingerprint where id = ?", (url_id,))
        if report.canonical:
            execute(
                "insert into canonical (id, target, url) values (?1, ?2, ?3) on conflict do update "
                "set target = ?2, url = ?3, verdict = null, at = null where target != ?2",
                (url_id, report.canonical_key, report.canonical),
            )
        elif not new:
            execute("delete from canonical where id = ?", (url_id,))

    # -- who stands behind whom ---------------------------------------------------------------

    def _changed(self, url_id: int, kind: ChangeKind, applied: Applied) -> None:
        """What *url_id* shows changes: those behind it step forward unless it is still there for everybody."""
        if url_id not in self._heads:
            return
        if kind is ChangeKind.PUT and self._stands(url_id):
            return
        self._heads.discard(url_id)
        self._release("behind = ?", (url_id,), applied)

    def _stands(self, url_id: int) -> bool:
        return bool(
            self._cursor.execute(
                f"select {_SHOWN} and behind is null and {_PUBLIC} from url where id = ?",  # noqa: S608 - constants
                (url_id,),
            ).get
        )

    def _release(self, condition: str, values: Sequence[object], applied: Applied) -> int:
        rows = fetch(
            self._cursor,
            f"select id, {_SHOWN} from url where behind is not null and {condition}",  # noqa: S608 - constants
            values,
        )
        for url_id, shown in rows:
            self._cursor.execute("update url set behind = null where id = ?", (url_id,))
            if shown:
                self._log.append(url_id, ChangeKind.PUT, applied)
        return len(rows)

    def release_source(self, source: int, applied: Applied) -> int:
        """A source is not for everybody any more: what stands behind its pages is shown; return how many."""
        return self._release("behind in (select id from url where source = ?)", (source,), applied)

    def judge(self, verdicts: Iterable[tuple[int, str, int | None]], now_s: float, applied: Applied) -> int:
        """Carry out what a pass found about canonical links.

        Args:
            verdicts: (row, why its link is ignored or ``""``, the row that it stands behind or ``None``).
            now_s: wall time.
            applied: takes the changes.

        Returns:
            How many pages are shown, or shown no more, by it.
        """
        moved = 0
        for url_id, verdict, behind in verdicts:
            self._cursor.execute(
                "update canonical set verdict = ?, at = ? where id = ?", (verdict, now_s, url_id)
            )
            row = self._cursor.execute(
                f"select behind, {_SHOWN} and {_PUBLIC} from url where id = ?",  # noqa: S608 - constants
                (url_id,),
            ).get
            if row is None:
                continue
            # The pass may have read an older state.
            holds = behind is not None and row[1] and self._stands(behind)
            now = behind if holds else None
            if now == row[0]:
                continue
            self._cursor.execute("update url set behind = ? where id = ?", (now, url_id))
            if now is not None:
                self._heads.add(now)
                self._log.append(url_id, ChangeKind.REMOVE, applied)
            elif row[1]:
                self._log.append(url_id, ChangeKind.PUT, applied)
            moved += 1
        return moved

    def release_stale(self, applied: Applied) -> int:
        """Show again what stands behind another although it names no canonical address any more; return how many."""
        return self._release("id not in (select id from canonical)", (), applied)

    # -- groups -------------------------------------------------------------------------------

    def group(self, members: Sequence[tuple[int, int, int]], gone: Sequence[int]) -> None:
        """Keep members of groups of near-duplicates (row, head, bits), and forget rows that are in none any more."""
        self._cursor.executemany("delete from near where id = ?", [(row,) for row in gone])
        self._cursor.executemany(
            "insert into near (id, head, bits) values (?1, ?2, ?3) on conflict do update set head = ?2, bits = ?3",
            members,
        )
