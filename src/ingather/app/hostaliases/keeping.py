"""The host aliases that a keeper has in force."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ingather.fetch import SystemResolver
from ingather.model.alias import AliasState, HostAlias
from ingather.robot.visit.hostnames import HostNames

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["KeeperNames", "applied"]


def applied(aliases: Iterable[HostAlias]) -> dict[str, str]:
    """Return alias to host of those that a person chose."""
    return {one.alias: one.host for one in aliases if one.state is AliasState.APPLIED}


class KeeperNames:
    """Folds starting points as gatherers fold links; on the keeper's loop.

    Attributes:
        aliases: alias to host, in force.
    """

    def __init__(self, gathering: "Gathering", aliases: Iterable[HostAlias]) -> None:
        self._gathering = gathering
        self.adopt(aliases)

    def adopt(self, aliases: Iterable[HostAlias]) -> None:
        """Put *aliases* in force; gatherers get them when they are called the next time."""
        self.aliases = applied(aliases)
        self._names = HostNames(self.aliases)

    async def ask(self, urls: Iterable[str]) -> None:
        """Learn what the configuration in force wants to know of starting points."""
        gathering = self._gathering
        if not gathering.loaded.robot.smart_host_heuristics:
            self._names = HostNames(self.aliases)
            return
        resolver = SystemResolver(gathering.clock)
        try:
            self._names = HostNames(self.aliases, smart=True, resolver=resolver, clock=gathering.clock)
            await self._names.learn(urls)
        finally:
            await resolver.close()

    def fold(self, url: str) -> str:
        """Return the key of a starting point."""
        return self._names.fold(url)
