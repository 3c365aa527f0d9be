"""The robot's commands with their arguments as people write them; every way in (CLI, HTTP, port) ends here."""

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ingather.app.publishing import take_over
from ingather.app.robot.form import robot_form
from ingather.app.robot.rechecking import FIELDS, again_if_out, choose, read_choice, recheck_served
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import UnitError, UrlError, UsageError
from ingather.model.lifecycle import State
from ingather.model.url import canonical
from ingather.model.urlparts import host_key, split
from ingather.units import parse_seconds

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["RobotCommands", "delay_named", "host_named"]

_LONGEST_S = 86_400.0
_MOST_LEVEL = 100


class RobotCommands:
    """Of a gathering that is served; on the keeper's loop. Each answers with the state that holds afterwards.

    Each raises ``RobotStateError`` for what cannot be done in the state that the robot is in, ``UsageError`` for
    arguments that are wrong; then nothing was changed.
    """

    def __init__(self, gathering: "Gathering") -> None:
        self._gathering = gathering
        self._conductor = gathering.conductor

    async def status(self) -> dict[str, Any]:
        """Return the status (DEC-33)."""
        return robot_form(self._gathering)

    async def start(self) -> dict[str, Any]:
        """Begin a run, or go on with the one that was stopped."""
        await self._conductor.start()
        return self._done(run=self._gathering.run, continued=self._gathering.continued)

    async def stop(self) -> dict[str, Any]:
        """Stop the run where it stands."""
        await self._conductor.halt()
        return self._done()

    async def quit(self) -> dict[str, Any]:
        """End the run and the robot, not the process."""
        await self._conductor.quit()
        return self._done()

    async def pause(self) -> dict[str, Any]:
        """Begin no visit any more."""
        await self._conductor.pause()
        return self._done()

    async def resume(self) -> dict[str, Any]:
        """Go on where it was paused."""
        await self._conductor.resume()
        return self._done()

    async def reload(self, author: str = "") -> dict[str, Any]:
        """Take over what stands in ``config/``, whole or not at all.

        Raises:
            ConfigurationError: it has errors; the old one stays in force, the state is as it was.
        """
        done = await take_over(self._gathering, author=author, note="robot reload")
        return self._done(version=done.version, changed=done.changed)

    async def clear(self) -> dict[str, Any]:
        """Forget pool and URL states; descriptions and index stay."""
        return self._done(**await self._conductor.clear())

    async def loglevel(self, level: str) -> dict[str, Any]:
        """Let robot.log tell more or less, until the next configuration."""
        if not (level.isascii() and level.isdigit() and int(level) <= _MOST_LEVEL):
            raise UsageError(f"{level!r} is no level of robot.log", hint="0 to 5; values up to 100 act as 5")
        self._gathering.robot_log.level = int(level)
        return self._done(loglevel=int(level))

    async def slow(self, host: str, delay: str) -> dict[str, Any]:
        """Keep at least *delay* (``5s``, ``2``; 0 = no more) between two starts at *host*."""
        key, seconds = host_named(host), delay_named(delay)
        await self._conductor.slow(key, seconds)
        return self._done(host=key, delay_s=seconds)

    async def block(self, host: str) -> dict[str, Any]:
        """Ask *host* nothing any more; what waits of it stays, what was found stays in search."""
        key = host_named(host)
        await self._conductor.block(key, on=True)
        return self._done(host=key, blocked=True)

    async def unblock(self, host: str) -> dict[str, Any]:
        """Ask *host* again."""
        key = host_named(host)
        await self._conductor.block(key, on=False)
        return self._done(host=key, blocked=False)

    async def add(self, url: str, depth: str = "") -> dict[str, Any]:
        """Put a URL into the pool; a known one is visited again. Links are followed to *depth* from it, if given.

        Raises:
            UsageError: it is no URL, or the filters, a budget or an operator refuse it; nothing is put in.
        """
        try:
            gathering = self._gathering
            canonical(url)  # of a scheme that we gather
            with closing(gathering.reader_once()) as reader:
                whole = reader.meant(url)
        except UrlError as error:
            raise UsageError(f"{url!r} is no URL: {error.text}", hint="write a whole URL") from error
        whole = gathering.names.fold(whole)
        found = gathering.discoverer.discover(
            whole, depth=0, max_depth=_depth(depth), source="web", priority=1
        )
        gathering.conductor.runs.note_judgements()
        if found.denial is not None:
            where = f" ({found.denial.where})" if found.denial.where else ""
            raise UsageError(
                f"{whole} is refused: {found.denial.reason}{where}", hint=f"ingather explain {whole}"
            )

        def job(writer: Any, applied: Applied) -> tuple[str, State | None, int]:
            before = writer.applier.discover(found, None, applied)
            if before is None:
                return applied.refused[-1][1] if applied.refused else "refused", None, 0
            return "", writer.clearing.visit_now(before, applied), before

        refused, state, row = await gathering.keeper.write(job)
        if refused:
            raise UsageError(f"{whole} is refused: {refused}", hint=f"ingather explain {whole}")
        if state is State.QUARANTINED:
            raise UsageError(f"{whole} is in quarantine: it ended its reader twice")
        if state is State.WAITING:
            await again_if_out(gathering, [row])
        return self._done(url=whole, depth=found.max_depth, waits=True)

    async def recheck(self, *values: str) -> dict[str, Any]:
        """Visit again now what *values* mean, one for each of ``FIELDS`` of ``app/robot/rechecking``.

        Raises:
            UsageError: they mean nothing, or more than one thing.
        """
        gathering = self._gathering
        choice = read_choice(dict(zip(FIELDS, values, strict=True)))
        chosen = await asyncio.get_running_loop().run_in_executor(None, choose, gathering.home, choice)
        return self._done(**await recheck_served(gathering, choice, chosen))

    def _done(self, **more: Any) -> dict[str, Any]:
        return {"state": str(self._conductor.state), **more}


def host_named(text: str) -> str:
    """Return the politeness name of what somebody calls a host: a name, ``name:port``, or a URL there.

    Raises:
        UsageError: it is none.
    """
    word = text.strip()
    try:
        return host_key(split(canonical(word if "://" in word else f"http://{word}/")).origin)
    except UrlError as error:
        raise UsageError(
            f"{text!r} is no host: {error.text}", hint="write it like www.example.org or www.example.org:8080"
        ) from error


def delay_named(text: str) -> float:
    """Return a delay in seconds, 0 = none.

    Raises:
        UsageError: it is none, or longer than a day.
    """
    try:
        seconds = parse_seconds(text)
    except UnitError as error:
        raise UsageError(f"the delay {text!r} cannot be read", hint='write it like "5s" or 2.5') from error
    if not 0 <= seconds <= _LONGEST_S:
        raise UsageError(
            f"the delay {text!r} is out of range", hint="0 (no more) to one day; or block the host"
        )
    return seconds


def _depth(text: str) -> int | None:
    if not text.strip():
        return None
    try:
        depth = int(text)
    except ValueError:
        depth = -2
    if not -1 <= depth <= 1_000_000:  # noqa: PLR2004 - more than any site has
        raise UsageError(f"the depth {text!r} is none", hint="a whole number; -1 = no limit")
    return depth
