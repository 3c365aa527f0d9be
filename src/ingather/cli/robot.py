"""``ingather robot``: what it does, and what it is to do."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.way_line import way_line

if TYPE_CHECKING:
    from ingather.app.robot.desk import HomeRobot

__all__ = ["command"]

_json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
_PLAIN: Mapping[str, str] = {
    "start": "Begin a run of the robot, or go on with the one that was stopped.",
    "stop": "Stop the run where it stands; `start` goes on with it.",
    "pause": "Begin no visit any more; what is under way ends, and all keeps its place.",
    "resume": "Go on where it was paused.",
    "quit": "End the run and the robot, but not `ingather serve`; `start` begins another run.",
    "reload": "Take over what stands in config/; with a mistake in it the old configuration stays.",
}


@click.group("robot")
def command() -> None:
    """The robot of a home that is served: off, idle, running or paused.

    What cannot be done in the state that it is in is refused, and changes nothing. What you set (off, paused, slowed and
    blocked hosts) holds across restarts.
    """


@command.command("status")
@home_option
@_json_option
def status(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Show the state, the run with its figures, what waits where, and the next runs."""
    found = _robot(home).status()
    if as_json:
        print_json(found)
        return
    for line in _told(found):
        click.echo(line)


def _add_plain(name: str, about: str) -> None:
    @command.command(name, help=about)
    @home_option
    @_json_option
    def act(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
        _say(_robot(home).command(name), as_json=as_json)


for _name, _about in _PLAIN.items():
    _add_plain(_name, _about)


@command.command("clear")
@home_option
@_json_option
def clear(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Forget the pool and what is known of visits, while the robot is off.

    Descriptions and the index stay; what is described is visited anew in the next run.
    """
    _say(_robot(home).command("clear"), as_json=as_json)


@command.command("add")
@click.argument("url")
@click.option("--depth", type=int, help="Links followed from it; -1 = no limit. Else the site decides.")
@home_option
@_json_option
def add(url: str, depth: int | None, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Put URL into the pool; one that is known is visited again. What the filters deny is refused."""
    fields = {} if depth is None else {"depth": str(depth)}
    _say(_robot(home).command("add", url=url, **fields), as_json=as_json)


@command.command("slow")
@click.argument("host")
@click.argument("delay")
@home_option
@_json_option
def slow(host: str, delay: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Keep at least DELAY (5s, 2.5, 1m; 0 = no more) between two visits to HOST."""
    _say(_robot(home).command("slow", host=host, delay=delay), as_json=as_json)


@command.command("block")
@click.argument("host")
@home_option
@_json_option
def block(host: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Ask HOST nothing any more; what waits of it waits, and its documents stay in search."""
    _say(_robot(home).command("block", host=host), as_json=as_json)


@command.command("unblock")
@click.argument("host")
@home_option
@_json_option
def unblock(host: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Ask HOST again."""
    _say(_robot(home).command("unblock", host=host), as_json=as_json)


@command.command("loglevel")
@click.argument("level")
@home_option
@_json_option
def loglevel(level: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Let robot.log tell more or less (0 to 5) until the configuration changes."""
    _say(_robot(home).command("loglevel", level=level), as_json=as_json)


def _robot(home: Path) -> "HomeRobot":
    from ingather.app.robot.desk import HomeRobot
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)
    return HomeRobot(place, read.settings)


def _say(answer: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    rest = {name: value for name, value in answer.items() if name != "state" and value is not None}
    said = ", ".join(
        f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in rest.items()
    )
    click.echo(f"the robot is {answer['state']}{f' ({said})' if said else ''}")


def _told(found: Mapping[str, Any]) -> Sequence[str]:
    why = f": {found['why']}" if found.get("why") else ""
    lines = [f"The robot is {found['state']}{why}"]
    if found.get("nothing_gathered"):
        lines.append(f"  {found['nothing_gathered']}")
    if leaving := found.get("leaving"):
        looked = "; the rest is looked for" if leaving["looking"] else ""
        lines.append(
            f"  of {leaving['documents']} documents that the configuration excludes {leaving['left']} are in search still{looked}"
        )
    if "pool" in found:
        lines += _figures(found)
    lines += [
        f"  slowed: {host} to one visit in {delay:g} s" for host, delay in found.get("slowed", {}).items()
    ]
    lines += [f"  blocked: {host}" for host in found.get("blocked", ())]
    return lines


def _figures(found: Mapping[str, Any]) -> Sequence[str]:
    rate = found["rate"]
    rds = ", ".join(f"{found[f'rds_{name}']} {name}" for name in ("new", "changed", "unchanged", "removed"))
    lines = [
        f"  run {found['run']}, started {_at(found['started'])}, last updated at {_at(found['updated'])}",
        f"  starting points: {found['starting_points']} defined; URL pool: {found['pool']} waiting, {found['in_flight']} in hand",
        f"  fetched {found['fetched']} ({found['bytes']} bytes, {rate['fetch']:g} a second), new URLs {_known(found['extracted_urls'])}",
        f"  filtered {_counts(found['filtered'])} ({rate['filter']:g} a second); errors {_counts(found['errors'])}",
        f"  RDs: {rds}; {_known(found['rds_pending_index'])} not yet in the index; duplicates {found['duplicates']}",
    ]
    if "on_completion" in found:
        hook = f", after {found['cmd_hook']}" if found["cmd_hook"] else ""
        lines.append(f"  after the run: {found['on_completion']}{hook}")
    if found["last_error"]:
        last = found["last_error"]
        lines.append(f"  last error: {last['url']}: {last['error']} ({_at(last['at'])})")
    for queue in found["queue"]:
        when = "blocked" if queue["in_s"] < 0 else f"next in {queue['in_s']:g} s" if queue["in_s"] else "now"
        lines.append(f"  queue {queue['host']}: {queue['waiting']} waiting, {when}")
    lines += [f"  {way_line(item)}" for item in found.get("ways", ())]
    lines += [f"  next run of {row['source']}: {_at(row['at'])}" for row in found.get("next_runs", ())]
    return lines


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def _counts(found: Mapping[str, int]) -> str:
    return f"{sum(found.values())}" + (
        f" ({', '.join(f'{count} {name}' for name, count in found.items())})" if found else ""
    )


def _at(wall_s: float | None) -> str:
    return datetime.fromtimestamp(wall_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if wall_s else "never"
