"""What ``ingather serve`` does by itself when gathering rests: links, pruning, and reading everything back now and then."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from ingather.app.checking import check_catalog
from ingather.app.homeparts import database_of
from ingather.app.keeper import Gathering
from ingather.app.pruning import collect_chains
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import IngatherError
from ingather.index import IndexFolder
from ingather.log import get
from ingather.robot.settling.writing import Writer

__all__ = ["Housekeeping"]

_log = get("app")
_LINK_PASS_S = 300.0
_REST_S = 5.0
_PRUNE_S, _PRUNE_LATEST_S = 3600.0, 86_400.0
_LAST_CHECK = "last-full-check"


def _note_check(writer: Writer, _applied: Applied, *, at: bytes) -> None:
    writer.memory.remember(_LAST_CHECK, at)


class Housekeeping:
    """Runs on the keeper's loop.

    Args:
        gathering: what is kept in order.
        seen: called when searchers may see something new.
    """

    def __init__(self, gathering: Gathering, seen: Callable[[], None]) -> None:
        self._gathering, self._seen = gathering, seen
        self._home, self._settings = gathering.home, gathering.settings
        self.findings = 0
        """Damages that the last full check found."""

    @property
    def work(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """Return what runs until it is cancelled."""
        return self.link_passes(), self.trap_scans(), self.full_checks(), self.prunings()

    async def link_passes(self) -> None:
        """Derive links and anchors when gathering came to rest after it found something, and now and then."""
        seen = -1
        while True:
            await asyncio.sleep(5)
            keeper = self._gathering.keeper
            sequence = keeper.counters.found + keeper.counters.outcomes.get("indexed", 0)
            if sequence == seen or not keeper.idle(patience_s=30):
                continue
            seen = sequence
            try:
                await self._gathering.link_pass()
                self._seen()
                await self._gathering.compact()
            except IngatherError as error:  # tried again with the next rest
                _log.warning("housekeeping did not come off", error=str(error))
            await asyncio.sleep(_LINK_PASS_S)

    async def trap_scans(self) -> None:
        """Look for crawler traps now and then: not only at rest, because a trap may never let the robot rest."""
        every, seen = self._settings.seconds("traps.check-every"), 0
        while True:
            await asyncio.sleep(every)
            found = self._gathering.keeper.counters.found
            if found == seen:
                continue
            seen = found
            try:
                await self._gathering.scan_traps()
            except IngatherError as error:
                _log.warning("housekeeping did not come off", error=str(error))

    async def prunings(self) -> None:
        """Forget what is old: each hour when nothing is gathered, each day whatever happens."""
        gathering, loop = self._gathering, asyncio.get_running_loop()
        last = loop.time() - _PRUNE_S + _REST_S
        while True:
            await asyncio.sleep(_REST_S)
            age = loop.time() - last
            if age < _PRUNE_S or (age < _PRUNE_LATEST_S and not gathering.keeper.idle(patience_s=30)):
                continue
            last = loop.time()
            try:
                await gathering.expire()
                await gathering.prune()
                await collect_chains(gathering.keeper, database_of(self._home))
            except IngatherError as error:
                _log.warning("housekeeping did not come off", error=str(error))

    async def full_checks(self) -> None:
        """Read catalog and index back now and then, and say what is damaged."""
        gathering, loop = self._gathering, asyncio.get_running_loop()
        every = self._settings.seconds("catalog.check-every")
        while True:
            kept = await gathering.keeper.write(lambda writer, _: writer.memory.recall(_LAST_CHECK))
            last = float(kept) if kept else 0.0
            now = gathering.clock.wall()
            if now - last >= every:
                findings = await loop.run_in_executor(None, self._check)
                for finding in findings:
                    _log.error(
                        "damage found", what=finding, hint="see: ingather catalog check, ingather index check"
                    )
                self.findings = len(findings)
                await gathering.keeper.write(partial(_note_check, at=str(now).encode()))
            await asyncio.sleep(3600)

    def _check(self) -> list[str]:
        found = [
            f"{finding['place']}: {finding['what']}" for finding in check_catalog(self._home, bodies=False)
        ]
        return found + [str(finding) for finding in IndexFolder(self._home.index).damage()]
