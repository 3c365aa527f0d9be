"""The robot's status: every field of DEC-33, one shape for CLI, HTTP and command port."""

from typing import TYPE_CHECKING, Any

from ingather.app.nothing import NothingWatch

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["robot_form"]

_QUEUES = 20


def robot_form(gathering: "Gathering") -> dict[str, Any]:
    """Return the figures of the moment; called from any thread."""
    keeper, conductor = gathering.keeper, gathering.conductor
    now, robot = gathering.clock.monotonic(), gathering.loaded.robot
    figures = keeper.figures.form()
    return {
        "state": str(conductor.state),
        "phase": conductor.phase,
        "why": conductor.why,
        "run": gathering.run,
        "started": conductor.runs.started_s or None,
        "updated": keeper.figures.updated_s or None,
        "starting_points": len(gathering.starts),
        "nothing_gathered": _nothing(gathering),
        "leaving": _leaving(gathering),
        "pool": keeper.frontier.waiting,
        "in_flight": keeper.frontier.out,
        **{name: figures.pop(name) for name in ("fetched", "bytes", "extracted_urls", "filtered", "errors", "duplicates")},
        **{name: figures.pop(name) for name in ("rds_new", "rds_changed", "rds_unchanged", "rds_removed")},
        "rds_pending_index": keeper.index.lag,
        "rate": figures["rate"],
        "queue": keeper.frontier.queues(_QUEUES, now),
        "ways": keeper.ways(),
        "last_error": figures["last_error"],
        "slowed": dict(sorted(conductor.kept.slowed.items())),
        "blocked": list(conductor.kept.blocked),
        "on_completion": str(robot.oncompletion),
        "cmd_hook": str(robot.cmd_hook) or None,
        "command_port": conductor.port.form(),
        "next_runs": conductor.timetable.form(gathering.clock.wall()),
        "loglevel": gathering.robot_log.level,
        "configuration": gathering.version,
    }  # fmt: skip


def _leaving(gathering: "Gathering") -> dict[str, Any] | None:
    reader = gathering.reader_once()
    try:
        return gathering.leaving.form(reader)
    finally:
        reader.close()


def _nothing(gathering: "Gathering") -> str | None:
    found = NothingWatch(gathering).found()
    return None if found is None else str(found)
