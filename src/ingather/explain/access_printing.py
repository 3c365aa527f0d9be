"""Answers about access as text."""

from collections.abc import Mapping
from typing import Any

__all__ = ["explanation_text", "seeing_text"]

_GROUPS = 20


def explanation_text(answer: Mapping[str, Any], user: str) -> str:
    """Return the answer of ``ingather access explain``; its first line is the verdict."""
    who = user or "whoever did not log in"
    lines = [
        f"{who} {'may' if answer['permitted'] else 'may not'} see {answer['url']}",
        f"  {answer['reason']}",
        *([f"  {answer['unknown']}"] if "unknown" in answer else []),
    ]
    document, index = answer["document"], answer["index"]
    if document is not None:
        lines.append(f"document: source {document['source']}, {document['state']}")
        held = {True: "in the index", False: "not in the index", None: "there is no index"}[index["indexed"]]
        behind = f", {index['behind']} changes behind" if index["behind"] else ""
        lines.append(f"index: {held}{behind}; chain {answer['chain']}, {answer['status']}")
    if answer["acls"]:
        lines.append("ACLs, root first:")
    for acl in answer["acls"]:
        said = f": {acl['verdict']}" if acl["verdict"] else ""
        lines.append(f"  {acl['url']} ({acl['inheritance']}, {acl['entries']} entries){said}")
        if acl["foreign"]:
            lines.append(
                "    of another source than the ACL below it, and a token brought one of both: both must permit"
            )
        if acl["problem"]:
            lines.append(f"    not trusted: {acl['problem']}")
        for entry in acl["matched"]:
            whose = entry["principal"]
            case = "" if entry["case_sensitive"] else ", any case"
            lines.append(
                f"    {entry['right']} {whose['scope']} {whose['text']}{case}  by {' > '.join(entry['by'])}"
            )
    if answer["groups"]:
        lines.append(f"groups ({len(answer['groups'])}):")
        lines += [f"  {group['text']}  ({' > '.join(group['way'])})" for group in answer["groups"][:_GROUPS]]
        if len(answer["groups"]) > _GROUPS:
            lines.append("  and more: --json has all")
    elif answer["users"]:
        lines.append("groups: none, by the memberships that were loaded")
    return "\n".join(lines)


def seeing_text(answer: Mapping[str, Any], limit: int) -> str:
    """Return the answer of ``ingather access who``."""
    lines = [answer["url"], f"  {answer['reason']}"]
    lines += [f"  group {group['text']}: whoever a directory says is in it" for group in answer["groups"]]
    lines += [f"  {user['text']}  by {' > '.join(user['by'])}" for user in answer["users"]]
    if answer["more"]:
        lines.append(f"  only the first {limit} users were tried")
    return "\n".join(lines)
