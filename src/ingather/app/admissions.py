"""What our own gate refused is tried at once when the operator admits it: senders, ``addresses``, ports.

Whether something else is admitted than before is looked at each second (the list of senders is a small file, asked for its date) and
when the program begins. A refusal of ours says nothing of the host: nothing of it is kept as the host's fault.
"""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, Protocol

from ingather.app.background import Background
from ingather.app.sourcescopes import SourceScopes
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import IngatherError
from ingather.log import get

__all__ = ["Admissions", "admit_at_start"]

_log = get("app")
_ADMITTED: Final = "admitted"
"""Name under which the catalog remembers what was admitted when it was looked at last."""
_LOOK_S: Final = 1.0
_AFTERWARDS: Final = 3
"""Looks after a change that let refused URLs wait once more: a visit that was under way had asked the old list."""
_PIECE: Final = 50_000


class _Keeper(Protocol):
    async def write(self, job: Callable[[Any, Applied], Any]) -> Any: ...


def admit_at_start(writer: CatalogWriter, scopes: SourceScopes) -> int:
    """Let what the gate refused be tried again if something else is admitted than when it was refused; return how many URLs wait."""
    digest = _digest(scopes)
    if writer.transaction(lambda w: w.memory.recall(_ADMITTED)) == digest:
        return 0
    count, after = 0, 0
    writer.transaction(lambda w: w.clearing.forget_refusals())
    while after >= 0:
        after, woken = writer.transaction(
            lambda w, at=after: w.clearing.try_refused(at, _PIECE, Applied())  # type: ignore[misc]
        )
        count += woken
    writer.transaction(lambda w: w.memory.remember(_ADMITTED, digest))
    if count:
        _log.info("other addresses are admitted than before: URLs that were refused are tried", urls=count)
    return count


def _digest(scopes: SourceScopes) -> bytes:
    return sha256(repr(scopes.admitted()).encode()).digest()


class Admissions(Background):
    """Looks at what is admitted while a process gathers, on the keeper's loop.

    Args:
        keeper: the one writer.
        scopes: the reach of every source.
    """

    def __init__(self, keeper: _Keeper, scopes: SourceScopes) -> None:
        self._keeper, self._scopes = keeper, scopes
        self._seen = scopes.admitted()

    async def try_again(self) -> int:
        """Let every URL that the gate refused wait for a visit; return how many.

        Raises:
            IngatherError: not all of it was kept; the next look does the rest.
        """
        digest = _digest(self._scopes)
        count, after = 0, 0
        await self._keeper.write(lambda w, _: w.clearing.forget_refusals())
        while after >= 0:
            after, woken = await self._keeper.write(
                lambda w, a, at=after: w.clearing.try_refused(at, _PIECE, a)  # type: ignore[misc]
            )
            count += woken
        await self._keeper.write(lambda w, _: w.memory.remember(_ADMITTED, digest))
        return count

    async def run(self) -> None:
        """Look each second."""
        left = 0
        while True:
            await asyncio.sleep(_LOOK_S)
            admitted = self._scopes.admitted()
            changed = admitted != self._seen
            if not changed and not left:
                continue
            left = _AFTERWARDS if changed else left - 1
            try:
                count = await self.try_again()
            except IngatherError as error:
                _log.warning("refused URLs wait for the next look", error=str(error))
                left = _AFTERWARDS
                continue
            self._seen = admitted
            if count:
                _log.info("other addresses are admitted: URLs that were refused are tried", urls=count)
