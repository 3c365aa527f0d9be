"""What an application keeps for its handlers, and how a handler gets at it with its type."""

from dataclasses import dataclass
from typing import cast

from starlette.requests import Request

from ingather.web.auth.guard import Identity, OperatorGuard
from ingather.web.auth.searchers import SearcherGuard
from ingather.web.auth.throttle import Throttle
from ingather.web.parts import AdminParts, Health, Readiness, SearchParts
from ingather.web.workers import Workers

__all__ = [
    "AdminState",
    "SearchState",
    "admin_state",
    "health_of",
    "identity",
    "readiness_of",
    "search_state",
]


@dataclass(frozen=True, slots=True)
class SearchState:
    """Behind the search listener: its parts, its doorman, its threads, those that look at passwords, those that ask a provider."""

    parts: SearchParts
    guard: SearcherGuard
    workers: Workers
    logins: Workers
    provider: Workers
    throttle: Throttle


@dataclass(frozen=True, slots=True)
class AdminState:
    """Behind the admin listener: its parts, its doorman, its threads."""

    parts: AdminParts
    guard: OperatorGuard
    workers: Workers


def search_state(request: Request) -> SearchState:
    """Return the search application's state."""
    return cast("SearchState", request.app.state.ours)


def admin_state(request: Request) -> AdminState:
    """Return the admin application's state."""
    return cast("AdminState", request.app.state.ours)


def health_of(request: Request) -> Health:
    """Ask the parts of whichever listener this is."""
    return cast("SearchState | AdminState", request.app.state.ours).parts.health()


def readiness_of(request: Request) -> Readiness:
    """Ask the parts of whichever listener this is whether it is ready."""
    return cast("SearchState | AdminState", request.app.state.ours).parts.ready()


def identity(request: Request) -> Identity:
    """Return who asks, as the doorman found."""
    return cast("Identity", request.state.identity)
