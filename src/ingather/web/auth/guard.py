"""The doormen: every request passes one with the role that its line in the route table wants."""

import hashlib
import hmac
from abc import ABC, abstractmethod
from dataclasses import dataclass

from starlette.requests import Request

from ingather.model.viewer import NOBODY_KNOWN, Viewer
from ingather.web.auth.credentials import TokenGate
from ingather.web.auth.people import People
from ingather.web.auth.sessions import Session, Sessions
from ingather.web.endpoint import Role
from ingather.web.failures import WebError
from ingather.web.fields import peer, read_fields
from ingather.web.ownhosts import require_own_page
from ingather.web.workers import Workers

__all__ = ["EVERY_RIGHT", "TOKEN_PREFIX", "Guard", "Identity", "OperatorGuard", "bearer", "cookie_name"]

_SAFE = frozenset({"GET", "HEAD"})
_LOOK_S = 10.0
TOKEN_PREFIX = "igt_"  # noqa: S105 - not a secret
"""With what every API token begins, so that people and scanners know one when they see it."""
EVERY_RIGHT = frozenset({Role.SEARCHER, Role.FEEDER, Role.ADMINISTRATOR})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks.

    Attributes:
        rights: the roles that he has beside ``ANONYMOUS``.
        name: of the user or token, ``""`` = unknown.
        viewer: as whom he searches.
        csrf: what a change of state must bring along when a cookie vouches, ``""`` = none does.
        session: the operator's browser, on the admin listener.
    """

    rights: frozenset[Role] = frozenset()
    name: str = ""
    viewer: Viewer = NOBODY_KNOWN
    csrf: str = ""
    session: Session | None = None

    def may(self, role: Role) -> bool:
        """Whether a line of the route table with *role* is open to him."""
        return role is Role.ANONYMOUS or role in self.rights


class Guard(ABC):
    """Admits or refuses; made once for each listener."""

    wanted = "This needs credentials."
    hint = ""

    async def admit(self, request: Request, role: Role) -> Identity:
        """Say who asks, or refuse.

        Raises:
            WebError: 401 no or wrong credentials, 403 not for this one, or a change of state that our own
                page did not send, 429 too many wrong tokens, 503 it cannot be known now.
        """
        identity = await self.identify(request)
        if not identity.may(role):
            if identity.rights:
                raise WebError(
                    403, "forbidden", "That is not among your rights.", hint=f"It needs the role {role}."
                )
            raise unauthorized(self.wanted, self.hint)
        if request.method not in _SAFE:
            await _require_intent(request, identity)
        return identity

    @abstractmethod
    async def identify(self, request: Request) -> Identity:
        """Say who asks; whoever shows nothing is anonymous.

        Raises:
            WebError: as :meth:`admit`.
        """


class OperatorGuard(Guard):
    """Before the admin listener: the admin token, the session that it began, and tokens of programs.

    Users of the search page are nobody here.
    """

    wanted = "This needs the admin token."
    hint = "Send it as 'Authorization: Bearer TOKEN', or log in with a browser at /."

    def __init__(
        self, gate: TokenGate, sessions: Sessions, people: People | None = None, looks: Workers | None = None
    ) -> None:
        self.gate = gate
        self.sessions = sessions
        self._people = people
        self._looks = looks

    async def identify(self, request: Request) -> Identity:
        """Say who asks, from the Authorization header alone if there is one, else from the cookie."""
        shown = request.headers.getlist("authorization")
        if shown:
            token = bearer(shown)
            if token is None:
                return Identity()
            people, looks = self._people, self._looks
            if token.startswith(TOKEN_PREFIX) and people is not None and looks is not None:
                holder = await looks.run(lambda: people.token(token), timeout_s=_LOOK_S)
                rights = frozenset() if holder is None else holder.rights
                if Role.ADMINISTRATOR in rights:
                    rights = EVERY_RIGHT
                return Identity(rights, "" if holder is None else holder.name)
            right = await self.gate.check(token, peer(request))
            return Identity(EVERY_RIGHT if right else frozenset(), "admin" if right else "")
        session = self.sessions.find(request.cookies.get(cookie_name(request), ""))
        if session is None:
            return Identity()
        return Identity(EVERY_RIGHT, "admin", csrf=session.csrf, session=session)


def bearer(shown: list[str]) -> str | None:
    """Return the token of the Authorization headers; ``None`` if they are several or of another scheme."""
    scheme, _, token = shown[0].partition(" ")
    return token.strip() if len(shown) == 1 and scheme.lower() == "bearer" else None


def unauthorized(message: str, hint: str) -> WebError:
    """Return the refusal of somebody who did not show who he is."""
    return WebError(
        401, "unauthorized", message, hint=hint, headers={"WWW-Authenticate": 'Bearer realm="ingather"'}
    )


def cookie_name(request: Request) -> str:
    """Return the session cookie's name; browsers share cookies among ports, so the port is in it."""
    server = request.scope.get("server")
    return f"ingather-{server[1]}" if server else "ingather"


async def _require_intent(request: Request, identity: Identity) -> None:
    origin, site = _field(request, "origin"), _field(request, "sec-fetch-site")
    if identity.csrf and origin is None and site is None:
        raise WebError(
            403,
            "cross-site",
            "It is not known whose page asked for this change.",
            hint="Use a browser that sends Origin, or a token instead of a session.",
        )
    secure = request.url.scheme == "https"
    require_own_page(request.method, _field(request, "host"), origin, site, secure=secure)
    if identity.csrf:
        token = request.headers.get("x-csrf-token") or (await read_fields(request)).get("csrf", "")
        if not hmac.compare_digest(_digest(token), _digest(identity.csrf)):
            raise WebError(
                403,
                "csrf",
                "The page that sent this is out of date.",
                hint="Reload it and try again.",
            )


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _field(request: Request, name: str) -> str | None:
    values = request.headers.getlist(name)
    return ", ".join(values) if values else None
