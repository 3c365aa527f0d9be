"""Host names in settings."""

import re
from typing import Final

from ingather.errors import UnitError

__all__ = ["host_name"]

_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_LONGEST: Final = 253


def host_name(text: str) -> str:
    """Return a host name as browsers send it: lower case, ASCII (RFC 3490), without a dot at its end.

    Raises:
        UnitError: it is none, or it is more than a name (a scheme, a port, a path).
    """
    word = text.strip().lower().removesuffix(".")
    try:
        name = word if word.isascii() else word.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise UnitError(
            f"{text[:80]!r} is no host name",
            hint='write the name alone, without scheme and port: "search.example"',
        )
    return name
