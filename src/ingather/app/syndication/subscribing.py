"""Feeds for the sources of a home: a URL is looked at, a list of feeds read, and what is wanted is written into the settings."""

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ingather.app.home import Home
from ingather.app.newsource import check_source_name, preview
from ingather.app.syndication.adding import add_feeds, addition_of, plan_for, source_name
from ingather.app.syndication.opml import plan_import
from ingather.app.syndication.probing import feed_url, probe
from ingather.conf.settings.file import SettingsFile
from ingather.errors import ConfigurationError

__all__ = ["Subscribing"]


class Subscribing:
    """What adds feeds to the sources of *home*. The settings are read anew each time: somebody may have written there."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(
        self,
        url: str,
        source: str = "",
        assignments: Sequence[str] = (),
        *,
        every: bool = False,
        write: bool = False,
    ) -> dict[str, Any]:
        """Look at *url* and say what would become of its feeds, as ``probing.probe`` does, with ``plan``, ``objection`` and ``written``.

        ``objection``: why nothing can be written, ``""`` if it can; ``written``: the file that was, ``""`` if none was.

        Args:
            url: of a feed, a sitemap, or a web page that names feeds.
            source: gets the feeds; ``""`` = one with a name made of the host's.
            assignments: settings (``KEY=VALUE``) of a source that is new.
            every: of several feeds take all.
            write: do it.

        Raises:
            UsageError: no URL, no name, no such setting, or a source that cannot have feeds.
            ConfigurationError: the settings have errors, or would have.
            IngatherError: nothing came from *url*.
        """
        address = feed_url(url)
        read = self._settings()
        name = source or source_name(urlsplit(address).hostname or "", read.sources)
        plan_for(read.sources, name, (), assignments)  # wrong use is told before anything is asked for
        there = read.sources.get(name)
        gate = there if there is not None and there.origins else preview(name, assignments)
        found = probe(self._home, read.settings, gate, address)
        plan = plan_for(read.sources, name, found["feeds"], assignments)
        why = _objection(found, plan, every=every)
        written = ""
        if write and plan["feeds"] and not why:
            written = str(add_feeds(self._home, [addition_of(plan)]))
        return {**found, "plan": plan, "objection": why, "written": written}

    def import_opml(self, body: bytes, source: str = "", *, write: bool = False) -> dict[str, Any]:
        """Say what taking over an OPML file would do, as ``opml.plan_import`` does, with ``written``; with *write* do it.

        Raises:
            UsageError: no name of a source, or a source that cannot have feeds.
            ConfigurationError: the settings have errors, or would have.
            IngatherError: it is no OPML.
        """
        if source:
            check_source_name(source)
        plan, additions = plan_import(body, self._settings().sources, source=source)
        written = str(add_feeds(self._home, additions)) if write and additions else ""
        return {**plan, "written": written}

    def _settings(self) -> SettingsFile:
        read = self._home.settings(environment=os.environ)
        if read.refused:
            raise ConfigurationError(read.diagnostics)
        return read


def _objection(found: Mapping[str, Any], plan: Mapping[str, Any], *, every: bool) -> str:
    if len(plan["feeds"]) > 1 and not every:
        return f"the page names {len(plan['feeds'])} feeds: give the URL of the one that you want, or all of them"
    if plan["feeds"] or plan["known"]:
        return ""
    if not found["feeds"]:
        return f"{found['url']} is no feed and names none"
    return "no feed can be added: " + "; ".join(f"{url}: {why}" for url, why in plan["refused"].items())
