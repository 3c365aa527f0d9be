"""Two names of one host become one, in the keys of URLs: aliases that a person chose, and smart-host-heuristics.

smart-host-heuristics (robot specification, section 5.2): a host whose first label is ``www`` and digits is folded into ``www``, if that
name exists and both have an address in common. What cannot be asked is not folded. A host is folded once, first by the heuristics, then
by an alias; a host that a person chose for an alias is never folded, so there is no loop.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["HostNames"]

_NUMBERED: Final = re.compile(r"(https?)://(www[0-9]+)(\.[^/:\[\]]+)((?::[0-9]+)?)(?=/)")
_NUMBERED_START: Final = ("http://www", "https://www")
_HOSTS: Final = 4096
"""Decisions that are remembered."""
_AT_ONCE: Final = 16
"""Hosts of one page that are asked for."""
_DECIDED_S: Final = 3600.0
_FAILED_S: Final = 60.0


class _Decision(NamedTuple):
    folds: bool
    why: str
    until_s: float


def _told_nobody(_alias: str, _host: str, _why: str) -> None:
    return


class HostNames:
    """Says which URL stands for which; of one event loop.

    Args:
        aliases: alias to host, as they stand in URLs (``name`` or ``name:port``); a host is no alias itself.
        smart: whether smart-host-heuristics is on; it wants *resolver* and *clock*.
        resolver: names to addresses.
        clock: monotonic; ages of decisions.
        tell: called with alias, host and why, when the heuristics have decided to fold.
    """

    def __init__(
        self,
        aliases: Mapping[str, str] | None = None,
        *,
        smart: bool = False,
        resolver: Resolver | None = None,
        clock: Clock | None = None,
        tell: Callable[[str, str, str], None] = _told_nobody,
    ) -> None:
        self._aliases = dict(aliases or {})
        self._chosen = frozenset(self._aliases.values())
        self._resolver, self._clock = resolver, clock
        self._tell = tell
        self._decided: OrderedDict[str, _Decision] = OrderedDict()
        self.smart = smart and resolver is not None and clock is not None
        self.active = self.smart or bool(self._aliases)

    def fold(self, url: str) -> str:
        """Return the canonical URL that stands for canonical *url*; by the heuristics only what :meth:`learn` was asked before."""
        if not self.active or not url.startswith("http"):
            return url
        if self.smart and url.startswith(_NUMBERED_START) and (found := _NUMBERED.match(url)):
            decided = self._decided.get(found[2] + found[3])
            if decided is not None and decided.folds and found[0].partition("://")[2] not in self._chosen:
                url = f"{found[1]}://www{found[3]}{found[4]}{url[found.end() :]}"
        if self._aliases:
            scheme, _, rest = url.partition("://")
            authority, slash, path = rest.partition("/")
            host = self._aliases.get(authority)
            if host is not None:
                return f"{scheme}://{host}{slash}{path}"
        return url

    def why(self, url: str) -> str:
        """Return why :meth:`fold` changes *url*, for people; ``""`` = it does not."""
        folded = self.fold(url)
        if folded == url:
            return ""
        alias, host = url.split("/", 3)[2], folded.split("/", 3)[2]
        found = _NUMBERED.match(url)
        decided = self._decided.get(found[2] + found[3]) if found else None
        if decided is not None and decided.folds and alias not in self._aliases:
            return f"host alias: {alias} is {host} (smart-host-heuristics: {decided.why})"
        return f"host alias: {alias} is {host}"

    async def learn(self, urls: Iterable[str]) -> None:
        """Ask for the names of numbered hosts among *urls* that nothing is known of; never raises."""
        if not self.smart or self._clock is None:
            return
        now_s = self._clock.monotonic()
        wanted: dict[str, str] = {}
        for url in urls:
            if url.startswith(_NUMBERED_START) and (found := _NUMBERED.match(url)):
                name = found[2] + found[3]
                decided = self._decided.get(name)
                if decided is None or decided.until_s <= now_s:
                    wanted[name] = f"www{found[3]}"
                    if len(wanted) >= _AT_ONCE:
                        break
        if wanted:
            await asyncio.gather(*(self._decide(name, host) for name, host in wanted.items()))

    async def _decide(self, name: str, host: str) -> None:
        clock, resolver = self._clock, self._resolver
        if clock is None or resolver is None:
            return
        try:
            own, common = await asyncio.gather(resolver.resolve(name), resolver.resolve(host))
        except (OSError, UnicodeError) as error:
            self._remember(
                name, _Decision(folds=False, why=str(error), until_s=clock.monotonic() + _FAILED_S)
            )
            return
        shared = sorted(set(own) & set(common))
        why = f"both have the address {shared[0]}" if shared else f"no address in common with {host}"
        before = self._decided.get(name)
        self._remember(name, _Decision(bool(shared), why, clock.monotonic() + _DECIDED_S))
        if shared and not (before is not None and before.folds):
            self._tell(name, host, why)

    def _remember(self, name: str, decision: _Decision) -> None:
        self._decided[name] = decision
        self._decided.move_to_end(name)
        while len(self._decided) > _HOSTS:
            self._decided.popitem(last=False)
