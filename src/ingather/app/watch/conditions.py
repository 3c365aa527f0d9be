"""What of a served home is worth an alarm now: disk, holds, sources that fail for long, certificates, what keeps it from being ready."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ingather.app.certificatedates import not_after
from ingather.app.certificatesseen import near_ends
from ingather.app.doctor.homely import certificates_of
from ingather.app.notices.alarms import Alarm, iso_time
from ingather.app.reaching.ledger import refusals
from ingather.app.syndication.metering import web_feed_figures
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.web.parts import Readiness

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["alarms_of"]

_OWN_KIND: Final = frozenset({"disk", "canary"})
_SILENT: Final = frozenset({"stopping", "lag", "gatherers"})
"""Reasons that come and go by themselves."""
_CERTIFICATE_S: Final = 30 * 86_400.0
_MIB: Final = 1 << 20
_MOST: Final = 100


def alarms_of(
    gathering: "Gathering", ready: Readiness, holds: Iterable[dict[str, object]], *, failing_s: float
) -> Iterator[Alarm]:
    """Yield the alarms of the moment; reads the catalog.

    Args:
        gathering: what is served.
        ready: readiness of the admin listener now.
        holds: the open holds, as JSON shows them.
        failing_s: from when on a failure is one for long.
    """
    now_s = gathering.clock.wall()
    room = gathering.room()
    for name, text in ready.reasons:
        if name == "disk":
            about = {"free_bytes": room.free_bytes, "reserve_bytes": room.reserve_bytes}
            yield Alarm("disk", "home", f"{text}; {room.free_bytes // _MIB:,} MiB are free", about)
        elif name not in _SILENT:
            yield Alarm(
                name if name in _OWN_KIND else "not-ready", "home" if name in _OWN_KIND else name, text
            )
    for hold in list(holds)[:_MOST]:
        text = f"{hold['documents']} deletions of source {hold['source']} wait for you: {hold['reason']}"
        yield Alarm(
            "hold", str(hold["id"]), text, {key: hold[key] for key in ("source", "reason", "documents")}
        )
    for one in refusals(gathering.home.run):
        if one.suspended:
            text = f"credential {one.name} is suspended after {one.refused} refusals in a row: {one.text}; ingather secret resume {one.name}"
            yield Alarm("credential", one.name, text, {"refused": one.refused, "since": iso_time(one.last_s)})
    yield from _failing(gathering, now_s, failing_s)
    yield from _certificates(gathering, now_s)


def _certificates(gathering: "Gathering", now_s: float) -> Iterator[Alarm]:
    for path in certificates_of(gathering.home, gathering.settings):
        with suppress(OSError, ValueError):
            end_s = not_after(path)
            if end_s - now_s < _CERTIFICATE_S:
                text = f"the certificate {path.name} ends at {iso_time(end_s)}"
                yield Alarm("certificate", path.name, text, {"ends": iso_time(end_s)})
    if gathering.settings.flag("notices.host-certificates"):
        for name, end_s in list(near_ends(gathering.home.run, now_s))[:_MOST]:
            text = f"the certificate of {name} {'ended' if end_s < now_s else 'ends'} at {iso_time(end_s)}"
            yield Alarm("certificate", name, text, {"ends": iso_time(end_s), "host": name})


def _failing(gathering: "Gathering", now_s: float, failing_s: float) -> Iterator[Alarm]:
    for name, figures in sorted(web_feed_figures(gathering.database).items()):
        good_s = figures["last_good"]
        if figures["feeds"].get("failing") and (good_s is None or now_s - good_s >= failing_s):
            since = "ever" if good_s is None else iso_time(good_s)
            yield Alarm(
                "source.failing",
                name,
                f"no web feed of source {name} could be read since {since}",
                {"last_good": since},
            )
    reader = SqliteReader(gathering.database, gathering.home.bodies)
    try:
        closed = reader.robots_unreachable(now_s - failing_s)
    finally:
        reader.close()
    for origin, since_s, why in closed[:_MOST]:
        text = f"nothing is fetched from {origin}: its robots.txt could not be had since {iso_time(since_s)}"
        yield Alarm("source.failing", origin, text, {"failing_since": iso_time(since_s), "why": why})
