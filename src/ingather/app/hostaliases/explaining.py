"""What explain says of a URL whose host has another name."""

from contextlib import closing
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.likeness.sqlite_aliases import AliasReader
from ingather.explain.forms import instant
from ingather.model.alias import AliasState
from ingather.robot.visit.hostnames import HostNames

__all__ = ["alias_answer"]


def alias_answer(home: Home, url: str, *, smart: bool) -> dict[str, Any] | None:
    """Return what is known of the alias in canonical *url*: ``alias``, ``host``, ``state``, ``key``, ``who``, ``since``, ``evidence``; ``None`` = nothing.

    ``key`` is the URL that stands for it, null when no alias is in force. *smart*: whether smart-host-heuristics is on.
    """
    database = database_of(home)
    if not database.exists():
        return None
    with closing(AliasReader(database, home.bodies)) as reader:
        known = {one.alias: one for one in reader.aliases()}
    authority = url.split("/", 3)[2] if "://" in url else ""
    one = known.get(authority)
    if one is None:
        return None
    force = {
        name: each.host
        for name, each in known.items()
        if each.state is AliasState.APPLIED or (smart and each.state is AliasState.FOLDED)
    }
    key = HostNames(force).fold(url)
    key = HostNames({name: host for name, host in force.items() if name != authority}).fold(key)
    return {
        "alias": one.alias, "host": one.host, "state": str(one.state), "key": key if key != url else None, "who": one.who,
        "since": instant(one.at_s) if one.at_s else None, "evidence": one.evidence,
    }  # fmt: skip
