"""Owner, group and mode of a file, as header fields that become attributes of its description."""

import grp
import os
import pwd
import stat
from collections.abc import Callable
from urllib.parse import quote

__all__ = ["facts_of"]

_FIELD = "X-Gsa-External-Metadata"


def facts_of(found: os.stat_result) -> tuple[tuple[str, str], ...]:
    """Return a field with ``file-owner``, ``file-group`` and ``file-mode`` (octal); unknown ids are numbers."""
    facts = {
        "file-owner": _name(lambda: pwd.getpwuid(found.st_uid).pw_name, found.st_uid),
        "file-group": _name(lambda: grp.getgrgid(found.st_gid).gr_name, found.st_gid),
        "file-mode": f"{stat.S_IMODE(found.st_mode):04o}",
    }
    return ((_FIELD, ",".join(f"{quote(name)}={quote(value)}" for name, value in facts.items())),)


def _name(look: Callable[[], str], number: int) -> str:
    try:
        return look()
    except KeyError:
        return str(number)
