"""Looks at sites, and hosts with two names."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.model.decided import By
from ingather.web.answers import json_answer
from ingather.web.endpoint import Handler
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.hosts_board import HostsBoard
from ingather.web.state import admin_state, identity

__all__ = ["ALIASES_PATH", "ALIAS_VERBS", "aliases", "decide", "probe"]

ALIASES_PATH = "/api/v1/sites/aliases"
ALIAS_VERBS = (
    ("propose", "looks for hosts that show the same"),
    ("apply", "gives URLs of an alias the keys of its host"),
    ("refuse", "refuses an alias: it is not proposed again"),
    ("remove", "forgets an alias"),
)
_LOOK_S = 110.0
_MOST_NAMES = 8
"""Hosts of one look: its answer comes when all are looked at, politely."""
_FLAGS = frozenset({"true", "1", "yes", "on"})
_HOLDER = "admin"


async def probe(request: Request) -> Response:
    """``POST /api/v1/sites/probe`` with ``names`` (by blanks or commas), ``dns``, ``redirects``, ``all``."""
    fields = await read_fields(request)
    names = fields.get("names", "").replace(",", " ").split()
    if len(names) > _MOST_NAMES:
        raise WebError(
            400,
            "too-many",
            f"At most {_MOST_NAMES} hosts at once.",
            hint="ingather site probe looks at any number.",
        )
    state, board = admin_state(request), _board(request)
    dns, redirects = (_flag(fields.get(name, ""), otherwise=True) for name in ("dns", "redirects"))
    domains = _flag(fields.get("all", ""), otherwise=False)
    found = await state.workers.run(
        lambda: board.probe(names, dns=dns, redirects=redirects, domains=domains), timeout_s=_LOOK_S
    )
    return json_answer({"hosts": found})


async def aliases(request: Request) -> Response:
    """``GET /api/v1/sites/aliases``: hosts with two names."""
    state, board = admin_state(request), _board(request)
    return json_answer(
        {"aliases": list(await state.workers.run(board.aliases, timeout_s=state.parts.limits.admin_s))}
    )


def decide(verb: str) -> Handler:
    """Return the handler of ``POST /api/v1/sites/aliases/VERB``."""

    async def handle(request: Request) -> Response:
        fields = await read_fields(request)
        wanted = {"propose": (), "apply": ("alias", "host")}.get(verb, ("alias",))
        for name in wanted:
            if not fields.get(name, "").strip():
                raise WebError(
                    400,
                    "missing-parameter",
                    f"The field {name} is missing.",
                    hint=f"{verb} takes {' and '.join(wanted)}.",
                )
        state, board, by = admin_state(request), _board(request), _by(request, fields)
        return json_answer(await state.workers.run(lambda: board.decide(verb, fields, by), timeout_s=_LOOK_S))

    handle.__doc__ = f"``POST /api/v1/sites/aliases/{verb}``."
    return handle


def _by(request: Request, fields: dict[str, str]) -> By:
    known = identity(request).name
    author = fields.get("author", "") if known in {"", _HOLDER} else ""  # the home's token names nobody
    return By.of(author or known or _HOLDER, fields.get("note", ""))


def _flag(text: str, *, otherwise: bool) -> bool:
    return text.strip().lower() in _FLAGS if text.strip() else otherwise


def _board(request: Request) -> HostsBoard:
    board = admin_state(request).parts.host_names
    if board is None:
        raise WebError(404, "not-found", "There are no hosts to look at here.")
    return board
