"""``ingather search``: ask the index from the terminal."""

import sys
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

__all__ = ["command"]


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@home_option
@click.option("--limit", type=click.IntRange(min=1), help="Results shown (search.page-size).")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Results skipped.")
@click.option(
    "--type", "kinds", multiple=True, metavar="KIND", help="Only html, pdf, docx, ...; may be given again."
)
@click.option(
    "--site", "sites", multiple=True, metavar="HOST", help="Only this host or domain; may be given again."
)
@click.option(
    "--database", "databases", multiple=True, metavar="NAME",
    help="Only what lies in this database; may be given again.",
)  # fmt: skip
@click.option("--newest", is_flag=True, help="Newest first.")
@click.option("--user", metavar="NAME", help="As this user finds it; for the owner of the home only.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def command(  # noqa: PLR0913, PLR0917 - one a flag
    query: tuple[str, ...],
    home: Path,
    limit: int | None,
    offset: int,
    kinds: tuple[str, ...],
    sites: tuple[str, ...],
    databases: tuple[str, ...],
    newest: bool,  # noqa: FBT001 - click gives it so
    user: str | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    r"""Search for words, "phrases", -without, this OR that, site:host, filetype:pdf, title:word.

    It finds what is public; with --user what this user may see, by name of a local user or as access lists spell
    him (name, DOMAIN\name, name@domain). Exit status 1: nothing was found.
    """
    from ingather.access import ANONYMOUS
    from ingather.app.searching import gathered, search_service, seen_by
    from ingather.errors import QueryError, UsageError
    from ingather.index import Order
    from ingather.search import SearchRequest, results_form

    place, read = open_home(home)
    service, _, texts = search_service(place, read.settings)
    order = Order.DATE if newest else Order.RELEVANCE
    try:
        words = " ".join(word if len(query) == 1 or " " not in word else f'"{word}"' for word in query)
        found = service.search(
            SearchRequest(
                words,
                offset,
                read.settings.count("search.page-size") if limit is None else limit,
                kinds,
                sites,
                order=order,
                databases=tuple(name.lower() for name in databases),
                viewer=ANONYMOUS if user is None else seen_by(place, service, user, read.settings),
            )
        )
    except QueryError as error:
        raise UsageError(str(error)) from error
    finally:
        texts.close()
    if not gathered(place):
        click.echo(f"nothing has been gathered yet; run: ingather crawl --home {home} URL", err=True)
    if as_json:
        print_json(results_form(found))
        return 0 if found.total else 1
    bold = sys.stdout.isatty()
    click.echo(
        f"{counted(found.total, 'document')}" + ("" if found.all_words else " (not all with every word)")
    )
    for result in found.results:
        title = (
            "".join(_shown(s.text, marked=s.marked and bold) for s in result.title_segments)
            or result.display_url
            or result.url
        )
        click.echo(f"\n{result.rank}. {title}\n   {result.display_url or result.url}")
        for fragment in result.snippet:
            text = "".join(_shown(s.text, marked=s.marked and bold) for s in fragment.segments)
            click.echo(f"   {' '.join(text.split())}")
    if found.help.did_you_mean:
        click.echo(f"did you mean: {found.help.did_you_mean}")
    return 0 if found.total else 1


def _shown(text: str, *, marked: bool) -> str:
    return click.style(text, bold=True) if marked else text
