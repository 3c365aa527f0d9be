"""``ingather conf history|show|diff|publish|rollback``: configurations as versions."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.errors import UsageError

if TYPE_CHECKING:
    from ingather.app.publishing import Published, Publishing

__all__ = ["diff", "history", "publish", "rollback", "show"]

_note = click.option("--note", default="", metavar="TEXT", help="Why, for the history.")
_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
_yes = click.option("--yes", is_flag=True, help="Publish even if it would delete many documents.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command(short_help="List what was in force when, and who published it.")
@home_option
@_json
def history(home: Path, *, as_json: bool) -> None:
    """List what was in force when, newest first: version, time, author, note.

    Explanations name the version that made a verdict. A version that was never in force is what stood in
    config/ before something else was written over it.
    """
    rows = _publishing(home).history()
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("no configuration has been kept yet")
    for row in rows:
        at = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M UTC")
        mark = "*" if row["in_force"] else " "
        by = f"{row['author']}: " if row["author"] else ""
        click.echo(f"{mark} {row['version']:4}  {at}  {by}{row['note']}".rstrip())


@click.command(short_help="Print the files of a version.")
@home_option
@click.argument("version", default="current")
@click.argument("file", default="")
def show(home: Path, version: str, file: str) -> None:
    """Print the files of VERSION: a number, current (in force, the default) or config (what stands in config/).

    FILE picks one; it is printed alone, without a heading. Passwords of robot.conf are hidden.
    """
    from ingather.conf.redaction import redacted
    from ingather.conf.report import Report
    from ingather.conf.text.physical import decode

    files = _publishing(home).files(version)
    if file:
        if file not in files:
            raise UsageError(
                f"version {version} has no file {file}", hint=f"it has: {', '.join(sorted(files))}"
            )
        click.echo(redacted(file, decode(files[file], file, Report())), nl=False)
        return
    for name, body in sorted(files.items()):
        click.echo(f"=== {name} ===")
        text = redacted(name, decode(body, name, Report()))
        click.echo(text, nl=not text.endswith("\n"))


@click.command(short_help="Compare two versions, or a version with config/.")
@home_option
@click.argument("old", default="current")
@click.argument("new", default="config")
def diff(home: Path, old: str, new: str) -> int:
    """Compare version OLD with version NEW, line by line; by default what is in force with what stands in config/.

    Exit status 1 when they differ.
    """
    from ingather.app.publishing import differences

    publishing = _publishing(home)
    lines = differences(publishing.files(old), publishing.files(new), names=(old, new))
    for line in lines:
        click.echo(line)
    return 1 if lines else 0


@click.command(short_help="Check a configuration and put it into force.")
@home_option
@click.argument("directory", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@_note
@_yes
@_json
def publish(home: Path, directory: Path | None, *, note: str, yes: bool, as_json: bool) -> int:
    """Check the configuration in DIR (default: what stands in config/), keep it as a version, put it into force.

    With a mistake in it nothing is changed. A running "ingather serve" takes it over; otherwise the next
    start does. A running "ingather crawl" goes on as it began; it is in force when that has ended. What stood in config/ stays in the history.
    """
    from ingather.app.publishing import author_here
    from ingather.app.rehearsal.consent import require_consent

    publishing = _publishing(home)
    if directory is None:
        require_consent(
            publishing.home,
            publishing.home.config,
            yes=yes,
            environment=os.environ,
            tell=_telling(as_json=as_json),
        )
        return _published(publishing.reload(note=note, author=author_here()), as_json=as_json)
    from ingather.conf import load

    if not directory.is_dir():
        raise UsageError(f"{directory} is not a folder", hint="name the folder that holds filter.conf")
    files = load(directory).bodies
    return _published(
        publishing.publish(
            files, note=note or f"from {directory}", author=author_here(),
            confirm=lambda config: require_consent(publishing.home, config, yes=yes, environment=os.environ, tell=_telling(as_json=as_json)),
        ),
        as_json=as_json,
    )  # fmt: skip


@click.command(short_help="Put an old version into force again.")
@home_option
@click.argument("version", type=int)
@_note
@_yes
@_json
def rollback(home: Path, version: int, *, note: str, yes: bool, as_json: bool) -> int:
    """Publish the text of VERSION again. It keeps its number: pages judged under it need not be read anew."""
    from ingather.app.publishing import author_here
    from ingather.app.rehearsal.consent import require_consent

    publishing = _publishing(home)
    return _published(
        publishing.publish(
            publishing.files(str(version)), note=note or f"rolled back to version {version}", author=author_here(),
            confirm=lambda config: require_consent(publishing.home, config, yes=yes, environment=os.environ, tell=_telling(as_json=as_json)),
        ),
        as_json=as_json,
    )  # fmt: skip


def _publishing(home: Path) -> "Publishing":
    from ingather.app.publishing import Publishing

    place, read = open_home(home)
    return Publishing(place, read.settings, environment=os.environ)


def _telling(*, as_json: bool) -> Callable[[str], None]:
    """Return what takes what a person should see before deciding; beside JSON it goes to standard error."""
    return lambda text: click.echo(text, err=as_json)


def _published(done: "Published", *, as_json: bool) -> int:
    for warning in done.warnings:
        click.echo(warning, err=True)
    if as_json:
        print_json({**done.form(), "waiting": done.waiting})
        return 0
    if done.waiting:
        click.echo("a crawl is running and goes on as it began; this is in force when it has ended")
    elif not done.changed:
        click.echo(f"version {done.version} was in force already")
    elif done.running:
        click.echo(f"version {done.version} is in force; the running robot works by it")
        click.echo(
            "documents that it excludes leave search now, as the deletion policy lets them; see: ingather robot status",
            err=True,
        )
    else:
        click.echo(f"version {done.version} is in force; the next start works by it")
        click.echo("documents that it excludes leave search when serve is started", err=True)
    return 0
