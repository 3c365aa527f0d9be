"""Writing: settled visits, discoveries and host states, one transaction for a batch.

The journey of a settled visit: its new URLs become rows (or meet the rows that are there,
which may shorten their depth), its own row takes the outcome, its description replaces the
page layer, its digest joins a group of equal bodies, and a change row tells the index. All of
it commits together or not at all.

The row may have moved on since the visit was claimed (somebody removed it, released its hold, found
a nearer path): what counts is the row as it stands now.
"""

from collections.abc import Iterable
from typing import NamedTuple

import apsw
import msgspec

from ingather.catalog.access.sqlite_acl import WITHHELD, AccessLists
from ingather.catalog.deletion.sqlite_holds import Holds
from ingather.catalog.digests import Part, equal
from ingather.catalog.frontier.sqlite_budget import Budgets
from ingather.catalog.frontier.sqlite_discovery import BY_HAND, Discoveries
from ingather.catalog.frontier.sqlite_freshness import Freshness
from ingather.catalog.frontier.sqlite_pushed import PushedUrls
from ingather.catalog.frontier.sqlite_redirects import Redirects
from ingather.catalog.likeness.sqlite_duplicates import HIDDEN, Duplicates
from ingather.catalog.likeness.sqlite_likeness import Likeness
from ingather.catalog.packing import EMPTY_ATTRIBUTES, pack_visit, raw_visits, remember
from ingather.catalog.reports.sqlite_figures import Figures
from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_partition import move
from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind
from ingather.model.demand import Demand, earliest_visit
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import HostReport, Report, Settled

__all__ = ["Applied", "Applier"]

_LOOK_AGAIN_S = 30 * 86_400.0
_NO_ANCHORS = b"\x90"
_NO_PLACE = (None, None, None, None, None)
_READ = frozenset({Outcome.ENUMERATED, Outcome.NOINDEX})
"""Outcomes of visits that read a page without describing it: their links are the page's links, also when there are none."""

_DESCRIBED = (Part.TEXT, Part.METADATA, Part.ACL)
"""What a description and its index document are made of."""

_encode = msgspec.msgpack.Encoder().encode


class _Now(NamedTuple):
    """The row as it stands when its visit is settled."""

    state: int
    depth: int
    limit: int | None
    digest: bytes | None
    version: int | None
    dup: int | None
    held: int | None
    source: int
    fetched_s: float | None
    history: bytes
    acl: int
    policy: int | None
    due_s: float | None
    asked: int
    urgent: int


def _as_found(settled: Settled, digests: bytes | None) -> Settled:
    """Return the visit as one that found its page unchanged, if only bytes differ from the description so far."""
    report = settled.report
    if report.outcome != Outcome.INDEXED or not equal(digests, report.digests, *_DESCRIBED):
        return settled
    report = msgspec.structs.replace(report, outcome=int(Outcome.UNCHANGED))
    return msgspec.structs.replace(settled, report=report)


def _answered(settled: Settled, now: _Now) -> int:
    """Return the newest demand that a visit stands for: what came while it was made too, if no visit would tell more."""
    final = settled.state in {State.EXCLUDED, State.QUARANTINED} or settled.report.fed
    return now.asked if final else settled.row.asked


class _Tombstone(NamedTuple):
    decided: int
    gone: int
    version: int | None
    at_s: float = 0.0


class Applier:
    """The statements of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, *, budgets: Budgets) -> None:
        self._cursor = db.cursor()
        self.budgets = budgets
        self.log = ChangeLog(db)
        self.likeness = Likeness(db, self.log)
        self.names = Names(db)
        self.duplicates = Duplicates(db, self.names, self.log)
        self.figures = Figures(db)
        self.freshness = Freshness(db)
        self.discoveries = Discoveries(
            db, self.names, budgets, self.duplicates, self.log, figures=self.figures
        )
        self._redirects = Redirects(db, budgets.redirects_a_day)
        self.pushed = PushedUrls(db)
        self.holds = Holds(db, self.names, self.duplicates, self.log)
        self.acl = AccessLists(db, self.names, self.duplicates, self.log)
        self.discover = self.discoveries.discover
        self.change = self.log.append
        self.event = self.log.event
        self.fed_some = False
        """Whether any URL is named by a pushed feed."""
        self.reload()

    def reload(self) -> None:
        """Read again what is kept in memory; after a rollback memory may be ahead of the file."""
        self.names.reload()
        self.log.reload()
        self.budgets.reload()
        self.discoveries.reload()
        self.acl.reload()
        self.likeness.reload()
        self.figures.reload()
        self.freshness.reload()
        self.pushed.reload()
        self.fed_some = bool(self._cursor.execute("select exists (select 1 from fed)").get)

    def flush(self) -> None:
        """Write counters that were kept in memory; call before the commit."""
        self.budgets.flush()
        self.names.flush()
        self.figures.flush()

    @property
    def run(self) -> int | None:
        """The run at hand, ``None`` = none was begun."""
        return self.figures.run

    @property
    def now_s(self) -> float:
        """Wall time of the batch at hand; set it at its begin."""
        return self.log.now_s

    @now_s.setter
    def now_s(self, now_s: float) -> None:
        self.log.now_s = now_s

    @property
    def sequence(self) -> int:
        """Number of the newest change."""
        return self.log.sequence

    # -- settling -----------------------------------------------------------------------------

    def settle(self, settled: Settled, applied: Applied) -> None:
        """Write one visit: discoveries, row, description, digest group, change."""
        if self.fed_some and not settled.report.fed and self._comes_with_feeds(settled.row.id):
            return  # a feed brought its content while it was visited
        settled = self._without_links_of_a_copy(settled)
        if self.pushed.some:
            report = self._led(settled.report, settled.row.id)
            settled = msgspec.structs.replace(settled, report=report)
        self._settle(settled, applied)
        self.freshness.settled(settled.row.id, applied)
        if (
            self.fed_some and not settled.report.fed
        ):  # crawl-once: no visit is planned of what was found as it should be
            self._cursor.execute(
                "update url set due = null where id = ?1 and state = 2 and version is not null and missing is null and fails = 0 "
                "and asked <= answered and outcome != ?2 and exists (select 1 from fed where id = ?1 and once)",
                (settled.row.id, int(Outcome.REFUSED)),
            )

    def _comes_with_feeds(self, url_id: int) -> bool:
        return bool(self._cursor.execute("select content from fed where id = ?", (url_id,)).get)

    def _settle(self, settled: Settled, applied: Applied) -> None:  # noqa: C901 - one visit, told in order
        report, row = settled.report, settled.row
        discover, url_id = self.discover, row.id
        for found in report.found:
            discover(found, url_id, applied)
        target = None
        if report.redirect is not None:
            again_s = self._redirects.again_at(url_id, report.at_s, row.fetched_s)
            if again_s is None:
                target = discover(report.redirect, url_id, applied)
            else:
                settled = self._sent_around(settled, again_s, applied)
                report = settled.report
        got = self._cursor.execute(SQL["row_now"], (url_id,)).get
        if got is None:
            return
        now = _Now(*got)
        if self._stays_buried(report, now):
            return
        settled = self._asked_again(settled, now, applied)
        known = self._digests(report, now)
        if (
            equal(known, report.digests, Part.TEXT, Part.METADATA, Part.ACL)
            and report.outcome == Outcome.INDEXED
        ):
            report = msgspec.structs.replace(report, outcome=int(Outcome.UNCHANGED))
            settled = msgspec.structs.replace(settled, report=report)
        verdict = self._verdict(report) or 0
        self.figures.visit(report, row.host, verdict)
        visit = pack_visit(report.at_s, report.outcome, report.status, report.elapsed_s, verdict)
        history = remember(visit, now.history)
        if report.described or (now.version is None and not settled.keep_description):
            self._replace(settled, now, history, target, applied, digests=known)
        else:
            self._keep(settled, now, history, target, applied)
        if settled.state == State.EXCLUDED and now.state != State.EXCLUDED:
            self.budgets.release(row.host, row.path)
            self.budgets.count_excluded(row.host, 1)
        if (now.depth, now.limit) != (row.depth, row.max_depth):
            self.discoveries.carry(url_id, now.depth, now.limit, applied)
        if settled.propose and now.version is not None:
            applied.proposals.append((url_id, now.source, settled.propose))

    def _asked_again(self, settled: Settled, now: _Now, applied: Applied) -> Settled:
        """Return a visit that was claimed before a pushed record asked for one: it does not stand for it, another is planned.

        Numbers are compared and no times: whether the host was asked before or after the push, nobody can tell for sure.
        """
        if now.asked <= settled.row.asked or settled.state != State.DONE:
            return settled
        visits = [settled.report.at_s, *(visit[0] for visit in raw_visits(now.history))]
        demand = Demand.URGENT if now.urgent > settled.row.asked else Demand.USUAL
        at_s = earliest_visit(demand, visits, self.now_s)
        if at_s > self.now_s:
            due_s = at_s if settled.due_s is None else min(settled.due_s, at_s)
            return msgspec.structs.replace(settled, due_s=due_s)
        applied.wakes(settled.row.host)
        if demand is Demand.URGENT:
            applied.ahead.add(settled.row.host)
        return msgspec.structs.replace(settled, state=int(State.WAITING), due_s=None)

    def _led(self, report: Report, url_id: int) -> Report:
        """Return a report whose links lead to what was pushed, where they were cut from that."""
        pushed, redirect = self.pushed, report.redirect
        found = [meant for one in report.found for meant in pushed.meant(one)]
        if redirect is not None:
            redirect = next(pushed.meant(redirect, but=url_id))
        report = msgspec.structs.replace(report, found=found, redirect=redirect)
        return pushed.links(report) if report.links else report

    def _without_links_of_a_copy(self, settled: Settled) -> Settled:
        """Follow no links of a page whose bytes a nearer one has given already, if its filter says so (DEC-24)."""
        report, row = settled.report, settled.row
        if not (
            report.dedupe_links
            and self.duplicates.known(row.id, report.digest, self.names.audience(row.source))
        ):
            return settled
        report = msgspec.structs.replace(report, found=[], links=b"", anchors=_NO_ANCHORS)
        return msgspec.structs.replace(settled, report=report)

    def _sent_around(self, settled: Settled, again_s: float, applied: Applied) -> Settled:
        """Return a visit whose redirect is one too many for its day: not followed, and asked again the next."""
        report = settled.report
        url = self._cursor.execute(
            "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (report.id,)
        ).get
        applied.refused.append((url, "redirects-a-day"))
        self.figures.refused("redirects-a-day")
        report = msgspec.structs.replace(report, redirect=None, detail="too many redirects in a day")
        due_s = again_s if settled.due_s is None else max(settled.due_s, again_s)
        return msgspec.structs.replace(settled, report=report, due_s=due_s)

    def _digests(self, report: Report, now: _Now) -> bytes | None:
        """Return the digests of the description that a visit would renew, ``None`` if there is none or they were not kept."""
        if now.version is None or not (report.described and report.digests):
            return None
        found: bytes | None = self._cursor.execute("select digests from page where id = ?", (report.id,)).get
        return found

    def _verdict(self, report: Report) -> int | None:
        return None if report.denial is None else self.names.directive(report.denial)

    def _replace(  # noqa: C901, PLR0913, PLR0917 - a visit with what is known of its row
        self,
        settled: Settled,
        now: _Now,
        history: bytes,
        target: int | None,
        applied: Applied,
        digests: bytes | None = None,
    ) -> None:
        """The visit brought a body: a description, or at least its links. *digests*: of the description so far."""
        report, url_id = settled.report, settled.row.id
        described, digest = report.described, report.digest or None
        audience = self.names.audience(now.source)
        shown = now.version is not None and now.dup is None and now.held != HIDDEN
        placed = described and self.acl.place(url_id, bare=now.policy is None)
        # What was withheld and is answered now is not withheld any more.
        known = now.acl & ~WITHHELD
        placed = (described and self.acl.relist(url_id, report.attributes, known=known)) or placed
        marks = self.acl.marks(url_id, report.attributes, known=known, placed=True) if described else now.acl
        grouped = described and report.dedupe and digest is not None and not marks
        if now.digest is not None and not (grouped and now.digest == digest):
            self.duplicates.leave(url_id, now.digest, audience, applied)
        dup = self.duplicates.enter(url_id, digest, audience, applied) if grouped and digest else None
        moved = described and bool(report.database) and move(self._cursor, url_id, report.database)
        if (
            shown
            and dup is None
            and not moved
            and now.held is None
            and marks == now.acl
            and not placed
            and equal(digests, report.digests, *_DESCRIBED)
        ):
            self._stands(settled, now, history, digests)
            return
        self._cursor.execute(
            SQL["settle_url"],
            (
                url_id, settled.state, report.outcome if dup is None else 12, report.status, self._verdict(report),
                report.version if described else None, self.run, settled.due_s, report.at_s, report.at_s if described else None,
                settled.wait_s, settled.missing_s, settled.fails, settled.strikes, target, dup, report.etag or None,
                report.last_modified or None, digest, report.size,
                *(_NO_PLACE if report.stored is None else msgspec.structs.astuple(report.stored)),
                report.detail or None, history, grouped, report.expires_s, _answered(settled, now),
            ),
        )  # fmt: skip
        if not described:
            self._put_links(report, url_id)
            return
        self.figures.described(known=now.version is not None, hidden=dup is not None)
        if now.version is None:
            self.names.count(now.source, 1)
            if now.fetched_s is not None:
                self._cursor.execute("delete from tombstone where id = ?", (url_id,))
        if now.held is not None:
            self.holds.take(url_id, report.at_s)
        self.acl.write(url_id, marks, applied, known=now.acl)
        self._cursor.execute(
            SQL["put_page"],
            (
                url_id, report.title, report.attributes or EMPTY_ATTRIBUTES, report.links, report.anchors,
                _encode(
                    (
                        report.headings, report.marked, report.language, report.media_type, report.date_s, report.flags,
                        report.language_source, report.date_source,
                    )
                ),
                report.digests or None,
            ),
        )  # fmt: skip
        self.likeness.put(url_id, report, new=now.fetched_s is None)
        if dup is not None:
            if shown:
                self.log.append(url_id, ChangeKind.REMOVE, applied)
            return
        if (placed or marks != now.acl) and shown:
            self.acl.moved(url_id, applied)
        if settled.put or moved or not shown:
            self.log.append(url_id, ChangeKind.PUT, applied, report)

    def _stands(self, settled: Settled, now: _Now, history: bytes, digests: bytes | None) -> None:
        """Another body and the same description: neither it nor the index is written, its links are if they changed."""
        report, url_id = settled.report, settled.row.id
        self._cursor.execute(
            SQL["settle_url_same"],
            (
                url_id, settled.state, report.status, self._verdict(report), report.version, self.run, settled.due_s, report.at_s,
                settled.wait_s, settled.strikes, report.etag or None, report.last_modified or None, report.digest or None, report.size,
                *(_NO_PLACE if report.stored is None else msgspec.structs.astuple(report.stored)), history, report.expires_s,
                report.outcome, _answered(settled, now),
            ),
        )  # fmt: skip
        self.figures.description("unchanged")
        if equal(digests, report.digests, Part.LINKS):
            if digests != report.digests:
                self._cursor.execute("update page set digests = ? where id = ?", (report.digests, url_id))
            return
        self._cursor.execute(
            "update page set out = ?, anchor = ?, digests = ? where id = ?",
            (report.links, report.anchors, report.digests, url_id),
        )

    def _keep(
        self, settled: Settled, now: _Now, history: bytes, target: int | None, applied: Applied
    ) -> None:
        """The visit brought no new body: what is kept of the page stands."""
        report, url_id = settled.report, settled.row.id
        state, due = settled.state, settled.due_s
        same = report.outcome == Outcome.UNCHANGED
        returns = False
        if now.version is None and now.fetched_s is not None:
            tombstone = self._tombstone(url_id)
            returns = same and settled.row.version is not None and tombstone.version is not None
            if tombstone.gone and not same and state == State.DONE:
                state = int(State.GONE)
                if report.outcome == Outcome.NOT_FOUND and now.asked <= settled.row.asked:
                    due = report.at_s + _LOOK_AGAIN_S
        self._cursor.execute(
            SQL["settle_url_kept"],
            (
                url_id, state, report.outcome, report.status, self._verdict(report), self.run, due, report.at_s,
                settled.wait_s, settled.missing_s, settled.fails, settled.strikes, target, report.detail or None, history,
                report.etag, report.last_modified, report.expires_s, _answered(settled, now),
            ),
        )  # fmt: skip
        if same and now.version is not None:
            self.figures.description("unchanged")
        if returns:
            self.unbury(url_id, applied)
        if same and now.acl & WITHHELD:
            self.acl.renew(url_id, applied, withheld=False)
        if same and now.held is not None:
            self.holds.withdraw(url_id, report.at_s, applied)
        self._put_links(report, url_id)

    def _put_links(self, report: Report, url_id: int) -> None:
        if report.links:
            self._cursor.execute(SQL["put_links"], (url_id, report.links, report.anchors))
        elif report.outcome in _READ:
            self._cursor.execute(
                "update page set out = x'', anchor = ? where id = ? and out != x''", (report.anchors, url_id)
            )

    def _tombstone(self, url_id: int) -> _Tombstone:
        row = self._cursor.execute(
            "select decided, gone, version, at from tombstone where id = ?", (url_id,)
        ).get
        return _Tombstone(0, 0, None) if row is None else _Tombstone(*row)

    def _stays_buried(self, report: Report, now: _Now) -> bool:
        """Whether a visit is of no account: the URL was removed, or went with its source, while it was visited, or deleted after it.

        In the last case the page is looked at again; no older record revives what is deleted.
        """
        if now.version is not None or (now.state != State.GONE and now.fetched_s is None):
            return False
        tombstone = self._tombstone(report.id)
        if now.state == State.GONE and tombstone.decided == BY_HAND:
            return True
        begun_s = report.at_s - report.elapsed_s
        if now.state == State.GONE and now.due_s is None and not report.fed and begun_s < tombstone.at_s:
            return True  # nobody is to look again: its source is deleted, and this visit was under way
        if report.fed or report.at_s >= tombstone.at_s:
            return False
        state = State.GONE if tombstone.gone else State.DONE
        self._cursor.execute(
            "update url set state = ?, due = ?, intent = 0 where id = ?", (int(state), self.now_s, report.id)
        )
        return True

    def unbury(self, url_id: int, applied: Applied) -> None:
        """Take a tombstone away and show again what is still described."""
        tombstone = self._tombstone(url_id)
        source, version = self._cursor.execute("select source, version from url where id = ?", (url_id,)).get
        self._cursor.execute("delete from tombstone where id = ?", (url_id,))
        if version is None and tombstone.version is not None:
            self._cursor.execute("update url set version = ? where id = ?", (tombstone.version, url_id))
            self.names.count(source, 1)
            self.figures.description("restored")
            self.duplicates.rejoin(url_id, applied)

    # -- hosts --------------------------------------------------------------------------------

    def hosts(self, reports: Iterable[HostReport]) -> None:
        """Keep what gatherers learnt about hosts."""
        for r in reports:
            self._cursor.execute(
                "update host set not_before = ?, back_offs = ?, robots_kind = ?, robots_body = ?, robots_at = ?, robots_since = ?, "
                "robots_detail = ?, delay = ? where id = ?",
                (r.not_before_s, r.back_offs, r.robots_kind, r.robots_body, r.robots_at_s, r.robots_since_s, r.robots_detail, r.delay_s, r.id),
            )  # fmt: skip

    def source(self, name: str, kind: str = "site", access: str = "") -> int:
        """Return the row of source *name*, made if new."""
        return self.names.source(name, kind, access)

    def host(self, origin: str) -> int:
        """Return the row of *origin*, made if new."""
        return self.names.host(origin)
