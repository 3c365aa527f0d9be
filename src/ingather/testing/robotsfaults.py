"""What can be wrong with a robots.txt beside its text (that is in :data:`ingather.testing.hostile.ROBOTS`)."""

from collections.abc import Callable

from ingather.testing import hostile
from ingather.testing.exchange import Exchange, Fault
from ingather.testing.misbehaviour import FAULTS, redirect

__all__ = ["ROBOTS_FAULTS"]

ROBOTS_FAULTS: dict[str, Fault] = {}
"""Variants of robots.txt by name: statuses, silences, redirects."""


def _fault(name: str) -> Callable[[Fault], Fault]:
    def enter(function: Fault) -> Fault:
        ROBOTS_FAULTS[name] = function
        return function

    return enter


def _robots_status(status: int) -> None:
    async def serve(x: Exchange) -> None:
        await x.reply(b"", status, kind="text/plain")

    ROBOTS_FAULTS[str(status)] = serve


for _code in (401, 403, 404, 410, 429, 500, 503):
    _robots_status(_code)

ROBOTS_FAULTS |= {
    "timeout": FAULTS["no-answer"],
    "drop": FAULTS["drop"],
    "slow-drip": FAULTS["slow-drip"],
    "infinite": FAULTS["infinite"],
}


@_fault("redirects-5")
async def _robots_five(x: Exchange) -> None:
    """Five hops to a robots.txt that forbids ``/forbidden/``."""
    await _robots_hops(x, 5)


@_fault("redirects-9")
async def _robots_nine(x: Exchange) -> None:
    """Nine hops."""
    await _robots_hops(x, 9)


@_fault("redirect-loop")
async def _robots_loop(x: Exchange) -> None:
    """To itself."""
    await redirect(x, "/robots.txt")


@_fault("recovers")
async def _robots_recovers(x: Exchange) -> None:
    """503 the first time, then rules that forbid ``/forbidden/``."""
    await (x.reply(hostile.ROBOTS["plain"], kind="text/plain") if x.times else x.reply(b"", 503))


async def _robots_hops(x: Exchange, hops: int) -> None:
    done = int(x.argument) if x.argument.isdigit() else 0
    if done == hops:
        await x.reply(hostile.ROBOTS["plain"], kind="text/plain")
    else:
        await redirect(x, f"/robots-hop/{done + 1}", 301)
