"""Configuration files as people may see them: without the values of robot.conf's secret parameters."""

import re
from typing import Final

from ingather.conf.robotparameters import PARAMETERS

__all__ = ["HIDDEN", "redacted"]

HIDDEN: Final = "********"
_NAMES: Final = "|".join(
    re.escape(name) for one in PARAMETERS.values() if one.secret for name in (one.name, *one.aliases)
)
_FILES: Final = frozenset({"robot.conf", "process.conf"})
_SECRET: Final = re.compile(rf'(?i)((?<![\w-])(?:{_NAMES})\s*=[ \t]*)("[^"]*"?|(?:[^\n\\]|\\.|\\\n)*)')


def redacted(file: str, text: str) -> str:
    """Return *text* of the configuration file *file*, or a line of it; a value without quotes is hidden up to the end of its line."""
    return _SECRET.sub(rf"\1{HIDDEN}", text) if file in _FILES else text
