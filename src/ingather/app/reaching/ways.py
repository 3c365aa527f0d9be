"""What lies between a source and its hosts, put together for a gatherer: proxies, PAC files, logins."""

from ingather.app.reaching.logins import LoginBook
from ingather.fetch.logins import Guard
from ingather.fetch.proxies.routing import Router
from ingather.model.resource import Failure, Way
from ingather.model.scope import Scope
from ingather.robot.politeness.waygate import WayFinder

__all__ = ["Between"]


class Between:
    """Tells a gatherer what is in the way; implements :class:`ingather.robot.politeness.waygate.WayFinder`.

    Args:
        router: chooses proxies, ``None`` = there are none.
        logins: of the home, ``None`` = there are none.
    """

    def __init__(self, router: Router | None, logins: LoginBook | None) -> None:
        self._router, self._logins = router, logins

    def known(self, url: str, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """Return the names of what lies between as far as they can be told at once, and whether they are all."""
        return ((), True) if self._router is None else self._router.known(url, scope)

    async def find(self, url: str, scope: Scope) -> Way | Failure:
        """Return them all, or why they cannot be told."""
        return Way(()) if self._router is None else await self._router.find(url, scope)

    def held(self, url: str, source: str) -> Failure | None:
        """Return why nobody is asked for *url*: the source's login waits after refusals."""
        guard = self._guard(url, source)
        return None if guard is None else guard.held(url)

    def busy(self, url: str, source: str) -> bool:
        """Whether the source's login is being tried."""
        guard = self._guard(url, source)
        return guard is not None and guard.busy

    def _guard(self, url: str, source: str) -> Guard | None:
        return None if self._logins is None else self._logins.counting(url, source)


def _fits(made: Between) -> WayFinder:
    return made
