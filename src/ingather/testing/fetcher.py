"""A synthetic web without sockets: a fetcher for tests of everything above the network."""

from collections.abc import Callable

from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.fetcher import Fetcher
from ingather.testing.web import Answer, SyntheticWeb

__all__ = ["SyntheticFetcher"]

Override = Answer | FailureKind | Callable[[Request], "Response | Failure | Answer | FailureKind"]


class SyntheticFetcher:
    """Implements :class:`ingather.ports.fetcher.Fetcher` over a :class:`SyntheticWeb`.

    Attributes:
        web: what is answered.
        requests: every request, in order.
        overrides: URL -> answer, failure, or a function that gives one, instead of the web's.
    """

    def __init__(self, web: SyntheticWeb) -> None:
        self.web = web
        self.requests: list[Request] = []
        self.overrides: dict[str, Override] = {}
        self._sites = {origin: n for n, origin in enumerate(web.origins)}

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Answer as the web would, or as an override says; conditional requests give 304."""
        self.requests.append(request)
        got: object = self.overrides.get(request.url)
        if got is not None and not isinstance(got, (Answer, FailureKind)):
            got = got(request) if callable(got) else got
        if isinstance(got, (Response, Failure)):
            return got
        scheme, _, rest = request.url.partition("://")
        host, _, path = rest.partition("/")
        if scheme not in scope.schemes:
            got = FailureKind.EGRESS
        elif got is None:
            site = self._sites.get(f"{scheme}://{host}")
            got = FailureKind.DNS if site is None else self.web.answer(site, f"/{path}")
        if isinstance(got, FailureKind):
            return Failure(request.url, got, f"{got} by the synthetic web")
        assert isinstance(got, Answer)
        return self._respond(request, got)

    async def close(self) -> None:
        """Nothing is open."""

    def _respond(self, request: Request, answer: Answer) -> Response | Failure:
        limit = request.max_decoded_bytes or request.max_wire_bytes
        if limit and len(answer.body) > limit:
            return Failure(request.url, FailureKind.TOO_LARGE, f"more than {limit} bytes")
        have = {name.lower(): value for name, value in answer.headers}
        same = have.get("etag") == request.etag if request.etag else False
        if not request.etag and request.last_modified:
            same = have.get("last-modified") == request.last_modified
        unchanged = answer.status == 200 and same  # noqa: PLR2004 - RFC 9110 section 15.3.1
        body = b"" if unchanged or request.method == "HEAD" else answer.body
        headers = (*answer.headers, ("Content-Length", str(len(answer.body))))
        return Response(
            request.url,
            304 if unchanged else answer.status,
            headers,
            body,
            wire_bytes=len(body),
            address="192.0.2.1",
        )


_fits: type[Fetcher] = SyntheticFetcher
