"""A small news site with an RSS feed on loopback: what it publishes while one watches is in search soon after."""

from types import TracebackType
from typing import Final, Self
from xml.sax.saxutils import escape

from ingather.app.demo.hosting import StaticServer
from ingather.app.demo.site import Resource
from ingather.app.home import Home
from ingather.app.syndication.adding import Addition, add_feeds

__all__ = ["SOURCE", "Newsroom"]

SOURCE: Final = "newsroom"
"""The source that follows it."""

_FEED: Final = "feed.xml"


class Newsroom:
    """Pages and a feed that lists them, the newest first; use with ``with``."""

    def __init__(self) -> None:
        self._site: dict[str, Resource] = {}
        self._items: list[str] = []
        # A host of its own: the site that is crawled has rules for its host's ports.
        self._server = StaticServer(self._site, "127.0.0.2")

    def __enter__(self) -> Self:
        self.publish("narwhal", "The narwhal has arrived", "Her tusk is two metres long.")
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    @property
    def feed(self) -> str:
        """URL of the feed."""
        return f"{self._server.url}{_FEED}"

    def follow(self, home: Home) -> None:
        """Write a source that follows the feed into the settings of *home*."""
        settings = ("addresses=127.0.0.0/8", f"own-hosts={self._server.address}")
        add_feeds(home, [Addition(SOURCE, {self.feed: ""}, new=True, settings=settings)])

    def publish(self, name: str, title: str, text: str) -> str:
        """Put a page on line, and into the feed; return its URL."""
        page = f"<!DOCTYPE html><title>{escape(title)}</title><h1>{escape(title)}</h1><p>{escape(text)}"
        self._site[f"{name}.html"] = Resource("text/html; charset=utf-8", page.encode())
        url = f"{self._server.url}{name}.html"
        day = len(self._items) + 1
        self._items.insert(
            0,
            f"<item><title>{escape(title)}</title><link>{escape(url)}</link>"
            f"<pubDate>{day:02} Mar 2018 08:33:00 GMT</pubDate></item>",
        )
        feed = f'<rss version="2.0"><channel><title>Zoo news</title>{"".join(self._items)}</channel></rss>'
        self._site[_FEED] = Resource("application/rss+xml", feed.encode(), changed_s=86_400.0 * day)
        return url
