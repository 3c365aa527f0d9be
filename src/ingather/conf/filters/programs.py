"""Where a Harvest program is: ``bindir`` of robot.conf, the Harvest folder, ``PATH`` (section 14.2)."""

import os
import re
import shutil
from pathlib import Path

__all__ = ["BUILT_IN_PROGRAMS", "find_program", "program_trouble"]

BUILT_IN_PROGRAMS = frozenset({"html.sum"})
"""Names (lower case) that are served by the product itself where no such program is installed."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


def program_trouble(name: str) -> str:
    """Say what is wrong with *name* as the name of a program, ``""`` if nothing is."""
    if _NAME.fullmatch(name):
        return ""
    return "a program is named without folders: letters, digits, dots, hyphens"


def find_program(name: str, *, bindir: str = "") -> Path | None:
    """Return the executable *name*, ``None`` if there is none.

    It is looked for in *bindir*, then in ``$HARVEST_HOME/lib/gatherer`` and ``$HARVEST_HOME``, then along ``PATH``.
    Along ``PATH`` only what is called ``Type.sum``, as Harvest's summarizers are: a body of a stranger
    must not become the argument of a shell.
    """
    if program_trouble(name):
        return None
    harvest = os.environ.get("HARVEST_HOME", "")
    folders = [bindir, *((f"{harvest}/lib/gatherer", harvest) if harvest else ())]
    if name.lower().endswith(".sum"):
        folders += os.environ.get("PATH", "").split(os.pathsep)
    for folder in folders:
        found = shutil.which(name, path=folder) if folder and Path(folder).is_absolute() else None
        if found:
            return Path(found)
    return None
