"""``ingather catalog``: what is kept, and whether it reads back as written."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]

_MEGA = 1_000_000


@click.group("catalog")
def command() -> None:
    """Look into the catalog."""


@command.command("stats")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def stats(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Count URLs by state, last outcome and source."""
    from dataclasses import asdict

    from ingather.app.checking import catalog_stats

    place, _ = open_home(home)
    found = catalog_stats(place)
    if as_json:
        print_json(asdict(found))
        return
    for title, counts in (
        ("URLs", found.states),
        ("last visits", found.outcomes),
        ("documents by source", found.sources),
    ):
        click.echo(title)
        for name, count in sorted(counts.items()):
            click.echo(f"  {count:>10}  {name.replace('_', ' ')}")
    click.echo(f"{found.hosts} hosts, change {found.sequence}, catalog {found.catalog_bytes / _MEGA:.1f} MB, "
               f"bodies and texts {found.body_bytes / _MEGA:.1f} MB")  # fmt: skip


@command.command("check")
@home_option
@click.option(
    "--bodies/--no-bodies",
    default=True,
    help="Also read every kept body and text back (slow on large homes).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check(home: Path, bodies: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Read everything back and name what is damaged. Exit status 1: something is."""
    from ingather.app.checking import check_catalog

    place, _ = open_home(home)
    findings = check_catalog(place, bodies=bodies)
    if as_json:
        print_json(findings)
    elif not findings:
        click.echo("the catalog is sound")
    for finding in [] if as_json else findings:
        click.echo(
            f"{finding['place']}: {finding['what']}" + (f" ({finding['url']})" if finding.get("url") else "")
        )
    if any(finding.get("url") for finding in findings) and not as_json:
        click.echo(
            f"to have these pages fetched again: ingather catalog repair --home {home} --forget-bodies",
            err=True,
        )
    return 1 if findings else 0


@command.command("repair")
@home_option
@click.option(
    "--forget-bodies",
    is_flag=True,
    required=True,
    help="Forget kept bodies and texts that do not read back; their pages are fetched again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was forgotten as JSON.")
def repair(home: Path, forget_bodies: bool, as_json: bool) -> int:  # noqa: ARG001, FBT001 - click gives it so
    """Mend what check found damaged. Nobody may own the home meanwhile.

    The descriptions stay in search. The next crawl, or serve, fetches the pages as a whole.
    """
    from ingather.app.repairing import forget_damaged_bodies

    place, read = open_home(home)
    forgotten = forget_damaged_bodies(place, read.settings)
    if as_json:
        print_json(forgotten)
        return 0
    for item in forgotten:
        click.echo(f"{item['url']}: forgotten ({item['place']}: {item['what']})")
    click.echo(
        f"{len(forgotten)} pages will be fetched again" if forgotten else "every body and text reads back"
    )
    return 0
