"""Catalog, bodies and index: whether they open, fit together and keep step. What is read is little; checks read all."""

from collections.abc import Iterator, Sequence

from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.nothing import why_nothing
from ingather.catalog.bodies.folder import segments
from ingather.catalog.sqlite_backup import acknowledged_of
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogError, IndexingError
from ingather.index import IndexFolder

__all__ = ["check_stored", "last_known_s"]

_SHOWN = 3


def last_known_s(home: Home) -> float | None:
    """Return the latest wall time that the catalog's runs remember; ``None`` before the first, or without a catalog."""
    if not database_of(home).exists():
        return None
    try:
        reader = SqliteReader(database_of(home), home.bodies)
    except CatalogError:
        return None
    try:
        forms = [run.form() for run in reader.runs(1)]
    finally:
        reader.close()
    return max((float(form["started"]) for form in forms if form.get("started")), default=None)


def check_stored(
    home: Home, settings: Settings, *, owned: bool, starts: Sequence[str] = (), fed: bool = False
) -> Iterator[Finding]:
    """Open the catalog, compare segments of bodies with what it acknowledged, and the index with its last change."""
    if not database_of(home).exists():
        yield fine("catalog", "there is no catalog yet: nothing was gathered")
        return
    try:
        reader = SqliteReader(database_of(home), home.bodies)
    except CatalogError as trouble:
        yield error("catalog", trouble.text, trouble.hint or "run: ingather catalog check")
        return
    try:
        last = reader.last_sequence()
        holds = reader.held_count()
        yield fine("catalog", f"opens; its last change is {last}")
        if nothing := why_nothing(reader, starts, fed=fed):
            yield warning("catalog", f"nothing gathered yet, because {nothing.why}", nothing.do)
        if holds:
            yield warning(
                "holds", f"{holds} deletions wait for you", "look at them with: ingather holds list"
            )
    finally:
        reader.close()
    yield from _bodies(home)
    yield from _index(home, settings, last, owned=owned)


def _bodies(home: Home) -> Iterator[Finding]:
    ends = acknowledged_of(database_of(home))
    sizes = {number: path.stat().st_size for number, path in segments(home.bodies).items()}
    lost = [number for number, end in ends.items() if sizes.get(number, 0) < end]
    if lost:
        shown = ", ".join(map(str, sorted(lost)[:_SHOWN]))
        yield error(
            "bodies",
            f"{len(lost)} segments of bodies are missing or too short ({shown})",
            "restore them, or: ingather catalog repair --forget-bodies",
        )
    else:
        yield fine("bodies", f"{len(ends)} segments are as long as the catalog says")


def _index(home: Home, settings: Settings, last: int, *, owned: bool) -> Iterator[Finding]:
    folder = IndexFolder(home.index)
    try:
        damages = folder.damage()
        at = 0 if damages else folder.reader().snapshot().sequence
    except IndexingError as trouble:
        yield error("index", trouble.text, "run: ingather index rebuild")
        return
    if damages:
        yield error("index", f"its files are damaged: {damages[0]}", "run: ingather index rebuild")
    elif at > last:
        yield error(
            "index", f"it knows change {at}, the catalog ends at {last}", "run: ingather index rebuild (was the catalog restored?)"
        )  # fmt: skip
    elif last - at > settings.count("index.max-lag"):
        yield warning(
            "index",
            f"it is {last - at:,} changes behind the catalog",
            "if that does not shrink, look at the log",
        )
    elif last > at and not owned:
        yield fine("index", f"it is {last - at:,} changes behind; the next crawl or serve takes them up")
    else:
        yield fine("index", f"it is in step with the catalog, {last - at} changes behind")
