"""Proxies of the environment: ``http_proxy``, ``https_proxy``, ``ftp_proxy``, ``all_proxy`` and ``no_proxy``."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ingather.errors import UnitError
from ingather.fetch.proxies.bypass import Bypass
from ingather.model.proxies import SCHEMES, Proxy, login_of, read_proxy

__all__ = ["Environment", "read_environment"]


class Environment(NamedTuple):
    """What the variables say.

    Attributes:
        proxies: by scheme.
        variables: which one says so, by scheme.
        logins: user and password that stand in it, by scheme.
        bypass: of ``no_proxy``.
        wrong: variables that cannot be read, with the reason.
    """

    proxies: Mapping[str, Proxy]
    variables: Mapping[str, str]
    logins: Mapping[str, tuple[str, str]]
    bypass: Bypass
    wrong: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Environment({dict(self.variables)!r})"


_NOT_BY_ENVIRONMENT: Final = "HTTP_PROXY"
"""A header ``Proxy:`` of a request becomes this variable in CGI programs (CVE-2016-5385): it never counts, as with curl."""


def read_environment(variables: Mapping[str, str]) -> Environment:
    """Return what *variables* say; lower case goes before upper case, a proxy of one scheme before ``all_proxy``."""
    proxies: dict[str, Proxy] = {}
    said: dict[str, str] = {}
    logins: dict[str, tuple[str, str]] = {}
    wrong: dict[str, str] = {}
    for scheme in SCHEMES:
        names = (f"{scheme}_proxy", f"{scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
        name = next(
            (one for one in names if one != _NOT_BY_ENVIRONMENT and variables.get(one, "").strip()), ""
        )
        if not name:
            continue
        try:
            proxies[scheme] = read_proxy(variables[name])
        except UnitError as error:
            wrong[name] = error.text
            continue
        said[scheme] = name
        login = login_of(variables[name])
        if login is not None:
            logins[scheme] = login
    none = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
    return Environment(proxies, said, logins, Bypass(none.replace(",", " ").split(), suffixes=True), wrong)
