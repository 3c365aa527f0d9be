"""``ingather recheck``: URLs that a person means are made due now; when they are visited robots.txt and delays say.

Finding them is done beside the one writer, waking them in pieces by it. A URL that a gatherer has in hand at that moment is
visited once more when that visit is settled.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ingather.app.descriptions.classifying import rows_matching
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.frontier.sqlite_recheck import RecheckReader, Woken
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import UrlError, UsageError
from ingather.model.source_name import same_source
from ingather.model.url import whole_url
from ingather.model.urlparts import split

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = [
    "FIELDS",
    "Choice",
    "Chosen",
    "again_if_out",
    "choose",
    "read_choice",
    "recheck_here",
    "recheck_served",
]

FIELDS: Final = ("url", "prefix", "host", "query", "failed", "source", "limit", "dry-run")
"""What a request may have, as text."""
_PIECE: Final = 500
_MOST: Final = 100_000
_USUAL: Final = 10_000
_TRUE: Final = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person means; exactly one of the first five is set, or *source* alone."""

    urls: tuple[str, ...] = ()
    prefix: str = ""
    host: str = ""
    query: str = ""
    failed: bool = False
    source: str = ""
    limit: int = _USUAL
    dry: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows that are meant; *more* = there are others beyond the limit; *unknown*: URLs that nobody ever met."""

    ids: tuple[int, ...]
    more: bool = False
    unknown: tuple[str, ...] = ()


def read_choice(fields: Mapping[str, str]) -> Choice:
    """Read a request.

    Raises:
        UsageError: it means nothing, more than one thing, or something is no URL or number.
    """
    given = {name: value.strip() for name, value in fields.items() if value.strip()}
    failed, dry = (given.get(name, "").lower() in _TRUE for name in ("failed", "dry-run"))
    kinds = [name for name in ("url", "prefix", "host", "query") if name in given] + (
        ["failed"] if failed else []
    )
    source = given.get("source", "")
    if len(kinds) > 1 or not (kinds or source):
        said = " and ".join(kinds) if kinds else "nothing"
        raise UsageError(
            f"what is to be visited again? {said} was named", hint="name URLs, or one of prefix, host, query and failed, or a source"
        )  # fmt: skip
    urls = tuple(dict.fromkeys(_url(text) for text in given.get("url", "").split()))
    return Choice(
        urls, _url(given["prefix"]) if "prefix" in given else "", given.get("host", ""), given.get("query", ""), failed,
        source, _limit(given.get("limit", "")), dry,
    )  # fmt: skip


def choose(home: Home, choice: Choice) -> Chosen:
    """Find what is meant; any thread.

    Raises:
        UsageError: there is no such host or source, or the query cannot be asked.
        CatalogError: the catalog cannot be read.
    """
    database = database_of(home)
    if not database.exists():
        raise UsageError("nothing was gathered yet: there is no catalog", hint="run: ingather crawl")
    with closing(RecheckReader(database, home.bodies)) as reader:
        if choice.source and not any(same_source(choice.source, one) for one in reader.source_names()):
            raise UsageError(
                f"there is no source {choice.source!r}", hint="list them with: ingather source list"
            )
        unknown: tuple[str, ...] = ()
        if choice.urls:
            choice = replace(choice, urls=tuple(dict.fromkeys(reader.meant(url) for url in choice.urls)))
            known = reader.rows_of(choice.urls)
            unknown = tuple(url for url in choice.urls if url not in known)
        rows = list(islice(_rows(home, reader, choice), choice.limit + 1))
        return Chosen(tuple(rows[: choice.limit]), len(rows) > choice.limit, unknown)


def _rows(home: Home, reader: RecheckReader, choice: Choice) -> Iterator[int]:
    if choice.failed:
        yield from reader.failed(choice.source)
        return
    if choice.urls:
        found = iter(reader.rows_of(choice.urls).values())
    elif choice.prefix:
        parts = split(choice.prefix)
        found = reader.at_prefix(parts.origin, parts.path)
    elif choice.host:
        found = _at_host(reader, choice.host)
    elif choice.query:
        found = iter(rows_matching(home, choice.query))
    else:
        found = reader.of_source(choice.source)
    while group := list(islice(found, _PIECE)):
        yield from reader.in_source(group, choice.source) if choice.source else group


def _at_host(reader: RecheckReader, name: str) -> Iterator[int]:
    rows = reader.at_host(name.rstrip("/").lower())
    first = list(islice(rows, 1))
    if not first:
        raise UsageError(
            f"no host {name!r} was found", hint="write it like www.example.org or https://www.example.org"
        )
    yield from first
    yield from rows


async def recheck_served(gathering: "Gathering", choice: Choice, chosen: Chosen) -> dict[str, Any]:
    """Make due what was chosen, in a home that gathers; on the keeper's loop."""
    keeper, done = gathering.keeper, Woken()
    if choice.dry:
        return _said(choice, chosen, done)
    for start in range(0, len(chosen.ids), _PIECE):
        piece = chosen.ids[start : start + _PIECE]
        woken: Woken = await keeper.write(partial(_wake, piece))
        _add(done, woken)
        await again_if_out(gathering, woken.waiting)
        keeper.frontier.rewind(woken.hosts)
    keeper.lending.feed()
    return _said(choice, chosen, done)


async def again_if_out(gathering: "Gathering", ids: list[int]) -> None:
    """Have those of *ids* that are in gatherers' hands visited once more: what was asked for must not be lost."""
    frontier = gathering.keeper.frontier
    out = [url_id for url_id in ids if frontier.claimed(url_id) is not None]
    if out:
        await gathering.keeper.write(lambda writer, applied: writer.applier.freshness.again(out, applied))


def recheck_here(home: Home, choice: Choice, chosen: Chosen, *, now_s: float, open_writer: Callable[[Path], CatalogWriter]) -> dict[str, Any]:  # fmt: skip
    """Make due what was chosen, in a home that nobody serves; the caller has its lock."""
    done = Woken()
    if not choice.dry:
        writer = open_writer(database_of(home))
        try:
            for start in range(0, len(chosen.ids), _PIECE):
                writer.applier.now_s = now_s
                piece = chosen.ids[start : start + _PIECE]
                _add(done, writer.transaction(lambda w, piece=piece: _wake(piece, w, Applied())))  # type: ignore[misc]
        finally:
            writer.close()
    return _said(choice, chosen, done)


def _wake(ids: tuple[int, ...], writer: Any, applied: Any) -> Woken:
    woken: Woken = writer.rechecks.wake(ids, applied)
    return woken


def _add(total: Woken, one: Woken) -> None:
    total.due += one.due
    total.waiting += one.waiting
    for why, count in one.left.items():
        total.left[why] = total.left.get(why, 0) + count


def _said(choice: Choice, chosen: Chosen, done: Woken) -> dict[str, Any]:
    return {
        "found": len(chosen.ids), "more": chosen.more, "unknown": list(chosen.unknown), "dry_run": choice.dry, "due": done.due,
        "waited": len(done.waiting), "left": done.left,
    }  # fmt: skip


def _url(text: str) -> str:
    try:
        return whole_url(text)
    except UrlError as error:
        raise UsageError(f"{text!r} is no URL: {error.text}", hint="write a whole URL") from error


def _limit(text: str) -> int:
    if not text:
        return _USUAL
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MOST and len(text) < 9):  # noqa: PLR2004 - digits of the bound
        raise UsageError(f"limit {text!r} is out of range", hint=f"a whole number, 1 to {_MOST}")
    return int(text)
