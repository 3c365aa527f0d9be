"""What of a directory works: ``ingather access ldap test``."""

from typing import Any

from ingather.app.access.directory.people import Directory
from ingather.errors import DirectoryError

__all__ = ["try_directory"]


def try_directory(directory: Directory, *, user: str = "", password: str | None = None) -> dict[str, Any]:
    """Return what each server says, and of *user* who he is, his groups, and whether *password* is his.

    ``works`` is true when everything that was tried did. ``servers``: each with ``server`` and ``trouble`` (``""`` = none);
    ``user``: ``found``, ``name``, ``dn``, ``groups``, ``login`` (``None`` = not tried), ``trouble``; or ``None``.
    """
    servers = []
    for server in directory.conf.servers:
        trouble = ""
        try:
            if not directory.check(server):
                trouble = f"nobody is below {directory.conf.base!r} whom the settings would find"
        except DirectoryError as error:
            trouble = str(error)
        servers.append({"server": str(server), "trouble": trouble})
    answer: dict[str, Any] = {"servers": servers, "user": _user(directory, user, password) if user else None}
    answer["works"] = not any(one["trouble"] for one in servers) and (
        answer["user"] is None or not answer["user"]["trouble"]
    )
    return answer


def _user(directory: Directory, user: str, password: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {"found": False, "name": "", "dn": "", "groups": [], "login": None, "trouble": ""}
    try:
        known = directory.find(user)
        if known is None:
            return {**told, "trouble": f"the directory does not know {user!r}, or the account is disabled"}
        told |= {"found": True, "name": known.name, "dn": known.dn, "groups": sorted(known.groups)}
        if password is not None:
            told["login"] = directory.log_in(user, password) is not None
            if not told["login"]:
                told["trouble"] = "the password does not let him in"
    except DirectoryError as error:
        told["trouble"] = str(error)
    return told
