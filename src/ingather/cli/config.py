"""``ingather config``: every value with its origin; every mistake with its line."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import click

from ingather.app.configuration import Configuration, read_configuration
from ingather.app.home import Home
from ingather.cli.findings import told
from ingather.cli.home_option import home_option
from ingather.conf import PARAMETERS
from ingather.conf.sources.credentials import CREDENTIAL_KEYS
from ingather.conf.sources.sections import SOURCE_KEYS
from ingather.errors import UsageError
from ingather.model.diagnostic import Diagnostic, Place
from ingather.units import counted, format_seconds

__all__ = ["command"]

_SECRET = "********"  # noqa: S105 - what is shown instead of one


@click.group()
def command() -> None:
    """Show the settings of a home, or find mistakes in its configuration."""


@command.command(short_help="Print every value and where it comes from.")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("names", nargs=-1, metavar="[NAME...]")
def show(home: Path, names: tuple[str, ...], *, as_json: bool) -> None:
    """Print every value and where it comes from.

    A flag beats the environment, the environment beats the file, the file beats the default. Values of
    robot.conf stand below, with their line. NAME picks settings: a name, or the section of many.

    \b
    Examples:
      ingather config show
      ingather config show limits listen.search
    """  # noqa: D301 - click wants the control character
    opened = Home.open(home)
    configuration = read_configuration(opened, environment=os.environ).require()
    rows = [
        {"name": setting.name, "value": _value(setting.write(entry.value)), "origin": entry.origin}
        for setting, entry in configuration.settings
    ]
    rows += _source_rows(configuration)
    rows += _credential_rows(configuration)
    rows += _robot_rows(configuration)
    if names:
        rows = [
            row for row in rows if any(row["name"] == n or row["name"].startswith(f"{n}.") for n in names)
        ]
        if not rows:
            raise UsageError(
                f"there is no setting {' or '.join(names)}", hint="ingather config show lists them all"
            )
    if as_json:
        click.echo(json.dumps({"home": str(opened), "settings": rows}, indent=2, ensure_ascii=False))
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        click.echo(f"{row['name']:{width}}  {_text(row['value'])}  ({row['origin']})")


@command.command(short_help="Find every mistake, with file and line.")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(home: Path, *, as_json: bool) -> int:
    """Find every mistake in settings, configuration and credentials.toml, each with file, line and column.

    Exit status 1 when there is an error; warnings alone give 0.
    """
    opened = Home.open(home)
    read = read_configuration(opened, environment=os.environ)
    findings = (*read.diagnostics, *_wrong_credentials(opened))
    errors = sum(d.is_error for d in findings)
    if as_json:
        listed = [
            {
                "code": d.code,
                "severity": d.severity,
                "file": d.file,
                "line": d.line,
                "column": d.column,
                "text": d.text,
                "hint": d.hint,
            }
            for d in findings
        ]
        click.echo(json.dumps({"errors": errors, "findings": listed}, indent=2, ensure_ascii=False))
    else:
        for line in told(findings, read.bodies if sys.stdout.isatty() else None):
            click.echo(line)
        warnings = len(findings) - errors
        click.echo(
            f"{counted(errors, 'error')}, {counted(warnings, 'warning')}" if findings else "no mistakes found"
        )
    return 1 if errors else 0


@command.command(short_help="Say which URLs are fetched with which credential.")
@home_option
@click.argument("url", default="")
def credentials(home: Path, url: str) -> int:
    """List credentials of ingather.toml and of credentials.toml, without secrets; with URL, what may go along there, by source.

    Of those that fit the one with the longest beginning goes along. Exit status 1: nothing is sent to URL.
    """
    from ingather.app.reaching.telling import told_credentials

    opened = Home.open(home)
    lines = told_credentials(opened, read_configuration(opened, environment=os.environ), url)
    for line in lines:
        click.echo(line)
    if not lines:
        click.echo(
            f"nothing is sent to {url}"
            if url
            else "no credentials; docs/how-to/crawl-with-a-password.md says how to write some"
        )
    return 1 if url and not lines else 0


def _wrong_credentials(home: Home) -> tuple[Diagnostic, ...]:
    """Return what is wrong with credentials.toml; no value of a password is in it."""
    from ingather.app.credentials import FILE, read_credentials

    try:
        read_credentials(home.path)
    except UsageError as error:
        return (Diagnostic("E-FILE", Place(FILE, 1), error.text, hint=error.hint),)
    return ()


def _robot_rows(configuration: Configuration) -> list[dict[str, Any]]:
    robot = configuration.loaded.robot
    rows = []
    for name, parameter in PARAMETERS.items():
        value = robot.values[name]
        shown = _SECRET if parameter.secret and value else value
        if parameter.kind == "seconds":
            shown = format_seconds(value)
        rows.append({"name": f"robot.{name}", "value": shown, "origin": robot.origin(name)})
    return rows


def _credential_rows(configuration: Configuration) -> list[dict[str, Any]]:
    found = {one.name: one for source in configuration.sources.values() for one in source.reach.logins}
    return [
        {"name": f"credential.{one.name}.{setting.key}", "value": _value(setting.write(value)), "origin": one.origins[setting.key]}
        for one in found.values() for setting in CREDENTIAL_KEYS
        if setting.key in one.origins and (value := one.value(setting.key)) is not None
    ]  # fmt: skip


def _source_rows(configuration: Configuration) -> list[dict[str, Any]]:
    rows = []
    for source in configuration.sources.values():
        for setting in SOURCE_KEYS:
            value = source.value(setting.key)
            if value is not None:
                origin = source.origins.get(setting.key, "default")
                name = f"source.{source.name}.{setting.key}"
                rows.append({"name": name, "value": _value(setting.write(value)), "origin": origin})
    return rows


def _value(written: str) -> Any:
    """Return what TOML writes as JSON has it: quantities stay texts with their units."""
    return tomllib.loads(f"x = {written}")["x"]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value) if value != "" else "-"
