"""What arrived becomes a row, and with it a feed: the job that the keeper commits before anybody hears ``Success``."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from ingather.catalog.feeds.sqlite_feed_book import NewFeed
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.feeds.authority import Sender
from ingather.feeds.desk import (
    WEB_SOURCE,
    FeedFields,
    FeedKind,
    FeedTicket,
    GroupsFullError,
    Spooled,
    feed_name,
    feed_type,
)
from ingather.feeds.groups_applying import AT_CAPACITY, LoadMode, at_capacity
from ingather.feeds.sweeping import DELETED
from ingather.model.source_name import source_key
from ingather.ports.clock import Clock

__all__ = ["emptying", "replaces", "taking"]

_GROUPS_TYPE: Final = "groups"


def taking(
    spooled: Spooled, fields: FeedFields, sender: Sender, *, folder: Path, clock: Clock
) -> Callable[..., FeedTicket]:
    """Return the job that gives a feed its row; its file is named as seen from *folder*.

    Raises:
        FeedRefusedError: it may not be called so.
        GroupsFullError: (of the job) there is no room for memberships.
    """
    fields.check()
    if fields.kind is FeedKind.GROUPS:
        kind = "cleanup" if fields.cleanup else "full" if replaces(fields) else "incremental"
        label = f"{_GROUPS_TYPE}-{kind}"
    else:
        kind = str(feed_type(fields.feedtype))
        label = kind
    file = spooled.path
    if file.is_relative_to(folder):
        file = file.relative_to(folder)
    rest = {
        "format": str(fields.format), "groupsource": fields.groupsource, "replace": fields.replace, "cleanup": fields.cleanup,
        "part": fields.part, "last": fields.last, "light": spooled.light, "warnings": list(fields.warnings),
        "grant": msgspec.to_builtins(sender.grant),
    }  # fmt: skip

    def job(writer: CatalogWriter, _applied: Applied) -> FeedTicket:
        datasource = _spelled(writer, fields)
        if fields.kind is FeedKind.GROUPS and not fields.cleanup:
            mode = LoadMode.FULL if replaces(fields) else LoadMode.INCREMENTAL
            if at_capacity(writer, fields.groupsource or datasource, mode):
                raise GroupsFullError(f"error: {AT_CAPACITY}.")
        now_s = clock.wall()
        name = feed_name(datasource, label, now_s, 0).removesuffix("0") + "{number}"
        number = writer.feeds.add(
            NewFeed(
                name, datasource, str(fields.kind), kind, rest, sender.address, str(file), spooled.size, spooled.sha256,
                spooled.records, fields.session,
            ),
            now_s,
        )  # fmt: skip
        feed = writer.feeds.feed(number)
        assert feed is not None  # noqa: S101 - it was made
        return FeedTicket(number, feed.name, datasource)

    return job


def _spelled(writer: CatalogWriter, fields: FeedFields) -> str:
    """Return the name of a feed's data source as it was first written or pushed.

    Raises:
        FeedRefusedError: so called it cannot be taken.
    """
    name = writer.applier.names.spelled(fields.datasource)
    if source_key(name) == WEB_SOURCE and writer.applier.names.known_exactly(name) is None:
        name = WEB_SOURCE
    if name != fields.datasource:
        replace(fields, datasource=name).check()
    return name


def emptying(datasource: str, who: str, *, clock: Clock) -> Callable[..., FeedTicket]:
    """Return the job that has everything deleted that feeds brought for *datasource*."""

    def job(writer: CatalogWriter, _applied: Applied) -> FeedTicket:
        now_s = clock.wall()
        name = feed_name(datasource, DELETED, now_s, 0).removesuffix("0") + "{number}"
        number = writer.feeds.add(
            NewFeed(name, datasource, str(FeedKind.DOCUMENTS), DELETED, {}, who, "", 0, "", 0), now_s
        )
        feed = writer.feeds.feed(number)
        assert feed is not None  # noqa: S101 - it was made
        return FeedTicket(number, feed.name, datasource)

    return job


def replaces(fields: FeedFields) -> bool:
    """Return whether what a feed says takes the place of all that its source said before."""
    return fields.replace or fields.feedtype.strip().lower() == "full"
