"""Reports and the history of runs, as JSON or CSV."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.failures import WebError
from ingather.web.fields import single
from ingather.web.report_board import ReportBoard
from ingather.web.state import admin_state

__all__ = ["compare_runs", "report", "reports", "run", "runs"]

_FORMATS = ("json", "csv")


async def reports(request: Request) -> Response:
    """``GET /api/v1/reports``: the reports there are."""
    return await _answer(request, lambda board: board.catalogue())


async def report(request: Request) -> Response:
    """``GET /api/v1/reports/{name}?limit=N&...&format=json|csv``: one report."""
    name, fields = str(request.path_params["name"]), _fields(request)
    form = fields.pop("format", "") or "json"
    if form not in _FORMATS:
        raise WebError(
            400,
            "bad-parameter",
            f"There is no format {form[:40]!r}.",
            hint="Write format=json or format=csv.",
        )
    if form == "json":
        return await _answer(request, lambda board: board.report(name, fields))
    state, board = admin_state(request), _board(request)
    text = await state.workers.run(lambda: board.csv(name, fields), timeout_s=state.parts.limits.admin_s)
    headers = {"content-disposition": 'attachment; filename="report.csv"'}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8; header=present")


async def runs(request: Request) -> Response:
    """``GET /api/v1/runs?limit=N&after=N``: runs, newest first."""
    fields = _fields(request)
    return await _answer(request, lambda board: board.history(fields))


async def run(request: Request) -> Response:
    """``GET /api/v1/runs/{run}``: one run with its figures."""
    number = str(request.path_params["run"])
    return await _answer(request, lambda board: board.run(number))


async def compare_runs(request: Request) -> Response:
    """``GET /api/v1/runs/compare?a=N&b=N``: two runs side by side."""
    first, second = single(request, "a"), single(request, "b")
    if not (first and second):
        raise WebError(400, "missing-parameter", "Two runs are compared.", hint="Write a=N&b=N.")
    return await _answer(request, lambda board: board.compare(first, second))


def _fields(request: Request) -> dict[str, str]:
    return {name: single(request, name) for name in request.query_params}


async def _answer(request: Request, ask: Callable[[ReportBoard], Any]) -> Response:
    state, board = admin_state(request), _board(request)
    return json_answer(await state.workers.run(lambda: ask(board), timeout_s=state.parts.limits.admin_s))


def _board(request: Request) -> ReportBoard:
    board = admin_state(request).parts.reports
    if board is None:
        raise WebError(404, "not-found", "There are no reports here.")
    return board
