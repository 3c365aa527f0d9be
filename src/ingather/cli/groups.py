"""``ingather groups``: who is in which group, by the sources that say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.access.groups import HomeGroups

__all__ = ["command"]

_MODES = ("incremental", "full")
_json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


def _named(_context: click.Context, _parameter: click.Parameter, source: str) -> str:
    """Refuse what a push to /xmlgroups would refuse as the name of a source."""
    from ingather.errors import UsageError
    from ingather.feeds.desk import FeedFields, FeedKind, FeedRefusedError

    try:
        FeedFields(datasource=source, feedtype="full", kind=FeedKind.GROUPS).check()
    except FeedRefusedError as error:
        raise UsageError(error.text, hint=error.hint) from error
    return source


_source_option = click.option(
    "--source",
    required=True,
    metavar="NAME",
    callback=_named,
    help="Whose memberships these are; another source's stay.",
)
_mode_option = click.option(
    "--mode", type=click.Choice(_MODES), default="incremental", show_default=True,
    help="Add them, or let them replace what the source had.",
)  # fmt: skip
_file = click.Path(path_type=Path)


@click.group("groups")
def command() -> None:
    """Load and show memberships of groups; `list` shows sources and groups."""


@command.command("list")
@click.argument("text", default="")
@home_option
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Groups at most."
)
@_json_option
def list_(text: str, home: Path, limit: int, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List the sources of memberships, and the groups whose name has TEXT."""
    found = _groups(home).reading().listed(text, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found["sources"]:
        click.echo("no memberships; load some with: ingather groups load FILE --source NAME")
        return
    for source in found["sources"]:
        click.echo(f"{source['source']}: {source['memberships']} memberships, changed {source['changed']}")
    for group in found["groups"]:
        click.echo(f"  {group['text']}  {group['members']} members")
    if found["more"]:
        click.echo(f"  and more than these {limit}; give a part of the name, or --limit")


@command.command("show")
@click.option("--user", default="", help="Show the groups of this user, each with the way to it.")
@click.option("--group", default="", help="Show the direct members of this group, and the groups above it.")
@click.option("--namespace", default="", help="Namespace of the name; default Default.")
@home_option
@_json_option
def show(user: str, group: str, namespace: str, home: Path, as_json: bool) -> int:  # noqa: FBT001
    """Show the groups of a user, or who is in a group.

    Exit status 1: the user is in no group, or the group has no members.
    """
    found = _groups(home).reading().shown(user=user, group=group, namespace=namespace)
    if as_json:
        print_json(found)
    elif "user" in found:
        click.echo(f"{found['user']['text']} is in {len(found['groups'])} groups")
        for one in found["groups"]:
            click.echo(f"  {one['text']}  ({' > '.join(one['way'])})")
    else:
        click.echo(f"{found['group']['text']} has {len(found['members'])} direct members")
        for one in found["members"]:
            case = "" if one["case_sensitive"] else ", in any case"
            click.echo(f"  {one['scope']} {one['text']}{case}, by {one['source']}")
        for one in found["above"]:
            click.echo(f"  is in {one['text']}  ({' > '.join(one['way'])})")
    return 0 if found.get("groups") or found.get("members") else 1


@command.command("load")
@click.argument("file", type=_file)
@_source_option
@_mode_option
@home_option
@_json_option
def load(file: Path, source: str, mode: str, home: Path, as_json: bool) -> int:  # noqa: FBT001
    """Load FILE: a group feed (xmlgroups), or JSON lines if it is called .jsonl.

    Exit status 1: something was not read or did not take effect; the report says what.
    """
    with _opened(file) as stream:
        items = _json_lines(stream) if file.suffix.lower() in {".jsonl", ".ndjson"} else _xml(stream)
        return _report(_groups(home).load(items, source, mode), as_json=as_json)


@command.command("import")
@click.argument("file", type=_file)
@_source_option
@_mode_option
@click.option(
    "--format", "kind", type=click.Choice(["csv", "ldif"]), help="Default: by the file's name, else csv."
)
@click.option("--domain", default="", help="Domain of names that have none.")
@click.option("--namespace", default="", help="Namespace of the names; default Default.")
@click.option(
    "--case", type=click.Choice(["sensitive", "insensitive"]),
    help="How members are compared; default: insensitive for ldif, sensitive for csv.",
)  # fmt: skip
@home_option
@_json_option
def import_(  # noqa: PLR0913, PLR0917 - click gives it so
    file: Path,
    source: str,
    mode: str,
    kind: str | None,
    domain: str,
    namespace: str,
    case: str | None,
    home: Path,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Import FILE, a CSV with the columns group and member, or an LDIF.

    Exit status 1: something was not read or did not take effect; the report says what.
    """
    from ingather.feeds.groups_importing import ImportOptions, read_csv, read_ldif

    kind = kind or ("ldif" if file.suffix.lower() in {".ldif", ".ldi"} else "csv")
    sensitive = case == "sensitive" if case else kind == "csv"
    options = ImportOptions(domain, namespace, sensitive)
    board = _groups(home)
    with _opened(file) as stream:
        if kind == "ldif":
            found = read_ldif(lambda: file.open("rb"), options)
            return _report(board.load(found, source, mode), as_json=as_json)
        return _report(board.load(read_csv(stream, options), source, mode), as_json=as_json)


@command.command("cleanup")
@click.argument("source")
@home_option
def cleanup(source: str, home: Path) -> int:
    """Remove all memberships of SOURCE; those of other sources stay.

    Exit status 1: it had none.
    """
    removed = _groups(home).clean_up(source)["removed"]
    click.echo(f"{removed} memberships of {source} removed")
    return 0 if removed else 1


def _groups(home: Path) -> "HomeGroups":
    from ingather.app.access.groups import HomeGroups

    place, read = open_home(home)
    return HomeGroups(place, read.settings, read.sources)


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    from ingather.errors import FeedError, UsageError

    try:
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    with stream:
        try:
            yield stream
        except FeedError as error:
            raise FeedError(f"{file}: {error.text}", reason=error.reason, hint=error.hint) from error


def _xml(stream: IO[bytes]) -> Iterator[Any]:
    from ingather.feeds.groups_reading import read_group_items

    yield from read_group_items(stream)


def _json_lines(stream: IO[bytes]) -> Iterator[Any]:
    from ingather.feeds.groups_lines import read_group_lines
    from ingather.model.feed import FeedEnd

    for number, raw in enumerate(stream, 1):
        yield from read_group_lines(raw, first=number)
    yield FeedEnd(complete=True, repaired=False)


def _report(report: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(report)
    else:
        click.echo(
            f"{report['source']}: {report['groups']} groups read, {report['added']} memberships added, {report['removed']} replaced"
        )
        for one in report["rejections"]:
            click.echo(f"line {one['line']}: {one['reason']}", err=True)
        if report["rejected"] > len(report["rejections"]):
            click.echo(f"{report['rejected']} could not be read in all", err=True)
        for one in report["warnings"]:
            click.echo(f"line {one['line']}: {one['text']}", err=True)
        if report["trouble"]:
            click.echo(report["trouble"], err=True)
    return 1 if report["trouble"] or report["rejected"] else 0
