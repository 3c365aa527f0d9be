"""``ingather rd``: resource descriptions in and out: export, import, list, show, count, edit, merge, delete, expire."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.rdfiles import Descriptions
    from ingather.app.rdselect import Choice
    from ingather.app.rdstore import Tally

__all__ = ["command"]

_KINDS = ("all", "uncategorized", "categorized", "by_category", "by_url", "by_query")
_SHOWN = 20

Wrapped = Callable[..., Any]


@click.group("rd")
def command() -> None:
    """Bring resource descriptions (RDs) in and out as SOIF, look at them, edit them, delete them."""


def _open(home: Path) -> "Descriptions":
    import os

    from ingather.app.configuration import read_configuration
    from ingather.app.rdfiles import Descriptions

    place, _ = open_home(home)
    return Descriptions(place, read_configuration(place, environment=os.environ).require())


def _selection(call: Wrapped) -> Wrapped:
    """Add the options that choose descriptions."""
    for option in reversed((
        click.option(
            "--type", "kind", type=click.Choice(_KINDS), default="all", show_default=True, help="Which ones."
        ),
        click.option(
            "--value", default="", metavar="TEXT",
            help="For by_category a category, for by_url a URL (or its beginning and *), for by_query NAME=VALUE or a search.",
        ),
        click.option("--database", default="", metavar="NAME", help="Only those of this database."),
        click.option("--persistent", is_flag=True, help="Only what was imported or edited (persistent data)."),
        click.option("--non-persistent", is_flag=True, help="Only what was gathered (non-persistent data)."),
        click.option(
            "--attributes", "view", default="", metavar="NAME,...", help="Only these attributes, by their base names."
        ),
    )):  # fmt: skip
        call = option(call)
    return call


def _submission(call: Wrapped) -> Wrapped:
    """Add the options of a file that is brought in."""
    for option in reversed((
        click.argument("file", metavar="FILE"),
        home_option,
        click.option("--non-persistent", is_flag=True, help="In the place of what the robot gathers; its next visit replaces it."),
        click.option("--database", default="", metavar="NAME", help="Where they go; without it they stay where they are."),
        click.option("--source", default="", metavar="NAME", help="Who owns URLs that are new (default: the site's source, else web)."),
        click.option("--attributes", "view", default="", metavar="NAME,...", help="Take these attributes only, by their base names."),
        click.option("--charset", default="utf-8", show_default=True, help="Of the values in FILE."),
        click.option("--no-aliases", is_flag=True, help="Leave names as they are, whatever the RD schema calls them."),
        click.option("--no-schema", is_flag=True, help="Do not compare values with the RD schema."),
        click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON."),
    )):  # fmt: skip
        call = option(call)
    return call


def _choice(  # noqa: PLR0913 - the command's options
    *, kind: str, value: str, database: str, persistent: bool, non_persistent: bool, view: str
) -> "Choice":
    from ingather.app.rdselect import Choice
    from ingather.catalog.sqlite_descriptions import Parts
    from ingather.conf.rdm import database_name, names_of
    from ingather.errors import UsageError

    if value and kind == "all":
        raise UsageError("--value needs a --type", hint="by_category, by_url or by_query")
    parts = Parts.MERGED
    if persistent != non_persistent:
        parts = Parts.PERSISTENT if persistent else Parts.NONPERSISTENT
    return Choice(kind, value, database_name(database) if database else "", parts, names_of(view))


# -- out ------------------------------------------------------------------------------------------


@command.command("export")
@click.argument("file", metavar="[FILE]", default="-")
@home_option
@_selection
@click.option(
    "--charset", default="utf-8", show_default=True, help="Of the values; characters that it lacks become ?."
)
def export(file: str, home: Path, charset: str, **selection: Any) -> None:
    """Write RDs as SOIF to FILE (default: standard output)."""
    from ingather.conf.soif import known_charset

    choice, charset = _choice(**selection), known_charset(charset)
    descriptions = _open(home)
    with _written(file) as sink:
        done = descriptions.export(choice, sink, charset=charset)
    click.echo(f"{done.documents} descriptions", err=True)
    if done.unwritten.attributes:
        click.echo(
            f"W-RD-NAME: {done.unwritten.attributes} attributes left out that SOIF cannot carry, "
            f"for example {done.unwritten.example[:80]!r}",
            err=True,
        )


@contextmanager
def _written(file: str) -> Iterator[BinaryIO]:
    """Open what is written to; a file is there only when it is whole."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    new = path.with_name(path.name + ".new")
    try:
        with new.open("wb") as sink:
            yield sink
        new.replace(path)
    except OSError as error:
        raise _trouble(file, error, "written") from error
    finally:
        new.unlink(missing_ok=True)


def _trouble(file: str, error: OSError, verb: str) -> Exception:
    from ingather.errors import IngatherError

    return IngatherError(f"{file} cannot be {verb}: {error.strerror or error}")


@command.command("list")
@home_option
@_selection
@click.option("--limit", type=click.IntRange(min=0), default=0, help="At most so many; 0 = all.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_(home: Path, limit: int, as_json: bool, **selection: Any) -> int:  # noqa: FBT001 - click gives it so
    """List RDs: a line each, the URL and the values of --attributes. Exit status 1: there are none."""
    import json

    from ingather.app.rdfiles import form_of

    count = 0
    for one in _open(home).chosen(_choice(**selection)):
        count += 1
        if as_json:
            click.echo(json.dumps(form_of(one), ensure_ascii=False, sort_keys=True))
        else:
            wanted = one.attributes.items() if selection["view"] else ()
            said = [f"{name}={' | '.join(' '.join(v.split()) for v in values)}" for name, values in wanted]
            click.echo("\t".join([one.row.url, *said]))
        if count == limit:
            break
    return 0 if count else 1


@command.command("show")
@click.argument("url")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the RD as JSON.")
def show(url: str, home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Show an RD whole: every attribute, and the layer that it comes from. Exit status 1: there is none."""
    from ingather.app.rdfiles import form_of
    from ingather.app.rdselect import Choice

    found = next(_open(home).chosen(Choice("by_url", url.rstrip("*"))), None)
    if found is None:
        click.echo(f"no description of {url}", err=True)
        return 1
    if as_json:
        print_json(form_of(found))
        return 0
    click.echo(
        f"{found.row.url}\ndatabase {found.row.database}, source {found.row.source}, {found.row.access}"
    )
    for name, values in sorted(found.attributes.items()):
        for value in values:
            click.echo(f"  {name} ({found.description.origin(name)}): {value}")
    return 0


@command.command("count")
@home_option
@_selection
@click.option("--databases", is_flag=True, help="Count each database instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def count(home: Path, databases: bool, as_json: bool, **selection: Any) -> None:  # noqa: FBT001 - click gives it so
    """Count RDs."""
    descriptions = _open(home)
    if databases:
        found = descriptions.databases()
    else:
        found = {"descriptions": sum(1 for _ in descriptions.chosen(_choice(**selection)))}
    if as_json:
        print_json(found)
        return
    for name, number in found.items():
        click.echo(f"{number:>10}  {name}")


# -- in -------------------------------------------------------------------------------------------


@command.command("import")
@_submission
def import_(file: str, home: Path, **options: Any) -> int:
    """Put the RDs of FILE (SOIF; - is standard input): new ones are added, known ones replaced.

    They are persistent data, a layer over what the robot gathers, unless --non-persistent says otherwise.
    Exit status 1: some were refused, or FILE could not be read to its end.
    """
    return _brought(file, home, "insert", **options)


@command.command("merge")
@_submission
def merge(file: str, home: Path, **options: Any) -> int:
    """Change the attributes that FILE names in RDs that are there; others stay. An empty value takes one away.

    Exit status 1: some were refused (there is no such RD), or FILE could not be read to its end.
    """
    return _brought(file, home, "update", **options)


def _brought(  # noqa: PLR0913 - the command's options
    file: str, home: Path, operation: str, *, non_persistent: bool, database: str, source: str, view: str,
    charset: str, no_aliases: bool, no_schema: bool, as_json: bool,
) -> int:  # fmt: skip
    from ingather.app.rdstore import Preparing
    from ingather.conf.rdm import Submit, database_name, names_of
    from ingather.conf.soif_reader import SoifReader

    descriptions = _open(home)
    descriptions.check_source(source)
    submit = Submit(
        operation,
        "nonpersistent" if non_persistent else "persistent",
        database=database_name(database) if database else None,
        source=source,
        view=names_of(view),
    )
    preparing = Preparing(descriptions.schema, aliases=not no_aliases, check=not no_schema)
    with _read(file) as stream:
        reader = SoifReader(stream, charset=charset)
        tally = descriptions.submit(submit, reader, preparing, tell=_tell)
    for found in reader.findings[:_SHOWN]:
        click.echo(f"{file}: {found}", err=True)
    if len(reader.findings) > _SHOWN:
        click.echo(f"{file}: {reader.errors} errors and {reader.warnings} warnings in all", err=True)
    return _told(tally, as_json=as_json, failed=bool(reader.errors))


def _tell(done: int) -> None:
    click.echo(f"{done} descriptions", err=True)


@contextmanager
def _read(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - what goes wrong while it is read is another trouble
    except OSError as error:
        raise _trouble(file, error, "read") from error
    with stream:
        yield stream


def _told(tally: "Tally", *, as_json: bool, failed: bool = False) -> int:
    for text in (*tally.warnings[:_SHOWN], *tally.refusals[:_SHOWN]):
        click.echo(text, err=True)
    counts = dict(sorted(tally.counts.items()))
    if tally.warned:
        counts["warnings"] = tally.warned
    if as_json:
        print_json(counts)
    else:
        click.echo(", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing to do")
    return 1 if failed or tally.counts["refused"] else 0


# -- by hand --------------------------------------------------------------------------------------


@command.command("edit")
@click.argument("url")
@home_option
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value; given again for one name: several values.",
)
@click.option(
    "--unset",
    "names",
    multiple=True,
    metavar="NAME",
    help="Take an edited attribute away: lower layers speak again.",
)
@click.option("--database", default="", metavar="NAME", help="Move the RD there.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def edit(  # noqa: PLR0913 - the command's options
    url: str, home: Path, *, pairs: tuple[str, ...], names: tuple[str, ...], database: str, as_json: bool
) -> int:
    """Edit attributes of an RD: a layer over all others, which no visit and no import changes.

    Exit status 1: there is no such RD, or the RD schema does not let an attribute be edited.
    """
    from ingather.conf.rdm import Submit, database_name
    from ingather.conf.soif import writable_name
    from ingather.errors import UsageError

    given: dict[str, tuple[str, ...]] = {name.strip().lower(): () for name in names}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair!r} has no =", hint="write --set NAME=VALUE")
        given[name.strip().lower()] = (*given.get(name.strip().lower(), ()), value)
    wrong = next((name for name in given if not writable_name(name)), None)
    if wrong is not None:
        raise UsageError(f"{wrong!r} cannot be the name of an attribute")
    if not given and not database:
        raise UsageError("nothing to edit", hint="give --set, --unset or --database")
    attributes = {name: values or ("",) for name, values in given.items()}
    submit = Submit("update", "persistent", "editor", database_name(database) if database else None)
    return _told(_open(home).change(submit, iter([(url, attributes)])), as_json=as_json)


@command.command("delete")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@home_option
@_selection
@click.option(
    "--from",
    "file",
    default="",
    metavar="FILE",
    help="The URLs of the RDs in this SOIF file (- is standard input).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def delete(urls: tuple[str, ...], home: Path, file: str, as_json: bool, **selection: Any) -> int:  # noqa: FBT001
    """Delete RDs: those of the URLs, of FILE, or those chosen by --type or --database.

    They become tombstones (ingather undelete brings them back), and the robot may describe their pages again; to
    keep them out for good use ingather remove. With --persistent or --non-persistent only that data goes.
    Exit status 1: nothing was there.
    """
    from ingather.conf.soif_reader import SoifReader
    from ingather.errors import UsageError

    choice = _choice(**selection)
    descriptions = _open(home)
    chosen = choice.kind != "all" or bool(choice.database)
    if bool(urls) + bool(file) + chosen != 1:
        raise UsageError("say which: URLs, or --from, or --type with --value, or --database")
    if urls:
        return _deleted(descriptions, choice, urls, as_json=as_json)
    if not file:
        found = (one.row.url for one in descriptions.chosen(choice))
        return _deleted(descriptions, choice, found, as_json=as_json)
    with _read(file) as stream:
        reader = SoifReader(stream)
        status = _deleted(descriptions, choice, (one.url for one in reader), as_json=as_json)
    for finding in reader.findings[:_SHOWN]:
        click.echo(f"{file}: {finding}", err=True)
    return 1 if reader.errors else status


def _deleted(descriptions: "Descriptions", choice: "Choice", urls: Iterable[str], *, as_json: bool) -> int:
    from ingather.conf.rdm import Submit

    tally = descriptions.change(Submit("delete", choice.parts.value), ((url, {}) for url in urls))
    status = _told(tally, as_json=as_json)
    return status if tally.counts["deleted"] else 1


@command.command("expire")
@home_option
@click.option("--database", default="", metavar="NAME", help="Only those of this database.")
@click.option("--dry-run", is_flag=True, help="Say which, delete none.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def expire(home: Path, database: str, dry_run: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Delete RDs whose rd-expires lies behind us (tombstones, as rd delete)."""
    from ingather.conf.rdm import Submit, database_name

    descriptions = _open(home)
    urls = descriptions.expired(database=database_name(database) if database else "")
    if dry_run:
        for url in urls:
            click.echo(url)
        return 0
    return _told(
        descriptions.change(Submit("delete", "merged"), ((url, {}) for url in urls)), as_json=as_json
    )
