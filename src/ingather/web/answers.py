"""The shapes of answers: JSON, pages, and problems as either."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ingather.web.failures import Problem, explain_error
from ingather.web.fields import wants_page
from ingather.web.rendering import render

__all__ = ["json_answer", "page_answer", "problem_answer"]


def json_answer(tree: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with JSON in UTF-8."""
    return Response(msgspec.json.encode(tree), status, headers, media_type="application/json")


def page_answer(
    template: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with a rendered page."""
    return Response(render(template, values), status, headers, media_type="text/html; charset=utf-8")


def problem_answer(request: Request, error: Exception) -> Response:
    """Answer with what went wrong: a page for a person's browser, the one JSON shape for everybody else."""
    problem = explain_error(error)
    if wants_page(request):
        return problem_page(problem)
    return json_answer(problem.as_json(), status=problem.status, headers=problem.headers)


def problem_page(problem: Problem) -> Response:
    """Answer with a page that says what went wrong."""
    return page_answer("problem.html", {"problem": problem}, status=problem.status, headers=problem.headers)
