"""Commands on a home that somebody serves: its owner is asked, on whatever port its admin listener took."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from ingather.app.access.accounts import HomeAccounts
from ingather.app.home import Home
from ingather.app.operating import Operations
from ingather.app.owner import note_address
from ingather.errors import HomeLockedError

_PATIENCE_S = 60.0


class _Owner(BaseHTTPRequestHandler):
    seen: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers["Authorization"]))
        answer = {"users": []} if self.path == "/api/v1/users" else {"holds": [{"hold": 7}]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the one above
        """Be silent."""


@contextmanager
def _served(home: Home) -> Iterator[None]:
    """Own the home and answer for it, as `serve` does on a free port."""
    _Owner.seen.clear()
    with home.lock("ingather serve"), HTTPServer(("127.0.0.1", 0), _Owner) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            note_address(home, "127.0.0.1", server.server_port)
            yield
        finally:
            server.shutdown()
            thread.join(_PATIENCE_S)


def test_users_and_holds_are_asked_of_an_owner_on_a_free_port(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home", written={"listen.admin": '"127.0.0.1:0"'})
    settings = home.settings(environment={}).settings
    with _served(home):
        assert HomeAccounts(home, settings, {}).accounts.users() == {"users": []}
        assert Operations(home, settings, {}).holds() == [{"hold": 7}]
    shown = f"Bearer {home.admin_token()}"
    assert _Owner.seen == [("/api/v1/users", shown), ("/api/v1/holds", shown)]


def test_an_owner_without_a_listener_is_named(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home", written={"listen.admin": '"127.0.0.1:0"'})
    settings = home.settings(environment={}).settings
    with home.lock("ingather crawl"), pytest.raises(HomeLockedError, match=r"in use by process .*crawl"):
        HomeAccounts(home, settings, {}).accounts.users()
