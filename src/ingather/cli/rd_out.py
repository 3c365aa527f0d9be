"""``ingather rd export | list | show | count``: descriptions out and on the screen."""

from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json
from ingather.cli.rd_common import charset_of, choice_of, open_descriptions, selection_options, written

__all__ = ["count", "export", "list_", "show"]


@click.command("export")
@click.argument("file", metavar="[FILE]", default="-")
@home_option
@selection_options
@click.option(
    "--charset", default="utf-8", show_default=True, help="Of the values; characters that it lacks become ?."
)
def export(file: str, home: Path, charset: str, **selected: Any) -> None:
    """Write RDs as SOIF to FILE (default: standard output)."""
    choice, charset = choice_of(**selected), charset_of(charset)
    descriptions = open_descriptions(home)
    with written(file) as sink:
        done = descriptions.export(choice, sink, charset=charset)
    click.echo(f"{done.documents} descriptions", err=True)
    if done.unwritten.attributes:
        click.echo(
            f"W-RD-NAME: {done.unwritten.attributes} attributes left out that SOIF cannot carry, "
            f"for example {done.unwritten.example[:80]!r}",
            err=True,
        )


@click.command("list")
@home_option
@selection_options
@click.option("--limit", type=click.IntRange(min=0), default=0, help="At most so many; 0 = all.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_(home: Path, limit: int, as_json: bool, **selected: Any) -> int:  # noqa: FBT001 - click gives it so
    """List RDs: a line each, the URL and the values of --attributes. Exit status 1: there are none."""
    import json

    from ingather.app.descriptions.files import form_of

    count = 0
    for one in open_descriptions(home).chosen(choice_of(**selected)):
        count += 1
        if as_json:
            click.echo(json.dumps(form_of(one), ensure_ascii=False, sort_keys=True))
        else:
            wanted = one.attributes.items() if selected["view"] else ()
            said = [f"{name}={' | '.join(' '.join(v.split()) for v in values)}" for name, values in wanted]
            click.echo("\t".join([one.row.url, *said]))
        if count == limit:
            break
    return 0 if count else 1


@click.command("show")
@click.argument("url")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the RD as JSON.")
def show(url: str, home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Show an RD whole: every attribute, and the layer that it comes from. Exit status 1: there is none."""
    from ingather.app.descriptions.files import form_of
    from ingather.app.descriptions.selecting import Choice

    found = next(open_descriptions(home).chosen(Choice("by_url", url.rstrip("*"))), None)
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


@click.command("count")
@home_option
@selection_options
@click.option("--databases", is_flag=True, help="Count each database instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def count(home: Path, databases: bool, as_json: bool, **selected: Any) -> None:  # noqa: FBT001 - click gives it so
    """Count RDs."""
    from ingather.errors import UsageError

    descriptions = open_descriptions(home)
    if databases and (selected["database"] or selected["kind"] != "all"):
        raise UsageError("--databases counts all, each by itself", hint="leave out --database and --type")
    if databases:
        found = descriptions.databases()
    else:
        found = {"descriptions": sum(1 for _ in descriptions.chosen(choice_of(**selected)))}
    if as_json:
        print_json(found)
        return
    for name, number in found.items():
        click.echo(f"{number:>10}  {name}")
