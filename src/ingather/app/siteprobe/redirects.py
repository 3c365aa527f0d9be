"""Where the root of a site leads, hop by hop."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

import msgspec

from ingather.app.siteprobe.finding import Finding
from ingather.fetch import REDIRECTS, Chain
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.urlparts import split

__all__ = ["Hop", "Way", "judge_way", "walk"]

_MOST: Final = 10
_FORBIDDEN: Final = (401, 403)
_OK: Final = 200
_ERROR: Final = 400


class Hop(msgspec.Struct, frozen=True):
    """One answer on the way: *status* 0 = none came, and *detail* says why; *to*: where a redirect leads, *change* what is other there."""

    url: str
    status: int
    to: str = ""
    change: str = ""
    detail: str = ""


class Way(msgspec.Struct, frozen=True):
    """The hops from one beginning, and the answer at the end (``None`` = robots.txt forbids to go on, or nobody was to)."""

    hops: tuple[Hop, ...]
    end: Response | Failure | None = None

    @property
    def url(self) -> str:
        """Where it ended."""
        return self.hops[-1].url

    @property
    def answered(self) -> bool:
        """Whether a page came at the end."""
        return isinstance(self.end, Response) and self.end.status == _OK


async def walk(
    url: str,
    get: Callable[[str], Awaitable[Response | Failure]],
    may: Callable[[str], Awaitable[bool]],
    *,
    follow: bool = True,
) -> Way:
    """Ask for *url* and, if *follow*, for what it redirects to, as far as *may* allows; at most ten hops."""
    chain, hops = Chain(url, max_hops=_MOST), list[Hop]()
    while True:
        got = await get(url)
        if isinstance(got, Failure):
            hops.append(Hop(url, got.status, detail=f"{got.kind}: {got.detail}".rstrip(": ")))
            return Way(tuple(hops), got)
        if got.status not in REDIRECTS:
            hops.append(Hop(url, got.status))
            return Way(tuple(hops), got)
        target = chain.step(got)
        if isinstance(target, Failure):
            hops.append(Hop(url, got.status, detail=f"{target.kind}: {target.detail}"))
            return Way(tuple(hops), target)
        hops.append(Hop(url, got.status, target, _change(url, target)))
        if not follow:
            return Way(tuple(hops))
        if not target.startswith(("http://", "https://")) or not await may(target):
            said = "robots.txt forbids to ask there" if target.startswith("http") else "that is not asked"
            hops.append(Hop(target, 0, detail=said))
            return Way(tuple(hops))
        url = target


def judge_way(way: Way, *, hint: str = "") -> Iterator[Finding]:
    """Yield what there is to say of a way; *hint*: what to do when the gate refuses."""
    first, last = way.hops[0], way.hops[-1]
    if len(way.hops) > 1 or last.to:
        steps = " -> ".join(
            [*(f"{hop.url} ({hop.status})" for hop in way.hops if hop.to), last.to or last.url]
        )
        moved = split(first.url).host != split(last.to or last.url).host
        yield Finding(
            "redirects", "note", steps,
            "give the site the host where it ends: links to the other name are redirected for each page" if moved else "",
        )  # fmt: skip
    end = way.end
    if isinstance(end, Failure):
        refused = end.kind is FailureKind.EGRESS
        looped = end.kind in {FailureKind.REDIRECT_LOOP, FailureKind.REDIRECTS, FailureKind.REDIRECT_TARGET}
        yield Finding(
            "redirects" if looped else "server", "warning", f"{last.url}: {last.detail}",
            hint if refused else "see the certificate" if end.kind is FailureKind.TLS else "",
        )  # fmt: skip
    elif end is None:
        if last.detail:
            yield Finding(
                "redirects",
                "warning",
                f"{last.url}: {last.detail}",
                "begin elsewhere, or ask who runs the host",
            )
    elif end.status in _FORBIDDEN:
        yield Finding("login", "note", f"{last.url} answers {end.status}", "see login")
    elif end.status >= _ERROR:
        yield Finding(
            "server", "warning", f"{last.url} answers {end.status}", "begin at a page that is there"
        )


def _change(url: str, target: str) -> str:
    if not target.startswith(("http://", "https://")):
        return "another protocol"
    here, there = split(url), split(target)
    said = []
    if here.scheme != there.scheme:
        said.append(f"{here.scheme} to {there.scheme}")
    if here.host != there.host:
        said.append(f"host {here.host} to {there.host}")
    elif here.port != there.port and here.scheme == there.scheme:
        said.append(f"port {here.port} to {there.port}")
    return ", ".join(said) or "path"


def hosts_of(ways: Sequence[Way]) -> tuple[str, ...]:
    """Return the hosts on the ways, in order."""
    return tuple(
        dict.fromkeys(split(hop.url).host for way in ways for hop in way.hops if hop.url.startswith("http"))
    )
