"""Sites of filterrules.conf and converters of filter.conf: looked at and edited, with etags."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.endpoint import Handler
from ingather.web.failures import WebError
from ingather.web.fields import read_fields, single
from ingather.web.site_board import SiteBoard
from ingather.web.state import admin_state, identity

__all__ = ["converters", "edit_site", "site", "sites", "switch_converter"]

_PUBLISH_S = 170.0
"""What would be deleted is looked for first, then gatherers finish what they fetch."""


async def sites(request: Request) -> Response:
    """``GET /api/v1/sites``: the sites in the order of the file, with their documents."""
    return await _answer(request, lambda board: board.sites())


async def site(request: Request) -> Response:
    """``GET /api/v1/sites/{name}``: one site, by name or by host."""
    name = str(request.path_params["name"])
    return await _answer(request, lambda board: board.site(name))


def edit_site(verb: str) -> Handler:
    """Return the handler of ``POST /api/v1/sites/add`` or of ``POST /api/v1/sites/{name}/VERB``."""

    async def handle(request: Request) -> Response:
        fields, match, author = await read_fields(request), _match(request), _author(request)
        name = str(request.path_params.get("name", ""))
        return await _answer(
            request, lambda board: board.edit(verb, name, fields, author=author, match=match), _PUBLISH_S
        )

    handle.__doc__ = f"``POST``: ``{verb}`` a site."
    return handle


async def converters(request: Request) -> Response:
    """``GET /api/v1/converters?filter=NAME``: the types, their readers, and whether they are converted."""
    filter_ = single(request, "filter")
    return await _answer(request, lambda board: board.converters(filter_))


def switch_converter(*, on: bool) -> Handler:
    """Return the handler of ``POST /api/v1/converters/enable`` or ``disable``."""

    async def handle(request: Request) -> Response:
        fields, match, author = await read_fields(request), _match(request), _author(request)
        if not fields.get("type", "").strip():
            raise WebError(400, "missing-parameter", "The field type is missing.", hint="Name a media type.")
        return await _answer(
            request, lambda board: board.switch(fields, on=on, author=author, match=match), _PUBLISH_S
        )

    handle.__doc__ = "``POST`` with ``type``: convert it, or convert it no more."
    return handle


async def _answer(
    request: Request, call: Callable[[SiteBoard], Mapping[str, Any]], timeout_s: float | None = None
) -> Response:
    state = admin_state(request)
    board = state.parts.sites
    if board is None:
        raise WebError(404, "not-found", "Nothing here has a configuration.")
    answer = await state.workers.run(lambda: call(board), timeout_s=timeout_s or state.parts.limits.admin_s)
    return json_answer(answer, headers={"etag": f'"{answer["etag"]}"'})


def _author(request: Request) -> str:
    return identity(request).name or "admin"


def _match(request: Request) -> str:
    """Return what ``If-Match`` asks for, ``""`` = nothing.

    Raises:
        WebError: 400, it names several.
    """
    text = request.headers.get("if-match", "").strip()
    if "," in text:
        raise WebError(400, "bad-header", "If-Match names several etags.", hint="Send the one that you saw.")
    return text.removeprefix("W/").strip('"')
