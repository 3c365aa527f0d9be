"""The status page: what Ingather does now, and what waits for a person."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import page_answer
from ingather.web.boards import Tree
from ingather.web.state import admin_state, identity

__all__ = ["overview"]

_FIGURES = (
    ("documents", "documents in search"),
    ("pool", "URLs waiting"),
    ("in_flight", "being fetched"),
    ("rates.pages_s", "pages a second"),
    ("backlog", "not yet in the index"),
    ("holds", "deletions held"),
    ("quarantined", "quarantined"),
    ("hosts", "hosts"),
)
"""Members of the status document that are shown large, a dot for a member within a member."""


async def overview(request: Request) -> Response:
    """``GET /``: the page; its figures renew themselves where scripts run."""
    state = admin_state(request)
    parts = state.parts
    status = await state.workers.run(parts.status, timeout_s=parts.limits.admin_s)
    holds = await state.workers.run(parts.operations.holds, timeout_s=parts.limits.admin_s)
    session = identity(request).session
    notice, undoable, asked = "", None, None
    # A poll of the figures must not eat what a person is to read.
    if session is not None and "hx-request" not in request.headers:
        notice, session.notice = session.notice, ""
        undoable, session.undoable = session.undoable, None
        asked, session.asked = session.asked, None
    values = {
        "csrf": session.csrf if session else "",
        "figures": figures(status),
        "holds": holds,
        "notice": notice,
        "undoable": undoable,
        "asked": asked,
        "others": others(status),
        "search_url": parts.search_url,
        "state": status.get("state", "unknown"),
        "version": parts.version,
        "warnings": [str(text) for text in status.get("warnings", ())],
    }
    return page_answer("overview.html", values)


def figures(status: Tree) -> list[tuple[str, Any]]:
    """Return (words, number) of the known figures that *status* has, in the order of the page."""
    found = [(words, _at(status, path)) for path, words in _FIGURES]
    return [
        (words, value)
        for words, value in found
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def others(status: Tree) -> list[tuple[str, Any]]:
    """Return what else *status* says, titles spelt for people; nothing that is shown large is said twice.

    Single values come first and together, lists last: the page flows better.
    """
    shown = {path for path, _ in _FIGURES if _is_number(_at(status, path))} | {"state", "warnings"}
    single: dict[str, Any] = {}
    found: list[tuple[str, Any]] = []
    for name, value in status.items():
        if name in shown:
            continue
        rest = (
            {k: v for k, v in value.items() if f"{name}.{k}" not in shown}
            if isinstance(value, Mapping)
            else value
        )
        if rest in (None, "", {}, [], ()):
            continue
        if isinstance(rest, Mapping | list | tuple):
            found.append((name.replace("_", " "), rest))
        else:
            single[name] = rest
    found.sort(key=lambda item: isinstance(item[1], list | tuple))
    return [("details", single), *found] if single else found


def _at(status: Tree, path: str) -> Any:
    value: Any = status
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
