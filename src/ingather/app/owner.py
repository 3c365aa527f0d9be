"""Asking the process that owns a home, over its admin listener.

Where it listens stands in ``run/admin.json``: a listener may have taken a free port, or the settings may have changed since.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from ingather.app.home import Home
from ingather.conf.settings.values import Settings
from ingather.errors import HomeLockedError, IngatherError
from ingather.feeds.trust import write_durably

__all__ = ["ask_owner", "forget_address", "note_address", "owner_address"]

_PATIENCE_S = 120.0
_FILE = "admin.json"
_WILD = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound, but looked up


def note_address(home: Home, host: str, port: int) -> None:
    """Write down where this process, which owns *home*, has its admin listener.

    Raises:
        OSError: it cannot be written.
    """
    said = {"pid": os.getpid(), "host": _WILD.get(host, host), "port": port}
    write_durably(home.run / _FILE, json.dumps(said) + "\n")


def forget_address(home: Home) -> None:
    """The listener is gone."""
    with suppress(OSError):
        (home.run / _FILE).unlink()


def owner_address(home: Home, settings: Settings, locked: HomeLockedError) -> tuple[str, int]:
    """Return where the owner that *locked* names has its admin listener: as it wrote down, else as the settings say.

    What another process left behind counts for nothing: the token goes to no stranger.
    """
    with suppress(OSError, ValueError, TypeError, KeyError):
        said = json.loads((home.run / _FILE).read_text("utf-8"))
        if locked.owner.startswith(f"process {int(said['pid'])} "):
            return str(said["host"]), int(said["port"])
    return settings.address("listen.admin")


def ask_owner(
    home: Home, settings: Settings, path: str, form: Mapping[str, str] | None, locked: HomeLockedError
) -> Any:
    """Return the owner's answer to ``/api/v1/PATH``, a POST when there is a *form*.

    Raises:
        HomeLockedError: *locked*, when the owner does not answer (a crawl has no listener).
        IngatherError: what the owner says is wrong.
    """
    host, port = owner_address(home, settings, locked)
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
