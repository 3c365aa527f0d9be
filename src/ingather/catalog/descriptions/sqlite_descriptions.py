"""Resource descriptions that people bring in, edit and take away; visits are settled in ``sqlite_apply``.

What is brought in lies in a layer: ``import`` and ``editor`` are persistent, a later visit of the robot leaves
them; ``page`` is what the robot writes, and the next visit that describes the page replaces it (specification
12.3, DEC-36). A URL that nobody knew becomes a row that is described and not to be visited; a link that the
filters allow lets the robot look at it later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import apsw
import msgspec

from ingather.catalog.deletion.sqlite_deletion import Deletions
from ingather.catalog.frontier.sqlite_discovery import BY_HAND
from ingather.catalog.packing import EMPTY_ATTRIBUTES
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_partition import move
from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind
from ingather.model.description import PERSISTENT, AttributesView
from ingather.model.lifecycle import State
from ingather.model.report import Denial
from ingather.model.urlparts import key, split

__all__ = ["Descriptions", "NewDescription", "Parts", "Put"]

_FAR = 1 << 20
"""Depth of a URL that no path is known to: every link is nearer."""
_BY_PERSON = 1

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, list[str | int]]).decode


class Put(StrEnum):
    """What became of a description that was brought in."""

    ADDED = "added"
    REPLACED = "replaced"
    MERGED = "merged"
    UNKNOWN = "unknown"
    """To be changed, but there is none."""
    REMOVED = "removed"
    """Its URL was removed by hand and stays so."""
    COLLISION = "collision"
    """Its URL has the same key as another one."""


class Parts(StrEnum):
    """Which data of a description is meant."""

    MERGED = "merged"
    PERSISTENT = "persistent"
    NONPERSISTENT = "nonpersistent"


@dataclass(frozen=True, slots=True)
class NewDescription:
    """A description to be put.

    Attributes:
        url: canonical.
        source: who owns the URL if it is new; *access* of that source if it is new too.
        layer: of :data:`ingather.model.description.LAYERS`.
        attributes: lower-case names; in a merge a name without values is taken out of the layer.
        merge: only the names given change; otherwise the layer becomes exactly what is given.
        known: only if the URL has a description already.
        database: its partition; ``None`` = where it is, a new one in the default one.
    """

    url: str
    layer: str
    attributes: AttributesView
    source: str = "web"
    access: str = ""
    merge: bool = False
    known: bool = False
    database: str | None = None


class Descriptions:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, deletions: Deletions, seed: int) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._applier = applier
        self._deletions = deletions
        self._seed = seed

    def put(self, new: NewDescription, now_s: float, applied: Applied) -> Put:
        """Put one description; the index learns of it.

        Raises:
            UrlError: the URL is none that we gather.
        """
        parts, number = split(new.url), key(new.url, self._seed)
        names = self._applier.names
        if names.has_removed and names.is_removed(new.url):
            return Put.REMOVED
        host = names.host(parts.origin)
        row = self._cursor.execute(
            "select id, host, path, state, version, source from url where key = ?", (number,)
        ).get
        if row is not None and (row[1], row[2]) != (host, parts.path):
            self._applier.event("key-collision", new.url, f"same key as URL {row[0]}; not described")
            return Put.COLLISION
        if new.known and (row is None or row[4] is None):
            return Put.UNKNOWN
        if row is None:
            url_id, described = self._insert(new, host, parts.path, number), False
            applied.new_urls += 1
        else:
            url_id, described = int(row[0]), row[4] is not None
            if not described and not self._revive(url_id, State(row[3])):
                return Put.REMOVED
        if not described:
            self._describe(url_id, now_s)
        if new.database is not None:
            move(self._cursor, url_id, new.database)
        if new.layer == "page":
            self._put_page(url_id, new, now_s)
            self._estrange(url_id, applied, text=new.merge)
        else:
            self._put_layer(url_id, new, now_s)
        self._applier.acl.renew(url_id, applied)
        self._applier.change(url_id, ChangeKind.PUT, applied)
        if not described:
            return Put.ADDED
        return Put.MERGED if new.merge else Put.REPLACED

    def delete(self, url: str, parts: Parts, reason: str, now_s: float, applied: Applied) -> bool:
        """Take a description, or only its persistent or only its gathered data; return whether there was any.

        What is left without any data becomes a tombstone, as everything that is deleted.
        """
        row = self._cursor.execute(
            "select id, version, fetched from url where key = ?", (key(url, self._seed),)
        ).get
        if row is None or row[1] is None or self._url_of(row[0]) != url:
            return False
        url_id, _, fetched = row
        page = self._page(url_id)
        gathered = bool(page) or fetched is not None
        persistent = self._cursor.execute(
            "select count(*) from layer where id = ? and name in (?, ?)", (url_id, *PERSISTENT)
        ).get
        if parts is Parts.MERGED or (parts is Parts.PERSISTENT and not gathered):
            self._deletions.delete(url_id, reason, now_s, applied, gone=False, decided=_BY_PERSON)
            return True
        if parts is Parts.NONPERSISTENT and not persistent:
            if gathered:
                self._deletions.delete(url_id, reason, now_s, applied, gone=False, decided=_BY_PERSON)
            return gathered
        if parts is Parts.PERSISTENT:
            if not persistent:
                return False
            self._cursor.execute("delete from layer where id = ? and name in (?, ?)", (url_id, *PERSISTENT))
        else:
            if not page:
                return False
            self._cursor.execute(
                "update page set title = '', attrs = ?, extra = x'90', digests = null where id = ?",
                (EMPTY_ATTRIBUTES, url_id),
            )
            self._estrange(url_id, applied, text=False)
        self._applier.acl.renew(url_id, applied)
        self._applier.change(url_id, ChangeKind.PUT, applied)
        return True

    # -- rows ---------------------------------------------------------------------------------

    def _insert(self, new: NewDescription, host: int, path: str, number: int) -> int:
        names = self._applier.names
        source = names.source(new.source, "import", new.access)
        verdict = names.directive(Denial("", "", "imported; nobody visited it so far", 0))
        self._cursor.execute(
            SQL["insert_url"],
            (number, host, path, source, _FAR, None, None, int(State.EXCLUDED), 5, 0, verdict, None),
        )
        return self._db.last_insert_rowid()

    def _revive(self, url_id: int, state: State) -> bool:
        """Let a row without description have one; false when only an operator may."""
        buried = self._cursor.execute("select decided from tombstone where id = ?", (url_id,)).get
        if buried == BY_HAND:
            return False
        if buried is not None:
            self._cursor.execute("delete from tombstone where id = ?", (url_id,))
        if state is State.GONE:
            self._cursor.execute("update url set state = ? where id = ?", (int(State.EXCLUDED), url_id))
        return True

    def _describe(self, url_id: int, now_s: float) -> None:
        source = self._cursor.execute("select source from url where id = ?", (url_id,)).get
        version = self._cursor.execute("select coalesce(max(id), 0) from config_version").get
        self._cursor.execute(
            "update url set version = ?, described = ?, seen = ? where id = ?",
            (version, now_s, now_s, url_id),
        )
        # A row that was buried, or whose links alone are known, begins without what it said before.
        self._cursor.execute(
            "insert into page (id, title, attrs, out, anchor, extra) values (?, '', x'80', x'', x'90', x'90') "
            "on conflict (id) do update set title = '', attrs = x'80', extra = x'90'",
            (url_id,),
        )
        self._cursor.execute("delete from layer where id = ? and name in (?, ?)", (url_id, *PERSISTENT))
        self._applier.names.count(source, 1)
        self._applier.figures.description("new")

    def _url_of(self, url_id: int) -> str:
        return str(
            self._cursor.execute(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (url_id,)
            ).get
        )

    # -- layers -------------------------------------------------------------------------------

    def _page(self, url_id: int) -> dict[str, list[str | int]]:
        blob = self._cursor.execute("select attrs from page where id = ?", (url_id,)).get
        return _decode(blob) if blob else {}

    def _put_page(self, url_id: int, new: NewDescription, now_s: float) -> None:
        page = _laid(self._page(url_id) if new.merge else {}, new.attributes)
        title = _first(page, "title")
        toc = "\n".join(str(value) for value in page.get("toc", ()))
        extra = (toc, "", _first(page, "language"), _first(page, "content-type"), None, ())
        if new.merge:
            self._cursor.execute(
                "update page set title = iif(?2 = '', title, ?2), attrs = ?3, digests = null where id = ?1",
                (url_id, title, _encode(page)),
            )
        else:
            self._cursor.execute(
                "update page set title = ?2, attrs = ?3, extra = ?4, digests = null where id = ?1",
                (url_id, title, _encode(page), _encode(extra)),
            )
        # The dates of the layer are its own from now on.
        self._cursor.execute("update url set described = ?1, seen = ?1 where id = ?2", (now_s, url_id))

    def _estrange(self, url_id: int, applied: Applied, *, text: bool) -> None:
        """The page layer is not what the last body said: no answer may be "unchanged", and no group knows the row.

        The extracted text is kept only if *text*; the body stays, for whoever replays it.
        """
        digest, source = self._cursor.execute("select digest, source from url where id = ?", (url_id,)).get
        self._applier.duplicates.leave(url_id, digest, self._applier.names.audience(source), applied)
        self._cursor.execute(
            "update url set etag = null, lastmod = null, digest = null, grouped = 0, dup = null, "
            "toff = iif(?2 or toff is null, toff, 0), tlen = iif(?2 or tlen is null, tlen, 0) where id = ?1",
            (url_id, text),
        )

    def _put_layer(self, url_id: int, new: NewDescription, now_s: float) -> None:
        blob = None
        if new.merge:
            blob = self._cursor.execute(
                "select attrs from layer where id = ? and name = ?", (url_id, new.layer)
            ).get
        layer = _laid(_decode(blob) if blob else {}, new.attributes)
        if layer:
            self._cursor.execute(
                "insert or replace into layer (id, name, attrs, at) values (?, ?, ?, ?)",
                (url_id, new.layer, _encode(layer), now_s),
            )
        else:
            self._cursor.execute("delete from layer where id = ? and name = ?", (url_id, new.layer))


def _laid(
    under: dict[str, list[str | int]], given: Mapping[str, Sequence[str]]
) -> dict[str, list[str | int]]:
    """Lay *given* over *under*; a name without values is taken away."""
    for name, values in given.items():
        if values:
            under[name] = list(values)
        else:
            under.pop(name, None)
    return under


def _first(page: Mapping[str, Sequence[str | int]], name: str) -> str:
    values = page.get(name)
    return values[0] if values and isinstance(values[0], str) else ""
