"""A configuration that was published while a crawl had the home: it waits in ``run/`` until the crawl has ended.

The crawl goes on with its own configuration. Who had the home, or the next who has it, keeps the
waiting one as a version and puts it into ``config/``; of two that wait the later one counts.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ingather.app.clock import SystemClock
from ingather.app.configuration import Configuration, read_configuration
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.versions import digest_of, overwritten, packed, put_in_place
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings
from ingather.errors import HomeError, IngatherError
from ingather.log import get

__all__ = ["Kept", "finish_waiting", "keep_version", "let_wait", "waiting_config"]

_PLACE = "publishing-next"
_ABOUT = "about.json"
_log = get("conf")


@dataclass(frozen=True, slots=True)
class Kept:
    """A configuration that was kept: its version, and whether another one was in force before."""

    version: int
    changed: bool


def keep_version(  # noqa: PLR0913 - a version and where it comes from
    home: Home, settings: Settings, read: Configuration, stage: Path | None, *, author: str, note: str
) -> Kept:
    """Keep what was read as a version and put *stage* in place; for who has the home alone and no writer open."""
    loaded = read.loaded
    kept = overwritten(home, loaded.bodies) if stage is not None else None
    writer = CatalogWriter(database_of(home), budgets=budget_limits(settings))
    try:
        now_s = SystemClock().wall()

        def job(w: CatalogWriter) -> Kept:
            versions = w.registry.versions
            before = versions.in_force()
            if kept is not None:
                versions.keep(digest_of(kept), packed(kept), now_s)
            made = versions.publish(loaded.digest, packed(loaded.bodies), now_s, author=author, note=note)
            return Kept(made, before != made)

        done = writer.transaction(job)
    finally:
        writer.close()
    if stage is not None and kept is not None:
        put_in_place(home, stage, kept)
    return done


def let_wait(home: Home, stage: Path, *, author: str, note: str) -> None:
    """Have the checked configuration in *stage* wait for the end of the crawl that has the home.

    Raises:
        HomeError: it cannot be written.
    """
    try:
        (stage / _ABOUT).write_text(json.dumps({"author": author, "note": note}), "utf-8")
        shutil.rmtree(home.run / _PLACE, ignore_errors=True)
        stage.rename(home.run / _PLACE)
    except OSError as error:
        raise HomeError(f"{home.run} cannot be written: {error.strerror}") from error


def waiting_config(home: Home) -> Path | None:
    """Return the folder of the configuration that waits, ``None`` = none does."""
    config = home.run / _PLACE / "config"
    return config if config.is_dir() else None


def finish_waiting(home: Home, settings: Settings, *, environment: Mapping[str, str] | None = None) -> bool:
    """Put a waiting configuration into force; tell whether there was one. Needs the home's lock, and no writer open.

    One that has mistakes by now (a plug-in went, say) is left out, and that is said in the log.
    """
    place = home.run / _PLACE
    if not (place / "config").is_dir():
        return False
    try:
        about = json.loads((place / _ABOUT).read_text("utf-8"))
        env = os.environ if environment is None else environment
        read = read_configuration(home, environment=env, config=place / "config").require()
        done = keep_version(home, settings, read, place, author=str(about["author"]), note=str(about["note"]))
    except (IngatherError, OSError, ValueError, KeyError) as error:
        _log.error("the configuration that waited is not put into force", error=str(error))
        shutil.rmtree(place, ignore_errors=True)
        return False
    _log.info("the configuration that waited is in force", version=done.version)
    return True
