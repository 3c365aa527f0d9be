"""``ingather feed check``: a feed against the letter of the DTD, for authors of clients; no home is needed."""

from pathlib import Path

import click

from ingather.cli.opened import print_json
from ingather.units import counted

__all__ = ["check"]

_KINDS = ("documents", "groups", "jsonl")
_TYPES = ("full", "incremental", "metadata-and-url")
_PATIENCE_S = 3600.0


@click.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--kind", type=click.Choice(_KINDS), help="What FILE is; default: what it looks like.")
@click.option(
    "--type", "feedtype", type=click.Choice(_TYPES), help="Check it as this type; default: what FILE says."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(file: Path, kind: str | None, feedtype: str | None, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Check FILE, a feed of documents, of groups or of JSON lines, without pushing it.

    Errors are what the DTD forbids or costs a record; warnings are what is taken with tolerance. Exit status 1: there
    are errors.
    """
    from ingather.app.feeds.checking import check_file, kind_of

    report = check_file(file, kind or kind_of(file), feedtype=feedtype or "", timeout_s=_PATIENCE_S)
    if as_json:
        print_json({"file": str(file), **report})
        return 0 if report["valid"] else 1
    counts = {"error": 0, "warning": 0}
    for found in report["findings"]:
        counts[found["severity"]] += 1
        place = f"{file}:{found['line']}:{found['column']}" if found["column"] else f"{file}:{found['line']}"
        element = f"{found['element']}: " if found["element"] else ""
        click.echo(f"{place if found['line'] else file}: {found['severity']}: {element}{found['text']}")
    if report["more"]:
        click.echo(f"{file}: {report['more']} findings more")
    what = [
        f"{report[key]} {name}"
        for key, name in (("records", "records"), ("acls", "ACLs"), ("memberships", "memberships"), ("rejected", "rejected"))
        if report[key]
    ]  # fmt: skip
    click.echo(
        f"{file}: {', '.join(what) or 'nothing in it'}; "
        f"{counted(counts['error'], 'error')}, {counted(counts['warning'], 'warning')}"
    )
    return 0 if report["valid"] else 1
