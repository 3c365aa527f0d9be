"""Local users and tokens of programs, for the operator."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import Accounts
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.state import admin_state

__all__ = [
    "add_token",
    "add_user",
    "delete_user",
    "disable_user",
    "enable_user",
    "revoke_token",
    "set_password",
    "tokens",
    "users",
]


async def users(request: Request) -> Response:
    """``GET /api/v1/users``."""
    return await _done(request, lambda accounts: accounts.users())


async def add_user(request: Request) -> Response:
    """``POST /api/v1/users/add``."""
    fields = await read_fields(request)
    return await _done(request, lambda accounts: accounts.add_user(fields))


async def set_password(request: Request) -> Response:
    """``POST /api/v1/users/password``."""
    fields = await read_fields(request)
    return await _done(request, lambda accounts: accounts.set_password(fields))


async def disable_user(request: Request) -> Response:
    """``POST /api/v1/users/disable``."""
    name = await _name(request)
    return await _done(request, lambda accounts: accounts.set_disabled(name, disabled=True))


async def enable_user(request: Request) -> Response:
    """``POST /api/v1/users/enable``."""
    name = await _name(request)
    return await _done(request, lambda accounts: accounts.set_disabled(name, disabled=False))


async def delete_user(request: Request) -> Response:
    """``POST /api/v1/users/delete``."""
    name = await _name(request)
    return await _done(request, lambda accounts: accounts.delete_user(name))


async def tokens(request: Request) -> Response:
    """``GET /api/v1/tokens``."""
    return await _done(request, lambda accounts: accounts.tokens())


async def add_token(request: Request) -> Response:
    """``POST /api/v1/tokens/add``: the answer is the only place where the token ever stands."""
    fields = await read_fields(request)
    return await _done(request, lambda accounts: accounts.add_token(fields))


async def revoke_token(request: Request) -> Response:
    """``POST /api/v1/tokens/revoke``."""
    name = await _name(request)
    return await _done(request, lambda accounts: accounts.revoke_token(name))


async def _name(request: Request) -> str:
    name = (await read_fields(request)).get("name", "")
    if not name:
        raise WebError(400, "missing-parameter", "The field name is missing.", hint="Say who is meant.")
    return name


async def _done(request: Request, call: Callable[[Accounts], object]) -> Response:
    state = admin_state(request)
    accounts = state.parts.accounts
    if accounts is None:
        raise WebError(404, "not-found", "There are no users here.")
    return json_answer(await state.workers.run(lambda: call(accounts), timeout_s=state.parts.limits.admin_s))
