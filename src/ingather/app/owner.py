"""Asking the process that owns a home, over its admin listener."""

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from ingather.app.home import Home
from ingather.conf.settings import Settings
from ingather.errors import HomeLockedError, IngatherError

__all__ = ["ask_owner"]

_PATIENCE_S = 120.0


def ask_owner(
    home: Home, settings: Settings, path: str, form: Mapping[str, str] | None, locked: HomeLockedError
) -> Any:
    """Return the owner's answer to ``/api/v1/PATH``, a POST when there is a *form*.

    Raises:
        HomeLockedError: *locked*, when the owner does not answer (a crawl has no listener).
        IngatherError: what the owner says is wrong.
    """
    host, port = settings.address("listen.admin")
    headers = {"Authorization": f"Bearer {home.admin_token()}", "Content-Type": "application/json"}
    connection = HTTPConnection(host, port, timeout=_PATIENCE_S)
    try:
        if form is None:
            connection.request("GET", f"/api/v1/{path}", headers=headers)
        else:
            connection.request("POST", f"/api/v1/{path}", body=json.dumps(form), headers=headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, HTTPException, ValueError) as error:
        raise locked from error
    finally:
        connection.close()
    if response.status >= 400:  # noqa: PLR2004 - RFC 9110
        trouble = answer.get("error", {}) if isinstance(answer, dict) else {}
        raise IngatherError(
            str(trouble.get("message", f"the owner answered {response.status}")), hint=trouble.get("hint")
        )
    return answer
