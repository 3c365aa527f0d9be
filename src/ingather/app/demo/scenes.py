"""What the demo shows, scene by scene; a feature that wants to be shown appends its scene to :data:`SCENES`.

A scene is a coroutine that gets the :class:`Stage`, says what it does and returns. It works with the
running product by the doors that everybody has: pages over HTTP, explain, the keeper's figures.
"""

import asyncio
import io
import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from ingather.app.crawling import Progress
from ingather.app.demo.newsroom import SOURCE, Newsroom
from ingather.app.explaining import explainer_of
from ingather.app.serving import Serving
from ingather.client import FeedClient, FeedWriter, Target
from ingather.errors import IngatherError
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["SCENES", "Player", "Scene", "Stage"]

_PATIENCE_S = 90.0
_RESULTS = 3
_QUERIES = 3
_SNIPPET_CHARS = 150
_TITLES = 500
_PAPERS = (
    ("summary", "Walrus budget, summary", "What the walrus costs in all.", ()),
    ("fish", "Walrus budget, fish", "How much fish the walrus gets.", ("anna", "bert")),
    ("salaries", "Walrus budget, salaries", "What the keepers of the walrus earn.", ("anna",)),
)
_PAPERS_QUERY = "walrus site:papers.example"
_LAID_QUERY = 'c:"laid over"'
_NEWS_QUERY, _NEWER_QUERY = "narwhal tusk", "pangolin scales"
_NEWER = ("pangolin", "A pangolin is born", "Its scales are soft for a week.")
_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Player:
    """The terminal before the stage.

    Attributes:
        say: writes a line; mark: makes a text stand out.
        tell: shows figures of gathering, ``None`` = no more of them.
        stop: set by Ctrl-C.
    """

    say: Callable[[str], None]
    mark: Callable[[str], str]
    tell: Callable[[Progress | None], None]
    stop: asyncio.Event


@dataclass(frozen=True)
class Stage:
    """A running Ingather, and what is to be shown of it.

    Attributes:
        player: the terminal.
        serving: the product: gathering and both listeners.
        starts: where gathering begins.
        queries: example searches; empty = words of what was gathered.
        asides: pages whose absence from search is worth a question.
        newsroom: a news site that is followed by its feed, if there is one.
    """

    player: Player
    serving: Serving
    starts: Sequence[str]
    queries: Sequence[str]
    asides: Sequence[str]
    newsroom: Newsroom | None = None

    def explain(self, url: str) -> dict[str, Any]:
        """Return the answer to why *url* is, or is not, in search; blocks."""
        serving, gathering = self.serving, self.serving.gathering
        explainer = explainer_of(
            serving.home,
            serving.settings,
            gathering.sources,
            loaded=gathering.loaded,
            version=gathering.version,
        )
        return explainer.explain(url)


Scene = Callable[[Stage], Awaitable[None]]


async def gather(stage: Stage) -> None:
    """Gather until nothing is left to visit, showing how it goes; the index is up to date afterwards.

    Raises:
        IngatherError: nothing was indexed; the text says why.
    """
    gathering = stage.serving.gathering
    keeper = gathering.keeper
    begun = told = time.monotonic()
    last, rate = 0, 0.0
    while not stage.player.stop.is_set() and not keeper.idle(patience_s=_PATIENCE_S):
        if keeper.failed is not None:
            raise keeper.failed
        await keeper.changed(0.25)
        now = time.monotonic()
        if now - told >= 0.25:  # noqa: PLR2004 - often enough to see it move
            rate, told, last = (keeper.counters.pages - last) / (now - told), now, keeper.counters.pages
            backing_off = keeper.frontier.backing_off(gathering.clock.monotonic())
            stage.player.tell(
                Progress(
                    elapsed_s=now - begun,
                    visited=last,
                    queue=keeper.frontier.waiting,
                    out=keeper.frontier.out,
                    outcomes=keeper.counters.outcomes,
                    hosts=keeper.frontier.busiest(5),
                    backing_off=backing_off,
                    lag=keeper.index.lag,
                    pages_s=rate,
                )
            )
    stage.player.tell(None)
    if stage.player.stop.is_set():
        return
    sequence = await keeper.write(lambda writer, _: int(writer.applier.sequence))
    if not await asyncio.to_thread(gathering.follower.flush, sequence):
        raise IngatherError(f"the index stopped: {gathering.follower.broken}")
    stats = await asyncio.to_thread(_stats, stage)
    if not sum(stats.sources.values()):
        answers = [(await asyncio.to_thread(stage.explain, url))["answer"] for url in stage.starts]
        raise IngatherError(
            "nothing was indexed: " + "; ".join(map(" ".join, zip(stage.starts, answers, strict=True)))
        )
    counts = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in sorted(keeper.counters.outcomes.items())
    )
    stage.player.say(f"gathered in {time.monotonic() - begun:.1f} s: {counts}")


async def search(stage: Stage) -> None:
    """Ask the search API a few questions and print what it answers."""
    address = stage.serving.listeners.search.getsockname()[:2]
    for query in stage.queries or await asyncio.to_thread(_queries, stage):
        answer = await asyncio.to_thread(_asked, address, query)
        documents = "document" if answer["total"] == 1 else "documents"
        stage.player.say(
            f"\n{stage.player.mark(f'search: {query}')}  ({answer['total']} {documents}, {answer['took_ms']:.0f} ms)"
        )
        for result in answer["results"]:
            stage.player.say(
                f"  {result['rank']}. {_marked(result['title_segments'], stage) or result['url']}"
            )
            stage.player.say(f"     {result['url']}")
            for fragment in result["snippet"][:1]:
                stage.player.say(f"     {_marked(fragment['segments'], stage, _SNIPPET_CHARS)}")


async def explain(stage: Stage) -> None:
    """Ask why a page is not in search, and print the first line of the answer."""
    for url in stage.asides:
        answer = await asyncio.to_thread(stage.explain, url)
        stage.player.say(f"\n{stage.player.mark(f'explain: {url}')}\n  {answer['answer']}")


async def rights(stage: Stage) -> None:
    """Push a feed with access rights, and search it as nobody and as two users."""
    serving, mark = stage.serving, stage.player.mark
    address = serving.listeners.search.getsockname()[:2]
    token = await asyncio.to_thread(_push_papers, stage)
    stage.player.say(
        f"\n{mark('feed: three papers are pushed')}  (one for all, one for anna and bert, one for anna)"
    )
    until = time.monotonic() + _PATIENCE_S
    for user in ("anna", "bert", ""):
        while True:
            answer = await asyncio.to_thread(_asked, address, _PAPERS_QUERY, token if user else "", user)
            # Who sees all of them comes first: then the others are not short of what is not in the index yet.
            if user != "anna" or answer["total"] == len(_PAPERS) or stage.player.stop.is_set():
                break
            if time.monotonic() > until:
                raise IngatherError("the papers that were pushed do not appear in search")
            await asyncio.sleep(0.1)
        titles = ", ".join(sorted(str(result["url"]).rpartition("/")[2] for result in answer["results"]))
        stage.player.say(f"  {mark(user or 'nobody')} finds {answer['total']}: {titles}")


def _push_papers(stage: Stage) -> str:
    """Push the papers by the admin listener, and return a token with which to search as somebody."""
    home = stage.serving.home
    feed = io.BytesIO()
    with FeedWriter(feed, "papers", "incremental") as writer:
        for name, title, text, readers in _PAPERS:
            users = (Principal(PrincipalScope.USER, reader) for reader in readers)
            writer.add(
                f"http://papers.example/{name}",
                content=f"<title>{title}</title><p>{text}",
                mimetype="text/html",
                acl=Acl("", tuple(AclEntry(Right.PERMIT, user) for user in users)) if readers else None,
            )
    host, port = stage.serving.listeners.admin.getsockname()[:2]
    FeedClient(Target(host, port), token=home.admin_token(), tries=1).push(feed, "papers", "incremental")
    connection = HTTPConnection(host, port, timeout=30)
    try:
        form = json.dumps({"name": "demo", "rights": "search-as", "days": "1"})
        headers = {"Authorization": f"Bearer {home.admin_token()}", "Content-Type": "application/json"}
        connection.request("POST", "/api/v1/tokens/add", form, headers)
        return str(json.loads(connection.getresponse().read())["token"])
    except (OSError, HTTPException, ValueError, KeyError) as error:
        raise IngatherError(f"the admin page made no token: {error}") from error
    finally:
        connection.close()


async def overlay(stage: Stage) -> None:
    """Lay a class over all gathered pages by one line of a file, and search it."""
    start = canonical(stage.starts[0])
    prefix = start[: start.find("/", start.find("://") + 3) + 1]
    line = f'{prefix} c:"laid over"'
    file = stage.serving.home.config / "external_metadata.cfg"
    await asyncio.to_thread(file.write_text, f"{line}\n", "utf-8")
    stage.player.say(f"\n{stage.player.mark('one line in config/external_metadata.cfg:')} {line}")
    address = stage.serving.listeners.search.getsockname()[:2]
    until = time.monotonic() + _PATIENCE_S
    while not stage.player.stop.is_set():
        answer = await asyncio.to_thread(_asked, address, _LAID_QUERY)
        if answer["total"]:
            stage.player.say(f"  {stage.player.mark(_LAID_QUERY)} finds {answer['total']}")
            break
        if time.monotonic() > until:
            raise IngatherError("what was laid over the pages does not appear in search")
        await asyncio.sleep(0.1)


async def news(stage: Stage) -> None:
    """Publish a page on a site that is followed by its feed, have the feed polled, and find the page."""
    if stage.newsroom is None:
        return
    mark = stage.player.mark
    stage.player.say(f"\n{mark('a web feed is followed:')} {stage.newsroom.feed}")
    await _appears(stage, _NEWS_QUERY)
    stage.player.say(f"  {mark(_NEWS_QUERY)} is found")
    url = await asyncio.to_thread(stage.newsroom.publish, *_NEWER)
    await asyncio.to_thread(_poll, stage, SOURCE)
    stage.player.say(f"  the site publishes {url}; the feed is polled")
    await _appears(stage, _NEWER_QUERY)
    if not stage.player.stop.is_set():
        answer = await asyncio.to_thread(stage.explain, url)
        stage.player.say(f"  {mark(_NEWER_QUERY)} is found\n  {answer['answer']}")


async def _appears(stage: Stage, query: str) -> None:
    """Wait until a search finds something.

    Raises:
        IngatherError: it does not.
    """
    address = stage.serving.listeners.search.getsockname()[:2]
    until = time.monotonic() + _PATIENCE_S
    while not stage.player.stop.is_set():
        if (await asyncio.to_thread(_asked, address, query))["total"]:
            return
        if time.monotonic() > until:
            raise IngatherError(f"what {query!r} asks for does not appear in search")
        await asyncio.sleep(0.1)


def _poll(stage: Stage, target: str) -> None:
    """Have feeds polled, by the admin listener."""
    host, port = stage.serving.listeners.admin.getsockname()[:2]
    connection = HTTPConnection(host, port, timeout=30)
    try:
        token = stage.serving.home.admin_token()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/api/v1/rss/poll", json.dumps({"feed": target}), headers)
        connection.getresponse().read()
    except (OSError, HTTPException) as error:
        raise IngatherError(f"the admin page polled nothing: {error}") from error
    finally:
        connection.close()


SCENES: tuple[Scene, ...] = (gather, search, explain, rights, overlay, news)
"""In order of appearance."""


def _stats(stage: Stage) -> Any:
    reader = stage.serving.gathering.reader_once()
    try:
        return reader.stats()
    finally:
        reader.close()


def _queries(stage: Stage) -> list[str]:
    """Return three queries out of the titles that were gathered: rare words of different pages first."""
    reader = stage.serving.gathering.reader_once()
    try:
        titles = [title for title, _ in reader.titles(list(islice(reader.shown(), _TITLES))).values()]
    finally:
        reader.close()
    words = [list(dict.fromkeys(_WORD.findall(title.casefold()))) for title in titles]
    common = Counter(word for found in words for word in found)
    candidates = [
        " ".join(
            word for word in found if word in sorted(found, key=lambda word: (common[word], -len(word)))[:2]
        )
        for found in words
    ]
    candidates += sorted(common, key=lambda word: (common[word], word))
    candidates += [f"site:{split(canonical(url)).host}" for url in stage.starts] + [
        "filetype:html",
        "filetype:pdf",
    ]
    return [query for query in dict.fromkeys(candidates) if query][:_QUERIES]


def _asked(address: tuple[str, int], query: str, token: str = "", user: str = "") -> dict[str, Any]:
    """Ask the search listener, as any program would.

    Raises:
        IngatherError: it did not answer with results.
    """
    connection = HTTPConnection(*address, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {token}", "X-Ingather-As": user} if token else {}
        connection.request(
            "GET", f"/api/v1/search?{urlencode({'q': query, 'num': _RESULTS})}", headers=headers
        )
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
    except (OSError, HTTPException, ValueError) as error:
        raise IngatherError(f"the search page does not answer: {error}") from error
    finally:
        connection.close()
    if "error" in answer:
        raise IngatherError(f"search: {answer['error']['message']}")
    return answer


def _marked(segments: Sequence[dict[str, Any]], stage: Stage, limit: int = 1000) -> str:
    """Return segments as one line of at most *limit* characters, found words standing out."""
    parts: list[str] = []
    for segment in segments:
        text = re.sub(r"\s+", " ", segment["text"])[:limit]
        limit -= len(text)
        parts.append(stage.player.mark(text) if segment["marked"] else text)
        if limit <= 0:
            parts.append("…")
            break
    return "".join(parts).strip()
