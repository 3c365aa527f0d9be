"""The doorman: every request passes here with the role that its line in the route table wants."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request

from ingather.web.auth.credentials import TokenGate
from ingather.web.auth.sessions import Session, Sessions
from ingather.web.endpoint import Role
from ingather.web.failures import WebError
from ingather.web.fields import peer, read_fields

__all__ = ["Guard", "Identity"]

_SAFE = frozenset({"GET", "HEAD"})
_OWN = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: *admin*, and the browser's session if one vouches for it."""

    admin: bool = False
    session: Session | None = None


class Guard:
    """Admits or refuses; made once for each listener. Without a gate nobody is admin."""

    def __init__(self, gate: TokenGate | None = None, sessions: Sessions | None = None) -> None:
        self.gate = gate
        self.sessions = sessions

    async def admit(self, request: Request, role: Role) -> Identity:
        """Say who asks, or refuse.

        Raises:
            WebError: 401 no or wrong credentials, 403 a change of state that our own page did not
                send, 429 too many wrong tokens.
        """
        identity = self.identify(request)
        if role is not Role.PUBLIC and not identity.admin:
            raise WebError(
                401,
                "unauthorized",
                "This needs the admin token.",
                hint="Send it as 'Authorization: Bearer TOKEN', or log in with a browser at /.",
                headers={"WWW-Authenticate": 'Bearer realm="ingather"'},
            )
        if request.method not in _SAFE:
            await self._require_intent(request, identity)
        return identity

    def identify(self, request: Request) -> Identity:
        """Say who asks, from the Authorization header alone if there is one, else from the cookie.

        Raises:
            WebError: 429 too many wrong tokens.
        """
        shown = request.headers.getlist("authorization")
        if shown:
            scheme, _, token = shown[0].partition(" ")
            right = (
                self.gate is not None
                and len(shown) == 1
                and scheme.lower() == "bearer"
                and self.gate.check(token.strip(), peer(request))
            )
            return Identity(admin=right)
        if self.sessions is not None:
            session = self.sessions.find(request.cookies.get(cookie_name(request), ""))
            if session is not None:
                return Identity(admin=True, session=session)
        return Identity()

    async def _require_intent(self, request: Request, identity: Identity) -> None:
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site")
        foreign = (origin is not None and not _same_origin(origin, request)) or (
            site is not None and site not in _OWN
        )
        unproved = identity.session is not None and origin is None and site is None
        if foreign or unproved:
            raise WebError(
                403,
                "cross-site",
                "This change was not asked for by a page of this server.",
                hint="Open the page of this server itself and try there.",
            )
        if identity.session is not None:
            token = request.headers.get("x-csrf-token") or (await read_fields(request)).get("csrf", "")
            if not Sessions.proves(identity.session, token):
                raise WebError(
                    403,
                    "csrf",
                    "The page that sent this is out of date.",
                    hint="Reload it and try again.",
                )


def cookie_name(request: Request) -> str:
    """Return the session cookie's name; browsers share cookies among ports, so the port is in it."""
    server = request.scope.get("server")
    return f"ingather-{server[1]}" if server else "ingather"


def _same_origin(origin: str, request: Request) -> bool:
    # Host and port only: behind a proxy that ends TLS the scheme is not ours to know.
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(parts.netloc) and parts.netloc.lower() == request.headers.get("host", "").lower()
