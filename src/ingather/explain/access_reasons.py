"""Why somebody may see a document or not, in words, and the parts of an answer that say so."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ingather.access.decision import ChainStatus, Decision
from ingather.access.principals import PrincipalKey, key_of
from ingather.access.publicity import PUBLIC
from ingather.explain.access_forms import principal_form, principal_text
from ingather.model.acl import Acl, Principal, Right

__all__ = ["acl_form", "by_marks", "reason_of", "unknown_form"]

_LISTED: Final = 1
_SECURED: Final = 4
_WITHHELD: Final = 16
"""Marks of a row (``catalog.sqlite_acl``)."""


def unknown_form(url: str, users: Iterable[Principal]) -> dict[str, Any]:
    """Return the answer where there is no catalog yet."""
    return {
        "url": url, "users": [principal_form(who) for who in users], "groups": [], "document": None, "index": None, "chain": None,
        "acls": [], "rescued": None, "permitted": False, "sees": False, "verdict": "indeterminate", "status": "NO_CATALOG",
        "reason": "there is no catalog yet", "decided_by": None, "entry": None,
    }  # fmt: skip


def by_marks(marks: tuple[int, str, int] | None) -> dict[str, Any]:
    """Return the answer for what no chain of ACLs decides."""
    permitted = marks is not None and marks[2] == PUBLIC
    if marks is None:
        status, reason = "NO_ACL", "it has no ACL"
    elif permitted:
        status, reason = "PUBLIC", "it has no ACL and its source is public: everybody may see it"
    elif marks[0] & _WITHHELD:
        status, reason = (
            "WITHHELD",
            "its host refuses it, or its head was too large to be received: nobody may see it until it is fetched again",
        )
    elif marks[0] & _LISTED:
        status, reason = (
            "READACL",
            "its description's access list (readacl) cannot be read, differs between layers, or stands beside an ACL: nobody may see it",
        )
    elif marks[0] & _SECURED:
        status, reason = (
            "NO_ACL",
            "it has no ACL and is secured by its authmethod, by credentials or by its host's word: nobody may see it",
        )
    else:
        status, reason = (
            "NO_ACL",
            "it has no ACL and its source is not public (access = secure): nobody may see it",
        )
    return {
        "permitted": permitted, "verdict": "permit" if permitted else "deny", "status": status, "reason": reason,
        "decided_by": None, "entry": None,
    }  # fmt: skip


def reason_of(decision: Decision, names: Mapping[PrincipalKey, Sequence[str]]) -> str:
    """Return why ACLs decided so; *names*: the way by which each form of a principal is his."""
    if decision.status is not ChainStatus.CHAIN_OK:
        return f"nobody may see it: {decision.detail}"
    if decision.entry is None:
        if decision.steps and any(step.matched for step in decision.steps):
            return (
                f"denied at {decision.url}: not both, it and what is below it, permit"
                if decision.url
                else "nothing permits it"
            )
        return "no entry of its ACLs names the user or a group of his"
    way = names.get(key_of(decision.entry.principal), [])
    verb = "permits" if decision.permitted else "denies"
    who = principal_text(decision.entry.principal)
    by = f" (by way of {' > '.join(way)})" if len(way) > 1 else ""
    return f"{decision.url} {verb} the {decision.entry.principal.scope} {who}{by}"


def acl_form(acl: Acl, verdict: str, matched: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one ACL of a chain, with its verdict and the entries that matched."""
    return {
        "url": acl.url, "inherit_from": acl.inherit_from or None, "inheritance": str(acl.inheritance), "problem": acl.problem or None,
        "entries": len(acl.entries), "denies": sum(e.right is Right.DENY for e in acl.entries), "verdict": verdict or None,
        "matched": list(matched), "foreign": acl.foreign,
    }  # fmt: skip
