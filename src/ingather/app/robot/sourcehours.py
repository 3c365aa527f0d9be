"""Settings of a source become hours: its windows, delays, schedule and time zone."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from ingather.conf.settings.values import Settings
from ingather.conf.sources.cron import Cron, parse_cron
from ingather.conf.sources.days import zone_named
from ingather.conf.sources.source import SourceConf
from ingather.conf.sources.weekspans import parse_delay, parse_span
from ingather.model.source_name import BySource
from ingather.robot.politeness.hours import Hours

__all__ = ["all_hours", "hours_of", "schedule_of", "zone_of"]


def zone_of(settings: Settings, source: SourceConf) -> tzinfo:
    """Return the time zone in which a source's times are meant."""
    return zone_named(source.time_zone or settings.text("overlay.time-zone"))


def schedule_of(source: SourceConf) -> Sequence[Cron]:
    """Return when runs of a source begin by themselves."""
    return [parse_cron(text) for text in source.schedule]


def hours_of(settings: Settings, source: SourceConf) -> Hours:
    """Return when a source may be gathered, and how slowly."""
    windows = tuple(parse_span(text) for text in source.windows)
    delays = tuple(parse_delay(text) for text in source.delays)
    return Hours(windows, delays, zone_of(settings, source))


def all_hours(settings: Settings, sources: Mapping[str, SourceConf]) -> dict[str, Hours]:
    """Return the hours of the sources that have some."""
    return BySource(
        (name, hours_of(settings, one)) for name, one in sources.items() if one.windows or one.delays
    )
