"""Access control lists as feeds, headers and configuration bring them (GSA feeds specification, section 11).

An ACL belongs to a URL, which need not be a document: folders and shares carry ACLs that documents
inherit. Values here are plain; how chains are evaluated is the business of ``access``.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol

__all__ = [
    "DEFAULT_NAMESPACE",
    "Acl",
    "AclEntry",
    "Inheritance",
    "Principal",
    "PrincipalScope",
    "Right",
    "Sourced",
    "is_foreign",
    "narrowed",
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
        foreign: in a chain, where the ACL below it is of another source and a token brought one of both: *inheritance* is
            what :func:`narrowed` makes of it.
    """

    url: str
    entries: tuple[AclEntry, ...] = ()
    inherit_from: str = ""
    inheritance: Inheritance = Inheritance.LEAF_NODE
    problem: str = ""
    foreign: bool = False


class Sourced(Protocol):
    """An ACL whose source is known: *source* is a row, 0 = nobody knows; *bound*: a token brought it."""

    @property
    def source(self) -> int: ...  # noqa: D102
    @property
    def bound(self) -> bool: ...  # noqa: D102


def is_foreign(child: Sourced, parent: Sourced, inherited: Collection[int]) -> bool:
    """Return whether two sources meet where *child* inherits from *parent*, so that neither may open what the other closes.

    That is so where a token brought one of both, unless the parent's source lets others inherit (*inherited*: those that do).
    What trusted senders push may inherit from anything, as on an appliance.
    """
    return (
        (child.bound or parent.bound)
        and bool(child.source and parent.source)
        and child.source != parent.source
        and parent.source not in inherited
    )


def narrowed(inheritance: Inheritance) -> Inheritance:
    """Return how an ACL combines with what inherits from it in another source: both must permit. A leaf node stays one."""
    return inheritance if inheritance is Inheritance.LEAF_NODE else Inheritance.AND_BOTH_PERMIT


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
