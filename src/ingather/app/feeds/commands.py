"""What ``ingather feed`` does in a home: directly when nobody owns it, through its owner when somebody does."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ingather.app.feeds.emptying import delete_gathered, forget_gathered
from ingather.app.feeds.local import LocalFeeds, indexed_sequence
from ingather.app.feeds.office import FeedOffice, again_job, forget_job
from ingather.app.feeds.sources import SourceOffice, still_configured, switch_job
from ingather.app.home import Home
from ingather.app.homeparts import database_of, load_checked
from ingather.app.owner import ask_owner
from ingather.app.sourcescopes import own_addresses_at
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import HomeLockedError, UsageError
from ingather.feeds.authority import Sender, grant_in
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind
from ingather.model.decided import By

__all__ = ["HomeFeeds"]


class HomeFeeds:
    """The feeds of a home, for commands."""

    def __init__(self, home: Home, settings: Settings, sources: Mapping[str, SourceConf]) -> None:
        self._home, self._settings, self._sources = home, settings, sources

    @property
    def office(self) -> FeedOffice:
        """Receipts.

        Raises:
            UsageError: there are none, because there is no catalog.
        """
        path = database_of(self._home)
        if not path.exists():
            raise UsageError("nothing was pushed to this home so far", hint="start it with: ingather serve")
        return FeedOffice(self._home.path, path, self._indexed, own_addresses_at(self._home, self._sources))

    @property
    def sources(self) -> SourceOffice:
        """Sources; those that are declared when there is no catalog."""
        path, closed = database_of(self._home), own_addresses_at(self._home, self._sources)
        feeds = FeedOffice(self._home.path, path, self._indexed, closed)
        return SourceOffice(path, self._sources, feeds, closed)

    def switch_source(self, name: str, *, off: bool) -> dict[str, Any]:
        """Disable a source, or enable it again: what was pushed for it meanwhile is applied; return it.

        Raises:
            UsageError: there is none.
        """
        found = self.sources.to_switch(name)
        name, verb = str(found["name"]), "disable" if off else "enable"
        try:
            lock = self._home.lock(f"ingather source {verb}")
        except HomeLockedError as locked:
            return self._ask(f"sources/{quote(name, safe='')}/{verb}", {}, locked)
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            changed = local.do(switch_job(found, off=off))
            if changed and not off:
                local.apply()
                local.index()
        return self.sources.shown(name) | {"changed": changed}

    def delete_source(self, name: str, by: By) -> dict[str, Any]:
        """Delete the documents of a source: at a data source as a feed of type "deleted", else here and now, all of them.

        Raises:
            UsageError: there is none, or it has nothing.
        """
        found = self.sources.to_empty(name)
        if found["pushed_for"]:
            return self.delete_documents(str(found["datasource"]))
        name = str(found["name"])
        try:
            lock = self._home.lock("ingather source delete")
        except HomeLockedError as locked:
            path, form = f"sources/{quote(name, safe='')}/delete", {"author": by.author, "note": by.note}
            made = self._ask(path, form, locked)
            while not made["done"]:  # the owner answers when it has done a part of many
                more = self._ask(path, form, locked)
                made = more | {key: made[key] + more[key] for key in ("deleted", "handed_over")}
            return made
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            local.do(switch_job(found, off=True))
            done = delete_gathered(local.do, found, by, enough=lambda: False)
            local.index()
        return self.sources.shown(name) | done

    def destroy(self, source: str) -> dict[str, Any]:
        """Forget what feeds and sitemaps listed for a source that has no documents any more; pushed feeds with receipts and files.

        Raises:
            UsageError: there is none, it has documents, a feed is not at its end, or it is crawled and not disabled.
        """
        found, feeds = self.sources.to_destroy(source)
        for number in feeds:
            self.forget(str(number))
        name = str(found["datasource"] or found["name"])
        if found["disabled"] is None:
            return {"source": name, "forgotten": len(feeds)}
        try:
            lock = self._home.lock("ingather source destroy")
        except HomeLockedError as locked:
            return self._ask(f"sources/{quote(str(found['name']), safe='')}/destroy", {}, locked)
        sites = [(site.name, site.source) for site in load_checked(self._home).rules.sites]
        still = still_configured(found, sites, declared=self._declares(str(found["name"])))
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            made = forget_gathered(local.do, found, rests=bool(still))
        return {"source": name, "forgotten": len(feeds), **made, "still": still}

    def _declares(self, name: str) -> bool:
        conf = self._sources.get(name)
        return conf is not None and bool(conf.origins)

    def _indexed(self) -> int:
        return indexed_sequence(self._home)

    def load(self, file: Path, source: str, feedtype: str, *, jsonl: bool = False) -> dict[str, Any]:
        """Apply a file here and now.

        Raises:
            FeedRefusedError: it may not be called so.
            HomeLockedError: somebody owns the home: push the file to it.
        """
        fields = FeedFields(source, feedtype, format=FeedFormat.JSON_LINES if jsonl else FeedFormat.XML)
        fields.check()
        try:
            lock = self._home.lock("ingather feed load")
        except HomeLockedError as locked:
            raise HomeLockedError(
                locked.text, hint="push the file to the running serve: ingather feed push"
            ) from locked
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            ticket = local.take(file, fields, Sender("this machine"))
            local.apply()
            local.index()
        return self.office.feed(ticket.name)

    def retry(self, name: str) -> dict[str, Any]:
        """Apply a feed that ended once more."""

        def here(local: LocalFeeds, feed: Mapping[str, Any]) -> str:
            self.office.file(name)
            if not local.do(again_job([int(feed["id"])])):
                raise UsageError(f"feed {name} is not at its end yet")
            return str(feed["name"])

        return self._applied(name, "retry", here)

    def replay(self, name: str) -> dict[str, Any]:
        """Push the file of a feed again."""

        def here(local: LocalFeeds, feed: Mapping[str, Any]) -> str:
            groups = feed["kind"] == FeedKind.GROUPS
            fields = FeedFields(
                feed["datasource"], feed["feedtype"], kind=FeedKind(feed["kind"]), format=FeedFormat(feed["format"]),
                groupsource=feed["groupsource"], replace=groups and feed["feedtype"] == "full",
                cleanup=groups and feed["feedtype"] == "cleanup",
            )  # fmt: skip
            return local.take(self.office.file(name), fields, Sender("this machine", grant_in(feed))).name

        return self._applied(name, "replay", here)

    def forget(self, name: str) -> dict[str, Any]:
        """Forget a feed that ended."""
        feed = self.office.feed(name)
        try:
            lock = self._home.lock("ingather feed")
        except HomeLockedError as locked:
            return self._ask(f"feeds/{quote(name, safe='')}/delete", {}, locked)
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            file = local.do(forget_job(int(feed["id"])))
        if file is None:
            raise UsageError(f"feed {name} is not at its end yet")
        if file:
            (self._home.path / str(file)).unlink(missing_ok=True)
        return {"forgotten": feed["name"]}

    def delete_documents(self, datasource: str) -> dict[str, Any]:
        """Delete what feeds brought for a data source."""
        if not self.office.feeds(datasource=datasource, limit=1):
            raise UsageError(f"no feed of a data source {datasource!r} is known")
        self.sources.to_delete(datasource)
        try:
            lock = self._home.lock("ingather feed")
        except HomeLockedError as locked:
            return self._ask("feeds/empty", {"source": datasource}, locked)
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            name = local.empty(datasource)
            local.apply()
            local.index()
        return self.office.feed(name)

    def _applied(
        self, name: str, verb: str, here: Callable[[LocalFeeds, Mapping[str, Any]], str]
    ) -> dict[str, Any]:
        feed = self.office.feed(name)
        try:
            lock = self._home.lock("ingather feed")
        except HomeLockedError as locked:
            return self._ask(f"feeds/{quote(name, safe='')}/{verb}", {}, locked)
        with lock, LocalFeeds(self._home, self._settings, self._sources) as local:
            made = here(local, feed)
            local.apply()
            local.index()
        return self.office.feed(made)

    def _ask(self, path: str, form: Mapping[str, str], locked: HomeLockedError) -> dict[str, Any]:
        answer: dict[str, Any] = ask_owner(self._home, self._settings, path, form, locked)
        return answer
