"""What the verbs of ``ingather site`` and ``ingather converter`` share."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.sites.editing import Asked, Editing

__all__ = ["asked", "edit_options", "editing", "say"]


def edit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every edit takes: --dry-run, --yes, --note, --etag, --json."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option(
            "--etag",
            default="",
            metavar="ETAG",
            help="Only if the configuration is the one that list showed.",
        ),
        click.option("--note", default="", metavar="TEXT", help="Why, for the history."),
        click.option(
            "--yes",
            is_flag=True,
            help="Also if it would delete many documents; with add: open the private addresses of the site, too.",
        ),
        click.option("--dry-run", is_flag=True, help="Show what would be another way; change nothing."),
    ):
        function = option(function)
    return function


def editing(home: Path) -> "Editing":
    """Return who edits the configuration of a home."""
    from ingather.app.publishing import Publishing
    from ingather.app.sites.editing import Editing

    place, read = open_home(home)
    publishing = Publishing(place, read.settings, environment=os.environ)
    return Editing(place, publishing.publish, environment=os.environ)


def asked(given: Mapping[str, Any]) -> "Asked":
    """Return how an edit is wanted, from the values of :func:`edit_options`."""
    from ingather.app.publishing import author_here
    from ingather.app.sites.editing import Asked

    return Asked(
        author=author_here(), note=given["note"], match=given["etag"].strip('"'), yes=given["yes"],
        dry_run=given["dry_run"], tell=lambda text: click.echo(text, err=given["as_json"]),
    )  # fmt: skip


def say(answer: Mapping[str, Any], what: str, *, given: Mapping[str, Any]) -> int:
    """Print what became of an edit; *what* says what was done to what."""
    for warning in answer["warnings"]:
        click.echo(warning, err=True)
    if given["as_json"]:
        print_json(answer)
        return 0
    if given["dry_run"]:
        for line in answer["difference"]:
            click.echo(line)
        click.echo(f"starting points: {answer['starting_points']} defined then")
    if not answer["difference"]:
        click.echo(f"{what}: it is so already")
    elif given["dry_run"]:
        click.echo(f"{what}: nothing was changed, this was a dry run")
    elif answer["waiting"]:
        click.echo(f"{what}; a crawl is running and goes on as it began, this is in force when it has ended")
    else:
        by = "the running robot works by it" if answer["running"] else "the next start works by it"
        click.echo(f"{what}; version {answer['version']} is in force, {by}")
    return 0
