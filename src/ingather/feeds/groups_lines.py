r"""Memberships as JSON lines: for programs without XML, and between the command line and the owner of a home.

One object a line, in UTF-8::

    {"group": "corp\\eng", "members": [{"user": "joe@corp"}, {"group": "team", "case": "insensitive"}]}

A text is split into domain and name as in access lists. With ``domain``, the empty one too, it is the name as it
stands. ``namespace`` is ``Default`` without one; ``case`` is ``sensitive`` (default) or ``insensitive``. A line
``{"rejected": REASON, "group": TEXT}`` says that a membership was there that the sender could not read.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from ingather.access.principals import principal
from ingather.model.acl import DEFAULT_NAMESPACE, Principal, PrincipalScope
from ingather.model.feed import FeedRejection, GroupMembership

__all__ = ["group_line", "read_group_lines"]

_MARK = b"\xef\xbb\xbf"


class _Member(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    user: str = ""
    group: str = ""
    domain: str | None = None
    namespace: str = ""
    case: Literal["sensitive", "insensitive"] = "sensitive"


class _Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    group: str = ""
    domain: str | None = None
    namespace: str = ""
    members: list[_Member] = msgspec.field(default_factory=list)
    rejected: str = ""
    line: int = 0


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode


def read_group_lines(body: bytes, *, first: int = 1) -> Iterator[GroupMembership | FeedRejection]:
    """Yield what *body* holds, a rejection for each line that cannot be read; *first* is its first line's number."""
    offset = len(_MARK) if body.startswith(_MARK) else 0
    for number, raw in enumerate(body[offset:].split(b"\n"), first):
        if raw.strip():
            yield _item(raw, number, offset)
        offset += len(raw) + 1


def group_line(item: GroupMembership | FeedRejection) -> bytes:
    """Return *item* as a line."""
    if isinstance(item, FeedRejection):
        return _encode(_Line(group=item.url, rejected=item.reason or "unreadable", line=item.line)) + b"\n"
    members = [_member(member) for member in item.members]
    group = item.group
    return (
        _encode(_Line(group.name, group.domain, _namespace(group), members=members, line=item.line)) + b"\n"
    )


def _item(raw: bytes, number: int, offset: int) -> GroupMembership | FeedRejection:
    try:
        line = _decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return FeedRejection(number, offset, "", f"it does not read as a membership: {error}", denies=True)
    number = line.line or number
    if line.rejected:
        return FeedRejection(number, offset, line.group, line.rejected, denies=True)
    group = _principal(line.group, PrincipalScope.GROUP, line.domain, line.namespace, case=True)
    if group is None:
        return FeedRejection(number, offset, "", "its group is empty", denies=True)
    members: list[Principal] = []
    for member in line.members:
        if bool(member.user.strip()) == bool(member.group.strip()):
            reason = "a member is either a user or a group"
            return FeedRejection(number, offset, line.group, reason, denies=True)
        scope = PrincipalScope.USER if member.user.strip() else PrincipalScope.GROUP
        made = _principal(
            member.user or member.group,
            scope,
            member.domain,
            member.namespace,
            case=member.case == "sensitive",
        )
        if made is not None:
            members.append(made)
    return GroupMembership(number, offset, group, tuple(members))


def _principal(
    text: str, scope: PrincipalScope, domain: str | None, namespace: str, *, case: bool
) -> Principal | None:
    if domain is None:
        return principal(text, scope, namespace=namespace, case_sensitive=case)
    name = text.strip()
    if not name:
        return None
    return Principal(scope, name, domain, namespace.strip() or DEFAULT_NAMESPACE, case)


def _member(who: Principal) -> _Member:
    case: Literal["sensitive", "insensitive"] = "sensitive" if who.case_sensitive else "insensitive"
    if who.scope is PrincipalScope.USER:
        return _Member(who.name, "", who.domain, _namespace(who), case)
    return _Member("", who.name, who.domain, _namespace(who), case)


def _namespace(who: Principal) -> str:
    return "" if who.namespace == DEFAULT_NAMESPACE else who.namespace
