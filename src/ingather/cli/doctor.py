"""``ingather doctor``: what is wrong with this machine or home, and what to do about it."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json

__all__ = ["command"]

_SIGNS = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}


def _known(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from ingather.app.doctor.examining import CHECKS

    for name in names:
        if name not in CHECKS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(CHECKS)}")
    return names or CHECKS


@click.command("doctor")
@home_option
@click.option(
    "--only", multiple=True, metavar="CHECK", callback=_known, help="Look at this alone; may be given again."
)
@click.option("--strict", is_flag=True, help="Exit status 1 for warnings, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(home: Path, only: tuple[str, ...], strict: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Look at versions, configuration, permissions, disk, limits, clock, names, ports, certificates, catalog, index and sandbox.

    Each finding says what to do. Nothing is changed; a home that is served may be examined. Exit status 1: something does not work.
    """
    from ingather.app.doctor import Level, examine
    from ingather.app.home import Home
    from ingather.log import configure

    configure(level="error")
    findings = examine(Home.open(home), only=only)
    levels = [finding.level for finding in findings]
    errors, warnings = levels.count(Level.ERROR), levels.count(Level.WARNING)
    failed = errors > 0 or (strict and warnings > 0)
    if as_json:
        print_json({
            "ok": not failed, "errors": errors, "warnings": warnings, "findings": [one.form() for one in findings],
        })  # fmt: skip
        return int(failed)
    for finding in findings:
        click.echo(f"{_SIGNS[finding.level]}  {finding.check}: {finding.text}")
        if finding.do:
            click.echo(f"         do: {finding.do}")
    click.echo(f"{errors} errors, {warnings} warnings" if errors or warnings else "all is well")
    return int(failed)
