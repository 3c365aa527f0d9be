"""Access lists in metadata: the ``google:acl…`` names of the appliance's version 6, and the comma rule.

Source: GSA feeds specification, sections 9.4 and 11.1. The names may come in feeds and in response headers. They may
stand in pages too, where anybody who writes a page could set them: whether those are read is the caller's business.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ingather.access.principals import principal
from ingather.errors import UrlError
from ingather.model.acl import Acl, AclEntry, Inheritance, PrincipalScope, Right

__all__ = ["ONE_VALUE_SWITCH", "RESERVED", "MetaAcl", "acl_of_metas", "is_acl_meta", "is_reserved"]

RESERVED: Final = "google:"
"""Metadata whose name begins so is never shown to searchers."""
ONE_VALUE_SWITCH: Final = "acl-one-value-per-meta"
"""The setting of a source that says: a comma in a permit is part of the name."""

_PREFIX: Final = "google:acl"
_LISTS: Final = {
    "google:aclusers": (Right.PERMIT, PrincipalScope.USER),
    "google:aclgroups": (Right.PERMIT, PrincipalScope.GROUP),
    "google:acldenyusers": (Right.DENY, PrincipalScope.USER),
    "google:acldenygroups": (Right.DENY, PrincipalScope.GROUP),
}
_PARENT: Final = "google:aclinheritfrom"
_TYPE: Final = "google:aclinheritancetype"


@dataclass(frozen=True, slots=True)
class MetaAcl:
    """What the metas of one document came to.

    Attributes:
        acl: ``None`` = there is no such meta at all, which is not the same as an empty list.
        warnings: what the sender should look at.
        notes: what was read more generously than written: split lists.
    """

    acl: Acl | None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def is_reserved(name: str) -> bool:
    """Whether metadata of this name is ours and not for searchers."""
    return name.strip().lower().startswith(RESERVED)


def is_acl_meta(name: str) -> bool:
    """Whether metadata of this name speaks of access, known to us or not."""
    return name.strip().lower().startswith(_PREFIX)


def acl_of_metas(
    url: str,
    metas: Iterable[tuple[str, str]],
    *,
    one_value_per_meta: bool = False,
    canonical: Callable[[str], str] | None = None,
) -> MetaAcl:
    """Return the ACL that *metas* (name, content) give the document *url*.

    Args:
        url: canonical URL of the document.
        metas: all of its metadata, in order; other names are passed over.
        one_value_per_meta: take a permit as it is written. A list of denials is always split as well: it is never
            too long, but might be too short.
        canonical: makes the parent's URL canonical; ``None`` = it is.

    A name that begins with ``google:acl`` and is not known (a misspelt denial, say), an unknown inheritance type, a
    parent's URL that does not read or two different parents make the ACL untrusted: ``Acl.problem`` says why.
    """
    reading = _Reading(one_value_per_meta=one_value_per_meta)
    for name, content in metas:
        key = name.strip().lower()
        if key.startswith(_PREFIX):
            reading.take(key, content.strip(), canonical)
    if not reading.any:
        return MetaAcl(None)
    acl = Acl(url, tuple(reading.entries), reading.parent, reading.inheritance, "; ".join(reading.problems))
    return MetaAcl(acl, tuple(reading.warnings), tuple(reading.notes))


class _Reading:
    """The state of one document's metas while they are read."""

    def __init__(self, *, one_value_per_meta: bool) -> None:
        self._one_value = one_value_per_meta
        self.any = False
        self.entries: dict[AclEntry, None] = {}
        self.parent = ""
        self.inheritance = Inheritance.LEAF_NODE
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []

    def take(self, key: str, content: str, canonical: Callable[[str], str] | None) -> None:
        self.any = True
        if key in _LISTS:
            right, scope = _LISTS[key]
            for value in self._values(key, content, right):
                who = principal(value, scope)
                if who is not None:
                    self.entries[AclEntry(right, who)] = None
        elif key == _PARENT:
            self._inherit(content, canonical)
        elif key == _TYPE:
            self._combine_as(content)
        else:
            self.problems.append(f"the meta {key!r} is not known and may have been a denial")

    def _values(self, key: str, content: str, right: Right) -> list[str]:
        parts = content.split(",")
        if len(parts) == 1:
            return [content]
        if right is Right.DENY:
            return [content, *parts]
        if self._one_value:
            return [content]
        if "=" not in content and all(part and not any(c.isspace() for c in part) for part in parts):
            self.notes.append(f"{key}: {content!r} was read as one name and as a list of {len(parts)}")
            return [content, *parts]
        self.warnings.append(
            f"{key}: {content!r} has a comma and was taken as one name;"
            f" {ONE_VALUE_SWITCH} = true on the source says that this is meant"
        )
        return [content]

    def _inherit(self, content: str, canonical: Callable[[str], str] | None) -> None:
        if not content:
            return
        try:
            parent = canonical(content) if canonical else content
        except UrlError as error:
            self.problems.append(f"{_PARENT}: {content!r} is no URL ({error})")
            return
        if self.parent and self.parent != parent:
            self.problems.append(f"{_PARENT} names two parents, {self.parent} and {parent}")
        self.parent = parent

    def _combine_as(self, content: str) -> None:
        try:
            self.inheritance = Inheritance(content.lower().replace("_", "-"))
        except ValueError:
            self.problems.append(f"{_TYPE}: {content!r} is none of {', '.join(Inheritance)}")
