"""Default pages: ``/docs/index.html`` is ``/docs/`` to external metadata."""

import re
from typing import Final

__all__ = ["stripped"]

_DEFAULT_PAGE: Final = re.compile(
    r"/(?:index|welcome|home|default|main)\.[a-z0-9]{3,4}\Z", re.ASCII | re.IGNORECASE
)


def stripped(url: str) -> str:
    """Return a canonical URL without its default page.

    A default page is a last path segment ``index``, ``welcome``, ``home``, ``default`` or ``main``, a dot and three or
    four letters or digits, in either case, and no query behind it: ``index.php?id=7`` is a document of its own.
    """
    found = _DEFAULT_PAGE.search(url)
    # The slash before it must be a slash of the path: http://index.com is a host.
    if found is None or "?" in url or url[: found.start()].endswith((":/", "://")):
        return url
    return url[: found.start() + 1]
