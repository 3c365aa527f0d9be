"""Principals and entries of ACLs as JSON and sentences show them."""

from typing import Any

from ingather.model.acl import DEFAULT_NAMESPACE, AclEntry, Principal

__all__ = ["entry_form", "principal_form", "principal_text"]


def principal_text(who: Principal) -> str:
    """Return *who* as access lists write him, with his namespace if it is not the usual one."""
    text = f"{who.domain}\\{who.name}" if who.domain else who.name
    return text if who.namespace == DEFAULT_NAMESPACE else f"{text} ({who.namespace})"


def principal_form(who: Principal) -> dict[str, Any]:
    """Return *who* as JSON shows him."""
    return {
        "scope": str(who.scope), "name": who.name, "domain": who.domain, "namespace": who.namespace, "text": principal_text(who),
    }  # fmt: skip


def entry_form(entry: AclEntry) -> dict[str, Any]:
    """Return an entry as JSON shows it."""
    return {
        "right": str(entry.right),
        "principal": principal_form(entry.principal),
        "case_sensitive": entry.principal.case_sensitive,
    }
