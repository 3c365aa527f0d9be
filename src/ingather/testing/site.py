"""A site written by hand, page by page, over real HTTP on loopback; may change at any time."""

from collections.abc import Callable
from hashlib import md5
from html import escape
from types import TracebackType
from typing import Self

from ingather.testing.server import SyntheticServer
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

__all__ = ["Site", "html"]

Headers = tuple[tuple[str, str], ...]


class Site:
    """Serves what was put there (each body with an ETag), 404 for the rest; use as a context manager."""

    def __init__(self) -> None:
        self.server = SyntheticServer(SyntheticWeb(1, WebShape(sites=1, pages=1)))
        self.origin = self.server.origins[0]
        self.status("/robots.txt", 404)
        self.status("/", 404)

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.server.stop()

    def url(self, path: str) -> str:
        """Return the URL of *path*."""
        return self.origin + path

    def answer(self, path: str, answer: Answer | Callable[[int], Answer | None]) -> None:
        """Answer *path* so, or as the function says (it gets how often the path was asked before)."""
        self.server.override(self.origin + path, answer)

    def put(
        self, path: str, body: str | bytes, *, kind: str = "text/html; charset=utf-8", headers: Headers = ()
    ) -> None:
        """Serve *body* at *path*."""
        data = body.encode() if isinstance(body, str) else body
        tag = f'"{md5(data, usedforsecurity=False).hexdigest()}"'
        self.answer(path, Answer(200, (("Content-Type", kind), ("ETag", tag), *headers), data))

    def page(
        self, path: str, title: str, *links: str, text: str = "", head: str = "", headers: Headers = ()
    ) -> None:
        """Serve an HTML page with *links* (paths or URLs, their text is what they say)."""
        self.put(path, html(title, *links, text=text, head=head), headers=headers)

    def status(self, path: str, status: int, *headers: tuple[str, str]) -> None:
        """Answer *path* with a bare status."""
        self.answer(path, Answer(status, headers, b""))

    def robots(self, text: str) -> None:
        """Serve a robots.txt."""
        self.put("/robots.txt", text, kind="text/plain")

    def asked(self, path: str) -> int:
        """Return how often *path* was asked for."""
        return self.server.paths().count(self.origin + path)

    def forget(self) -> None:
        """Forget what was asked so far."""
        self.server.requests.clear()


def html(title: str, *links: str, text: str = "", head: str = "") -> str:
    """Return a small HTML page."""
    items = "".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in links)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f"<body><h1>{escape(title)}</h1><p>{text}</p><ul>{items}</ul></body></html>"
    )
