"""Twin worlds: two homes that differ in hidden documents only, asked the same; whoever may not see these cannot tell which is which.

The hidden documents say what the others say and more: the same words, titles, hosts, bodies and dates, links to what is seen, words that
nothing else has. They come after the others, so that rows that both homes have bear the same numbers.
"""

import asyncio
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlencode

from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp, Message

from ingather.app.access.people import CatalogPeople
from ingather.app.feeds.process import FeedProcess
from ingather.app.homeparts import database_of
from ingather.app.searching import Seeing, search_service
from ingather.testing.feeds import FeedRig, record
from ingather.testing.prose import WORDS, paragraph, topic
from ingather.web import Health, HttpMetrics, SearchParts, search_app
from ingather.web.auth.proxies import Proxies

__all__ = ["Difference", "Listener", "TwinFigures", "Twins", "answer", "listening"]

SEEN: Final = 60
HIDDEN: Final = 60
_HOSTS: Final = ("a.twin.test", "b.twin.test", "deep.b.twin.test")
_OWN: Final = ("zanzibar", "quokka", "xylograph", "merger")
"""Words of hidden documents alone."""
_USER: Final = "X-Twin-User"
_TOOK: Final = re.compile(rb'"took_ms": ?[0-9.]+|[0-9]+(?:[.,][0-9]+)? (?:ms|s|seconds)\b')
_PROXY: Final = ("10.9.8.7", 4711)
_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
_OTHERS: Final = (
    "/", "/health", "/ready", "/opensearch.xml", "/robots.txt", "/sw_version.txt", "/gsafeed.dtd", "/login", "/login/provider", "/api/v1/whoami",
    "/static/style.css", "/api/v1/explain?url=http://a.twin.test/1", "/nothing",
)  # fmt: skip
"""What else there is to be asked by whoever comes; the last two are not there for him."""
_OWN_HEADERS: Final = frozenset({b"x-request-id", b"content-length", b"date"})
_ANN: Final = '<acl><principal scope="user" access="permit">ann</principal></acl>'
_ZOE: Final = '<acl><principal scope="user" access="permit">zoe</principal></acl>'
_NOT_ANN: Final = '<acl><principal scope="user" access="deny">ann</principal><principal scope="group" access="permit">all</principal></acl>'
_BROKEN: Final = '<acl inherit-from="http://a.twin.test/nowhere"><principal scope="user" access="permit">ann</principal></acl>'


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that the twins answer differently."""

    user: str
    path: str
    first: bytes
    second: bytes


@dataclass
class TwinFigures:
    """What was asked, and what told the twins apart (nothing must)."""

    asked: int = 0
    found: int = 0
    differences: list[Difference] = field(default_factory=list)


class Twins:
    """Two homes and their search listeners; use as a context.

    Args:
        folder: where the homes are made.
        seed: of documents and questions.
        hidden: documents that only one of them has.
        seen: documents that both have.
        brief: questions mostly want few results, so that many can be asked in a short time.
    """

    def __init__(
        self, folder: Path, *, seed: int, hidden: int = HIDDEN, seen: int = SEEN, brief: bool = False
    ) -> None:
        self._folder, self._seed, self._hidden, self._seen, self._brief = folder, seed, hidden, seen, brief
        self._dice = random.Random(seed)  # noqa: S311 - a test's dice
        self._apps: list[Listener] = []
        self._stack = ExitStack()
        self.figures = TwinFigures()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            process = FeedProcess()
            stack.callback(process.stop)
            rigs = []
            for name, hidden in (("plain", False), ("deep", True)):
                rig = FeedRig(self._folder / name, process)
                stack.callback(rig.close)
                self._fill(rig, hidden=hidden)
                rigs.append(rig)
            self._stack = stack.pop_all()
        for rig in rigs:
            self._apps.append(self._stack.enter_context(listening(rig))[0])
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _fill(self, rig: FeedRig, *, hidden: bool) -> None:
        dice = random.Random(self._seed)  # noqa: S311 - both get the same documents
        seen = [_document(dice, number, _ANN if number % 3 == 0 else "") for number in range(self._seen)]
        others = [
            _document(dice, self._seen + n, (_ZOE, _NOT_ANN, _BROKEN)[n % 3], hidden=True)
            for n in range(self._hidden)
        ]
        rig.push(*seen, datasource="twins")
        if hidden:
            rig.push(*others, datasource="twins")
        rig.local.index()

    def ask(self, count: int, *, tell: Callable[[int], None] = lambda _n: None) -> TwinFigures:
        """Ask *count* questions of both; the kept differences are at most 20."""
        for number in range(count):
            user = self._dice.choice(("", "ann", "nobody-known"))
            path = _question(self._dice, brief=self._brief) if number % 50 else self._dice.choice(_OTHERS)
            first, second = (answer(app, path, user) for app in self._apps)
            self.figures.asked += 1
            self.figures.found += b'"results":[{' in first.replace(b" ", b"") or b"<mark>" in first
            if first != second and len(self.figures.differences) < 20:  # noqa: PLR2004 - enough to look at
                self.figures.differences.append(Difference(user, path, first, second))
            tell(number + 1)
        return self.figures

    def tells_apart(self, user: str, path: str) -> bool:
        """Whether *user* gets different answers for *path*: for somebody who sees what is hidden, a proof that it is there."""
        first, second = (answer(app, path, user) for app in self._apps)
        return first != second


def _document(dice: random.Random, number: int, acl: str, *, hidden: bool = False) -> str:
    host = dice.choice(_HOSTS)
    title = topic(dice.getrandbits(40))
    text = paragraph(dice.getrandbits(40), 40)
    if hidden:
        text += f" {dice.choice(_OWN)} {dice.choice(WORDS)}"
        if number % 7 == 0:  # the very bytes of one that is seen
            title, text = "Copy", "one body of many"
    elif number in {4, 5}:
        title, text = "Copy", "one body of many"
    links = "".join(
        f'<a href="http://{h}/{dice.randrange(SEEN)}">{dice.choice(_OWN if hidden else WORDS)}</a> '
        for h in _HOSTS
    )
    body = f"<html lang='en'><head><title>{title}</title></head><body><p>{text}</p>{links if title != 'Copy' else ''}</body></html>"
    meta = f'<metadata><meta name="author" content="{dice.choice(_OWN if hidden else WORDS)}"/></metadata>'
    day = datetime.fromtimestamp(dice.randrange(1_000_000_000, 1_700_000_000), UTC)
    inner = f"{acl}{meta}<content><![CDATA[{body}]]></content>"
    return record(f"http://{host}/{number}", inner, last_modified=format_datetime(day, usegmt=True))


def _word(dice: random.Random) -> str:
    word = dice.choice(WORDS) if dice.random() < 0.8 else dice.choice(_OWN)  # noqa: PLR2004
    forms = (
        word[:-1],  # misspelt: suggestions come of what is seen
        f"{word[:3]}*",
        f'"{word} {dice.choice(WORDS)}"',
        f"-{word}",
        f"author:{word}",
        f"site:{dice.choice(_HOSTS)}",
        dice.choice(("(", '"', "OR", "title:", "body", "copy", "\u00e9", "x" * 30)),
    )
    return dice.choice((*forms, *[word] * 5))


def _question(dice: random.Random, *, brief: bool) -> str:
    words = [_word(dice) for _ in range(dice.choice((1, 1, 1, 2, 2, 4)) if brief else dice.randint(1, 4))]
    pairs = [("q", (" OR " if dice.random() < 0.4 else " ").join(words))]  # noqa: PLR2004
    chance = dice.random
    pairs += [("sort", "date")] if chance() < 0.15 else []  # noqa: PLR2004
    pairs += [("site", dice.choice(_HOSTS))] if chance() < 0.15 else []  # noqa: PLR2004
    pairs += [("type", dice.choice(("html", "pdf")))] if chance() < 0.1 else []  # noqa: PLR2004
    pairs += [("after", f"20{dice.randrange(1, 24):02d}-01-01")] if chance() < 0.15 else []  # noqa: PLR2004
    if brief and chance() < 0.9:  # noqa: PLR2004
        pairs += [("num", str(dice.choice((1, 1, 2, 3))))]
    else:
        pairs += [("num", str(dice.choice((1, 3, 50, 100))))] if chance() < 0.3 else []  # noqa: PLR2004
    pairs += [("start", str(dice.randrange(40)))] if chance() < 0.2 else []  # noqa: PLR2004
    return f"{'/' if chance() < (0.05 if brief else 0.2) else '/api/v1/search'}?{urlencode(pairs)}"


def answer(app: "Listener", path: str, user: str) -> bytes:
    """Return what *user* is told for *path*, headers included, without times and what is each request's own."""
    status, headers, body = app.get(path, user)
    kept = sorted(header for header in headers if header[0] not in _OWN_HEADERS)
    request = next((value for name, value in headers if name == b"x-request-id"), b"")
    body = _TOOK.sub(b"", body)
    if request:
        body = body.replace(request, b"")
    return repr((status, kept)).encode() + body


class Listener:
    """A search listener that is called as a web server calls it, without sockets and other threads of ours."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._orders: asyncio.Queue[Message] = asyncio.Queue()
        self._done: asyncio.Queue[Message] = asyncio.Queue()
        self._life = self._loop.create_task(self._live())
        self._ordered("startup")

    async def _live(self) -> None:
        await self._app({"type": "lifespan", "asgi": _ASGI, "state": {}}, self._orders.get, self._done.put)

    def _ordered(self, what: str) -> None:
        self._orders.put_nowait({"type": f"lifespan.{what}"})
        answer = self._loop.run_until_complete(self._done.get())
        if answer["type"] != f"lifespan.{what}.complete":
            raise AssertionError(answer)

    def get(self, path: str, user: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Return status, headers and body of what *user* gets, ``""`` = nobody in particular."""
        return self._loop.run_until_complete(self._get(path, user))

    async def _get(self, path: str, user: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        place, _, query = path.partition("?")
        headers = [(b"host", b"search.example"), (b"accept", b"*/*"), (b"user-agent", b"twins")]
        if user:
            headers.append((_USER.lower().encode(), user.encode()))
        scope = {
            "type": "http", "asgi": _ASGI, "http_version": "1.1", "method": "GET", "scheme": "http", "path": place,
            "raw_path": place.encode(), "query_string": query.encode(), "root_path": "", "headers": headers, "client": _PROXY,
            "server": ("search.example", 80), "state": {},
        }  # fmt: skip
        said: list[Message] = []

        async def receive() -> Message:
            if not said or said[-1].get("more_body"):
                return {"type": "http.request", "body": b"", "more_body": False}
            await asyncio.Event().wait()  # the client stays
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            said.append(message)

        await self._app(scope, receive, send)
        return said[0]["status"], said[0]["headers"], b"".join(part.get("body", b"") for part in said[1:])

    def close(self) -> None:
        """Shut the listener down."""
        self._ordered("shutdown")
        self._loop.run_until_complete(self._life)
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


@contextmanager
def listening(rig: FeedRig) -> Iterator[tuple[Listener, Callable[[], None]]]:
    """Give the search listener of *rig*, and what makes it read the state of the index anew."""
    service, reader, texts = search_service(rig.home, rig.read.settings)
    seeing = Seeing(rig.home, service)
    people = CatalogPeople(database_of(rig.home), rig.local.do, rig.clock)
    parts = SearchParts(
        search=service.search, health=Health, metrics=HttpMetrics(CollectorRegistry()), sees=seeing, people=people, clock=rig.clock,
        proxies=Proxies((ip_network("10.0.0.0/8"),), _USER.lower(), ""),
    )  # fmt: skip
    try:
        listener = Listener(search_app(parts))
        try:
            yield listener, reader.reload
        finally:
            listener.close()
    finally:
        people.close()
        seeing.close()
        texts.close()
