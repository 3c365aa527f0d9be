"""Reports about the robot itself: overview, versions, configuration, network library, modules, database."""

import platform
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ingather import __version__
from ingather.app import wiring
from ingather.app.homeparts import load_checked
from ingather.app.plugging import plug_ins
from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.catalog.sqlite_memory import sqlite_version
from ingather.conf import BUILTIN, PARAMETERS
from ingather.extract.documents.kinds import Kind
from ingather.fetch.http_library import library

__all__ = ["configuration", "database", "libnet", "modules", "overview", "version"]

_LOGIN = re.compile(r"//[^/@\s]*@")
"""Name and password in the URL of a proxy."""
_NAMED = (Column("name"), Column("value"))
_LIVE = ("why", "in_flight", "fetched", "bytes", "extracted_urls", "duplicates", "rds_new", "rds_changed", "rds_unchanged",
         "rds_removed", "rds_pending_index")  # fmt: skip


def overview(context: Context, _ask: Ask) -> Table:
    """Where the robot stands: its state, its newest run, what waits, what is kept."""
    reader, live = context.reader, context.live()
    counts, run = reader.database(), reader.run(0)
    rows: list[tuple[str, Any]] = [("robot", live.get("state", "unknown"))]
    rows += [(name, live[name]) for name in _LIVE if live.get(name) not in (None, "")]
    if run is not None:
        figures = reader.figures(run.number)
        rows += [("run", run.number), ("run_state", run.state), ("run_started", _moment(run.started_s)), ("run_ended", _moment(run.ended_s))]  # fmt: skip
        rows += [("visits", figures.get("visits", {}).get("all", 0)), ("errors", sum(figures.get("error", {}).values()))]  # fmt: skip
        rows += [(f"rds_{name}_in_run", n) for name, n in figures.get("rds", {}).items()]
    rows += [
        ("starting_points", len(load_checked(context.home).starting_points)),
        ("waiting", reader.waiting()),
        ("documents", counts["documents"]),
        ("servers", counts["hosts"]),
        ("deletions_held", counts["held"]),
        ("tombstones", counts["tombstones"]),
        ("changes", reader.last_change()),
    ]
    rows += [
        (f"source {name}", f"{kind}, {access}, {documents} documents{', disabled' if disabled else ''}")
        for name, kind, access, documents, disabled in reader.sources()
    ]
    return Table(_NAMED, rows)


def version(context: Context, _ask: Ask) -> Table:
    """Versions of everything that takes part."""
    net = library()
    robot = load_checked(context.home).robot
    return Table(
        _NAMED,
        [
            ("ingather", __version__),
            ("user-agent", wiring.user_agent(robot)),
            ("schema", context.reader.database()["schema"]),
            ("python", platform.python_version()),
            ("sqlite", sqlite_version()),
            ("libcurl", net["version"]),
            ("tls", net["tls"]),
            ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ],
    )


def configuration(context: Context, _ask: Ask) -> Table:
    """The parameters of robot.conf with their origins, the filters and the sites."""
    loaded = load_checked(context.home)
    rows: list[tuple[str, Any, str]] = []
    for parameter in PARAMETERS.values():
        value = loaded.robot.values[parameter.name]
        shown = (
            "(set)" if parameter.secret and value else "" if value is None else _LOGIN.sub("//", str(value))
        )
        rows.append(
            (
                parameter.name,
                shown.lower() if parameter.kind == "bool" else shown,
                loaded.robot.origin(parameter.name),
            )
        )
    rows += [(f"filter {name}", f"{len(one.directives)} directives", "filter.conf") for name, one in loaded.filters.items()]  # fmt: skip
    rows += [
        (
            f"site {site.name}",
            f"source {site.source}",
            f"{site.place.file}:{site.place.line}" if site.place else "",
        )
        for site in loaded.rules.sites
    ]
    rows += [
        (f"starting point {n}", start.url, "") for n, start in enumerate(loaded.starting_points, start=1)
    ]
    return Table((Column("name"), Column("value"), Column("origin")), rows)


def libnet(_context: Context, _ask: Ask) -> Table:
    """The network library: version, protocols, features."""
    return Table(
        _NAMED,
        [(name, ", ".join(value) if isinstance(value, list) else value) for name, value in library().items()],
    )


def modules(context: Context, _ask: Ask) -> Table:
    """Functions that filters may call, families of documents that are read, plug-ins."""

    def rows() -> Iterator[tuple[str, str, str, str]]:
        for function in BUILTIN.functions.values():
            phases = ", ".join(sorted(str(phase) for phase in function.phases)) or "Init"
            yield "function", function.name, "built in", function.unsupported or phases
        for kind in Kind:
            if kind is not Kind.UNREADABLE:
                yield "reader", str(kind), "built in", ""
        for plugin in plug_ins(context.home, context.settings).plugins:
            brings = (*plugin.functions, *plugin.converters, *plugin.extractors, *plugin.fetchers)
            yield "plug-in", plugin.name, plugin.origin, plugin.trouble or f"{plugin.state}: {', '.join(brings)}"  # fmt: skip

    return Table((Column("kind"), Column("name"), Column("origin"), Column("about")), rows())


def database(context: Context, _ask: Ask) -> Table:
    """Sizes and counts of the catalog."""
    counts = context.reader.database()
    path = context.reader.path
    sizes = {
        name: file.stat().st_size
        for name, file in (
            ("catalog_bytes", path),
            ("write_ahead_log_bytes", path.with_name(f"{path.name}-wal")),
        )
        if file.exists()
    }
    segments = [file.stat().st_size for file in context.home.bodies.glob("*.warc*") if file.is_file()]
    rows: list[tuple[str, Any]] = [
        *counts.items(),
        *sizes.items(),
        ("body_segments", len(segments)),
        ("body_bytes", sum(segments)),
    ]
    rows += [("databases", ", ".join(context.reader.databases()))]
    return Table(_NAMED, rows, note="urls and changes are spans of numbers, not counts")


def _moment(wall_s: float | None) -> str | None:
    return None if wall_s is None else datetime.fromtimestamp(wall_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
