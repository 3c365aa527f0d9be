"""``ingather conf check``: every finding in a configuration folder, with its line under a caret."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ingather.app.configuration import read_configuration
from ingather.app.home import Home
from ingather.cli.findings import told
from ingather.cli.home_option import home_option
from ingather.conf import Loaded, load
from ingather.errors import HomeError, UsageError
from ingather.model.diagnostic import Diagnostic
from ingather.units import counted

__all__ = ["as_json_object", "check"]


@click.command(short_help="Find every mistake, with file, line and column.")
@home_option
@click.option("--strict", is_flag=True, help="What is tolerated in old files is an error.")
@click.option("--known", is_flag=True, help="Hold URL patterns and policy rules against the known URLs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("directory", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
def check(home: Path, directory: Path | None, *, strict: bool, known: bool, as_json: bool) -> int:
    """Find every mistake in the configuration folder DIR, or in that of the home, settings included.

    All errors are counted, the first 1,000 are shown. Exit status 1 when there is an error; warnings
    alone give 0. --known also names patterns that no URL of the home matches, and policy rules that close
    public documents.

    \b
    Examples:
      ingather conf check
      ingather conf check --strict ./old-robot/config
    """  # noqa: D301 - click wants the control character
    if directory is None:
        opened = Home.open(home)
        read = read_configuration(opened, environment=os.environ, strict=strict)
        loaded, findings, where = read.loaded, read.diagnostics, opened.config
        bodies = read.bodies
    else:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not a folder", hint="name the folder that holds filter.conf")
        loaded = _load(directory, home, strict=strict)
        findings, where = loaded.diagnostics, loaded.directory or directory
        bodies = loaded.bodies
    if known:
        findings = (*findings, *_over_known(home, loaded))
    of_folder = set(loaded.diagnostics)
    beside = [d for d in findings if d not in of_folder]
    errors = loaded.errors + sum(d.is_error for d in beside)
    warnings = loaded.warnings + sum(not d.is_error for d in beside)
    if as_json:
        shown = as_json_object(findings, errors=errors, warnings=warnings)
        click.echo(json.dumps({"directory": str(where), **shown}, indent=2, ensure_ascii=False))
    else:
        _print(findings, bodies, errors=errors, warnings=warnings)
    return 1 if errors else 0


def _over_known(home: Path, loaded: Loaded) -> list[Diagnostic]:
    """Return what the lists do to the URLs of the home."""
    from ingather.app.homeparts import database_of
    from ingather.catalog.frontier.sqlite_known_reader import known_urls
    from ingather.conf.urlpatterns.usage import KnownUrl, findings_over

    database = database_of(Home.open(home))
    urls = (KnownUrl(*one) for one in known_urls(database)) if database.exists() else ()
    return findings_over(urls, loaded.gates, loaded.policy)


def _load(directory: Path, home: Path, *, strict: bool) -> Loaded:
    """Read *directory* with the plug-ins of the home, if there is one."""
    try:
        opened = Home.open(home)
    except HomeError:
        return load(directory, strict=strict)
    return read_configuration(opened, environment=os.environ, config=directory, strict=strict).loaded


def as_json_object(findings: Sequence[Diagnostic], *, errors: int, warnings: int) -> dict[str, Any]:
    """Return findings as ``--json`` shows them, with the numbers of all there are."""
    return {"errors": errors, "warnings": warnings, "findings": [_object(d) for d in findings]}


def _object(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity,
        "file": found.file,
        "line": found.line,
        "column": found.column,
        "text": found.text,
        "hint": found.hint,
        "notes": [
            {"file": place.file, "line": place.line, "column": place.column, "text": text}
            for place, text in found.notes
        ],
    }


def _print(
    findings: Sequence[Diagnostic], bodies: Mapping[str, bytes], *, errors: int, warnings: int
) -> None:
    for line in told(findings, bodies if sys.stdout.isatty() else None):
        click.echo(line)
    hidden = errors + warnings - len(findings)
    if hidden:
        click.echo(f"{hidden} more are not shown")
    click.echo(
        f"{counted(errors, 'error')}, {counted(warnings, 'warning')}" if findings else "no mistakes found"
    )
