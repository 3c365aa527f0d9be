"""What stands before a login: after refusals it waits, and is suspended before an account would be locked."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import Closed, Ledger, Login, LoginError
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

__all__ = ["Guard"]

_UNAUTHORIZED: Final = 401
_PAUSE_S: Final = 0.2
_LONGEST: Final = 600


class Guard:
    """Lets requests through to *login* as long as hosts take it. A page that is not asked for is a failure of kind ``auth``.

    Until a host has taken it, one request at a time goes out, so that a wrong password is shown as few times as were allowed.
    robots.txt is asked for without the login where that fails: it is for all sources.

    Args:
        name: of the credential.
        login: what is guarded.
        ledger: keeps count, for all processes.
    """

    def __init__(self, name: str, login: Login, ledger: Ledger) -> None:
        self._name, self._login, self._ledger = name, login, ledger
        self._proven = False
        self._lock = asyncio.Lock()

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask, if it may be tried."""
        answer = await self._guarded(request, scope, send)
        refused = isinstance(answer, Failure) and answer.kind is FailureKind.AUTH
        if refused and urlsplit(request.url).path == "/robots.txt":
            return await send(request, scope, Dress(private=False))
        return answer

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
                state = self._ledger.begin()
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
        refused, text = False, ""
        answer: Response | Failure
        try:
            answer = await self._login.ask(request, scope, send)
            if isinstance(answer, Response) and answer.status == _UNAUTHORIZED:
                refused, text = True, "the host refused it (HTTP 401)"
                answer = self._failure(request, text, status=_UNAUTHORIZED, elapsed_s=answer.elapsed_s)
        except LoginError as error:
            refused, text = error.refused, error.text
            answer = self._failure(request, text, status=_UNAUTHORIZED if refused else 0)
        except BaseException:
            if counted:
                self._ledger.ended(refused=False)
            raise
        if isinstance(answer, Response) and answer.authorized:
            self._proven = True
            if counted:
                self._ledger.succeeded()
        elif refused:
            self._proven = False
            self._ledger.ended(refused=True, text=text)
        elif counted:
            self._ledger.ended(refused=False, text=text)
        return answer

    def _failure(
        self,
        request: Request,
        text: str,
        wait_s: float | None = None,
        *,
        status: int = 0,
        elapsed_s: float = 0.0,
    ) -> Failure:
        detail = f"credential {self._name}: {text}"
        return Failure(
            request.url, FailureKind.AUTH, detail, elapsed_s=elapsed_s, retry_after_s=wait_s, status=status
        )
