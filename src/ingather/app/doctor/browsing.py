"""The browser for pages made by scripts: is there one, does it start, how far is it locked in."""

import asyncio
import os
from collections.abc import Iterator, Mapping

from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.rendering.browser import Browsers
from ingather.app.rendering.finding import find
from ingather.app.rendering.locking import LOCKS
from ingather.app.rendering.setup import browsers_of, wanted
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.ports.clock import Clock

__all__ = ["check_browser"]

_SAFE = "run Ingather as a user of its own, and leave javascript.unsafe off"


def check_browser(settings: Settings, sources: Mapping[str, SourceConf], clock: Clock) -> Iterator[Finding]:
    """Start the browser, have it read one page of our own, and end it; nothing of it where no source wants its pages rendered."""
    modes = wanted(sources)
    if not modes:
        yield fine("browser", "no source wants its pages rendered")
        return
    asking = ", ".join(sorted(modes))
    found = find(settings.text("javascript.browser"), as_root=settings.flag("javascript.unsafe"))
    if found.trouble:
        yield error("browser", f"pages of {asking} are read without their scripts: {found.trouble}", found.do)
        return
    browsers = browsers_of(settings, clock=clock, agent="Ingather", home=None)
    trouble = asyncio.run(_tried(browsers))
    if trouble:
        yield error(
            "browser",
            f"pages of {asking} are read without their scripts: {trouble}",
            "start the browser by hand as the user of Ingather and look at what it says",
        )
        return
    if os.geteuid() == 0 and found.uid is None:
        yield warning("browser", f"{browsers.product} runs as root and without its sandbox", _SAFE)
    expected = LOCKS if os.geteuid() == 0 else [lock for lock in LOCKS if lock != "other-user"]
    missing = [lock for lock in expected if lock not in browsers.measures]
    if missing:
        yield warning(
            "browser",
            f"{browsers.product} starts; the kernel does not give it: {', '.join(missing)}",
            "allow user name spaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)",
        )
    yield fine("browser", f"{browsers.product}, for {asking}; locked in by {', '.join(browsers.measures)}")


async def _tried(browsers: Browsers) -> str:
    try:
        return await browsers.trial()
    finally:
        await browsers.close()
