"""Why two hosts must not become one: what is seen by others, what is fetched with credentials, and chains of aliases. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ingather.errors import UrlError
from ingather.model.alias import AliasState, HostAlias
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["Side", "authority_of", "chain_refusal", "refusal"]


class Side(NamedTuple):
    """What is known of one of two hosts.

    Attributes:
        name: as in URLs.
        audiences: (access, who sees documents without an ACL) of the sources of its documents, or of its site's.
        documents: how many are described.
        own_rights: how many of them have rights of their own.
        policy: for sampled paths, in their order, what policy rules say.
        credentials: beginnings of URLs on it that credentials are for.
    """

    name: str
    audiences: frozenset[tuple[str, tuple[str, ...]]]
    documents: int = 0
    own_rights: int = 0
    policy: tuple[object, ...] = ()
    credentials: tuple[str, ...] = ()


def authority_of(text: str) -> str:
    """Return a host as it stands in URLs: ``name``, or ``name:port`` for a port that is no scheme's own; ``""`` = it is none."""
    try:
        parts = split(canonical(text if "://" in text else f"http://{text}/"))
    except UrlError:
        return ""
    if parts.path != "/" or parts.scheme not in {"http", "https"}:
        return ""
    return parts.host if parts.port in {80, 443} else f"{parts.host}:{parts.port}"


def refusal(alias: Side, host: Side) -> str:
    """Say why *alias* must not get the keys of *host*, ``""`` = it may."""
    if alias.audiences != host.audiences or len(host.audiences) > 1:
        told = " and ".join(f"{side.name}: {_audiences(side)}" for side in (alias, host))
        return f"not everybody sees the same of both ({told})"
    if bool(alias.own_rights) != bool(host.own_rights) and alias.documents and host.documents:
        with_rights, without = (alias, host) if alias.own_rights else (host, alias)
        return f"documents of {with_rights.name} have rights of their own, those of {without.name} have none"
    if alias.policy != host.policy:
        return "policy rules say something else of both"
    for side in (alias, host):
        if side.credentials:
            return f"credentials are for {side.credentials[0]}: what is fetched with them belongs to that host alone"
    if alias.documents and not host.documents:
        return (
            f"nothing of {host.name} is described: the documents of {alias.name} would go, and nothing come"
        )
    return ""


def chain_refusal(alias: str, host: str, known: Iterable[HostAlias]) -> str:
    """Say why an alias would lead to an alias, ``""`` = it does not."""
    if alias == host:
        return f"{alias} is {host} already"
    for one in known:
        if one.state is not AliasState.APPLIED:
            continue
        if (one.alias, one.host) == (host, alias):
            return f"{host} is an alias of {alias}: remove that first"
        if one.alias == host:
            return f"{host} is an alias of {one.host} itself: apply {alias} to {one.host}"
        if one.host == alias:
            return (
                f"{one.alias} is an alias of {alias}: remove that first, or make {host} an alias of {alias}"
            )
    return ""


def _audiences(side: Side) -> str:
    said: Sequence[str] = [
        f"{access}{' ' + ', '.join(acl) if acl else ''}" for access, acl in sorted(side.audiences)
    ]
    return "; ".join(said) or "nobody knows"
