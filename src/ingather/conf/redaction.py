"""Configuration files as people may see them: without what is a secret in them, or was meant as one."""

import re
from typing import Final

from ingather.conf.robot.robotparameters import PARAMETERS

__all__ = ["HIDDEN", "redacted"]

HIDDEN: Final = "********"
_NAMES: Final = "|".join(
    re.escape(name) for one in PARAMETERS.values() if one.secret for name in (one.name, *one.aliases)
)
_FILES: Final = frozenset({"robot.conf", "process.conf"})
_SECRET: Final = re.compile(rf'(?i)((?<![\w-])(?:{_NAMES})\s*=[ \t]*)("[^"]*"?|(?:[^\n\\]|\\.|\\\n)*)')
_MEANT: Final = re.compile(
    r"(?im)^(\s*(?:secret|secret-fields|fields|password|passwd|pass|token|passphrase|client-secret|pin)\s*=\s*)\S.*$"
)
"""Keys of ``ingather.toml`` that name secrets, or where one was written by mistake."""
_USERINFO: Final = re.compile(r"(?<=//)[^/\s\"'@]*:[^/\s\"'@]*@")


def redacted(file: str, text: str) -> str:
    """Return *text* of the configuration file *file*, or a line of it; a value without quotes is hidden up to the end of its line."""
    if file in _FILES:
        return _USERINFO.sub(f"{HIDDEN}@", _SECRET.sub(rf"\1{HIDDEN}", text))
    if file.endswith(".toml"):
        return _USERINFO.sub(f"{HIDDEN}@", _MEANT.sub(rf"\1{HIDDEN}", text))
    return text
