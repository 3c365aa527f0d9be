"""``ingather rd edit | delete | expire``: descriptions changed by hand."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.rd_common import SHOWN, choice_of, open_descriptions, reading, selection_options, tell_tally

if TYPE_CHECKING:
    from ingather.app.descriptions.files import Descriptions
    from ingather.app.descriptions.selecting import Choice

__all__ = ["delete", "edit", "expire"]


@click.command("edit")
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
    from ingather.conf.rd.rdm import Submit, database_name
    from ingather.conf.rd.soif import writable_name
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
    return tell_tally(open_descriptions(home).change(submit, iter([(url, attributes)])), as_json=as_json)


@click.command("delete")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@home_option
@selection_options
@click.option(
    "--from",
    "file",
    default="",
    metavar="FILE",
    help="The URLs of the RDs in this SOIF file (- is standard input).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def delete(urls: tuple[str, ...], home: Path, file: str, as_json: bool, **selected: Any) -> int:  # noqa: FBT001
    """Delete RDs: those of the URLs, of FILE, or those chosen by --type or --database.

    They become tombstones (ingather undelete brings them back), and the robot may describe their pages again; to
    keep them out for good use ingather remove. With --persistent or --non-persistent only that data goes.
    Exit status 1: nothing was there.
    """
    from ingather.conf.rd.soif_reader import SoifReader
    from ingather.errors import UsageError

    choice = choice_of(**selected)
    descriptions = open_descriptions(home)
    chosen = choice.kind != "all" or bool(choice.database)
    if bool(urls) + bool(file) + chosen != 1:
        raise UsageError("say which: URLs, or --from, or --type with --value, or --database")
    if urls:
        return _deleted(descriptions, choice, urls, as_json=as_json)
    if not file:
        found = (one.row.url for one in descriptions.chosen(choice))
        return _deleted(descriptions, choice, found, as_json=as_json)
    with reading(file) as stream:
        reader = SoifReader(stream)
        status = _deleted(descriptions, choice, (one.url for one in reader), as_json=as_json)
    for finding in reader.findings[:SHOWN]:
        click.echo(f"{file}: {finding}", err=True)
    return 1 if reader.errors else status


def _deleted(descriptions: "Descriptions", choice: "Choice", urls: Iterable[str], *, as_json: bool) -> int:
    from ingather.conf.rd.rdm import Submit

    tally = descriptions.change(Submit("delete", choice.parts.value), ((url, {}) for url in urls))
    status = tell_tally(tally, as_json=as_json)
    return status if tally.counts["deleted"] else 1


@click.command("expire")
@home_option
@click.option("--database", default="", metavar="NAME", help="Only those of this database.")
@click.option(
    "--days",
    type=click.IntRange(0, 36_500),
    default=90,
    show_default=True,
    help="For RDs that were imported without rd-expires: days that they live; 0 = for ever.",
)
@click.option("--dry-run", is_flag=True, help="Say which, delete none.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def expire(home: Path, *, database: str, days: int, dry_run: bool, as_json: bool) -> int:
    """Delete RDs whose rd-expires lies behind us (tombstones, as rd delete).

    RDs that were imported without rd-expires, and that neither the robot nor a feed keeps up, expire --days after
    they were brought in last.
    """
    from ingather.conf.rd.rdm import Submit, database_name

    descriptions = open_descriptions(home)
    name = database_name(database) if database else ""
    descriptions.check_database(name)
    urls = descriptions.expired(database=name, days=days)
    if dry_run:
        for url in urls:
            click.echo(url)
        return 0
    return tell_tally(
        descriptions.change(Submit("delete", "merged"), ((url, {}) for url in urls)), as_json=as_json
    )
