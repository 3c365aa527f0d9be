"""Feeds into ``ingather.toml``: what would be written, and the writing, with all else in the file as it stands."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ingather.app.home import Home
from ingather.app.newsource import appended, check_source_name, preview, rewrite_settings, source_text
from ingather.app.syndication.sources import fed_sources, limits_of
from ingather.conf.settings.file import SETTINGS_FILE, SettingsFile
from ingather.conf.sources.source import SourceConf, is_source_name
from ingather.conf.text.toml_edit import NotEditableError, add_to_list
from ingather.errors import UrlError, UsageError
from ingather.model.url import canonical
from ingather.syndication.deciding import Decider
from ingather.syndication.facts import FeedFacts

__all__ = ["Addition", "add_feeds", "addition_of", "plan_for", "source_name", "sources_of"]

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_BOM: Final = b"\xef\xbb\xbf"
_LONGEST: Final = 63
_SHOWN_HOSTS: Final = 20


def sources_of(sources: Mapping[str, SourceConf]) -> dict[str, str]:
    """Return for each feed of each source the name of that source."""
    return {feed: name for name, source in sources.items() for feed in source.syndication.feeds}


def source_name(text: str, sources: Mapping[str, SourceConf]) -> str:
    """Return a name for a source that *text* (a host, a folder) suggests: one that is free, or that of a source with feeds."""
    bare = _NOT_IN_NAMES.sub("-", text.lower().removeprefix("www.")).strip("-")[: _LONGEST - 6].strip("-")
    name = bare if is_source_name(bare) else "feeds"
    taken = name in sources and not sources[name].syndicates
    return f"{name}-feeds" if taken else name


def plan_for(
    sources: Mapping[str, SourceConf],
    source: str,
    feeds: Sequence[Mapping[str, Any]],
    assignments: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what adding *feeds* (reports of ``probing.probe``) to the source *source* would do.

    ``source``, ``new``, ``kind``, ``feeds`` to be written, ``known`` (URL to the source that has it), ``refused`` (URL to the reason),
    ``settings``, ``polls`` (URL to ``seconds`` between two polls and ``why``), ``documents`` (in them, each once), ``beyond`` (links that the source's scope leaves out) and ``hosts`` (how many of them each host has).

    Raises:
        UsageError: *source* cannot have feeds; settings are given for one that is there.
    """
    check_source_name(source)
    there = sources.get(source)
    # The source "web" is always there, written or not.
    new = there is None or not there.origins
    if there is not None and not new and not there.syndicates:
        raise UsageError(
            f"the source {source} is of kind {there.kind} and has no feeds",
            hint="give another name with --source",
        )
    if assignments and not new:
        raise UsageError(f"there is a source {source} already; its settings stay as they are")
    maps = [feed for feed in feeds if not feed["error"] and feed["kind"].startswith("sitemap")]
    usable = [feed for feed in feeds if not feed["error"]]
    kind = (
        str(there.kind)
        if there is not None and not new
        else "sitemap"
        if maps and len(maps) == len(usable)
        else "rss"
    )
    known = sources_of(sources)
    refused = {str(feed["asked"]): str(feed["error"]) for feed in feeds if feed["error"]}
    if kind == "rss":
        refused |= {
            str(feed["asked"]): "a sitemap belongs into a source of kind sitemap"
            for feed in maps
            if feed["asked"] not in known
        }
    wanted = list(dict.fromkeys(str(feed["asked"]) for feed in usable if feed["asked"] not in refused))
    adds = [url for url in wanted if url not in known]
    conf = preview(source, [f"kind={kind}", *assignments]) if there is None or new else there
    links, beyond = _links(conf, [feed for feed in usable if feed["asked"] in adds])
    hosts = Counter(urlsplit(link).hostname or "" for link in links)
    return {
        "source": source,
        "new": new,
        "kind": kind,
        "feeds": adds,
        "known": {url: known[url] for url in wanted if url in known},
        "refused": refused,
        "settings": list(assignments),
        "polls": {str(feed["asked"]): _pace(feed, conf) for feed in usable if feed["asked"] in adds},
        "documents": len(links),
        "beyond": beyond,
        "hosts": dict(hosts.most_common(_SHOWN_HOSTS)),
    }


def _links(conf: SourceConf, feeds: Iterable[Mapping[str, Any]]) -> tuple[set[str], int]:
    """Return the URLs of the documents that *feeds* list within the source's scope, and how many links lie beyond it."""
    fed = fed_sources({conf.name: conf}, canonical)[conf.name]
    kept: set[str] = set()
    beyond: set[str] = set()
    for feed in feeds:
        for item in feed["items"]:
            try:
                url = fed.key_of(item["link"])
            except UrlError:
                continue
            (beyond if fed.refusal(url, str(feed["url"])) else kept).add(url)
    return kept, len(beyond - kept)


def _pace(feed: Mapping[str, Any], conf: SourceConf) -> dict[str, Any]:
    """Return how often a feed is polled, as far as its document tells: headers of HTTP may ask for less."""
    ttl = feed.get("hints", {}).get("ttl_minutes")
    facts = FeedFacts(0, ttl_s=None if ttl is None else ttl * 60.0)
    wait_s, why = Decider(limits_of(conf)).next_poll(facts, 0.0)
    return {"seconds": wait_s, "why": why}


@dataclass(frozen=True, slots=True)
class Addition:
    """Feeds (URL to title, ``""`` = none) for the source *name*; *new*: it is written, with *kind* and *settings* (``KEY=VALUE``)."""

    name: str
    feeds: Mapping[str, str]
    new: bool
    kind: str = "rss"
    settings: Sequence[str] = ()


def addition_of(plan: Mapping[str, Any], titles: Mapping[str, str] | None = None) -> Addition:
    """Return the addition that a plan is about."""
    feeds = {feed: (titles or {}).get(feed, "") for feed in plan["feeds"]}
    return Addition(plan["source"], feeds, bool(plan["new"]), plan["kind"], tuple(plan["settings"]))


def add_feeds(home: Home, additions: Iterable[Addition]) -> Path:
    """Write feeds into the settings, all or none; return the file. Titles stand as comments behind the feeds of new sources.

    Raises:
        UsageError: the file is written so that a person has to, or a setting is wrong.
        ConfigurationError: the file has errors, or would have.
        HomeError: it cannot be read or written.
    """
    wanted = list(additions)
    texts = {
        one.name: source_text(one.name, [f"kind={one.kind}", *one.settings], lists={"feeds": one.feeds})
        for one in wanted
        if one.new
    }

    def make(body: bytes, _: SettingsFile) -> bytes:
        for one in wanted:
            body = appended(body, texts[one.name]) if one.new else _grown(body, one)
        return body

    def _grown(body: bytes, one: Addition) -> bytes:
        mark = _BOM if body.startswith(_BOM) else b""
        try:
            text = add_to_list(body[len(mark) :].decode(), ("source", one.name), "feeds", list(one.feeds))
        except NotEditableError as error:
            raise UsageError(
                f"{home.path / SETTINGS_FILE} is not changed by program: {error}", hint="write it by hand"
            ) from error
        return mark + text.encode()

    return rewrite_settings(home, make)
