"""Which ports answer: the usual ones of the web, and those of the site."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ingather.app.siteprobe.finding import Finding
from ingather.fetch.knocking import Knock

__all__ = ["USUAL", "judge_ports", "ports_to_try"]

USUAL: Final = (80, 443, 8080, 8443)
_MOST: Final = 8


def ports_to_try(own: Iterable[int]) -> tuple[int, ...]:
    """Return the ports that are tried, bounded: the site's own first."""
    return tuple(sorted(tuple(dict.fromkeys((*sorted(own), *USUAL)))[:_MOST]))


def judge_ports(knocks: Sequence[Knock], own: Iterable[int]) -> Iterator[Finding]:
    """Yield what there is to say of the ports; *own*: those that the site allows or begins at."""
    proxied = [knock for knock in knocks if knock.state == "proxied"]
    if proxied:
        yield Finding(
            "ports",
            "note",
            f"nobody knocked at {', '.join(str(k.port) for k in proxied)}: {proxied[0].detail}",
        )
        return
    found = [str(knock.port) for knock in knocks if knock.state == "open"]
    if found:
        yield Finding("ports", "ok", f"open: {', '.join(found)}")
    else:
        yield Finding(
            "ports", "problem", "no port answers: " + "; ".join(f"{k.port} {k.state} ({k.detail})" for k in knocks)[:500],
            "is the host up, and is there a firewall between? A refused port: see ports and addresses of its [source.NAME]",
        )  # fmt: skip
        return
    wanted = frozenset(own)
    for knock in knocks:
        if knock.port in wanted and knock.state != "open":
            yield Finding(
                "ports", "warning", f"the site's port {knock.port} is {knock.state}: {knock.detail}",
                "take it out of the site's Port line, or mend the host",
            )  # fmt: skip
