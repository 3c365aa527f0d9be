"""Both listeners: the search page and its API for everybody, the operator's pages and API for one.

A request's journey: uvicorn reads it under the limits of ``listening``; ``boundary`` refuses what
is too large, too slow or calls us by a foreign name (``ownhosts``), and will put the security headers on the
answer; the path finds its line in the table of ``routes`` (what has none is denied), from which
``applications`` made the application; the doorman of ``auth`` wants the credentials and proofs
that the line's role asks for; the handler (``searchui``, ``console``, ``api``) reads its
parameters (``asking``, ``fields``), runs one callable of its ``parts`` in one of a few threads
(``workers``), and writes JSON or a page (``answers``, ``rendering``, ``assets``). Whatever fails
on the way becomes one error shape (``failures``). ``metering`` counts.

The room knows no concrete class of another: ``app`` hands it callables and values.
"""

from ingather.web.applications import admin_app, search_app
from ingather.web.asking import Paging
from ingather.web.auth import Secret
from ingather.web.boards import Operations
from ingather.web.boundary import RequestLimits
from ingather.web.listening import ConnectionLimits, listener_config
from ingather.web.metering import HttpMetrics
from ingather.web.ownhosts import OwnHosts
from ingather.web.parts import AdminParts, Health, Readiness, SearchParts, WebLimits

__all__ = [
    "AdminParts",
    "ConnectionLimits",
    "Health",
    "HttpMetrics",
    "Operations",
    "OwnHosts",
    "Paging",
    "Readiness",
    "RequestLimits",
    "SearchParts",
    "Secret",
    "WebLimits",
    "admin_app",
    "listener_config",
    "search_app",
]
