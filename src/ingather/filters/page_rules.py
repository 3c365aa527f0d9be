"""Robots rules of a page: what META and X-Robots-Tag forbid (section 7.11)."""

import re

from ingather.filters.evaluation import State
from ingather.filters.trace import TraceStep
from ingather.model.page import Page
from ingather.model.phase import Phase, Role
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion, Verdict

__all__ = ["forbidden", "obey_page", "read_tag"]

_AGENT = re.compile(r"\s*([A-Za-z0-9_.*/-]+)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NONE = frozenset({"noindex", "nofollow"})
_KNOWN = _NONE | {"noarchive", "nosnippet"}


def obey_page(state: State, response: Response, agent: str) -> None:
    """Deny in *state* what the page or its header forbid; a page that cannot be read forbids everything."""
    try:
        found = forbidden(response, state.page(), agent)
    except Exception:  # noqa: BLE001 - whatever a reader does
        found = frozenset({"nofollow", "noindex"})
    word = "nofollow" if state.role is Role.ENUMERATION else "noindex"
    if word not in found:
        return
    reason = f"robots: the page says {word}"
    state.verdict = Verdict(allowed=False, reason=reason, category=Exclusion.ROBOTS, phase=Phase.DATA)
    if state.trace is not None:
        said = ", ".join(sorted(found))
        state.trace.append(TraceStep(state.role, Phase.DATA, "", "", "robots", said, "deny", reason))


def forbidden(response: Response, page: Page | None, agent: str) -> frozenset[str]:
    """Return the directives in force: the page's own, and the header's whatever the page's type."""
    found = page.robots if page is not None else frozenset[str]()
    if not response.header("x-robots-tag"):
        return found
    values = [value for name, value in response.headers if name.lower() == "x-robots-tag"]
    for value in values or [response.header("x-robots-tag")]:
        found |= read_tag(value, agent)
    return found


def read_tag(value: str, agent: str) -> frozenset[str]:
    """Return the directives of one X-Robots-Tag line that hold for *agent* (a product token, lower case).

    ``noindex, nofollow`` is for everybody; after ``name:`` the directives are for that agent.
    """
    found: set[str] = set()
    ours = True
    for part in value.split(","):
        rule = part
        match = _AGENT.match(part)
        if match and match[1].lower() not in _WITH_VALUE:
            ours = match[1].lower() in {agent, "*"}
            rule = match[2]
        word = rule.strip().lower()
        if not ours:
            continue
        if word == "none":
            found |= _NONE
        elif word in _KNOWN:
            found.add(word)
    return frozenset(found)
