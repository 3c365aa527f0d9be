"""``ingather rd import | merge``: descriptions of a SOIF file into the home."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.rd_common import SHOWN, charset_of, open_descriptions, reading, tell_tally, view_of

__all__ = ["import_", "merge"]

Wrapped = Callable[..., Any]


def _submission(call: Wrapped) -> Wrapped:
    """Add the options of a file that is brought in."""
    for option in reversed((
        click.argument("file", metavar="FILE"),
        home_option,
        click.option("--non-persistent", is_flag=True, help="In the place of what the robot gathers; its next visit replaces it."),
        click.option("--database", default="", metavar="NAME", help="Where they go; without it they stay where they are."),
        click.option("--no-create", is_flag=True, help="Refuse a --database that is not there yet, instead of making it."),
        click.option("--source", default="", metavar="NAME", help="Who owns URLs that are new (default: the site's source, else web)."),
        click.option("--attributes", "view", default="", metavar="NAME,...", help="Take these attributes only, by their base names."),
        click.option("--charset", default="utf-8", show_default=True, help="Of the values in FILE."),
        click.option("--no-aliases", is_flag=True, help="Leave names as they are, whatever the RD schema calls them."),
        click.option("--no-schema", is_flag=True, help="Do not compare values with the RD schema."),
        click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON."),
    )):  # fmt: skip
        call = option(call)
    return call


@click.command("import")
@_submission
def import_(file: str, home: Path, **options: Any) -> int:
    """Put the RDs of FILE (SOIF; - is standard input): new ones are added, known ones replaced.

    They are persistent data, a layer over what the robot gathers, unless --non-persistent says otherwise.
    Exit status 1: some were refused, or FILE could not be read to its end.
    """
    return _brought(file, home, "insert", **options)


@click.command("merge")
@_submission
def merge(file: str, home: Path, **options: Any) -> int:
    """Change the attributes that FILE names in RDs that are there; others stay. An empty value takes one away.

    Exit status 1: some were refused (there is no such RD), or FILE could not be read to its end.
    """
    return _brought(file, home, "update", **options)


def _brought(  # noqa: PLR0913 - the command's options
    file: str, home: Path, operation: str, *, non_persistent: bool, database: str, no_create: bool, source: str, view: str,
    charset: str, no_aliases: bool, no_schema: bool, as_json: bool,
) -> int:  # fmt: skip
    from ingather.app.descriptions.store import Preparing
    from ingather.conf.rd.rdm import Submit, database_name
    from ingather.conf.rd.soif_reader import SoifReader

    codec = charset_of(charset)
    descriptions = open_descriptions(home)
    descriptions.check_source(source)
    name = database_name(database) if database else None
    if no_create and name is not None:
        descriptions.check_database(name)
    submit = Submit(
        operation,
        "nonpersistent" if non_persistent else "persistent",
        database=name,
        source=source,
        view=view_of(view),
    )
    preparing = Preparing(descriptions.schema, aliases=not no_aliases, check=not no_schema)
    with reading(file) as stream:
        reader = SoifReader(stream, charset=codec)
        tally = descriptions.submit(submit, reader, preparing, tell=_tell)
    for found in reader.findings[:SHOWN]:
        click.echo(f"{file}: {found}", err=True)
    if len(reader.findings) > SHOWN:
        click.echo(f"{file}: {reader.errors} errors and {reader.warnings} warnings in all", err=True)
    if not (tally.counts or reader.findings):
        click.echo(f"{file}: no description in it", err=True)
    return tell_tally(tally, as_json=as_json, failed=bool(reader.errors))


def _tell(done: int) -> None:
    click.echo(f"{done} descriptions", err=True)
