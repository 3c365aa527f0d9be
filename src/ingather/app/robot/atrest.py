"""The robot's status while it is in no process of ours to ask: what the catalog and the configuration know, in the same shape."""

from collections import Counter
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.nothing import why_nothing
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import load
from ingather.errors import CatalogError
from ingather.robot.settling.figures import RATES

__all__ = ["kept_form"]


def kept_form(home: Home) -> dict[str, Any]:
    """Return the fields of DEC-33, of the newest run; what only a process knows (the queue, rates, the last error) is empty or ``None``."""
    loaded = load(home.config)
    form: dict[str, Any] = {
        "run": 0, "started": None, "updated": None, "starting_points": len(loaded.starting_points), "pool": 0, "in_flight": 0, "fetched": 0,
        "bytes": 0, "extracted_urls": None, "filtered": {}, "errors": {}, "duplicates": 0, "rds_new": 0, "rds_changed": 0, "rds_unchanged": 0,
        "rds_removed": 0, "rds_pending_index": None, "rate": dict.fromkeys(RATES, 0.0), "queue": [], "last_error": None,
        "nothing_gathered": None, "leaving": None,
    }  # fmt: skip
    if not database_of(home).exists():
        return form
    try:
        reader = ReportReader(database_of(home))
    except CatalogError:
        return form
    catalog = SqliteReader(database_of(home), home.bodies)
    try:
        nothing = why_nothing(catalog, [start.url for start in loaded.starting_points])
        form["nothing_gathered"] = None if nothing is None else str(nothing)
        run, form["pool"] = reader.run(0), reader.waiting()
        if run is None:
            return form
        figures = reader.figures(run.number)
        visits, rds = figures.get("visits", {}), figures.get("rds", {})
        form |= {"run": run.number, "started": run.started_s, "updated": run.ended_s}
        form |= {"fetched": visits.get("answered", 0), "bytes": visits.get("bytes", 0)}
        form |= {
            "errors": figures.get("error", {}),
            "duplicates": figures.get("duplicates", {}).get("hidden", 0),
        }
        form |= {f"rds_{name}": rds.get(name, 0) for name in ("new", "changed", "unchanged", "removed")}
        counts = {int(name): n for name, n in figures.get("excluded", {}).items() if name.isdigit()}
        filtered: Counter[str] = Counter(figures.get("refused", {}))
        for row, directive in reader.directives(sorted(counts)).items():
            filtered[directive.category] += counts[row]
        form["filtered"] = dict(filtered)
    finally:
        catalog.close()
        reader.close()
    return form
