"""``ingather simulate URL...``: what the filters would do with it, nothing stored."""

import os
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json

__all__ = ["command"]


@click.command("simulate")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@home_option
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Try this configuration in place of the home's; without a home, with default settings.",
)
@click.option("--data", is_flag=True, help="Fetch it and go through the whole pipeline, not MetaData alone.")
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Links from a starting point; default 0: judged as one.",
)
@click.option(
    "--source",
    default="",
    metavar="NAME",
    help="Judge as URLs of this source, as if its feed listed them. Without it the catalog says which source of feeds has them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def command(  # noqa: PLR0913 - options of the command line
    urls: tuple[str, ...],
    home: Path,
    config: Path | None,
    depth: int,
    source: str,
    *,
    data: bool,
    as_json: bool,
) -> int:
    """Say what the filters would do with each URL, and which line of which file decides. Nothing is stored.

    Without --data the network is not asked: MetaData alone speaks. With it robots.txt and the page are
    fetched once, and the description that would result is shown.

    Exit status 0: each URL would get a description, as far as was asked; 1: one of them would not.
    """
    from ingather.app.home import Home
    from ingather.app.rehearsal.simulating import simulate
    from ingather.errors import HomeError
    from ingather.explain import simulation_text

    try:
        opened = Home.open(home)
    except HomeError:
        if config is None:
            raise
        opened = None
    answer = simulate(
        urls, home=opened, config=config, data=data, depth=depth, source=source, environment=os.environ
    )
    if as_json:
        print_json(answer)
    else:
        click.echo(simulation_text(answer))
    return 0 if all(_described(url, data=data) for url in answer["urls"]) else 1


def _described(url: dict[str, object], *, data: bool) -> bool:
    if data:
        return "rd" in url
    generation = url["generation"]
    return isinstance(generation, dict) and bool(generation["allowed"])
