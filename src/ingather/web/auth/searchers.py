"""The doorman of the search listener: who searches, as whom, or nobody in particular."""

import hashlib

from starlette.requests import Request

from ingather.web.auth.guard import Guard, Identity, bearer, cookie_name, unauthorized
from ingather.web.auth.people import Holder, People, Person
from ingather.web.auth.proxies import Proxies
from ingather.web.endpoint import Role
from ingather.web.failures import WebError
from ingather.web.fields import single
from ingather.web.workers import Workers

__all__ = ["AS_GROUP_HEADER", "AS_HEADER", "SearcherGuard"]

AS_HEADER = "x-ingather-as"
"""As whom a front end searches; the parameter ``as`` says the same, in an address that logs keep."""
AS_GROUP_HEADER = "x-ingather-as-group"
"""A group of his, beside those that memberships give him; may be sent again, as may ``as-group``."""
_LOOK_S = 10.0
_GROUPS = 1_000
_SEARCHER = frozenset({Role.SEARCHER})


class SearcherGuard(Guard):
    """Before the search listener. In this order: a token, what a believed proxy says, the cookie of a session.

    Whoever shows none of them is anonymous; whoever shows a token that is not in force is refused.
    """

    wanted = "This needs a login."
    hint = "Log in at /login, or send a token as 'Authorization: Bearer TOKEN'."

    def __init__(self, people: People | None, proxies: Proxies, looks: Workers) -> None:
        self.people = people
        self.proxies = proxies
        self._looks = looks

    async def identify(self, request: Request) -> Identity:
        """Say who asks."""
        people = self.people
        if people is None:
            return Identity()
        shown = request.headers.getlist("authorization")
        token = bearer(shown) if shown else None
        if token is not None:
            holder = await self._looks.run(lambda: people.token(token), timeout_s=_LOOK_S)
            if holder is None:
                raise unauthorized("The token is unknown, revoked or expired.", "Ask for a new one.")
            return self._holder(request, people, holder)
        if _names(request):
            raise unauthorized(
                "Searching as somebody needs a token.", "Send it as 'Authorization: Bearer TOKEN'."
            )
        if name := self.proxies.user(request):
            person = people.named(name, self.proxies.groups(request))
            if person is not None:
                return Identity(_SEARCHER, person.name, person.viewer)
        cookie = request.cookies.get(cookie_name(request), "")
        if not cookie:
            return Identity()
        known: Person | None = await self._looks.run(lambda: people.session(cookie), timeout_s=_LOOK_S)
        return Identity() if known is None else Identity(_SEARCHER, known.name, known.viewer, csrf_of(cookie))

    def _holder(self, request: Request, people: People, holder: Holder) -> Identity:
        if not _names(request):
            return Identity(holder.rights, holder.name)
        if not holder.stands_in:
            raise WebError(
                403,
                "forbidden",
                "This token may not search as somebody.",
                hint="Make one with: ingather token add --right search-as",
            )
        said = [single(request, "as"), *map(_utf8, request.headers.getlist(AS_HEADER))]
        names = {name for text in said if (name := text.strip())}
        groups = request.query_params.getlist("as-group")
        groups += [_utf8(value) for value in request.headers.getlist(AS_GROUP_HEADER)]
        person = people.named(names.pop(), groups) if len(names) == 1 and len(groups) <= _GROUPS else None
        if person is None:
            raise WebError(
                400,
                "bad-parameter",
                "It is not clear as whom to search.",
                hint=f"Name one user, and at most {_GROUPS} groups.",
            )
        return Identity(holder.rights, person.name, person.viewer)


def csrf_of(cookie: str) -> str:
    """Return what only the holder of a cookie can say about it."""
    return hashlib.sha256(b"csrf\0" + cookie.encode("utf-8", "surrogatepass")).hexdigest()


def _names(request: Request) -> bool:
    fields = request.headers
    query = request.query_params
    return "as" in query or "as-group" in query or AS_HEADER in fields or AS_GROUP_HEADER in fields


def _utf8(value: str) -> str:
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise WebError(
            400, "bad-parameter", f"The header {AS_HEADER} is not in UTF-8.", hint="Encode it so."
        ) from None
