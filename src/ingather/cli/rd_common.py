"""What the verbs of ``ingather rd`` share: options that choose, files read and written, counts told."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.descriptions.files import Descriptions
    from ingather.app.descriptions.selecting import Choice
    from ingather.app.descriptions.store import Tally

__all__ = [
    "SHOWN",
    "charset_of",
    "choice_of",
    "open_descriptions",
    "reading",
    "selection_options",
    "tell_tally",
    "view_of",
    "written",
]

SHOWN: Final = 20
"""Lines of one kind that are shown."""
_KINDS: Final = ("all", "uncategorized", "categorized", "by_category", "by_url", "by_query")

Wrapped = Callable[..., Any]


def open_descriptions(home: Path) -> "Descriptions":
    """Open the descriptions of the home at *home*, under its configuration."""
    import os

    from ingather.app.configuration import read_configuration
    from ingather.app.descriptions.files import Descriptions

    place, _ = open_home(home)
    return Descriptions(place, read_configuration(place, environment=os.environ).require())


def selection_options(call: Wrapped) -> Wrapped:
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


def choice_of(  # noqa: PLR0913 - the command's options
    *, kind: str, value: str, database: str, persistent: bool, non_persistent: bool, view: str
) -> "Choice":
    """Return what the options of :func:`selection_options` choose."""
    from ingather.app.descriptions.selecting import Choice
    from ingather.catalog.descriptions.sqlite_descriptions import Parts
    from ingather.conf.rd.rdm import database_name
    from ingather.errors import UsageError

    if value and kind == "all":
        raise UsageError("--value needs a --type", hint="by_category, by_url or by_query")
    parts = Parts.MERGED
    if persistent != non_persistent:
        parts = Parts.PERSISTENT if persistent else Parts.NONPERSISTENT
    return Choice(kind, value, database_name(database) if database else "", parts, view_of(view))


def view_of(text: str) -> tuple[str, ...]:
    """Return the names of ``--attributes``.

    Raises:
        UsageError: it was given, and names nothing: that must not mean everything.
    """
    from ingather.conf.rd.rdm import names_of
    from ingather.errors import UsageError

    names = names_of(text)
    if text and not names:
        raise UsageError(
            f"--attributes {text!r} names no attribute", hint="for example: title,classification"
        )
    return names


def charset_of(text: str) -> str:
    """Return the codec of ``--charset``.

    Raises:
        UsageError: there is none, or it cannot carry SOIF.
    """
    from ingather.conf.rd.soif import SoifError, known_charset
    from ingather.errors import UsageError

    try:
        return known_charset(text)
    except SoifError as error:
        raise UsageError(error.text, hint=error.hint) from error


@contextmanager
def written(file: str) -> Iterator[BinaryIO]:
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
        raise trouble(file, error, "written") from error
    finally:
        new.unlink(missing_ok=True)


def trouble(file: str, error: OSError, verb: str) -> Exception:
    from ingather.errors import IngatherError

    return IngatherError(f"{file} cannot be {verb}: {error.strerror or error}")


@contextmanager
def reading(file: str) -> Iterator[BinaryIO]:
    """Open what is read; ``-`` is standard input.

    Raises:
        UsageError: the file that was named is not there, or may not be read.
    """
    from ingather.errors import UsageError

    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - what goes wrong while it is read is another trouble
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error
    with stream:
        yield stream


def tell_tally(tally: "Tally", *, as_json: bool, failed: bool = False) -> int:
    """Say what became of documents; return the exit status: 1 if some were refused, or *failed*."""
    for text in (*tally.warnings[:SHOWN], *tally.refusals[:SHOWN]):
        click.echo(text, err=True)
    counts = dict(sorted(tally.counts.items()))
    if tally.warned:
        counts["warnings"] = tally.warned
    if as_json:
        print_json(counts)
    else:
        click.echo(", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing to do")
    return 1 if failed or tally.counts["refused"] else 0
