"""Sources for operators: what there is, what each owns, what was pushed for it; and away with one, in two steps.

First its documents are deleted, then what was listed for it is forgotten, feeds that were pushed with their receipts and
files: "Destroy", as an appliance called it (GSA feeds specification, sections 8.6 and 14).
"""

import operator
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from ingather.app.feeds.office import FeedOffice
from ingather.catalog.feeds.sqlite_source_reader import SourceReader
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.sources.source import SourceConf
from ingather.errors import UnknownNameError, UsageError
from ingather.feeds.admitting import admitted_by
from ingather.feeds.desk import WEB_ROW
from ingather.feeds.policy import source_row_name
from ingather.model.lifecycle import State
from ingather.model.source_name import BySource, same_source

__all__ = ["SourceOffice", "still_configured", "switch_job"]

_LAST_FEEDS = 5
_MOST_ADDRESSES = 100


class SourceOffice:
    """Reads sources; each call opens and closes its own connection.

    Args:
        database: the catalog.
        declared: sources of ``ingather.toml``.
        feeds: receipts.
        closed: sources whose own addresses count alone.
    """

    def __init__(
        self,
        database: Path,
        declared: Mapping[str, SourceConf],
        feeds: FeedOffice,
        closed: Container[str] = (),
    ) -> None:
        self._database, self._declared, self._feeds = database, BySource(declared), feeds
        self._closed = closed

    def listed(self) -> list[dict[str, Any]]:
        """Return every source that owns something, was pushed to or is declared, by name."""
        found: list[dict[str, Any]] = self._read(self._all)
        return found

    def shown(self, name: str) -> dict[str, Any]:
        """Return one source with its states, its settings and its last feeds.

        Raises:
            UsageError: there is none of this name.
        """

        def look(reader: SourceReader | None) -> dict[str, Any]:
            found = _named(self._all(reader), name)
            number = found["id"]
            states = reader.states(number) if reader and number is not None else {}
            return found | {
                "urls": {State(state).name.lower(): count for state, count in states.items()},
                "also_lists": reader.also(number) if reader and number is not None else 0,
                "needs_scope": self._needed(found["name"], reader, number),
            }

        found: dict[str, Any] = self._read(look)
        conf = self._declared.get(found["name"])
        found["settings"] = {key: conf.value(key) for key in conf.origins} if conf is not None else {}
        datasource = found["datasource"]
        found["last_feeds"] = (
            self._feeds.feeds(datasource=datasource, limit=_LAST_FEEDS) if datasource else []
        )
        return found

    def _needed(self, name: str, reader: SourceReader | None, number: int | None) -> list[dict[str, Any]]:
        """Return what URLs that feeds list wait for: ``urls``, and in ``needs`` the one thing that admits them."""
        if reader is None or number is None:
            return []
        declared = name in self._closed
        return [
            {"urls": urls, "needs": admitted_by(why, name, declared=declared)}
            for why, urls in reader.unreached(number, _MOST_ADDRESSES)
        ]

    def conflicts(self, name: str = "", *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Return URLs that one source owns and another names, too, in the order of their rows: ``id``, ``url``, ``owner``, ``listed_by``.

        Args:
            name: only those of this source, in either part.
            after: only rows behind this one.
            limit: pairs at most.

        Raises:
            UsageError: there is none of this name.
        """

        def look(reader: SourceReader | None) -> list[tuple[int, str, str, str]]:
            own = str(_named(self._all(reader), name, exact=True)["name"]) if name else ""
            return reader.conflicts(own, after=after, limit=limit) if reader else []

        return [
            {"id": row, "url": url, "owner": owner, "listed_by": other}
            for row, url, owner, other in self._read(look)
        ]

    def to_delete(self, name: str) -> str:
        """Return the data source whose documents may be deleted as those of *name*.

        Raises:
            UsageError: there is no such source, or feeds brought nothing for it.
        """
        found = self._read(lambda reader: _named(self._all(reader), name))
        if found["disabled"] is not None:
            raise UsageError(
                f"the source {found['name']!r} is disabled: nothing of it is deleted",
                hint=f"enable it first: ingather source enable {found['name']}",
            )
        if not found["datasource"]:
            raise UsageError(
                f"no feed was pushed for the source {found['name']!r}",
                hint=f"delete all its documents with: ingather source delete {found['name']}",
            )
        return str(found["datasource"])

    def to_empty(self, name: str) -> dict[str, Any]:
        """Return the source whose documents are to be deleted, ``pushed_for`` true if feeds brought all of them.

        The name of a source that owns documents counts before that of a data source.

        Raises:
            UsageError: there is none, it is a data source that is disabled, or it has nothing.
        """

        def look(reader: SourceReader | None) -> dict[str, Any]:
            every = self._all(reader)
            own, of_data = _called(every, "name", name), _called(every, "datasource", name)
            if own is not None and (own["documents"] or own["disabled"] is not None or of_data is None):
                return own
            return of_data or _named(every, name)

        found: dict[str, Any] = self._read(look)
        if _pushed_for(found):
            self.to_delete(str(found["datasource"]))
            return found | {"pushed_for": True}
        if not found["documents"] and found["disabled"] is None:
            raise UsageError(
                f"the source {found['name']!r} has no documents",
                hint=f"let it rest with: ingather source disable {found['name']}",
            )
        return found | {"pushed_for": False}

    def to_switch(self, name: str) -> dict[str, Any]:
        """Return the source that is to be disabled or enabled; its own name counts before that of a data source.

        Raises:
            UsageError: there is none of this name.
        """
        found: dict[str, Any] = self._read(lambda reader: _named(self._all(reader), name, exact=True))
        return found

    def to_destroy(self, name: str) -> tuple[dict[str, Any], list[int]]:
        """Return the source *name*, and those of its pushed feeds that are to be forgotten.

        Raises:
            UsageError: there is no such source, it still has documents, a feed of it is not at its end, or it is crawled
                and not disabled.
        """

        def look(reader: SourceReader | None) -> tuple[dict[str, Any], list[int]]:
            every = self._all(reader)
            own, of_data = _called(every, "name", name), _called(every, "datasource", name)
            found = own if own is not None and (own["disabled"] is not None or of_data is None) else of_data
            found = found or _named(every, name)
            datasource = str(found["datasource"])
            return found, reader.ended(datasource) if reader and datasource else []

        found, ended = self._read(look)
        if _pushed_for(found):
            self.to_delete(str(found["datasource"]))
        shown, gathered = str(found["datasource"] or found["name"]), not _pushed_for(found)
        if found["documents"] and (gathered or found["pushed"]):
            raise UsageError(
                f"{shown} still has {found['documents']} documents",
                hint=f"delete them first: ingather source delete {shown}",
            )
        if found["open"]:
            raise UsageError(f"{found['open']} feeds of {shown} are not at their end yet")
        if gathered and (found["disabled"] is None or found["id"] is None):
            raise UsageError(
                f"the source {shown!r} is not disabled: what is forgotten of it would come again",
                hint=f"disable it first: ingather source disable {shown}",
            )
        return found, ended

    def _read(self, look: Callable[[SourceReader | None], Any]) -> Any:
        if not self._database.exists():
            return look(None)
        reader = SourceReader(self._database)
        try:
            return look(reader)
        finally:
            reader.close()

    def _all(self, reader: SourceReader | None) -> list[dict[str, Any]]:
        """Return the sources; without a catalog those that somebody wrote down."""
        rows = BySource((row["name"], row) for row in (reader.sources() if reader else ()))
        pushed = BySource(
            (source_row_name(row["datasource"]), row) for row in (reader.feeds() if reader else ())
        )
        declared = [name for name, conf in self._declared.items() if reader or conf.origins]
        names = {*rows, *(name for name in (*pushed, *declared) if name not in rows)}
        found = [_form(name, rows.get(name), pushed.get(name), self._declared.get(name)) for name in names]
        return sorted((one for one in found if _counts(one)), key=lambda one: str(one["name"]))


def _pushed_for(found: Mapping[str, Any]) -> bool:
    """Whether a source is a data source whose feeds are known; else it is dealt with as one that is crawled."""
    return bool(found["kind"] == "gsa" and found["datasource"])


def still_configured(
    source: Mapping[str, Any], sites: Iterable[tuple[str, str]], *, declared: bool
) -> list[str]:
    """Return what has a source in the configuration still, each with what takes it out.

    Args:
        source: of the list of sources.
        sites: (name, source) of the sites.
        declared: a section of ``ingather.toml`` has it.
    """
    name = str(source["name"])
    said = [f"site {site}: ingather site delete {site}" for site, of in sites if same_source(of, name)]
    if declared:
        said.append(f"[source.{name}] in ingather.toml: take the section out")
    return said


def _form(
    name: str, row: Mapping[str, Any] | None, pushed: Mapping[str, Any] | None, declared: SourceConf | None
) -> dict[str, Any]:
    kind = row["kind"] if row is not None else "gsa" if pushed is not None else "site"
    access = row["access"] if row is not None else declared.access if declared is not None else "public"
    counts = ("documents", "listed", "pushed", "held", "acls")
    feeds = ("feeds", "open", "backlog", "rejected")
    return {
        "name": name, "kind": kind, "access": access, "declared": declared is not None,
        "id": row["id"] if row is not None else None, "disabled": row["disabled"] if row is not None else None, "datasource": pushed["datasource"] if pushed is not None else "",
        **{key: row[key] if row is not None else 0 for key in counts},
        **{key: int(pushed[key]) if pushed is not None else 0 for key in feeds},
        "last": pushed["last"] if pushed is not None else None,
    }  # fmt: skip


def _counts(one: Mapping[str, Any]) -> bool:
    """Whether a source is to be seen: one whose feeds were destroyed leaves a row that owns nothing."""
    owns = one["datasource"] or one["documents"] or one["listed"] or one["acls"]
    return bool(one["declared"] or owns or one["disabled"] is not None)


def switch_job(source: Mapping[str, Any], *, off: bool) -> Callable[[CatalogWriter, Applied, float], bool]:
    """Return the job that disables or enables a source (of :meth:`SourceOffice.to_switch`); its answer: whether that is new."""

    def job(writer: CatalogWriter, _applied: Applied, now_s: float) -> bool:
        name, at_s = str(source["name"]), now_s if off else None
        done = writer.registry.disable_source(name, str(source["kind"]), str(source["access"]), at_s)
        if done:
            said = "nothing is fetched for it, its feeds wait, its documents stay" if off else "it goes on"
            writer.applier.event("source-disabled" if off else "source-enabled", name, said)
        return done

    return job


def _called(found: Iterable[dict[str, Any]], key: str, name: str) -> dict[str, Any] | None:
    """Return the source whose *key* is *name*: letter by letter, else without its case."""
    every = list(found)
    exact = next((one for one in every if one[key] == name), None)
    return exact or next((one for one in every if same_source(one[key], name)), None)


def _named(found: Iterable[dict[str, Any]], name: str, *, exact: bool = False) -> dict[str, Any]:
    every = list(found)
    if exact:
        every.sort(key=lambda one: bool(one["name"] != name))
    for alike in (operator.eq, same_source):
        for one in every:
            if alike(name, one["name"]) or alike(name, one["datasource"]):
                return one
    hint = "list them with: ingather source list"
    raise UnknownNameError(
        f"there is no source {name!r}", kind="source", name=name, hint=hint if name != WEB_ROW else None
    )
