"""``ingather replay --config DIR``: a changed configuration over what is stored, the difference as the answer."""

import os
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]


@click.command("replay")
@home_option
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder with the changed configuration.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read the bodies of N documents, the same ones each time; default 1000.",
)
@click.option("--all", "everything", is_flag=True, help="Read every kept body.")
@click.option("--source", default="", metavar="NAME", help="Of this source alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole diff as JSON.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the diff as one HTML file that needs nothing else.",
)
def command(  # noqa: PLR0913 - options of the command line
    home: Path,
    config: Path,
    sample: int | None,
    source: str,
    page: Path | None,
    *,
    everything: bool,
    as_json: bool,
) -> int:
    """Say what a changed configuration would do to everything that is stored, without the network.

    Every known URL is judged by MetaData; of the documents that pass, the kept bodies go through the
    whole pipeline. Nothing is stored.

    Exit status 0: no document would go; 1: at least one would.
    """
    from ingather.app.rehearsal.replaying import SAMPLE, replay
    from ingather.errors import UsageError
    from ingather.explain import replay_page, replay_text

    if everything and sample is not None:
        raise UsageError("--all and --sample exclude each other")
    if as_json and page is not None:
        raise UsageError("--json and --html exclude each other")
    opened, _ = open_home(home)
    answer = replay(
        opened, config, sample=None if everything else sample or SAMPLE, source=source, environment=os.environ
    )
    if as_json:
        print_json(answer)
    elif page is not None:
        _write(page, replay_page(answer))
        click.echo(replay_text(answer).partition("\n")[0])
        click.echo(f"written to {page}")
    else:
        click.echo(replay_text(answer))
    return 1 if answer["documents"]["lost"] else 0


def _write(page: Path, text: str) -> None:
    from ingather.errors import UsageError

    try:
        page.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{page} cannot be written: {error.strerror}") from error
