"""``ingather explain URL``: why it is, or is not, in search."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]


@click.command("explain")
@click.argument("url")
@home_option
@click.option("--fetch", is_flag=True, help="Ask the network for what is not stored; nothing is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def command(url: str, home: Path, fetch: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Say why a URL is, or is not, in search: where it was found, every filter step, robots, visits, layers, index.

    Exit status 0: it is in search; 1: it is not.
    """
    from ingather.app.explaining import explainer_of
    from ingather.errors import UrlError, UsageError
    from ingather.explain import as_text

    place, read = open_home(home)
    try:
        answer = explainer_of(place, read.settings, read.sources).explain(url, fetch=fetch)
    except UrlError as error:
        raise UsageError(f"{url!r} is not a URL: {error.text}") from error
    if as_json:
        print_json(answer)
    else:
        click.echo(as_text(answer))
    return 0 if answer["index"].get("indexed") else 1
