"""Deletion, holds and their undoing. A delete is a tombstone with a reason; the RD's bytes stay, so that it can be undone."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from ingather.catalog.deletion.sqlite_evidence import Evidence, Seen
from ingather.catalog.deletion.sqlite_holds import Hold
from ingather.catalog.deletion.sqlite_undo import Undoing, rows_below
from ingather.catalog.frontier.sqlite_discovery import BY_HAND
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.model.change import ChangeKind
from ingather.model.decided import NOBODY, By, Undo
from ingather.model.lifecycle import State

__all__ = ["Deletions", "Hold", "SourceFacts"]

_BY_POLICY, _BY_PERSON = 0, 1
_GONE = ("(404)", "(410)")
"""What the reasons end with that say that the page itself is gone; the others leave its visits as they were."""

_DAY_S = 86_400.0
_LOOK_AGAIN_S = 30 * _DAY_S
_KEPT_S = 30 * _DAY_S
"""No cool-down is longer."""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """A source's account for the deletion policy.

    Attributes:
        name, access: of the source.
        documents: described URLs, hidden ones and duplicates included.
        deleted_24h: deleted within a day by the policy itself.
        held: in open holds.
        missing: missing at a first look and not held.
        kept: (reason, when last) for which people kept documents within 30 days; ``""`` = whatever the reason.
    """

    name: str
    access: str
    documents: int
    deleted_24h: int
    held: int
    missing: int
    kept: tuple[tuple[str, float], ...] = ()


class Deletions:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier) -> None:
        self._cursor = db.cursor()
        self._applier = applier
        self._names = applier.names
        self._holds = applier.holds
        self._log = applier.log
        self.evidence = Evidence(db)
        self._undoing = Undoing(db, applier, self.evidence)

    def facts(self, source: int, now_s: float) -> SourceFacts:
        """Return the policy's facts about *source*; the cost does not grow with its documents.

        ``documents`` is a counter of the source, the others are counted in indexes that hold only what is
        missing (``url_missing``) or was deleted of late (``tombstone_day``), and in the open holds' counters.
        """
        count = self._cursor.execute
        missing = count(
            "select count(*) from url indexed by url_missing where source = ? and missing is not null "
            "and version is not null and held is null",
            (source,),
        ).get
        deleted = count(
            "select count(*) from tombstone indexed by tombstone_day where source = ? and at > ? and decided = 0",
            (source, now_s - _DAY_S),
        ).get
        return SourceFacts(
            self._names.source_name(source), self._names.access(source), self._names.documents(source),
            int(deleted), self._holds.held(source), int(missing), self.evidence.kept(source, now_s - _KEPT_S),
        )  # fmt: skip

    def delete(  # noqa: PLR0913 - what, why, when, and how final
        self,
        url_id: int,
        reason: str,
        now_s: float,
        applied: Applied,
        *,
        gone: bool,
        decided: int = _BY_POLICY,
        hold: int | None = None,
        decision: int | None = None,
    ) -> None:
        """Bury one URL; *gone* also stops its visits for long, else only its RD disappears.

        *decided*: 0 = by the policy, 1 = by a person who released a hold, 2 = removed by hand. *hold*: the one that was
        released; *decision*: the row of what the person decided.
        """
        row = self._cursor.execute(
            "select digest, version, dup, held, source from url where id = ?", (url_id,)
        ).get
        if row is None:
            return
        digest, version, dup, held, source = row
        shown = version is not None and dup is None
        sequence = self._log.sequence
        if shown:
            self._applier.duplicates.leave(url_id, digest, self._names.audience(source), applied)
            sequence = self._log.append(url_id, ChangeKind.REMOVE, applied)
        if version is not None:
            self._names.count(source, -1)
            self._applier.figures.description("removed")
        if held is not None:
            self._holds.take(url_id, now_s)
        self._cursor.execute(
            "insert into tombstone (id, at, reason, seq, source, decided, gone, version, run, hold, decision) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "on conflict (id) do update set at = excluded.at, reason = excluded.reason, seq = excluded.seq, "
            "decided = excluded.decided, gone = excluded.gone, version = coalesce(excluded.version, version), "
            "run = excluded.run, hold = excluded.hold, decision = excluded.decision",
            (
                url_id,
                now_s,
                reason,
                sequence,
                source,
                decided,
                gone,
                version,
                self._applier.run,
                hold,
                decision,
            ),
        )
        if gone:
            due = None if decided == BY_HAND else now_s + _LOOK_AGAIN_S
            self._cursor.execute(
                # A visit that a pushed record asked for is made all the same, unless a person does not want the URL.
                "update url set state = ?1, version = null, dup = null, held = null, due = iif(asked > answered and ?4, ?5, ?2), "
                "answered = iif(?4, answered, asked) where id = ?3",
                (int(State.GONE), due, url_id, decided != BY_HAND, now_s),
            )
        else:
            self._cursor.execute(
                "update url set version = null, dup = null, held = null where id = ?", (url_id,)
            )

    def observe(self, seen: Seen, now_s: float) -> None:
        """Keep what was seen of a document that may have to go, and what the policy answered."""
        self.evidence.note(seen, now_s, self._applier.run)

    def stands(self, url_id: int, fetched_s: float | None) -> bool:
        """Whether a row is described, not held, and was not visited since *fetched_s*."""
        return bool(
            self._cursor.execute(
                "select count(*) from url where id = ? and version is not null and held is null and fetched is ?",
                (url_id, fetched_s),
            ).get
        )

    def look_again(self, url_id: int, at_s: float, *, whole: bool) -> None:
        """Plan the next look at a document whose deletion waits or is held: not before *at_s*.

        *whole*: the page is asked for without a condition, because "unchanged" would say nothing about what was observed.
        """
        self._cursor.execute(
            "update url set due = iif(asked > answered, due, max(due, ?1)), etag = iif(?3, null, etag), lastmod = iif(?3, null, lastmod) "
            "where id = ?2 and due is not null",
            (at_s, url_id, whole),
        )

    # -- holds --------------------------------------------------------------------------------

    def hold(  # noqa: PLR0913 - what, whose, why, when, and what becomes of it meanwhile
        self,
        url_id: int,
        source: int,
        reason: str,
        now_s: float,
        *,
        hidden: bool | None = None,
        applied: Applied | None = None,
        why: str = "",
    ) -> int:
        """Put one proposed deletion into the open hold of its source and reason; return the hold.

        Args:
            url_id: the document's row; one that is held already stays where it is.
            source: whose it is.
            reason: why it may have to go.
            now_s: wall time.
            hidden: whether searchers do not see it meanwhile; ``None`` = as its source's access says.
            applied: takes the change rows: the document's own, and that of an equal one that is shown instead.
            why: what the policy says; kept with a hold that opens now.
        """
        return self._holds.put(url_id, source, reason, now_s, hidden=hidden, applied=applied, why=why)

    def hide(self, url_id: int, source: int, applied: Applied) -> None:
        """Show a document to nobody until :meth:`withdraw`; no person is asked."""
        self._holds.hide(url_id, source, applied)

    def held_among(self, url_ids: Sequence[int]) -> set[int]:
        """Return those of *url_ids* that are in an open hold."""
        return {
            url_id
            for url_id in url_ids
            if self._cursor.execute("select 1 from hold_item where id = ?", (url_id,)).get is not None
        }

    def withdraw(self, url_ids: Sequence[int], now_s: float, applied: Applied) -> None:
        """Take URLs out of open holds; :meth:`Applier.settle` does so for pages that answer again."""
        for url_id in url_ids:
            self._holds.withdraw(url_id, now_s, applied)

    def holds(self) -> list[Hold]:
        """Return the open holds with up to five of their URLs."""
        return self._holds.open()

    def close_hold(
        self, hold: int, *, release: bool, now_s: float, applied: Applied, by: By = NOBODY
    ) -> int | None:
        """Carry the deletions of a hold out (*release*) or drop them; return how many, ``None`` = no such open hold.

        Dropped ones count as found: a document that is still missing needs its looks again.
        """
        found = self._holds.of(hold)
        if found is None:
            return None
        source, reason = found
        items = self._holds.items(hold)
        verb = "release" if release else "discard"
        decision = self.evidence.decide(
            verb, f"hold {hold}", by, now_s, source=source, reason=reason, documents=len(items)
        )
        self._holds.close(hold, "released" if release else "discarded", now_s, decision)
        for url_id in items:
            if release:
                self.delete(
                    url_id, reason, now_s, applied, gone=reason.endswith(_GONE), decided=_BY_PERSON, hold=hold, decision=decision,
                )  # fmt: skip
            else:
                self._holds.withdraw(url_id, now_s, applied)
        return len(items)

    # -- by hand ------------------------------------------------------------------------------

    def meant(self, prefix: str, *, exact: bool, sample: int) -> tuple[dict[str, int], list[str]]:
        """Return (source -> documents at *prefix* or below it, their first *sample* URLs): what :meth:`remove` would take out."""
        rows = [row for row, version in rows_below(self._cursor, prefix, exact=exact) if version is not None]
        found: Counter[str] = Counter()
        for row in rows:
            found[
                self._names.source_name(
                    self._cursor.execute("select source from url where id = ?", (row,)).get
                )
            ] += 1
        shown = [
            self._cursor.execute(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (row,)
            ).get
            for row in rows[:sample]
        ]
        return dict(found), shown

    def remove(
        self, prefix: str, now_s: float, applied: Applied, *, exact: bool, by: By = NOBODY
    ) -> tuple[int, int]:
        """Remove by hand: one URL (*exact*), or everything that starts with *prefix*, now and later.

        Returns:
            How many documents went (URLs without a description are not gathered any more either), and the row of this decision. What was
            deleted before keeps its tombstone: undoing this removal does not bring it back.
        """
        below = rows_below(self._cursor, prefix, exact=exact)
        gone = sum(version is not None for _, version in below)
        reason = f"removed by hand: {prefix}"
        decision = self.evidence.decide("remove", prefix, by, now_s, reason=reason, documents=gone)
        for url_id, version in below:
            if (
                version is None
                and self._cursor.execute("select 1 from tombstone where id = ?", (url_id,)).get
            ):
                self._cursor.execute(  # it may wait to be looked at once more: nobody looks at what a person removed
                    "update url set state = ?, due = null, answered = asked where id = ?",
                    (int(State.GONE), url_id),
                )
                continue
            self.delete(url_id, reason, now_s, applied, gone=True, decided=BY_HAND, decision=decision)
        self._cursor.execute(
            "insert into removed (url, exact, at) values (?, ?, ?) on conflict do nothing",
            (prefix, exact, now_s),
        )
        self._names.reload_removed()
        return gone, decision

    def _permit(self, decision: int, now_s: float) -> None:
        """Let what removal *decision* forbade be gathered again; what was deleted before it is looked at again as it was to be."""
        row = self._cursor.execute(
            "select target, at from decision where id = ? and verb = 'remove'", (decision,)
        ).get
        if row is None:
            return
        target, at_s = row
        self._cursor.execute("delete from removed where url = ? and at = ?", (target, at_s))
        self._names.reload_removed()
        for url_id, version in rows_below(self._cursor, target, exact=False):
            if version is None:
                self._cursor.execute(
                    "update url set due = ?1 where id = ?2 and due is null and state = ?3 "
                    "and exists (select 1 from tombstone t where t.id = ?2 and t.decided != ?4)",
                    (now_s + _LOOK_AGAIN_S, url_id, int(State.GONE), BY_HAND),
                )

    def let_go(self, url: str, source: str, reason: str, now_s: float, applied: Applied) -> bool:
        """Bury the page *url* of *source* if it is that source's still; it may be gathered again. Return whether it was described."""
        number, found = self._names.known_source(source), rows_below(self._cursor, url, exact=True)
        for url_id, version in found:
            if (
                number is not None
                and self._cursor.execute("select source from url where id = ?", (url_id,)).get == number
            ):
                self.delete(url_id, reason, now_s, applied, gone=True)
                return version is not None
        return False

    def undelete(self, prefix: str, now_s: float, applied: Applied, *, exact: bool, by: By = NOBODY) -> int:
        """Undo tombstones at or below *prefix*, give quarantined URLs another chance, allow what was removed.

        What is still described is shown again; all are visited next.

        Returns:
            How many URLs came back.
        """
        if exact:
            self._cursor.execute("delete from removed where url = ? and exact = 1", (prefix,))
        else:
            self._cursor.execute("delete from removed where substr(url, 1, ?) = ?", (len(prefix), prefix))
        self._names.reload_removed()
        return self._undoing.below(prefix, now_s, applied, exact=exact, by=by)

    def undo(  # noqa: PLR0913 - what, from where on, who, when
        self, wanted: Undo, after: int, limit: int, applied: Applied, *, by: By, at_s: float
    ) -> tuple[int, int]:
        """Undo up to *limit* of the deletions that *wanted* means, behind row *after*; what was removed by hand stays.

        Returns:
            How many came back, and the last row that was looked at, 0 = these were all.
        """
        if wanted.decision is not None and not after:
            self._permit(wanted.decision, at_s)
        return self._undoing.matching(wanted, after, limit, applied, by=by, at_s=at_s)
