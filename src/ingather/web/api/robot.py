"""The robot under control: its status, and one address a command."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.endpoint import Handler
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.robot_board import RobotBoard
from ingather.web.state import admin_state

__all__ = ["command", "status"]

_COMMAND_S = 110.0
"""Gatherers finish what they fetch first."""
_NEEDS = {
    "add": ("url",),
    "slow": ("host", "delay"),
    "block": ("host",),
    "unblock": ("host",),
    "loglevel": ("level",),
}
"""Fields that a command cannot do without."""


async def status(request: Request) -> Response:
    """``GET /api/v1/robot``: state, run, figures, queue, next runs."""
    state, board = admin_state(request), _board(request)
    return json_answer(await state.workers.run(board.status, timeout_s=state.parts.limits.admin_s))


def command(name: str) -> Handler:
    """Return the handler of ``POST /api/v1/robot/NAME``."""

    async def handle(request: Request) -> Response:
        fields = await read_fields(request)
        missing = [field for field in _NEEDS.get(name, ()) if not fields.get(field, "").strip()]
        if missing:
            raise WebError(
                400,
                "missing-parameter",
                f"The field {missing[0]} is missing.",
                hint=f"{name} takes {' and '.join(_NEEDS[name])}.",
            )
        state, board = admin_state(request), _board(request)
        return json_answer(await state.workers.run(lambda: board.command(name, fields), timeout_s=_COMMAND_S))

    handle.__doc__ = f"``POST /api/v1/robot/{name}``."
    return handle


def _board(request: Request) -> RobotBoard:
    board = admin_state(request).parts.robot
    if board is None:
        raise WebError(404, "not-found", "There is no robot here.")
    return board
