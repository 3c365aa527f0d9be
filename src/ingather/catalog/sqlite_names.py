"""Names that rows carry as numbers: origins, sources, deciding directives; and what was removed by hand.

Kept in memory beside the writer, bounded, read again after a rollback.
"""

from dataclasses import dataclass

import apsw

from ingather.catalog.sqlite_rows import fetch
from ingather.model.report import Denial
from ingather.model.source_name import BySource, same_source, source_key
from ingather.model.urlparts import host_key

__all__ = ["PUBLIC_CLASS", "Names"]

PUBLIC_CLASS = 0
"""Access class of everything that everybody may see."""

_REMEMBERED = 50_000
_FED = frozenset({"rss", "sitemap"})


@dataclass(slots=True)
class _Source:
    kind: str
    access: str
    documents: int
    acl: int | None = None
    apart: int = 0
    inherited: int = 0


class Names:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._hosts: dict[str, int] = {}
        self._ids: BySource[int] = BySource()
        self.crawled: frozenset[str] = frozenset({"web"})
        """Keys of the sources that sites or starting points name: crawled, whoever pushes for them."""
        self._sources: dict[int, _Source] = {}
        self._counted: set[int] = set()
        self._directives: dict[tuple[int, str, str, str], int] = {}
        self.has_removed = False
        self._removed: frozenset[str] = frozenset()
        self._prefixes: tuple[str, ...] = ()

    def reload(self) -> None:
        """Forget what was not committed."""
        self._hosts.clear()
        self._directives.clear()
        self._counted.clear()
        rows = fetch(
            self._cursor, "select id, name, kind, access, documents, acl, apart, inherited from source"
        )
        self._ids = BySource((name, key) for key, name, *_ in sorted(rows))
        self._sources = {row[0]: _Source(*row[2:]) for row in rows}
        self.reload_removed()

    def flush(self) -> None:
        """Write the counters that changed."""
        for source in self._counted:
            self._cursor.execute(
                "update source set documents = ? where id = ?", (self._sources[source].documents, source)
            )
        self._counted.clear()

    # -- origins ------------------------------------------------------------------------------

    def host(self, origin: str) -> int:
        """Return the row of *origin*, made if new."""
        found = self._hosts.get(origin)
        if found is None:
            if len(self._hosts) >= _REMEMBERED:
                self._hosts.clear()
            self._cursor.execute(
                "insert into host (origin, hkey) values (?, ?) on conflict (origin) do nothing",
                (origin, host_key(origin)),
            )
            found = int(self._cursor.execute("select id from host where origin = ?", (origin,)).get)
            self._hosts[origin] = found
        return found

    # -- sources ------------------------------------------------------------------------------

    def source(self, name: str, kind: str = "site", access: str = "") -> int:
        """Return the row of source *name*, made if new; nobody sees documents of one that was never declared.

        A row with this very name counts before one whose name differs in case.
        """
        found = self._ids.get(name)
        if found is None:
            access = access or ("public" if name == "web" else "secure")
            self._cursor.execute(
                "insert into source (name, kind, access) values (?, ?, ?)", (name, kind, access)
            )
            found = self._ids[name] = self._db.last_insert_rowid()
            self._sources[found] = _Source(kind, access, 0)
        return found

    def known_source(self, name: str) -> int | None:
        """Return the row of source *name*, ``None`` if it has none."""
        return self._ids.get(name)

    def known_exactly(self, name: str) -> int | None:
        """Return the row with this very name, ``None`` if there is none."""
        return self._ids[name] if self._ids.written(name) == name else None

    def spelled(self, name: str) -> str:
        """Return the name of a source as it was first written or pushed; one that is new as it is."""
        return self._ids.written(name) or name

    def same_sources(self, name: str) -> list[str]:
        """Return the names of all rows that are of source *name*: homes of older versions may have several."""
        return [one for one in self._ids if same_source(one, name)] or [name]

    def twins(self) -> list[list[str]]:
        """Return the names that differ in case alone, which homes of older versions may have; each such group sorted."""
        found: dict[str, list[str]] = {}
        for name in sorted(self._ids):
            found.setdefault(source_key(name), []).append(name)
        return [names for names in found.values() if len(names) > 1]

    def kind(self, source: int) -> str:
        """Return how a source is gathered: ``site``, ``rss``, ``sitemap``, or ``gsa`` for what feeds push."""
        return self._sources[source].kind

    def source_name(self, source: int) -> str:
        """Return the name of a source."""
        return next((name for name, key in self._ids.items() if key == source), "")

    def is_fed(self, source: int) -> bool:
        """Whether web feeds or sitemaps say what of a source is visited, and when."""
        return self._sources[source].kind in _FED

    def access(self, source: int) -> str:
        """Return ``public`` or ``secure``."""
        return self._sources[source].access

    def set_access(self, source: int, kind: str, access: str) -> None:
        """Write what the settings say of a source."""
        self._cursor.execute("update source set kind = ?, access = ? where id = ?", (kind, access, source))
        self._sources[source].kind, self._sources[source].access = kind, access

    def default_acl(self, source: int) -> int | None:
        """Return the chain of documents of a source that nothing nearer governs, ``None`` if it has none."""
        return self._sources[source].acl

    def set_default_acl(self, source: int, chain: int | None) -> None:
        """Write the chain that :meth:`default_acl` gives."""
        self._cursor.execute("update source set acl = ? where id = ?", (chain, source))
        self._sources[source].acl = chain

    @property
    def has_default_acls(self) -> bool:
        """Whether any source has one."""
        return any(source.acl is not None for source in self._sources.values())

    def audience(self, source: int) -> int:
        """Return the access class of a source: equal bodies hide behind each other only within one."""
        row = self._sources[source]
        return PUBLIC_CLASS if row.access == "public" and not row.apart else source

    def is_apart(self, source: int) -> bool:
        """Whether tokens push to a source: then its documents and links count for itself alone."""
        return bool(self._sources[source].apart)

    def set_apart(self, source: int) -> None:
        """Note that a token pushed to a source."""
        self._cursor.execute("update source set apart = 1 where id = ?", (source,))
        self._sources[source].apart = 1

    def set_inherited(self, source: int, *, inherited: bool) -> None:
        """Write whether ACLs of other sources may inherit from those of a source as from their own."""
        if bool(self._sources[source].inherited) != inherited:
            self._cursor.execute("update source set inherited = ? where id = ?", (inherited, source))
            self._sources[source].inherited = int(inherited)

    def documents(self, source: int) -> int:
        """Return how many described URLs a source has."""
        return self._sources[source].documents

    def documents_of(self, name: str) -> int:
        """Return how many described URLs the source *name* has, 0 if there is none."""
        number = self._ids.get(name)
        return 0 if number is None else self.documents(number)

    def count(self, source: int, more: int) -> None:
        """Note that a source has *more* described URLs (negative: fewer)."""
        self._sources[source].documents += more
        self._counted.add(source)

    # -- directives ---------------------------------------------------------------------------

    def directive(self, denial: Denial) -> int:
        """Return the interned row of a denial."""
        key = (denial.version, denial.where, denial.category, denial.reason)
        found = self._directives.get(key)
        if found is None:
            self._cursor.execute(
                "insert into directive (version, place, category, reason) values (?, ?, ?, ?) on conflict do nothing",
                key,
            )
            found = int(
                self._cursor.execute(
                    "select id from directive where version = ? and place = ? and category = ? and reason = ?",
                    key,
                ).get
            )
            if len(self._directives) >= _REMEMBERED:  # reasons may carry figures
                self._directives.clear()
            self._directives[key] = found
        return found

    def category(self, directive: int | None) -> str:
        """Return the category of an interned denial, ``""`` if there is none."""
        found = self._cursor.execute("select category from directive where id = ?", (directive,)).get
        return "" if found is None else str(found)

    # -- removed by hand ----------------------------------------------------------------------

    def reload_removed(self) -> None:
        """Read what was removed by hand."""
        rows = fetch(self._cursor, "select url, exact from removed")
        self._removed = frozenset(url for url, exact in rows if exact)
        self._prefixes = tuple(url for url, exact in rows if not exact)
        self.has_removed = bool(rows)

    def is_removed(self, url: str) -> bool:
        """Whether *url* was removed by hand, itself or with everything below a prefix."""
        return url in self._removed or url.startswith(self._prefixes)
