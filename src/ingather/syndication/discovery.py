"""The feeds that a web page offers: ``<link rel="alternate">`` with a feed's type, ``rel="feed"``."""

from ingather.extract import read_page

__all__ = ["find_feeds"]


def find_feeds(body: bytes, *, url: str, content_type: str | None = None) -> tuple[str, ...]:
    """Return the absolute URLs of the feeds that an HTML page names, in its order, without repetition.

    Any quoting, case and order of ``rel``'s words; ``<base>`` counts. What is no HTML names none.

    Args:
        body: of the page.
        url: from which it was finally retrieved.
        content_type: the header as received.
    """
    return tuple(read_page(body, url=url, content_type=content_type or "text/html").feeds)
