"""What a look at a site found out: remarks with what to do."""

from typing import Final, Literal

import msgspec

__all__ = ["LEVELS", "Finding", "Level"]

Level = Literal["ok", "note", "warning", "problem"]
LEVELS: Final[tuple[Level, ...]] = ("ok", "note", "warning", "problem")


class Finding(msgspec.Struct, frozen=True):
    """One remark.

    Attributes:
        about: ``names``, ``redirects``, ``robots``, ``ports``, ``certificate``, ``sitemaps``, ``feeds``, ``login``, ``server`` or ``site``.
        level: ``ok``, ``note``, ``warning``, or ``problem``: as it stands the site cannot be crawled.
        text: what it is.
        do: what to do about it, ``""`` = nothing.
    """

    about: str
    level: Level
    text: str
    do: str = ""
