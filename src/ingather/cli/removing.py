"""``ingather remove`` and ``ingather undelete``: documents out at once, and back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.home import Home

__all__ = ["note_option", "remove", "undelete"]

_TARGET = "URL|PREFIX"

note_option = click.option(
    "--note", default="", metavar="TEXT", help="Why; kept with what is decided and shown with it."
)


@click.command("remove")
@click.argument("target", metavar=_TARGET)
@home_option
@note_option
@click.option("--yes", is_flag=True, help="Also if more would go than a deletion threshold allows.")
@click.option("--dry-run", is_flag=True, help="Say how many and show some, change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def remove(  # noqa: PLR0913 - options of one verb
    target: str, home: Path, note: str, *, yes: bool, dry_run: bool, as_json: bool
) -> int:
    """Take a document out of search at once, or everything below a prefix that ends in / or *.

    What is removed is not gathered again until it is undeleted. When that is more than a deletion threshold allows, it is refused with
    the count and some of the URLs, unless you say --yes. Exit status 1: nothing was there, or it was refused.
    """
    from ingather.app.operating import Operations
    from ingather.app.publishing import author_here
    from ingather.model.decided import By

    place, read = open_home(home)
    answer = Operations(place, read.settings, read.sources).remove(
        target, By.of(author_here(), note), yes=yes, dry_run=dry_run
    )
    if as_json:
        print_json(answer)
    elif dry_run:
        click.echo(
            f"{answer['removed']} would be removed"
            + (f": {answer['too_much']}" if answer["too_much"] else "")
        )
        for url in answer["sample"]:
            click.echo(f"  {url}")
    else:
        click.echo(
            f"{answer['removed']} removed; undo just this with: ingather undelete --decision {answer['decision']}"
        )
    return 0 if answer["removed"] else 1


@click.command("undelete")
@click.argument("target", metavar=f"[{_TARGET}]", required=False, default="")
@home_option
@click.option("--run", default="", metavar="N", help="Those that run N made (ingather runs list).")
@click.option(
    "--reason", default="", metavar="TEXT", help="Those whose reason has TEXT in it: 404, robots.txt."
)
@click.option("--hold", default="", metavar="N", help="Those that the release of hold N made.")
@click.option("--source", default="", metavar="NAME", help="Those of this source; narrows the others, too.")
@click.option(
    "--decision", default="", metavar="N", help="Exactly those that a removal or another decision made."
)
@click.option("--dry-run", is_flag=True, help="Say how many, change nothing.")
@note_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def undelete(target: str, home: Path, note: str, *, dry_run: bool, as_json: bool, **form: str) -> int:
    """Undo deletions: of a document, of everything below a prefix that ends in / or *, or of a run, reason, hold, source or decision.

    Several of these options mean what all of them are true of. What was removed by hand comes back by URL, prefix
    or --decision only; a prefix also brings back what was deleted there for other reasons. Exit status 1: nothing was deleted there.
    """
    from ingather.app.operating import Operations, wanted_of
    from ingather.app.publishing import author_here
    from ingather.errors import UsageError
    from ingather.model.decided import By

    if target and any(form.values()):
        raise UsageError(
            "a URL or prefix goes with none of --run, --reason, --hold, --source, --decision",
            hint="give one or the other",
        )
    if dry_run and target:
        raise UsageError(
            "--dry-run is for --run, --reason, --hold, --source, --decision",
            hint="see: ingather tombstones list",
        )
    if not target:
        wanted_of(form)
    place, read = open_home(home)
    if dry_run:
        return _counted(place, form, as_json=as_json)
    operations, by = Operations(place, read.settings, read.sources), By.of(author_here(), note)
    answer = operations.undelete(target, by) if target else operations.undo(form, by)
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{answer['restored']} restored")
    return 0 if answer["restored"] else 1


def _counted(place: "Home", form: dict[str, str], *, as_json: bool) -> int:
    from ingather.app.deletions import DeletionBook, undo_of
    from ingather.app.homeparts import database_of

    found = DeletionBook(database_of(place)).counts(undo_of(form))
    if as_json:
        print_json(found)
    else:
        for one in found:
            click.echo(f"{one['documents']}  source {one['source']}: {one['reason']}")
        click.echo(f"{sum(one['documents'] for one in found)} would be restored")
    return 0 if found else 1
