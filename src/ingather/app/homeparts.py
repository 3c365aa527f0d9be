"""What is made of a home by itself: the catalog's file, the index follower, the configuration."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from ingather.app import wiring
from ingather.app.configuration import read_configuration
from ingather.app.descriptions.schema import documents_of, schema_of
from ingather.app.home import Home
from ingather.app.overlay.inforce import in_force
from ingather.app.priority import Background
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import Loaded, RobotConf
from ingather.conf.rd.rdschema import RdSchema
from ingather.conf.settings.values import Settings
from ingather.index import IndexFolder
from ingather.ports.clock import Clock
from ingather.robot.indexing.documents import Lay
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.indexing.laying import Laying

__all__ = ["database_of", "follower_of", "laying_of", "load_checked"]

_CATALOG: Final = "catalog.db"


def database_of(home: Home) -> Path:
    """Return the catalog's file."""
    return home.catalog / _CATALOG


def follower_of(  # noqa: PLR0913 - its parts
    home: Home,
    settings: Settings,
    clock: Clock,
    *,
    committed: Callable[[int], None] = lambda _: None,
    robot: RobotConf | None = None,
    lay: Lay | None = None,
    alone: bool = False,
    schema: Callable[[], RdSchema] | None = None,
) -> IndexFollower:
    """Return the index follower of a home, not started; *robot* says how long it may collect, *alone* that none searches.

    What *lay* lays over documents is by default the external metadata in force. *schema* gives the RD schema in force, by
    default the one that stands in the home now.

    Raises:
        ConfigurationError: the RD schema has errors.
    """
    now = schema or partial(_same, schema_of(home.config))
    behind = Background(settings.count("gather.niceness"))
    return IndexFollower(
        lambda: IndexFolder(home.index).writer(heap_bytes=settings.size("index.memory"), run=behind),
        lambda: documents_of(now, SqliteReader(database_of(home), home.bodies), lay or laying_of(home)),
        clock, committed=committed, limits=wiring.follow_limits(settings, robot, alone=alone),
    )  # fmt: skip


def _same(schema: RdSchema) -> RdSchema:
    return schema


def laying_of(home: Home) -> Laying:
    """Return what is laid over documents of a home: its metadata classes, and the external metadata in force."""
    return in_force(database_of(home), home.settings().classes)


def load_checked(home: Home) -> Loaded:
    """Return the home's configuration.

    Raises:
        ConfigurationError: it has errors; all of them are in it.
    """
    return read_configuration(home).require().loaded
