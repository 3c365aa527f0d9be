"""Logins: how a request shows a host who asks.

Each kind is a file and one class that carries out a fetch (:class:`ingather.fetch.logins.port.Login`): it dresses a request, sends it as often as
its scheme wants, looks at the answer. ``basic``, ``digest``, ``bearer`` and ``oauth2`` send a header; ``certificate`` and ``ntlm`` have connections of
their own, because there a connection is what is logged in; ``negotiate`` gets Kerberos tickets from a helper process (``http_tickets``); ``form``
fills in a page and keeps the cookies (``jar``, ``cookies``). ``guard`` stands before each: it lets a login that a host refused be tried no
more than a few times.

A login belongs to a beginning of URLs within one origin; whoever picks one for a URL is ``app``. Secrets come in as values,
and no ``repr`` or message shows one. ``Ntlm`` stays in its file: who logs in otherwise need not load its messages.
"""

from ingather.fetch.logins.basic import Basic, WhenAsked
from ingather.fetch.logins.bearer import Bearer
from ingather.fetch.logins.certificate import Certificate
from ingather.fetch.logins.cookies import WithCookies
from ingather.fetch.logins.digest import Digest
from ingather.fetch.logins.form import Form, FormLogin
from ingather.fetch.logins.guard import Guard
from ingather.fetch.logins.jar import Jar
from ingather.fetch.logins.negotiate import Negotiate
from ingather.fetch.logins.oauth2 import OAuth2
from ingather.fetch.logins.port import Closed, Ledger, Login, LoginError

__all__ = [
    "Basic", "Bearer", "Certificate", "Closed", "Digest", "Form", "FormLogin", "Guard", "Jar", "Ledger", "Login", "LoginError", "Negotiate", "OAuth2", "WhenAsked", "WithCookies",
]  # fmt: skip
