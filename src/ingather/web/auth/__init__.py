"""Who may: tokens, sessions of browsers, what proxies say, and the proof that a request was meant.

A request comes to its listener's doorman with the role that the route table wants. Before the admin listener
(``guard``) a program shows the admin token or a token with rights as ``Authorization: Bearer``; a browser logs in
with the admin token once (``credentials`` compares, and slows guessing down without locking the right one out) and gets a session (``sessions``).
Before the search listener (``searchers``) people log in with name and password (``throttle`` slows guessing down),
or at an identity provider, or a proxy that is believed says who they are (``proxies``), or a front end with a token says as whom it searches;
everybody else is anonymous. ``people`` says what is asked of the catalog for that.

Cookies are of a kind that no other site's page can send along with a change. Whatever changes state must come from
our own page (Origin and Fetch Metadata) and, when a cookie vouches for it, carry the session's own secret as well.
"""

from ingather.web.auth.credentials import Secret, TokenGate
from ingather.web.auth.guard import TOKEN_PREFIX, Guard, Identity, OperatorGuard
from ingather.web.auth.people import Holder, People, Person, SignOn, Vouched
from ingather.web.auth.proxies import Proxies
from ingather.web.auth.searchers import SearcherGuard
from ingather.web.auth.sessions import Session, Sessions
from ingather.web.auth.throttle import LoginLimits, Throttle

__all__ = [
    "TOKEN_PREFIX",
    "Guard",
    "Holder",
    "Identity",
    "LoginLimits",
    "OperatorGuard",
    "People",
    "Person",
    "Proxies",
    "SearcherGuard",
    "Secret",
    "Session",
    "Sessions",
    "SignOn",
    "Throttle",
    "TokenGate",
    "Vouched",
]
