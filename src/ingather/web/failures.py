"""Every failed answer of the web room: one value, one JSON shape, one page.

A handler raises :class:`WebError`, or lets an error of another room pass; :func:`explain_error`
turns either into status, code, message and hint. Programs get
``{"error": {"code", "message", "hint"}}``, browsers get a page that says the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.exceptions import HTTPException

from ingather.errors import (
    CatalogError,
    ConfigurationError,
    ConflictError,
    ConsentError,
    DirectoryError,
    DiskFullError,
    IndexingError,
    IngatherError,
    QueryError,
    RobotStateError,
    UnitError,
    UrlError,
    UsageError,
    WebFeedError,
)

__all__ = ["Problem", "WebError", "explain_error"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A failed answer: HTTP status, a code for programs, a message and a hint for people.

    ``headers`` go with the answer (``Retry-After``, ``Allow``, ``WWW-Authenticate``).
    """

    status: int
    code: str
    message: str
    hint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, dict[str, str]]:
        """Return the one error shape; all three members are always there."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class WebError(Exception):
    """A request that is answered with a problem."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.problem = Problem(status, code, message, hint, dict(headers or {}))


_ROOMS: tuple[tuple[type[IngatherError], int, str], ...] = (
    (QueryError, 400, "bad-query"),
    (UrlError, 400, "bad-url"),
    (UnitError, 400, "bad-value"),
    (UsageError, 400, "bad-request"),
    (ConfigurationError, 422, "configuration-refused"),
    (WebFeedError, 422, "no-web-feed"),
    (DiskFullError, 507, "disk-full"),
    (IndexingError, 503, "index-unavailable"),
    (CatalogError, 503, "catalog-unavailable"),
    (RobotStateError, 409, "robot-state"),
    (ConflictError, 412, "changed-meanwhile"),
    (ConsentError, 409, "needs-consent"),
    (DirectoryError, 503, "directory-unavailable"),
)
"""Errors of other rooms that a request can meet; the first fitting line decides."""

_HINTS = {
    404: "The start page is at /.",
    405: "See the header Allow for what this address takes.",
}


def explain_error(error: Exception) -> Problem:
    """Say what an exception means for the one who asked; unknown ones give away nothing."""
    if isinstance(error, WebError):
        return error.problem
    if isinstance(error, HTTPException):
        phrase = HTTPStatus(error.status_code).phrase
        code = phrase.lower().replace(" ", "-")
        hint = _HINTS.get(error.status_code, "")
        return Problem(error.status_code, code, f"{phrase}.", hint, dict(error.headers or {}))
    if isinstance(error, IngatherError):
        for kind, status, code in _ROOMS:
            if isinstance(error, kind):
                return Problem(status, code, error.text, error.hint or "")
    return Problem(
        500, "internal-error", "Something went wrong on our side.", "The log of the server says more."
    )
