"""From settings and sources to the step that renders; nothing at all where no source wants it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ingather.app.rendering.browser import BrowserLimits, Browsers
from ingather.app.rendering.gate import GateLimits
from ingather.app.rendering.session import PageLimits
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.model.scope import Scope
from ingather.model.source_name import BySource
from ingather.ports.clock import Clock
from ingather.ports.renderer import Errand
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.rendering import Outcome, Rendering

__all__ = ["Scripts", "browser_limits", "browsers_of", "wanted"]

_MIB = 1 << 20


def wanted(sources: Mapping[str, SourceConf]) -> Mapping[str, str]:
    """Return the modes of the sources that want their pages rendered."""
    return BySource(
        (name, source.reach.javascript)
        for name, source in sources.items()
        if source.reach.javascript != "off"
    )


def browser_limits(settings: Settings) -> BrowserLimits:
    """Limits of browsers."""
    return BrowserLimits(
        pages=settings.count("javascript.pages"),
        recycle=settings.count("javascript.recycle"),
        idle_s=settings.seconds("javascript.idle"),
        memory_bytes=settings.size("javascript.memory"),
        disk_bytes=settings.size("javascript.disk"),
        heap_mib=settings.size("javascript.script-memory") // _MIB,
        kept_bytes=settings.size("javascript.cache"),
        page=PageLimits(
            total_s=settings.seconds("javascript.time"),
            script_s=settings.seconds("javascript.script-time"),
            settle_s=settings.seconds("javascript.settle"),
            html_chars=settings.size("limits.decoded-size"),
        ),
        gate=GateLimits(
            requests=settings.count("javascript.requests"),
            bytes=settings.size("javascript.bytes"),
            skip=frozenset(settings.words("javascript.skip")),
        ),
    )


def browsers_of(settings: Settings, *, clock: Clock, agent: str, home: Path | None) -> Browsers:
    """Return browsers as the settings want them; none is started yet.

    *agent*: the robot's honest name, which pages see; *home*: a folder that browsers shall not see.
    """
    return Browsers(
        limits=browser_limits(settings),
        clock=clock,
        agent=agent,
        program=settings.text("javascript.browser"),
        hidden=() if home is None else (home,),
        unsafe=settings.flag("javascript.unsafe"),
    )


class Scripts:
    """The rendering of one process: the step for its pipeline (``None`` = no source wants it) and its browsers.

    Args:
        settings, sources: limits, and who wants it.
        clock, agent, home: as :func:`browsers_of` takes them.
        reading: sees whether a page needs its scripts.
        scopes: reach by source.
        errand: asks for what pages need.
        told: takes (URL, outcome) of each page that was looked at.
    """

    def __init__(  # noqa: PLR0913 - the parts that a process wires
        self,
        settings: Settings,
        sources: Mapping[str, SourceConf],
        *,
        clock: Clock,
        agent: str,
        home: Path | None,
        reading: Reading,
        scopes: Callable[[str], Scope],
        errand: Errand,
        told: Callable[[str, Outcome], None] | None = None,
    ) -> None:
        modes = wanted(sources)
        self._browsers: Browsers | None = None
        self.step: Rendering | None = None
        if modes:
            self._browsers = browsers_of(settings, clock=clock, agent=agent, home=home)
            self.step = Rendering(
                self._browsers,
                reading=reading,
                modes=lambda source: modes.get(source, "off"),
                scopes=scopes,
                errand=errand,
                told=told,
            )

    async def close(self) -> None:
        """End all browsers."""
        if self._browsers is not None:
            await self._browsers.close()
