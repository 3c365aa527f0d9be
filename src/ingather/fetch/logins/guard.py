"""What stands before a login: after refusals it waits, and is suspended before an account would be locked."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import Closed, Ledger, Login, LoginError
from ingather.log import get
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

__all__ = ["Guard"]

_UNAUTHORIZED: Final = 401
_MORE: Final = 300
_SERVER_ERROR: Final = 500
_PAUSE_S: Final = 0.2
_LONGEST: Final = 600
_log = get("fetch")


class Guard:
    """Lets requests through to *login* as long as hosts take it. A page that is not asked for is a failure of kind ``auth``.

    Until a host has taken it, one request at a time goes out, so that a wrong password is shown as few times as were allowed. A page that
    is given without the login as well proves nothing of it: after a refusal it is asked for once more, without.
    robots.txt is asked for without the login where that fails: it is for all sources.

    Args:
        name: of the credential.
        login: what is guarded.
        ledger: keeps count, for all processes.
    """

    def __init__(self, name: str, login: Login, ledger: Ledger) -> None:
        self._name, self._login, self._ledger = name, login, ledger
        self._proven = self._was_good = False
        self._lock = asyncio.Lock()

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask, if it may be tried."""
        answer: Response | Failure
        try:
            answer = await self._guarded(request, scope, send)
        except Exception as error:  # noqa: BLE001 - of a host's making, or the disk is full: it is this login's trouble alone
            # Words of an error may quote what was sent.
            why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            _log.error("a login failed by an error", credential=self._name, error=why)
            answer = self._failure(request, f"the login failed by an error: {why}")
        refused = isinstance(answer, Failure) and answer.kind is FailureKind.AUTH
        if refused and urlsplit(request.url).path == "/robots.txt":
            return await send(request, scope, Dress(private=False))
        return answer

    def held(self, url: str) -> Failure | None:
        """Return what :meth:`ask` would say of *url* without asking anybody, ``None`` = it asks."""
        closed = self._ledger.closed(eager=self._proven or self._was_good)
        if closed is None or urlsplit(url).path == "/robots.txt":
            return None
        return self._failure(Request(url), closed.text, closed.wait_s)

    @property
    def busy(self) -> bool:
        """Whether it is being tried, here or elsewhere: who asks now would wait for that."""
        return not self._proven and (self._lock.locked() or self._ledger.tried())

    async def _guarded(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        if self._proven:
            closed = self._ledger.closed()
            if closed is not None:
                return self._failure(request, closed.text, closed.wait_s)
            return await self._tried(request, scope, send, counted=False)
        async with self._lock:
            if self._proven:
                return await self._tried(request, scope, send, counted=False)
            state: Closed | bool = False
            for _ in range(_LONGEST):
                state = self._ledger.begin(eager=self._was_good)
                if state is not False:
                    break
                await asyncio.sleep(_PAUSE_S)
            if isinstance(state, Closed):
                return self._failure(request, state.text, state.wait_s)
            if state is False:
                return self._failure(request, "another process is trying it")
            return await self._tried(request, scope, send, counted=True)

    async def _tried(
        self, request: Request, scope: Scope, send: Send, *, counted: bool
    ) -> Response | Failure:
        answer: Response | Failure
        try:
            answer = await self._login.ask(request, scope, send)
            error = _refusal(answer)
        except LoginError as caught:
            error = caught
        except BaseException:
            if counted:
                self._ledger.ended(refused=False)
            raise
        if error is not None:
            if error.refused:
                self._proven = False
            if error.refused or counted:
                self._ledger.ended(refused=error.refused, text=error.text)
            return self._failure(request, error.text, status=_UNAUTHORIZED if error.refused else 0)
        if counted:
            await self._judge(request, scope, send, answer)
        return answer

    async def _judge(self, request: Request, scope: Scope, send: Send, answer: Response | Failure) -> None:
        """Say whether a good answer proves the login: after refusals only one that is not given without it."""
        good = isinstance(answer, Response) and answer.authorized and answer.status < _SERVER_ERROR
        try:
            if good and self._ledger.doubted():
                plain = await send(request, scope, Dress(private=False))
                good = isinstance(plain, Response) and _MORE <= plain.status < _SERVER_ERROR
        except BaseException:
            self._ledger.ended(refused=False)
            raise
        if good:
            self._proven = self._was_good = True
            self._ledger.succeeded()
        else:
            self._ledger.ended(refused=False)

    def _failure(
        self, request: Request, text: str, wait_s: float | None = None, *, status: int = 0
    ) -> Failure:
        detail = f"credential {self._name}: {text}"
        return Failure(request.url, FailureKind.AUTH, detail, retry_after_s=wait_s, status=status)


def _refusal(answer: Response | Failure) -> LoginError | None:
    if isinstance(answer, Response) and answer.status == _UNAUTHORIZED:
        return LoginError("the host refused it (HTTP 401)", refused=True)
    return None
