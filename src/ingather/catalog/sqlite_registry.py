"""What changes rarely: sources, configuration versions, runs, acknowledged WARC ends, other layers."""

import json
from collections.abc import Iterable, Mapping, Sequence

import apsw

from ingather.catalog.packing import EMPTY_ATTRIBUTES
from ingather.catalog.reports.sqlite_runs import detail_of
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import Rows, fetch
from ingather.catalog.sqlite_versions import Versions
from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import State
from ingather.model.report import Stored
from ingather.model.source_name import source_key

__all__ = ["ACKNOWLEDGED_ENDS", "Registry"]

ACKNOWLEDGED_ENDS = (
    "select seg, max(max(coalesce(off, 0) + coalesce(len, 0), coalesce(toff, 0) + coalesce(tlen, 0))) from url "
    "where seg is not null group by seg"
)
"""For each WARC segment the end of its last acknowledged record."""

_GROUP = 5000


class Registry:
    """Statements of the one writer beside the hot path; inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, rows: Rows, applier: Applier) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._rows = rows
        self._applier = applier
        self.versions = Versions(rows, db)

    # -- configuration ------------------------------------------------------------------------

    def publish(self, digest: str, files: Mapping[str, str | bytes], now_s: float) -> int:
        """Put a configuration into force; return its version, an old number if these files were seen before."""
        return self.versions.publish(digest, files, now_s)

    def newest_version(self) -> int:
        """Return the newest configuration that is kept, 0 if there is none."""
        return int(self._cursor.execute("select coalesce(max(id), 0) from config_version").get)

    def put_source(self, name: str, kind: str, access: str) -> int:
        """Make a source's row say what its settings say; return it.

        When its access changed all its documents change: the index learns of each, and equal bodies are
        grouped anew, because a public copy must not hide behind one that not everybody may see.
        """
        names = self._applier.names
        names.source(name, kind, access)
        for same in names.same_sources(name):
            self._put_source(names.source(same), kind, access)
        return names.source(name)

    def _put_source(self, source: int, kind: str, access: str) -> None:
        names = self._applier.names
        kind = self._kind(source, kind)
        before = names.access(source), names.audience(source)
        names.set_access(source, kind, access)
        if before[0] != access:
            self._applier.duplicates.regroup_source(source, before[1], Applied())
            behind = self._applier.log.sequence
            self._applier.log.append_shown(source)
            self._applier.likeness.release_source(source, Applied())
            self._cursor.execute(
                "insert into acl_moved (seq, id) select seq, id from change where seq > ?", (behind,)
            )

    def _kind(self, source: int, kind: str) -> str:
        """Return how a source is gathered whose section says *kind*: a section alone makes no site of what feeds push."""
        names = self._applier.names
        if kind != "site" or source_key(names.source_name(source)) in names.crawled:
            return kind
        fed = (
            names.kind(source) == "gsa"
            or self._cursor.execute("select exists (select 1 from fed where source = ?)", (source,)).get
        )
        return "gsa" if fed else kind

    def reopen_pushed(self, applied: Applied) -> int:
        """Let what feeds list, and what is at the hosts of it, wait for a new judgement where it was out of scope for want of a site.

        Once in the life of a home: earlier versions took a source with a section for a site. What an operator removed stays away.
        """
        discoveries, count = self._applier.discoveries, 0
        rows = fetch(
            self._cursor,
            "select u.id, u.host, u.path, u.source, u.state from url u join directive d on d.id = u.verdict "
            "where d.category = 'site not allowed' and u.state in (1, 2, 3) and (exists (select 1 from fed f where f.id = u.id and f.web) "
            "or u.source in (select id from source where kind = 'gsa') and u.host in (select p.host from fed f join url p on p.id = f.id "
            "where f.source = u.source)) and not exists (select 1 from tombstone t where t.id = u.id and t.decided = 2)",
        )
        for url_id, host, path, source, state in rows:
            if state == State.EXCLUDED:
                if not discoveries.admit(url_id, host, path, source, applied):
                    continue
                self._applier.budgets.count_excluded(host, -1)
            self._cursor.execute(
                "update url set state = 0, outcome = iif(state = 1, null, outcome), verdict = null, due = null where id = ?",
                (url_id,),
            )
            applied.wakes(host)
            count += 1
        return count

    def disable_source(self, name: str, kind: str, access: str, at_s: float | None) -> bool:
        """Let a source rest from *at_s* on, ``None`` = no longer; return whether that is new. Its row is made if there is none.

        Nothing waiting of it is handed out meanwhile (``refill``), whoever opens the catalog.
        """
        source = self._applier.names.source(name, kind, access)
        before = self._cursor.execute("select disabled from source where id = ?", (source,)).get
        if (before is None) == (at_s is None):
            return False
        self._cursor.execute("update source set disabled = ? where id = ?", (at_s, source))
        return True

    def disabled_sources(self) -> frozenset[str]:
        """Return the names of the sources that are disabled."""
        return frozenset(
            name for (name,) in fetch(self._cursor, "select name from source where disabled is not null")
        )

    # -- runs ---------------------------------------------------------------------------------

    def begin_run(self, kind: str, now_s: float) -> tuple[int, bool]:
        """Return (run, continued): an unfinished run of this kind goes on, else a new one begins."""
        found = self._cursor.execute(
            "select id from run where ended is null and kind = ? order by id desc limit 1", (kind,)
        ).get
        if found is None:
            self._cursor.execute("insert into run (started, kind) values (?, ?)", (now_s, kind))
        run = self._db.last_insert_rowid() if found is None else int(found)
        self._applier.figures.begin(run)
        return run, found is not None

    def goes_on(self, kind: str) -> bool:
        """Tell whether a run of this kind was begun and not ended: the next one goes on with it."""
        found = self._cursor.execute(
            "select 1 from run where ended is null and kind = ? limit 1", (kind,)
        ).get
        return found is not None

    def end_run(self, run: int, now_s: float, detail: str, warnings: Sequence[str] = ()) -> None:
        """Close a run: its pool is empty. *warnings* say what should be mended; each is one line."""
        values = (now_s, detail_of(detail, warnings), run)
        self._cursor.execute("update run set ended = ?, detail = ? where id = ?", values)

    def revisit(self, origins: Sequence[str] | None, applied: Applied) -> int:
        """Put every visited URL of *origins* (``None`` = all) into the frontier; return how many.

        Tombstones wait for their own time, or for a page that links to them anew.
        """
        hosts = None if origins is None else json.dumps([self._applier.host(origin) for origin in origins])
        values = (self._applier.now_s, hosts)
        count = 0
        for host, urls in fetch(self._cursor, SQL["revisit_hosts"], values):
            applied.wakes(host, urls)
            count += urls
        self._cursor.execute(SQL["revisit"], values)
        return count

    def promote_due(self, now_s: float, limit: int) -> dict[int, int]:
        """Put at most *limit* URLs whose time has come into the frontier; return how many at which host."""
        found: dict[int, int] = {}
        for (host,) in fetch(self._cursor, SQL["promote_due"], (now_s, limit)):
            found[host] = found.get(host, 0) + 1
        return found

    def wake_asked(self, now_s: float, limit: int) -> dict[int, int]:
        """Put at most *limit* URLs into the frontier that pushed records want visited by now; return how many at which host."""
        found: dict[int, int] = {}
        for (host,) in fetch(self._cursor, SQL["wake_asked"], (now_s, limit)):
            found[host] = found.get(host, 0) + 1
        return found

    def rejudge_excluded(self, applied: Applied) -> int:
        """After a change of configuration: URLs that an older version excluded wait for a new judgement.

        Budgets are charged for each; what they refuse stays excluded and is reported. Descriptions that were
        imported for URLs that nobody visited are no verdict and stay as they are.
        """
        discoveries = self._applier.discoveries
        after = count = 0
        while rows := fetch(
            self._cursor,
            "select id, host, path, source from url where state = 1 and id > ? and (version is null or fetched is not null) order by id limit ?",
            (after, _GROUP),
        ):
            admitted = []
            for url_id, host, path, source in rows:
                if discoveries.admit(url_id, host, path, source, applied):
                    admitted.append((url_id,))
                    self._applier.budgets.count_excluded(host, -1)
                    applied.wakes(host)
            self._cursor.executemany("update url set state = 0, outcome = null where id = ?", admitted)
            count += len(admitted)
            after = rows[-1][0]
        return count

    # -- bodies -------------------------------------------------------------------------------

    def acknowledged(self) -> dict[int, int]:
        """Return for each WARC segment the end of its last acknowledged record; needs no transaction."""
        return dict(self._rows.all(ACKNOWLEDGED_ENDS))

    def names_segment(self, segment: int) -> bool:
        """Whether any row names a place in *segment*; looks through all rows."""
        return bool(self._cursor.execute("select exists (select 1 from url where seg = ?)", (segment,)).get)

    def move_places(self, moves: Iterable[tuple[int, Stored, Stored]]) -> None:
        """Let rows that still name the old place name the new one: (row, old, new)."""
        self._cursor.executemany(
            "update url set seg = ?, off = ?, len = ?, toff = ?, tlen = ? where id = ? and seg = ? and off = ? and toff = ?",
            [
                (new.segment, new.offset, new.length, new.text_offset, new.text_length, url_id, old.segment, old.offset, old.text_offset)
                for url_id, old, new in moves
            ],
        )  # fmt: skip

    def forget_bodies(
        self, ids: Iterable[int], now_s: float, applied: Applied, *, at: Mapping[int, Stored] | None = None
    ) -> int:
        """Bodies that do not read back: forget where they were, fetch the pages again; return how many.

        The descriptions stand meanwhile. Validators and digest go too, or the host would say "unchanged".
        With *at* only rows that still name that place are touched.
        """
        count = 0
        for url_id in ids:
            row = self._cursor.execute(
                "select source, digest, dup, host, state, seg, off, toff from url where id = ?", (url_id,)
            ).get
            if row is None:
                continue
            source, digest, dup, host, state, *place = row
            if at is not None and place != [at[url_id].segment, at[url_id].offset, at[url_id].text_offset]:
                continue
            audience = self._applier.names.audience(source)
            self._applier.duplicates.leave(url_id, digest, audience, applied)
            again = state == State.DONE
            self._cursor.execute(
                "update url set seg = null, off = null, len = null, toff = null, tlen = null, etag = null, lastmod = null, "
                "digest = null, grouped = 0, dup = null, due = iif(?1, ?2, due), state = iif(?1, 0, state) where id = ?3",
                (again, now_s, url_id),
            )
            if again:
                applied.wakes(host)
            if dup is not None:
                self._applier.change(url_id, ChangeKind.PUT, applied)
            count += 1
        return count

    # -- what others say ----------------------------------------------------------------------

    def put_inlinks(self, found: Mapping[int, tuple[int, bytes]], applied: Applied) -> None:
        """Keep (count, packed anchors) of rows whose informative anchors changed; the index learns of each."""
        for url_id, (number, anchors) in found.items():
            self._cursor.execute(
                "insert or replace into inlink (id, n, anchors) values (?, ?, ?)", (url_id, number, anchors)
            )
            self._applier.change(url_id, ChangeKind.PUT, applied)

    def put_layer(self, url_id: int, layer: str, attributes: bytes, now_s: float, applied: Applied) -> None:
        """Replace one layer of an RD (packed attributes; empty = it goes); the page layer lives with its page."""
        if attributes and attributes != EMPTY_ATTRIBUTES:
            self._cursor.execute(
                "insert or replace into layer (id, name, attrs, at) values (?, ?, ?, ?)",
                (url_id, layer, attributes, now_s),
            )
        else:
            self._cursor.execute("delete from layer where id = ? and name = ?", (url_id, layer))
        self._applier.acl.renew(url_id, applied)
        self._applier.change(url_id, ChangeKind.PUT, applied)
