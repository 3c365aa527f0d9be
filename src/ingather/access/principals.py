"""Principals: how texts become identities, and when two of them are the same.

Source: GSA feeds specification, section 11.3. The splitting rule is the server's (googlegsa/secmgr), not the client
library's; both sides of a comparison, access lists and logins, must come through :func:`principal`.
"""

import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from ingather.model.acl import DEFAULT_NAMESPACE, Principal, PrincipalScope

__all__ = ["Identity", "PrincipalKey", "fold", "identity", "key_of", "principal", "split"]

_SEPARATORS: Final = "\\/@"
_FOLDINGS: Final = 4
_CACHED: Final = 1 << 16
_IGNORABLE_RANGES: Final = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
_IGNORABLE: Final = {code: None for first, last in _IGNORABLE_RANGES for code in range(first, last + 1)}
"""Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties), as a table for ``str.translate``."""

PrincipalKey = tuple[PrincipalScope, bool, str, str, str]
"""What is compared: scope, whether with case, namespace, domain, name; the three texts folded if without."""

Identity = frozenset[PrincipalKey]
"""Every form of somebody and of his groups, as offered to an evaluation."""


@lru_cache(_CACHED)
def fold(text: str) -> str:
    """Return *text* as it is compared without case: NFKC_Casefold. Folding twice changes nothing."""
    if text.isascii():
        return text.lower()
    for _ in range(_FOLDINGS):
        folded = unicodedata.normalize("NFKC", text.translate(_IGNORABLE)).casefold()
        folded = unicodedata.normalize("NFKC", folded).translate(_IGNORABLE)
        if folded == text:
            break
        text = folded
    return text


def split(text: str) -> tuple[str, str]:
    r"""Return (name, domain) of a principal's text; the domain is ``""`` if it has none.

    The first backslash separates, else the first slash (domain before it), else the first ``@`` (domain after it).
    A text with ``=`` before its first separator is a distinguished name and stays whole.
    """
    first = min((at for mark in _SEPARATORS if (at := text.find(mark)) >= 0), default=-1)
    if first < 0 or "=" in text[:first]:
        return text, ""
    for mark in "\\/":
        domain, found, name = text.partition(mark)
        if found:
            return name, domain
    name, _, domain = text.partition("@")
    return name, domain


def principal(
    text: str,
    scope: PrincipalScope,
    *,
    namespace: str = "",
    case_sensitive: bool = True,
    unqualified: bool = False,
) -> Principal | None:
    """Return the principal that *text* names, ``None`` if there is nothing but white space.

    Args:
        text: as an access list, a membership or a login says it; trimmed.
        scope: user or group.
        namespace: ``""`` = the default one.
        case_sensitive: how an access list's entry wants to be compared.
        unqualified: ``principal-type="unqualified"``: the text is the name and there is no domain.
    """
    text = text.strip()
    if not text:
        return None
    name, domain = (text, "") if unqualified else split(text)
    return Principal(scope, name, domain, namespace.strip() or DEFAULT_NAMESPACE, case_sensitive)


def key_of(who: Principal) -> PrincipalKey:
    """Return the form in which an access list's entry is compared."""
    if who.case_sensitive:
        return who.scope, True, who.namespace, who.domain, who.name
    return who.scope, False, fold(who.namespace), fold(who.domain), fold(who.name)


def identity(
    users: Iterable[Principal], groups: Collection[Principal] = (), *, cut_domains: bool = True
) -> Identity:
    """Return all forms of a viewer: *users* are his principals (one a namespace), *groups* his expanded groups.

    Each is offered exactly and folded, whatever its own ``case_sensitive`` says: an entry meets the form of its own
    kind. With *cut_domains* a user's domain is also tried cut to its first label (``corp.example.com``: ``corp``).
    """
    made: set[PrincipalKey] = set()
    for who in users:
        made.update(_both(who.scope, who.namespace, who.domain, who.name))
        label = who.domain.partition(".")[0]
        if cut_domains and label and label != who.domain:
            made.update(_both(who.scope, who.namespace, label, who.name))
    for group in groups:
        made.update(_both(group.scope, group.namespace, group.domain, group.name))
    return frozenset(made)


def _both(scope: PrincipalScope, namespace: str, domain: str, name: str) -> tuple[PrincipalKey, PrincipalKey]:
    return (scope, True, namespace, domain, name), (scope, False, fold(namespace), fold(domain), fold(name))
