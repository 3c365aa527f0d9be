"""Under which name the gate is called, and whose page asks: checked before anybody is admitted by address."""

from ingather.web.failures import WebError
from ingather.web.feedgate.head import RequestHead
from ingather.web.feedgate.refusal import RefusedError
from ingather.web.ownhosts import OwnHosts, require_own_page

__all__ = ["require_own_caller"]


def require_own_caller(head: RequestHead, own: OwnHosts, *, secure: bool) -> None:
    """Refuse what calls the gate by a foreign name, and pushes that a page of somebody else sends.

    An empty ``Host`` counts as none: old programs send it, and no browser does.

    Raises:
        RefusedError: 421, or 403; the text is for whoever reads the answer of an old client.
    """
    fields = head.fields
    host = fields.get("host") or None
    try:
        own.require(host)
        require_own_page(head.method, host, fields.get("origin"), fields.get("sec-fetch-site"), secure=secure)
    except WebError as error:
        problem = error.problem
        raise RefusedError(problem.status, f"Error - {problem.message} {problem.hint}") from None
