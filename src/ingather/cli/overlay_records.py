"""``ingather overlay list|set|unset|load``: records that are set beside the files."""

from collections.abc import Sequence
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json
from ingather.cli.overlay_verbs import office

__all__ = ["load", "put", "records", "unset"]


@click.command("list")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "cfg"]),
    default="text",
    help="What is printed.",
)
@home_option
def records(form: str, home: Path) -> None:
    """List the records that were set with "set", "load" or over the API; the files are not among them."""
    desk = office(home).desk
    if form != "text":
        click.echo(desk.exported(form), nl=False)
        return
    for record in desk.records():
        click.echo(record["line"])


@click.command("set")
@click.argument("prefix")
@click.argument("elements", nargs=-1, required=True, metavar="CLASS:VALUE...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@home_option
def put(prefix: str, elements: Sequence[str], home: Path, *, as_json: bool) -> None:
    """Lay values over every document whose URL begins with PREFIX. CLASS: alone clears a class.

    What the record said before is replaced. Values add up with those of the files; for title, date and format the
    files speak first.
    """
    from ingather.app.publishing import author_here
    from ingather.errors import UsageError

    classes: dict[str, list[str]] = {}
    for element in elements:
        name, colon, value = element.partition(":")
        if not colon:
            raise UsageError(f"{element!r} is no CLASS:VALUE", hint="write it like c:partner")
        classes.setdefault(name, []).extend([value] if value else [])
    done = office(home).put(prefix, classes, author_here())
    if as_json:
        print_json(done)
    else:
        click.echo(done["line"])


@click.command("unset")
@click.argument("prefix")
@home_option
def unset(prefix: str, home: Path) -> None:
    """Take the record of PREFIX away."""
    from ingather.app.publishing import author_here

    click.echo(f"{office(home).delete(prefix, author_here())['prefix']} has no record any more")


@click.command("load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--url-column", default="", metavar="NAME", help="FILE is a table of somebody else: its column of URLs."
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=CLASS",
    help="A column of it, and the class of its values.",
)
@home_option
def load(file: Path, url_column: str, columns: Sequence[str], home: Path) -> None:
    """Let the records be exactly those of FILE: .json or .csv, as "list --format" writes them.

    A table of somebody else is read by --url-column and --column, one row a document.
    """
    from ingather.app.publishing import author_here
    from ingather.errors import UsageError
    from ingather.overlay.options import LIMIT_BYTES

    kind = file.suffix.lower().removeprefix(".")
    if kind not in {"json", "csv"}:
        raise UsageError(
            f"{file} is neither .json nor .csv", hint="write it with: ingather overlay list --format json"
        )
    if file.stat().st_size > LIMIT_BYTES:
        raise UsageError(
            f"{file} has {file.stat().st_size:,} bytes; beyond {LIMIT_BYTES:,} nothing is read",
            hint="make it smaller",
        )
    try:
        body = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is no UTF-8: byte {error.start + 1:,} is wrong", hint="convert it: iconv -t UTF-8"
        ) from error
    if url_column or columns:
        body, kind = _table(body, file.name, url_column, columns), "json"
    done = office(home).replace(body, kind, author_here())
    click.echo(f"{done['records']} records")


def _table(body: str, name: str, url_column: str, columns: Sequence[str]) -> str:
    """Return a foreign table as records in JSON.

    Raises:
        UsageError: a column is not there, a class cannot be, or a row has an error.
    """
    from ingather.errors import UsageError
    from ingather.overlay.interchange import import_csv, to_json

    classes = dict(column.rpartition("=")[::2] for column in columns)
    if not url_column or not classes or not all(classes) or not all(classes.values()):
        raise UsageError("a table needs both", hint="write --url-column URL --column Department=c")
    overlay = import_csv(body, url=url_column, classes=classes, name=name)
    first = next((d for d in overlay.diagnostics if d.is_error), None)
    if first is not None:
        raise UsageError(f"{name}: record {first.line}: {first.code}: {first.text}", hint=first.hint)
    return "".join(to_json(overlay.records()))
