"""The one thing to do about a URL that waits because nobody has admitted its address (state ``needs-scope``), or whose host wants a login.

Source: the refusals of :mod:`ingather.fetch.egress`, as they stand in a URL's last visit. Link-local addresses, those of clouds'
metadata and our own listeners are never fetched from, whoever is trusted.
"""

import re
from collections.abc import Mapping
from typing import Final

from ingather.model.lifecycle import Outcome
from ingather.model.urlparts import split

__all__ = ["admitted_by", "login_wanted"]

_MARK: Final = "refused-address: "
_NOT_NAMED: Final = re.compile(
    r"(?:^|: )([0-9A-Fa-f.:]+)(?: \(leads to \S+\))? is an? .* address that the source does not name$"
)
_UNAUTHORIZED: Final = 401
_KINDS: Final[Mapping[str, str]] = {
    "httpbasic": "basic", "ntlm": "ntlm", "negotiate": "negotiate", "httpsso": "form",
}  # fmt: skip
"""authmethod of a record to the kind of login that an appliance had for it."""
_PORT: Final = re.compile(r"does not allow port ([0-9]+)( of \S+)?$")


def admitted_by(detail: str, source: str, *, declared: bool) -> str:
    """Return what admits a URL whose last visit ended with *detail*: a command, a setting, or that nothing does.

    Args:
        detail: of the visit, with ``refused-address``.
        source: whose the URL is.
        declared: the addresses of its section in ``ingather.toml`` count alone: it names some, or it is crawled.
    """
    why = detail.partition(_MARK)[2] or detail
    found = _NOT_NAMED.search(why)
    if found is not None and declared:
        return f'{why}; name it in [source.{source}]: addresses = ["{found[1]}"]'
    if found is not None:
        return f"{why}; admit it with: ingather feed fetch-from {found[1]}"
    port = _PORT.search(why)
    if port is not None:
        where = "feeds.fetch-ports" if port[2] else f"ports of [source.{source}]"
        return f"{why}; add {port[1]} to {where}"
    return f"{why}; it is never fetched"


def login_wanted(url: str, source: str, authmethod: str, outcome: Outcome | None, status: int | None) -> str:
    """Return which settings give a login to a URL that was asked for without one, ``""`` if its visit did not end for want of one.

    Args:
        url: the URL.
        source: whose it is.
        authmethod: of its record, in lower case; ``""`` = it has none.
        outcome: of its last visit. A login that failed is none of 401, and tells of itself.
        status: of its last visit.
    """
    sent_away = outcome is Outcome.REDIRECTED and authmethod == "httpsso"
    if not sent_away and not (outcome is Outcome.REFUSED and status == _UNAUTHORIZED):
        return ""
    kind = _KINDS.get(authmethod)
    said = f'kind = "{kind}"' if kind else "the kind of login that the host asks for"
    because = f" (authmethod {authmethod})" if kind else ""
    why = "if that is a page to log in at: it" if sent_away else "it"
    return (
        f'{why} was asked for without a login; write [credential.NAME] with {said}{because}, url = "{split(url).origin}/" '
        f'and the account, and credentials = ["NAME"] in [source.{source}]'
    )
