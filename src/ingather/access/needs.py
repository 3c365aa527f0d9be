"""Principals of whom a searcher must be one beside what an access list says: names in an overlay, a viewer's own names.

Only narrows: whoever is named still needs the access list's leave. A name that cannot be read names nobody.

Source: external metadata specification, section 7 (``acl_overlay=restrict``).
"""

from ingather.access.principals import Identity, key_of, principal
from ingather.model.acl import PrincipalScope

__all__ = ["NOBODY_NEEDED", "need_of", "needs_of"]

NOBODY_NEEDED = "-"
"""A name that nobody has."""
_SCOPES = {"user": PrincipalScope.USER, "group": PrincipalScope.GROUP}


def need_of(text: str) -> str:
    """Return ``user:NAME`` or ``group:NAME`` as it is compared (with case); what is neither names nobody."""
    kind, _, name = text.partition(":")
    scope = _SCOPES.get(kind.strip().lower())
    who = None if scope is None else principal(name, scope, case_sensitive=True)
    return NOBODY_NEEDED if who is None else _text(key_of(who))


def needs_of(viewer: Identity) -> tuple[str, ...]:
    """Return all names by which a viewer may be needed, in the form of :func:`need_of`."""
    return tuple(sorted(_text(key) for key in viewer if key[1]))


def _text(key: tuple[PrincipalScope, bool, str, str, str]) -> str:
    scope, _, namespace, domain, name = key
    return "\x1f".join((str(scope), namespace, domain, name))
