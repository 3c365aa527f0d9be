"""WebDAV: folders of an http server are asked for what they hold (PROPFIND, RFC 4918 section 9.1); documents are pages like any other."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ingather.fetch.shares.listing import listing_response
from ingather.fetch.shares.webdav_answer import MultistatusError, read_multistatus
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.fetcher import Fetcher

__all__ = ["DavFetcher"]

_MULTISTATUS: Final = 207
_HEADERS: Final = (("Depth", "1"), ("Content-Type", "application/xml; charset=utf-8"))
_TRUE_OF_GET: Final = frozenset({401, 404, 407, 408, 410, 423, 429})
_NO_DAV: Final = frozenset({405, 501})
_REDIRECTS: Final = range(300, 400)
_SERVER_ERRORS: Final = range(500, 600)
_THREAD_BYTES: Final = 1 << 16
_MOST_ORIGINS: Final = 1024


class DavFetcher:
    """Asks for folders of sources that say so with PROPFIND; implements :class:`ingather.ports.fetcher.Fetcher`.

    A folder that the server does not list is asked for with GET. Redirects, refusals and failures are the answer as they are: they
    would be the same for GET.

    Args:
        http: carries out all requests, with its gate, credentials, proxies and limits; closed with this one.
        is_dav: whether a source's folders are asked so.
    """

    def __init__(self, http: Fetcher, is_dav: Callable[[str], bool]) -> None:
        self._http, self._is_dav = http, is_dav
        self._plain: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*; see the port."""
        path = request.url.partition("?")[0]
        if request.method != "GET" or not path.endswith("/") or not self._is_dav(scope.source):
            return await self._http.fetch(request, scope)
        origin = scope.source, "/".join(path.split("/", 3)[:3])
        if path != request.url or origin in self._plain:
            return await self._http.fetch(request, scope)
        asked = replace(
            request,
            method="PROPFIND",
            etag="",
            last_modified="",
            cut=True,
            headers=(*request.headers, *_HEADERS),
        )
        got = await self._http.fetch(asked, scope)
        if isinstance(got, Failure):
            return got
        if got.status == _MULTISTATUS:
            return await self._listed(request, got)
        if got.status in _NO_DAV:
            self._plain[origin] = None
            if len(self._plain) > _MOST_ORIGINS:
                self._plain.popitem(last=False)
        elif got.status in _TRUE_OF_GET or got.status in _REDIRECTS or got.status in _SERVER_ERRORS:
            return got
        return await self._http.fetch(request, scope)

    async def close(self) -> None:
        """Close the fetcher of http."""
        await self._http.close()

    async def _listed(self, request: Request, got: Response) -> Response | Failure:
        try:
            if len(got.body) < _THREAD_BYTES:
                entries, more = read_multistatus(request.url, got.body, cut=got.cut)
            else:
                entries, more = await asyncio.to_thread(read_multistatus, request.url, got.body, cut=got.cut)
        except MultistatusError as error:
            return Failure(
                request.url, FailureKind.PROTOCOL, f"what the server says of the folder: {error}", got.address, got.elapsed_s
            )  # fmt: skip
        answer = listing_response(
            request, entries, wire_bytes=got.wire_bytes, elapsed_s=got.elapsed_s, address=got.address, authorized=got.authorized
        )  # fmt: skip
        return replace(answer, cut=answer.cut or more)
