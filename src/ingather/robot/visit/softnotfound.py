"""Soft 404: pages that say 200 and mean "not found".

A page is suspected when its title or first heading says so, in one of many languages, or when its text was met at several
addresses of the host. Only then is a name asked for that cannot exist, beside the suspect: once a day for a folder,
in the host's turn and as robots.txt allows. When the host answers that with 200 too, the answer is what its "not found"
looks like, and a suspect that is like it is none of its documents. A host without suspects gets no request more.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from ingather.extract.hostile import suspect_reason
from ingather.extract.page import is_html, read_page
from ingather.extract.simhash import NEAR_BITS, differing_bits, fingerprint
from ingather.model.page import Page
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock
from ingather.ports.renderer import NotAsked
from ingather.robot.visit.judged import UnfinishedError

__all__ = ["Ask", "SoftNotFound", "says_not_found"]

Ask = Callable[[Request, Scope], Awaitable[Response | Failure | NotAsked]]
"""Asks for one URL more, in its host's turn, through the gate and as robots.txt allows."""

_WORDS: Final = re.compile(
    r"\b404\b|not[ -]found|no longer (?:available|exists?)|(?:does not|doesn.t) exist|(?:cannot|can.t|could not|couldn.t) (?:be )?f(?:ou|i)nd"
    r"|page (?:is )?missing|nicht (?:mehr )?(?:gefunden|verf\u00fcgbar|vorhanden)|existiert nicht|introuvable|n.existe (?:pas|plus)"
    r"|non trouv\u00e9|no (?:se )?(?:ha )?(?:encontrad|existe)|non (?:\u00e8 stata )?trovat|non esiste|n\u00e3o (?:foi )?(?:encontrad|existe)"
    r"|niet gevonden|bestaat niet|nie znaleziono|nie istnieje|hittades inte|finns inte|ikke fundet|ikke funnet|nenalezen|neexistuje"
    r"|\u043d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d|\u043d\u0435 \u0441\u0443\u0449\u0435\u0441\u0442\u0432\u0443\u0435\u0442"
    r"|nem tal\u00e1lhat\u00f3|ei l\u00f6y(?:dy|tynyt)|bulunamad\u0131|\u898b\u3064\u304b\u308a\u307e\u305b\u3093|\u627e\u4e0d\u5230"
    r"|\u672a\u627e\u5230|\u4e0d\u5b58\u5728",
    re.IGNORECASE,
)
_STEMS: Final = (
    "404", "not", "longer", "exist", "esist", "find", "found", "missing", "nicht", "introuvable", "trouv", "encontrad", "trovat", "gevonden",
    "bestaat", "znalez", "istnieje", "hittades", "finns", "fundet", "funnet", "nenalezen", "\u043d\u0435", "tal\u00e1l", "l\u00f6y",
    "bulunamad", "\u898b\u3064", "\u627e\u4e0d", "\u672a\u627e", "\u4e0d\u5b58",
)  # fmt: skip
"""Each alternative of the words has one of these: nearly all pages are told from suspects by them, at a tenth of the price."""
_OK: Final = frozenset({200, 203})
_DIGITS: Final = re.compile(r"[0-9]+")
_EXTENSION: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_OFTEN: Final = 5
"""Addresses at which one text must be met to be a suspect."""
_HOSTS: Final = 2_000
_TEXTS: Final = 64
_PROBES: Final = 8
"""Folders of a host that are probed in a day."""
_EXPIRES_S: Final = 86_400.0
_FEW_WORDS: Final = 60
_SHARED: Final = 0.8


class _Answer(NamedTuple):
    """What a name that cannot exist brought: its URL, and the page; ``None`` = the host says "not found" as it should."""

    url: str
    page: Page | None
    mark: int
    until_s: float


@dataclass(slots=True)
class _Host:
    """What is remembered of a host: how often its last texts were met, and its probes by folder."""

    texts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    probes: dict[str, _Answer] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def says_not_found(page: Page) -> bool:
    """Whether title or first heading of a page say that it is none."""
    first = page.headings[0].text if page.headings else ""
    return _says(page.title[:300]) or (first != page.title and _says(first[:300]))


def _says(text: str) -> bool:
    low = text.lower()
    for stem in _STEMS:
        if stem in low:
            return _WORDS.search(text) is not None
    return False


class SoftNotFound:
    """Judges pages; one a gatherer, used by one event loop. Memory is bounded: 2,000 hosts.

    Args:
        ask: asks for one URL more.
        scopes: reach of a source.
        clock: for when probes expire.
        dice: makes names that cannot exist.
    """

    def __init__(self, ask: Ask, scopes: Callable[[str], Scope], clock: Clock, dice: Random) -> None:
        self._ask, self._scopes, self._clock, self._dice = ask, scopes, clock, dice
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    async def verdict(self, url: str, source: str, page: Page, mark: int | None = None) -> str:
        """Say why *url*, which answered 200 with *page*, is no document, ``""`` if it is one; *mark*: its fingerprint, if it is known.

        Raises:
            UnfinishedError: the gatherer ends; nobody can be asked any more.
        """
        parts = split(url)
        if not is_html(page.media_type) or parts.path == "/":
            return ""
        if mark is None:
            mark = fingerprint(page.text)
        host = self._host(parts.origin)
        often = _met(host, mark) if mark else 0
        if often < _OFTEN and not says_not_found(page):
            return ""
        answer = await self._probe(host, url, source)
        if answer is None or answer.page is None or not _alike(page, mark, answer):
            return ""
        return f"soft 404: it is like the answer to {answer.url}, which cannot exist"

    def _host(self, origin: str) -> _Host:
        host = self._hosts.get(origin)
        if host is None:
            host = self._hosts[origin] = _Host()
            if len(self._hosts) > _HOSTS:
                self._hosts.popitem(last=False)
        self._hosts.move_to_end(origin)
        return host

    async def _probe(self, host: _Host, url: str, source: str) -> _Answer | None:
        bare = url.partition("?")[0]
        folder, _, name = bare.rpartition("/")
        match = _EXTENSION.search(name)
        extension = match[0] if match else ""
        shape = _DIGITS.sub("0", folder) + "/*" + extension
        async with host.lock:  # visits that suspect the same folder wait for the first one's probe
            now = self._clock.monotonic()
            for old in [key for key, kept in host.probes.items() if kept.until_s <= now]:
                del host.probes[old]
            known = host.probes.get(shape)
            if known is not None:
                return known
            if len(host.probes) >= _PROBES:
                return None
            named = f"{folder}/ingather-{self._dice.getrandbits(64):016x}{extension}"
            got = await self._ask(Request(named), self._scopes(source))
            page = _page(named, got)
            if isinstance(got, NotAsked):
                if (
                    got.reason == "stop"
                ):  # taken for a page it would be in the index until somebody looks again
                    raise UnfinishedError(url)
                return None
            mark = fingerprint(page.text) if page is not None else 0
            answer = host.probes[shape] = _Answer(named, page, mark, now + _EXPIRES_S)
            return answer


def _met(host: _Host, mark: int) -> int:
    """Count a text that was met at one address more; return how often by now."""
    count = host.texts[mark] = host.texts.get(mark, 0) + 1
    host.texts.move_to_end(mark)
    if len(host.texts) > _TEXTS:
        host.texts.popitem(last=False)
    return count


def _page(url: str, got: Response | Failure | NotAsked) -> Page | None:
    """Return the page that a probe brought, ``None`` if it brought none, or one that is not read here."""
    if not isinstance(got, Response) or got.status not in _OK or suspect_reason(got.body):
        return None
    page = read_page(got.body, url=url, content_type=got.header("content-type") or None)
    return page if is_html(page.media_type) else None


def _alike(page: Page, mark: int, answer: _Answer) -> bool:
    there = answer.page
    if there is None:
        return False
    if mark and answer.mark:
        return differing_bits(mark, answer.mark) <= NEAR_BITS
    ours, theirs = set(page.text.split()), set(there.text.split())
    if max(len(ours), len(theirs)) > _FEW_WORDS:
        return False
    if _DIGITS.sub("", page.title) != _DIGITS.sub("", there.title) and not (
        says_not_found(page) and says_not_found(there)
    ):
        return False
    return len(ours & theirs) >= _SHARED * max(len(ours | theirs) - 2, 1)
