"""A small static web server on loopback: what the demo gathers comes over HTTP, like everything."""

from collections.abc import Mapping
from email.utils import formatdate
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from ingather.app.demo.site import Resource

__all__ = ["StaticServer"]


class StaticServer:
    """Serves *site* (path below the root to resource) on a free port of *host*, an address of loopback; use with ``with``."""

    def __init__(self, site: Mapping[str, Resource], host: str = "127.0.0.1") -> None:
        self._server = ThreadingHTTPServer((host, 0), type("Handler", (_Handler,), {"site": site}))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def address(self) -> str:
        """Host and port: ``127.0.0.1:40123``."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    @property
    def url(self) -> str:
        """The index page."""
        return f"http://{self.address}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; knows validators, so that a second visit costs nothing."""

    site: Mapping[str, Resource]
    protocol_version = "HTTP/1.1"
    server_version = "IngatherDemo"
    sys_version = ""
    timeout: ClassVar[float | None] = 30.0

    def do_GET(self) -> None:
        self._answer(send=True)

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def _answer(self, *, send: bool) -> None:
        path = unquote(self.path.partition("?")[0]).removeprefix("/")
        found = self.site.get(path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        tag = f'"{sha256(found.body).hexdigest()[:20]}"'
        fresh = self.headers.get("If-None-Match") == tag
        self.send_response(HTTPStatus.NOT_MODIFIED if fresh else HTTPStatus.OK)
        self.send_header("ETag", tag)
        self.send_header("Last-Modified", formatdate(found.changed_s, usegmt=True))
        if not fresh:
            self.send_header("Content-Type", found.media_type)
            self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        if send and not fresh:
            self.wfile.write(found.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library names it
        """Say nothing: the terminal belongs to the demo."""
