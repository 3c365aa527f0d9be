"""FTP through HTTP proxies: the proxy speaks FTP to the host and HTTP to us."""

from collections.abc import Mapping
from dataclasses import replace

from ingather.errors import ProxyError, UrlError
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.routing import Router, pac_failed
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.fetcher import Fetcher

__all__ = ["FtpByWay", "over_proxies"]


def over_proxies(made: Mapping[str, Fetcher], http: Fetcher, router: Router | None) -> dict[str, Fetcher]:
    """Return *made* with ``ftp`` going through proxies where *router* says so."""
    if router is None or "ftp" not in made:
        return dict(made)
    return {**made, "ftp": FtpByWay(made["ftp"], http, router)}


class FtpByWay:
    """Asks for ftp URLs directly or through an HTTP proxy; implements :class:`ingather.ports.fetcher.Fetcher`.

    Args:
        direct: speaks FTP.
        http: speaks HTTP, to the proxy; closed by whoever made it.
        router: chooses.
    """

    def __init__(self, direct: Fetcher, http: Fetcher, router: Router) -> None:
        self._direct, self._http, self._router = direct, http, router

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*."""
        try:
            parts = split(request.url)
        except UrlError as error:
            return Failure(request.url, FailureKind.PROTOCOL, error.text)
        target = Target(request.url, "ftp", parts.host, parts.port)
        try:
            choice = await self._router.choose(target, scope)
        except ProxyError as error:
            rule = self._router.rules.find(scope.source)
            way = None if rule is None else pac_failed(rule, target, error)
            return Failure(request.url, FailureKind.PROXY, error.text, way=way)
        if choice.ways[0] is None:
            return await self._direct.fetch(request, scope)
        answer = await self._http.fetch(request, scope)
        if (
            isinstance(answer, Response)
            and request.url.endswith("/")
            and "html" in answer.header("content-type")
        ):
            return replace(answer, listing=True)  # the proxy's page of what is in the folder
        return answer

    async def close(self) -> None:
        """Close what speaks FTP."""
        await self._direct.close()


def _fits(made: FtpByWay) -> Fetcher:
    return made
