"""An adaptor on loopback: documents whose metadata and rights stand in the heads of its answers.

It says what the adaptor library says (GSA feeds specification, section 13): headers also when they are empty, always
``X-Gsa-Serve-Security``, everything to hosts alone that it knows; others, and ``SecMgr``, get 403.
"""

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

__all__ = ["Adaptor", "AdaptorDocument"]

_HELD_S = 120.0


@dataclass
class AdaptorDocument:
    """One document of the repository.

    Attributes:
        body: content.
        metadata: pairs, as they are sent.
        acl: the object that is sent as JSON; ``None`` = no ACL, ``acl=``; a text is sent as it is, readable or not.
        security: word of ``X-Gsa-Serve-Security``; ``None`` = by the ACL, ``""`` = the header is left out.
        anchors: (text, URI) of links that the format cannot have.
        controls: further controls: ``crawl_once`` to ``true``.
        modified_s: time of the last change; an answer to ``If-Modified-Since`` that is as new is 304.
        content_unchanged: answer 204 and let the content stay.
        headers: more header fields, as they are.
    """

    body: bytes
    kind: str = "text/html; charset=utf-8"
    metadata: Sequence[tuple[str, str]] = ()
    acl: Mapping[str, Any] | str | None = None
    security: str | None = None
    anchors: Sequence[tuple[str, str]] = ()
    controls: Mapping[str, str] = field(default_factory=dict)
    modified_s: float | None = None
    content_unchanged: bool = False
    headers: Sequence[tuple[str, str]] = ()

    def head(self, *, version_7_0: bool = False) -> list[tuple[str, str]]:
        """Return the crawl-time headers; *version_7_0*: the ACL as metadata (users and groups alone)."""
        fields = [("X-Gsa-External-Metadata", _pairs(self.metadata))]
        if version_7_0:
            fields.append(("X-Gsa-External-Metadata", _pairs(self._legacy())))
        else:
            said = self.acl if self.acl is None or isinstance(self.acl, str) else json.dumps(self.acl)
            fields.append(("X-Gsa-Doc-Controls", f"acl={quote(said or '', safe='')}"))
            fields += [
                ("X-Gsa-Doc-Controls", f"{name}={quote(value, safe='')}")
                for name, value in self.controls.items()
            ]
        if self.anchors:
            fields.append(("X-Gsa-External-Anchor", _pairs(self.anchors)))
        security = ("public" if self.acl is None else "secure") if self.security is None else self.security
        if security:
            fields.append(("X-Gsa-Serve-Security", security))
        return [*fields, *self.headers]

    def _legacy(self) -> list[tuple[str, str]]:
        if not isinstance(self.acl, Mapping):
            return []
        return [
            (f"google:acl{'deny' if entry['access'] == 'deny' else ''}{entry['scope']}s", entry["name"])
            for entry in self.acl.get("entries", ())
        ]


class Adaptor:
    """Serves documents to the hosts that it knows; a context manager.

    Attributes:
        documents: path to document; what is not there is 404.
        full_access: addresses that get everything.
        version_7_0: speak as to an appliance of version 7.0, without X-Gsa-Doc-Controls.
        redirects: path to where it leads.
        asked: paths that were asked for, in order.
        held: paths whose answers are made when they are asked for, and sent when the event is set.
    """

    def __init__(self, documents: Mapping[str, AdaptorDocument] | None = None) -> None:
        self.documents = dict(documents or {})
        self.full_access = {"127.0.0.1"}
        self.version_7_0 = False
        self.redirects: dict[str, str] = {}
        self.asked: list[str] = []
        self.held: dict[str, Event] = {}
        adaptor = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                adaptor._answer(self)

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str) -> str:
        """Return the URL of *path*."""
        return self.origin + path

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        document = copy(self.documents.get(request.path))
        if (held := self.held.get(request.path)) is not None:
            held.wait(_HELD_S)
        known = request.client_address[0] in self.full_access and "SecMgr" not in request.headers.get(
            "User-Agent", ""
        )
        if known and request.path in self.redirects:
            self._send(request, 302, [("Location", self.redirects[request.path])], b"")
        elif request.path == "/robots.txt" or (known and document is None):
            self._send(request, 404, [], b"")
        elif not known or document is None:
            self._send(request, 403, [], b"Forbidden")
        elif document.modified_s is not None and not _newer(
            document.modified_s, request.headers.get("If-Modified-Since")
        ):
            self._send(request, 304, [], b"")
        elif document.content_unchanged:
            skip = ("X-Gsa-Skip-Updating-Content", "true")
            self._send(request, 204, [*document.head(version_7_0=self.version_7_0), skip], b"")
        else:
            fields = [("Content-Type", document.kind), *document.head(version_7_0=self.version_7_0)]
            if document.modified_s is not None:
                fields.append(("Last-Modified", formatdate(document.modified_s, usegmt=True)))
            self._send(request, 200, fields, document.body)

    @staticmethod
    def _send(
        request: BaseHTTPRequestHandler, status: int, fields: Sequence[tuple[str, str]], body: bytes
    ) -> None:
        request.send_response(status)
        for name, value in fields:
            request.send_header(name, value)
        if status not in {204, 304}:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return ",".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)


def _newer(modified_s: float, asked: str | None) -> bool:
    return asked is None or int(modified_s) > parsedate_to_datetime(asked).timestamp()
