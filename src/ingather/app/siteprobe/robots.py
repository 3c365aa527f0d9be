"""What a robots.txt says to us: the lines, and whether the starting points may be asked for."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ingather.app.siteprobe.finding import Finding
from ingather.fetch import RobotsKind, RobotsState

__all__ = ["judge_robots_txt", "told_robots"]

_SLOW_S: Final = 10.0


def told_robots(state: RobotsState, agent: str, starts: Sequence[str]) -> dict[str, Any]:
    """Return what concerns *agent*, as a JSON object.

    ``kind`` (``rules``, ``none``, ``unreachable``), ``detail``, ``group`` (as it is written there, ``*`` = of all), ``lines`` (``number``,
    ``text``, ``remarks``), ``crawl_delay`` in seconds or null, ``sitemaps``, and for each of *starts* ``url``, ``allowed``, ``line``, ``text``.
    """
    rules = state.rules
    return {
        "kind": str(state.kind),
        "detail": state.detail,
        "agent": agent,
        "group": rules.decide(agent, "/robots.txt").agent if rules.has_groups else "",
        "lines": [
            {"number": event.number, "text": event.text, "remarks": list(event.remarks)}
            for event in rules.concerning(agent)
        ],
        "crawl_delay": rules.crawl_delay(agent),
        "sitemaps": list(rules.sitemaps),
        "starts": [
            {"url": url, "allowed": verdict.allowed, "line": verdict.line, "text": verdict.text or verdict.reason}
            for url in starts
            for verdict in (state.decide(agent, url),)
        ],
    }  # fmt: skip


def judge_robots_txt(state: RobotsState, told: dict[str, Any], *, obey: bool) -> Iterator[Finding]:
    """Yield what there is to say of a robots.txt."""
    if state.kind is RobotsKind.UNREACHABLE:
        yield Finding(
            "robots", "problem" if obey else "warning", f"robots.txt is unreachable: {state.detail}",
            "until it answers nothing of the host is asked; tell who runs it",
        )  # fmt: skip
        return
    if state.kind is RobotsKind.NONE:
        yield Finding("robots", "ok", f"no robots.txt ({state.detail}): nothing is forbidden")
        return
    group = f"the group {told['group']!r} is ours" if told["group"] else "no group applies to us"
    yield Finding("robots", "ok", f"robots.txt: {group}, {len(told['lines'])} lines concern us")
    for start in told["starts"]:
        if not start["allowed"]:
            yield Finding(
                "robots", "problem" if obey else "warning",
                f"robots.txt forbids the starting point {start['url']} (line {start['line']}: {start['text']})",
                "begin where it is allowed, or ask who runs the host for a group of our own",
            )  # fmt: skip
    delay = told["crawl_delay"]
    if delay and delay >= _SLOW_S:
        yield Finding(
            "robots", "warning", f"crawl-delay {delay:g}: at most {int(86_400 / delay):,} pages a day",
            "ask who runs the host for a shorter one; a host of your own goes into own-hosts",
        )  # fmt: skip
