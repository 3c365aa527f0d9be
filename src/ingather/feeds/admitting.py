"""URLs that wait because nobody has admitted their address (state ``needs-scope``): the one thing to do about each.

Source: the refusals of :mod:`ingather.fetch.egress`, as they stand in a URL's last visit. Link-local addresses, those of clouds'
metadata and our own listeners are never fetched from, whoever is trusted.
"""

import re
from typing import Final

__all__ = ["admitted_by"]

_MARK: Final = "refused-address: "
_NOT_NAMED: Final = re.compile(
    r"(?:^|: )([0-9A-Fa-f.:]+)(?: \(leads to \S+\))? is an? .* address that the source does not name$"
)
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
