"""Rows of URLs for sources of web feeds: made, asked for, left alone, and whose they are.

A URL that such a source owns is never due by itself (``url.due`` is null): it is visited when somebody asks, with the
intent that its row carries.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.statements import SQL
from ingather.model.intent import FEEDS
from ingather.model.lifecycle import State
from ingather.model.report import Row
from ingather.model.urlparts import key, split

__all__ = ["Claimed", "SyndicatedUrls"]

_GROUP: Final = 500
_encode: Final = msgspec.msgpack.Encoder().encode


class Claimed(NamedTuple):
    """Who has a URL: its source's row, kind and access; whether its content is pushed; whether the source looks after it and a feed of it lists or listed it."""

    source: int
    kind: str
    access: str
    content: bool
    registered: bool


class SyndicatedUrls:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, seed: int) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._applier = applier
        self._seed = seed

    def known(self, urls: Sequence[str]) -> dict[str, int]:
        """Return the rows of those canonical *urls* that have one."""
        keys = {key(url, self._seed): url for url in urls}
        rows = self._among(
            "select u.id, u.key, h.origin || u.path from url u join host h on h.id = u.host where u.key in ({ids})",
            list(keys),
        )
        return {text: url_id for url_id, number, text in rows if keys[number] == text}

    def meant(self, urls: Sequence[str]) -> dict[str, int]:
        """Return the rows of what those *urls* name, from which parameters were cut: themselves, or what feeds pushed in their place."""
        found = self.known(urls)
        pushed = self._applier.pushed
        if pushed.some:
            for url in urls:
                if url not in found and (row := pushed.first(key(url, self._seed))) is not None:
                    found[url] = row
        return found

    def row(self, url_id: int) -> tuple[Row, State] | None:
        """Return a row of a URL as it would be claimed, and its state."""
        state = self._cursor.execute("select state from url where id = ?", (url_id,)).get
        if state is None:
            return None
        return Row(*fetch(self._cursor, SQL["claim_one"], (url_id,))[0]), State(state)

    def url(self, url_id: int) -> str:
        """Return the URL of a row."""
        return str(
            self._cursor.execute(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (url_id,)
            ).get
            or ""
        )

    def make(self, url: str, source: int, applied: Applied, *, charge: bool = False) -> int | None:
        """Make a row that waits for nobody; ``None``: removed by hand, another URL has its key, or (*charge*) a budget is full."""
        names, budgets = self._applier.names, self._applier.budgets
        if self.is_removed(url):
            return None
        parts, number = split(url), key(url, self._seed)
        host = names.host(parts.origin)
        full = budgets.charge(host, parts.path, names.source_name(source)) if charge else None
        if full is not None:
            applied.refused.append((url, budgets.refuse(full)))
            return None
        self._cursor.execute(
            SQL["insert_url"],
            (number, host, parts.path, source, 0, None, None, int(State.DONE), 5, 0, None, None),
        )
        if not self._db.changes():
            self._applier.event("key-collision", url, "same key as another URL; not gathered")
            return None
        applied.new_urls += 1
        return self._db.last_insert_rowid()

    def is_removed(self, url: str) -> bool:
        """Whether an operator removed a URL, itself or with a prefix."""
        names = self._applier.names
        return names.has_removed and names.is_removed(url)

    def ask(
        self, url_id: int, intent: int, *, priority: int, applied: Applied, keeps_due: bool = False
    ) -> bool:
        """Put a URL into the frontier with an intent; ``False``: it is a document that is quarantined.

        *keeps_due*: when it is visited as a document stays planned.
        """
        row = self._cursor.execute("select host, state from url where id = ?", (url_id,)).fetchone()
        if row is None or (row[1] == State.QUARANTINED and intent not in FEEDS):
            return False
        self._cursor.execute(
            "update url set state = 0, intent = ?, prio = ?, due = iif(?, due, null) where id = ?",
            (intent, priority, keeps_due, url_id),
        )
        if row[1] != State.WAITING:
            applied.wakes(row[0])
        return True

    def rest(self, url_id: int) -> None:
        """Let a URL wait for nobody: it is visited when somebody asks. A visit that a pushed record asked for is made all the same."""
        self._cursor.execute(
            "update url set due = iif(asked > answered, due, null), intent = 0, state = iif(asked <= answered and state in (0, 1), 2, state) where id = ?",
            (url_id,),
        )

    def unasked(self, url_id: int) -> None:
        """Nobody wants the visit any more that a URL waits for."""
        self._cursor.execute(
            "update url set intent = 0, state = iif(asked > answered, 0, 2) where id = ? and state = 0 and intent != 0",
            (url_id,),
        )

    def due_never(self, url_id: int) -> None:
        """Let a tombstone wait for nobody."""
        self._cursor.execute(
            "update url set due = iif(asked > answered, due, null), intent = 0 where id = ?", (url_id,)
        )

    def described(self, url_id: int) -> bool:
        """Whether a URL has an RD."""
        return bool(self._cursor.execute("select version is not null from url where id = ?", (url_id,)).get)

    def put_layer(self, url_id: int, layer: str, attributes: Mapping[str, Sequence[str]]) -> bool:
        """Replace a layer of attributes that is nobody's access list; return whether that changed anything."""
        new = _encode({name: list(values) for name, values in attributes.items()})
        old = self._cursor.execute("select attrs from layer where id = ? and name = ?", (url_id, layer)).get
        if old == new:
            return False
        self._cursor.execute(
            "insert or replace into layer (id, name, attrs, at) values (?, ?, ?, ?)",
            (url_id, layer, new, self._applier.now_s),
        )
        return True

    def validators(self, url_id: int, etag: str, last_modified: str, digest: bytes | None = None) -> None:
        """Keep validators exactly as received, also that there are none; *digest*: of a feed's body."""
        self._cursor.execute(
            "update url set etag = nullif(?2, ''), lastmod = nullif(?3, ''), digest = coalesce(?4, digest) where id = ?1",
            (url_id, etag, last_modified, digest),
        )

    def comes_with_feeds(self, url_id: int) -> bool:
        """Whether the content of a URL is pushed."""
        return self._applier.fed_some and bool(
            self._cursor.execute("select content from fed where id = ?", (url_id,)).get
        )

    def claims(self, url_ids: Sequence[int]) -> dict[int, Claimed]:
        """Return who has URLs."""
        return {
            row[0]: Claimed(row[1], row[2], row[3], bool(row[4]), bool(row[5]))
            for row in self._among(
                "select u.id, u.source, s.kind, s.access, coalesce((select f.content from fed f where f.id = u.id), 0), "
                "exists (select 1 from rss_document d where d.id = u.id and d.source = u.source) and exists (select 1 from rss_listing l "
                "join rss_feed f on f.id = l.feed where l.id = u.id and f.source = u.source and f.configured) "
                "from url u join source s on s.id = u.source where u.id in ({ids})",
                url_ids,
            )
        }

    def owned(self, source: int, url_ids: Sequence[int]) -> set[int]:
        """Return those of *url_ids* that a source may look after: its own, not pushed, not removed by hand."""
        return {
            row[0]
            for row in self._among(
                f"select u.id from url u where u.source = {int(source)} and u.id in ({{ids}}) "  # noqa: S608 - numbers
                "and not exists (select 1 from fed f where f.id = u.id and f.content) "
                "and not exists (select 1 from tombstone t where t.id = u.id and t.decided = 2)",
                url_ids,
            )
        }

    def owner(self, url_id: int) -> int | None:
        """Return the source that owns a URL."""
        found: int | None = self._cursor.execute("select source from url where id = ?", (url_id,)).get
        return found

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a query answers, within the transaction if there is one."""
        return fetch(self._cursor, sql, values)

    def _among(self, sql: str, ids: Sequence[int | str]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(ids), _GROUP):
            part = tuple(ids[start : start + _GROUP])
            found += fetch(self._cursor, sql.replace("{ids}", ",".join("?" * len(part))), part)
        return found
