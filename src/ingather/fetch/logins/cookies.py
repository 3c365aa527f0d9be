"""Cookies go along with whatever else does: a jar around a login, or around none."""

from collections.abc import Callable
from dataclasses import replace

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.jar import Jar
from ingather.fetch.logins.port import Login
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["WithCookies", "sending"]


def sending(send: Send, jar: Jar, wall: Callable[[], float], *, shared: bool = False) -> Send:
    """Return *send* with the cookies of *jar*, which takes those of the answers.

    A session can stand in a cookie that a login brought: so what goes along with the cookies of a login is not for everybody, and a *shared* jar
    (a source's, of requests without a login) neither gets them nor goes along with a login.
    """

    async def sent(request: Request, scope: Scope, dress: Dress) -> Response | Failure:
        if shared and dress.private:
            return await send(request, scope, dress)
        line = jar.header(request.url, wall())
        worn = (
            dress
            if line is None
            else replace(dress, headers=(*dress.headers, line), private=dress.private or not shared)
        )
        answer = await send(request, scope, worn)
        dress.opened, dress.peer = worn.opened, worn.peer
        for name, value in answer.headers:
            if len(name) == 10 and name.lower() == "set-cookie":  # noqa: PLR2004 - its length
                jar.take(request.url, value, wall())
        return answer

    return sent


class WithCookies:
    """Cookies, around *login* where the URL has one.

    Args:
        jar: the login's own; without a login the source's.
        login: ``None`` = nothing but cookies; then the answer is as much for everybody as without them.
        wall: the time of day.
        shared: the jar is the source's although there is a login: only what it asks for without showing itself has its cookies.
    """

    def __init__(
        self, jar: Jar, login: Login | None, wall: Callable[[], float], *, shared: bool = False
    ) -> None:
        self._jar, self._login, self._wall = jar, login, wall
        self._shared = shared or login is None

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with the cookies that belong to the URL."""
        sent = sending(send, self._jar, self._wall, shared=self._shared)
        if self._login is None:
            return await sent(request, scope, Dress(private=False))
        return await self._login.ask(request, scope, sent)
