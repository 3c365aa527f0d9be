"""Policy rules and sources' defaults as access lists: each a chain of one, in which whoever is not named is denied."""

from collections.abc import Callable, Sequence

from ingather.access.principals import principal
from ingather.conf.policyacl import PolicyAcl, PolicyRule
from ingather.model.acl import Acl, AclEntry, PrincipalScope, Right

__all__ = ["acl_of_readers", "acl_of_rule", "policy_acls"]


def acl_of_rule(rule: PolicyRule, *, case_sensitive: bool = True) -> Acl:
    """Return the ACL that *rule* stands for; its URL is the line that says so.

    A name that names nobody is a lost denial for all we know: with one, nobody is permitted.
    """
    entries = []
    for entry in rule.entries:
        who = principal(entry.text, entry.scope, case_sensitive=case_sensitive)
        if who is None or not who.name:
            return Acl(f"policy:{rule.where}", problem=f"{rule.where}: {entry.text!r} names nobody")
        entries.append(AclEntry(entry.right, who))
    return Acl(f"policy:{rule.where}", tuple(entries))


def acl_of_readers(readers: Sequence[str], said_by: str) -> Acl:
    """Return the ACL that permits *readers* (``user:NAME``, ``group:NAME``) and nobody else; *said_by* names who says so.

    With a name that names nobody, nobody is permitted.
    """
    entries = []
    for reader in readers:
        scope, _, name = reader.partition(":")
        who = principal(name, PrincipalScope(scope)) if scope in set(PrincipalScope) else None
        if who is None or not who.name:
            return Acl(said_by, problem=f"{said_by}: {reader!r} names nobody")
        entries.append(AclEntry(Right.PERMIT, who))
    return Acl(said_by, tuple(entries))


def policy_acls(rules: PolicyAcl) -> Callable[[str], Sequence[Acl]]:
    """Return what ``AccessStore.use_policy`` asks: the ACLs of the rules that apply to a URL, all of which must permit."""
    made = {rule.line: acl_of_rule(rule) for rule in rules.rules}
    return lambda url: [made[rule.line] for rule in rules.match(url)]
