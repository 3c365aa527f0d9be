"""Default pages: ``/docs/index.html`` is ``/docs/`` to external metadata."""

import re
from typing import Final

__all__ = ["stripped"]

_DEFAULT_PAGE: Final = re.compile(
    r"(?:index|welcome|home|default|main)\.[a-z0-9]{3,4}\Z", re.ASCII | re.IGNORECASE
)
_LONGEST: Final = len("welcome.html")


def stripped(url: str) -> str:
    """Return a canonical URL without its default page.

    A default page is a last path segment ``index``, ``welcome``, ``home``, ``default`` or ``main``, a dot and three or
    four letters or digits, in either case, and no query behind it: ``index.php?id=7`` is a document of its own.
    """
    start = url.rfind("/") + 1
    if not 0 < len(url) - start <= _LONGEST or _DEFAULT_PAGE.match(url, start) is None:
        return url
    # The last slash may be one of a query, or of http:// itself.
    return url if "?" in url or url.endswith("://", 0, start) else url[:start]
