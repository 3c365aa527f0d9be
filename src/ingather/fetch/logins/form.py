"""Login by a form of the site: fill it in, keep the cookies, notice when the session has ended, and never ask for what ends it.

The form is got anew for each login, with what stands in its hidden fields. What is filled in goes by POST to the origin of the form alone. A
session that ends is renewed by one request while others wait.
"""

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

import re2
from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.cookies import sending
from ingather.fetch.logins.formpage import PageForm, forms_of
from ingather.fetch.logins.jar import Jar
from ingather.fetch.logins.port import LoginError
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock

__all__ = ["LOGOUT", "Form", "FormLogin"]

LOGOUT: Final = re.compile(r"(?i)(?:^|[/?&=._-])(?:log|sign)[-_]?(?:out|off)(?:$|[/?&=._#;-])")
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD: Final = frozenset({307, 308})
_REFUSALS: Final = frozenset({401, 403})
_UNAUTHORIZED: Final = 401
_ERROR: Final = 400
_HOPS: Final = 8
_LONGEST: Final = 1 << 20
_LOOKED_AT: Final = 256 * 1024
_APART_S: Final = 60.0
_MOST_LEARNED: Final = 1_000
_TYPE: Final = b"Content-Type: application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class FormLogin:
    """What is known of a form; patterns are looked for, ``""`` = none.

    Attributes:
        url: beginning of the URLs that the session is for.
        page: address of the form.
        values: field to what is filled in; secrets among them.
        success_cookie, success_url, success_pattern: by what a good login is known; none = by not being shown the form again.
        ended_url, ended_pattern: by what the end of a session is known, beside a redirect to the form, the form in a page's place, and a status of 401.
        logout: addresses that end the session.
    """

    url: str
    page: str
    values: tuple[tuple[str, str], ...] = field(repr=False)
    success_cookie: str = ""
    success_url: str = ""
    success_pattern: str = ""
    ended_url: str = ""
    ended_pattern: str = ""
    logout: str = ""


class Form:
    """Keeps one session.

    Args:
        login: what is known of the form.
        clock: the time.
    """

    def __init__(self, login: FormLogin, clock: Clock) -> None:
        self._login, self._clock = login, clock
        self._origin = _origin(login.page)
        self._jar = Jar()
        self._lock = asyncio.Lock()
        self._session = 0
        self._alive = False
        self._since_s = float("-inf")
        self._own: set[str] = set()
        self._learned: set[str] = set()
        self._fields = frozenset(name for name, _ in login.values)
        self._form_tells = False
        self._ended_url = _compiled(login.ended_url) if login.ended_url else None
        self._ended_pattern = _compiled(login.ended_pattern) if login.ended_pattern else None
        self._logout = _compiled(login.logout) if login.logout else None

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask within the session; one that has ended is renewed once.

        Raises:
            LoginError: there is no session, or the address ends it.
        """
        self._refuse_logout(request.url)
        session = await self._begun(0, scope, send)
        answer, over, removed = await self._asked(request, scope, send)
        if not over:
            return answer
        if not removed and self._clock.monotonic() - self._since_s < _APART_S:
            raise LoginError("the host asks to log in for this page, right after it has let us in")
        await self._begun(session, scope, send)
        answer, over, removed = await self._asked(request, scope, send)
        if not over:
            return answer
        if len(self._learned) < _MOST_LEARNED:
            self._learned.add(request.url)
        if removed:
            self._alive = False
        raise LoginError("this address ends the session: it is not asked for again")

    def _refuse_logout(self, url: str) -> None:
        parts = urlsplit(url)
        text = f"{parts.path}?{parts.query}" if parts.query else parts.path
        if (
            url in self._learned
            or LOGOUT.search(text)
            or (self._logout is not None and self._logout.search(url))
        ):
            raise LoginError("this address ends the session: it is not asked for")

    async def _asked(
        self, request: Request, scope: Scope, send: Send
    ) -> tuple[Response | Failure, bool, bool]:
        """Return the answer, whether the session is over, and whether the answer took its cookies away."""
        answer = await sending(send, self._jar, self._clock.wall)(request, scope, Dress())
        # Nothing else ran since the answer's cookies were taken: what is gone, this answer took.
        removed = self._alive and bool(self._own - self._jar.names(self._login.url, self._clock.wall()))
        return answer, removed or self._ended(request, answer), removed

    def _ended(self, request: Request, answer: Response | Failure) -> bool:
        if isinstance(answer, Failure):
            return False
        if answer.status == _UNAUTHORIZED:
            return True
        if answer.status in _REDIRECTS:
            to = _joined(request.url, answer.header("location"))
            page = self._login.page.partition("?")[0]
            return to.partition("?")[0] == page or (
                self._ended_url is not None and self._ended_url.search(to) is not None
            )
        if self._ended_pattern is not None and _has(self._ended_pattern, answer.body):
            return True
        return self._form_tells and self._shows_form(answer)

    def _shows_form(self, answer: Response) -> bool:
        body = answer.body[:_LOOKED_AT]
        return all(name.encode() in body for name in self._fields) and self._form(answer) is not None

    async def _begun(self, over: int, scope: Scope, send: Send) -> int:
        """Return the number of a session other than *over*; it is begun by whoever comes first."""
        async with self._lock:
            if not self._alive or self._session == over:
                self._alive = False
                self._jar.clear()
                await self._log_in(scope, sending(send, self._jar, self._clock.wall))
                self._own = self._jar.names(self._login.url, self._clock.wall())
                self._since_s = self._clock.monotonic()
                self._session += 1
                self._alive = True
            return self._session

    async def _log_in(self, scope: Scope, send: Send) -> None:
        login = self._login
        own = scope.narrow or scope
        around = replace(own, hosts=(*own.hosts, urlsplit(login.page).hostname or ""))
        url, page = await self._followed(login.page, None, around, send)
        form = self._form(page)
        if form is None:
            raise LoginError("the page has no form with the fields that are to be filled in")
        if form.method != "post":
            raise LoginError("the form is sent by GET: a secret would stand in an address")
        to = _joined(url, form.action) if form.action else url
        if _origin(to) != self._origin or _origin(url) != self._origin:
            raise LoginError("the form would be sent to another origin than its own")
        filled = dict(login.values)
        sent = [(name, filled.pop(name, value)) for name, value in form.fields]
        sent += filled.items()
        url, page = await self._followed(to, urlencode(sent).encode(), around, send)
        if not self._succeeded(url, page):
            raise LoginError("the form was filled in, and the host did not let us in", refused=True)
        self._form_tells = not self._shows_form(page)  # some sites show it on every page

    def _form(self, page: Response) -> PageForm | None:
        return next((one for one in forms_of(page.body) if self._fields <= one.names), None)

    def _succeeded(self, url: str, page: Response) -> bool:
        login = self._login
        told = login.success_cookie or login.success_url or login.success_pattern
        if login.success_cookie and login.success_cookie not in self._jar.names(
            login.url, self._clock.wall()
        ):
            return False
        if login.success_url and not _compiled(login.success_url).search(url):
            return False
        if login.success_pattern and not _has(_compiled(login.success_pattern), page.body):
            return False
        return bool(told) or (page.status < _ERROR and len(self._jar) > 0 and self._form(page) is None)

    async def _followed(self, url: str, body: bytes | None, scope: Scope, send: Send) -> tuple[str, Response]:
        """Ask for *url* and where it leads; what is filled in goes to no other origin."""
        for _ in range(_HOPS):
            headers = (_TYPE,) if body is not None else ()
            request = Request(url, max_wire_bytes=_LONGEST, max_decoded_bytes=_LONGEST)
            answer = await send(request, scope, Dress(headers, body))
            if isinstance(answer, Failure):
                raise LoginError(f"the login page: {answer.kind}: {answer.detail}")
            if answer.status not in _REDIRECTS or not answer.header("location"):
                if answer.status >= _ERROR and answer.status not in _REFUSALS:
                    raise LoginError(f"the login page: HTTP {answer.status}")
                return url, answer
            url = _joined(url, answer.header("location")).partition("#")[0]
            if not url.startswith(("http://", "https://")):
                raise LoginError("the login leads to an address that is none of http")
            if answer.status not in _KEEPS_METHOD:
                body = None
            elif body is not None and _origin(url) != self._origin:
                raise LoginError("the form would be sent to another origin than its own")
        raise LoginError(f"the login leads through more than {_HOPS} redirects")


def _compiled(pattern: str) -> "re2._Regexp[str]":
    """Compile as the settings do: a dot stands for line ends too."""
    chosen = re2.Options()
    chosen.dot_nl = True
    chosen.log_errors = False
    return re2.compile(pattern, chosen)


def _joined(base: str, to: str) -> str:
    """Return where *to* leads, ``""`` if it is no address."""
    try:
        return urljoin(base, to)
    except ValueError:
        return ""


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"


def _has(pattern: "re2._Regexp[str]", body: bytes) -> bool:
    return pattern.search(body[:_LOOKED_AT].decode("utf-8", "replace")) is not None
