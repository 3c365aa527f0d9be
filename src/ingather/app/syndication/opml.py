"""Lists of feeds as other readers write and read them: OPML into ``ingather.toml``, the feeds of a home as OPML."""

from collections.abc import Mapping
from typing import Any, Final

from ingather.app.syndication.adding import Addition, source_name, sources_of
from ingather.app.syndication.probing import feed_url
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError, WebFeedError
from ingather.syndication.opml import Subscription, read_opml, write_opml

__all__ = ["OUTSIDE", "export_opml", "plan_import"]

OUTSIDE: Final = "feeds"
"""Source of feeds that stand in no folder."""


def plan_import(
    body: bytes, sources: Mapping[str, SourceConf], *, source: str = ""
) -> tuple[dict[str, Any], list[Addition]]:
    """Return what taking over an OPML file would do, as a JSON object, and the additions for ``add_feeds``.

    ``title``, ``sources`` (name, ``new``, ``folder``, ``feeds`` with ``url`` and ``title``), ``duplicates`` (``url``, ``title``,
    ``folders``: mentioned once more, the first counts), ``known`` (``url``, ``source``) and ``remarks``.

    Args:
        body: the file.
        sources: those of the settings.
        source: gets all feeds; ``""`` = each outermost folder becomes a source.

    Raises:
        WebFeedError: it is no OPML.
        UsageError: *source*, or the source that a folder stands for, cannot have feeds.
    """
    read = read_opml(body)
    if read.error:
        raise WebFeedError(f"no OPML: {read.error}")
    there = sources_of(sources)
    known: list[dict[str, str]] = []
    twice = [_form(feed) for feed in read.duplicates]
    groups: dict[str, dict[str, str]] = {}
    folders: dict[str, str] = {}
    seen: set[str] = set()
    remarks = list(read.remarks)
    for feed in read.subscriptions:
        try:
            url = feed_url(feed.url)
        except UsageError as error:
            remarks.append(str(error))
            continue
        if url in there:
            known.append({"url": url, "source": there[url]})
        elif url in seen:
            twice.append(_form(feed))
        else:
            seen.add(url)
            folder = feed.folders[0] if feed.folders else ""
            name = source or (source_name(folder, sources) if folder else OUTSIDE)
            folders.setdefault(name, folder)
            groups.setdefault(name, {})[url] = feed.title
    additions = [_addition(name, feeds, sources) for name, feeds in groups.items()]
    plan = {
        "title": read.title,
        "sources": [
            {"name": one.name, "new": one.new, "folder": folders[one.name],
             "feeds": [{"url": url, "title": title} for url, title in one.feeds.items()]}
            for one in additions
        ],
        "duplicates": twice,
        "known": known,
        "remarks": remarks,
    }  # fmt: skip
    return plan, additions


def _addition(name: str, feeds: Mapping[str, str], sources: Mapping[str, SourceConf]) -> Addition:
    conf = sources.get(name)
    new = conf is None or not conf.origins
    if conf is not None and not new and not conf.syndicates:
        raise UsageError(
            f"the source {name} is of kind {conf.kind} and has no feeds",
            hint="give another one with --source",
        )
    return Addition(name, feeds, new)


def _form(feed: Subscription) -> dict[str, Any]:
    return {"url": feed.url, "title": feed.title, "folders": list(feed.folders)}


def export_opml(sources: Mapping[str, SourceConf], titles: Mapping[str, str]) -> bytes:
    """Return the feeds of all sources of kind ``rss`` as OPML, a folder each source; *titles*: URL to the title that the feed has."""
    return write_opml(
        "Ingather",
        tuple(
            Subscription(url, titles.get(url, ""), "", (name,))
            for name, conf in sources.items()
            if conf.kind == "rss"
            for url in conf.syndication.feeds
        ),
    )
