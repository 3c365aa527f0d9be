"""Access control lists as feeds, headers and configuration bring them (GSA feeds specification, section 11).

An ACL belongs to a URL, which need not be a document: folders and shares carry ACLs that documents
inherit. Values here are plain; how chains are evaluated is the business of ``access``.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

__all__ = [
    "DEFAULT_NAMESPACE",
    "Acl",
    "AclEntry",
    "Inheritance",
    "Principal",
    "PrincipalScope",
    "Right",
    "storable",
]

DEFAULT_NAMESPACE: Final = "Default"


class PrincipalScope(StrEnum):
    """What a principal is."""

    USER = "user"
    GROUP = "group"


class Right(StrEnum):
    """What an entry does to those whom it matches."""

    PERMIT = "permit"
    DENY = "deny"


class Inheritance(StrEnum):
    """How an ACL's decision combines with those of the ACLs that inherit from it (the parent's type counts)."""

    CHILD_OVERRIDES = "child-overrides"
    PARENT_OVERRIDES = "parent-overrides"
    AND_BOTH_PERMIT = "and-both-permit"
    LEAF_NODE = "leaf-node"


@dataclass(frozen=True, slots=True)
class Principal:
    """A user or group: identity is (scope, namespace, domain, name), compared with or without case.

    ``name`` and ``domain`` are what the splitting rule of section 11.3 made of the text; an
    unqualified principal has no domain.
    """

    scope: PrincipalScope
    name: str
    domain: str = ""
    namespace: str = DEFAULT_NAMESPACE
    case_sensitive: bool = True


@dataclass(frozen=True, slots=True)
class AclEntry:
    """One permit or deny."""

    right: Right
    principal: Principal


@dataclass(frozen=True, slots=True)
class Acl:
    """The ACL of one URL.

    Attributes:
        url: canonical URL that it belongs to.
        entries: in order; empty with no ``inherit_from`` = nobody (an explicit empty ACL).
        inherit_from: canonical URL of the parent ACL, ``""`` = root.
        inheritance: counts for the ACLs below this one.
        problem: why this ACL cannot be trusted (an unknown scope, right or type, an entity that was lost,
            unreadable JSON); with one, nobody may see what it governs.
    """

    url: str
    entries: tuple[AclEntry, ...] = ()
    inherit_from: str = ""
    inheritance: Inheritance = Inheritance.LEAF_NODE
    problem: str = ""


def storable(acl: Acl) -> Acl:
    """Return *acl* without what is no text: half a character, which JSON can spell, names nobody and may be a denial.

    Such a list keeps no entry, and a problem for which nobody is let in.
    """
    texts = [acl.inherit_from, acl.problem]
    for entry in acl.entries:
        texts += (entry.principal.name, entry.principal.domain, entry.principal.namespace)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        parent = acl.inherit_from.encode(errors="replace").decode()
        said = acl.problem.encode(errors="replace").decode()
        why = "; ".join(filter(None, (said, "it has a name that is not valid Unicode")))
        return replace(acl, entries=(), inherit_from=parent, problem=why)
    return acl
