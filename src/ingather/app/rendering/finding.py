"""Which browser, and as whom: never as root, never without its sandbox unless a setting says so."""

import os
import pwd
import shutil
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Found", "find"]

_PROGRAMS = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome-stable")
"""Debian's own program first: the script in front of it reads flags from /etc, extensions among them."""
_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Found:
    """A browser that may be started: *program*, and the user to become (``None`` = who we are); *trouble* = why there is none."""

    program: str = ""
    uid: int | None = None
    trouble: str = ""
    do: str = ""


def find(program: str = "", *, as_root: bool = False) -> Found:
    """Look for the browser. Blocks for a moment.

    Args:
        program: name or path out of the settings; ``""`` = the places where a distribution puts Chromium.
        as_root: may run as root when there is nobody else to be.
    """
    path = next(
        (found for name in ([program] if program else _PROGRAMS) if (found := shutil.which(name))), ""
    )
    if not path:
        wanted = f"{program} is no program" if program else "there is no Chromium"
        return Found(trouble=wanted, do="install the package chromium, or set javascript.browser")
    if os.geteuid() != 0:
        return Found(str(Path(path).resolve()))
    try:
        uid = pwd.getpwnam(_NOBODY).pw_uid
    except KeyError:
        uid = 0
    if uid:
        return Found(str(Path(path).resolve()), uid)
    if as_root:
        return Found(str(Path(path).resolve()))
    return Found(
        trouble="as root a browser has no sandbox, and there is no user nobody to run it as",
        do="run Ingather as a user of its own, or set javascript.unsafe = true",
    )
