"""``acl`` elements (and their likeness in JSON lines) become ACLs.

Source: GSA feeds specification, sections 11.2, 11.3 and 20 (rule 5). What is not understood makes the ACL untrusted, with the
reason in ``Acl.problem``: a denial must not get lost by a slip.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ingather.access.principals import principal
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right

__all__ = ["AclReading", "enum_form", "read_principal"]

_CASES = {"everything-case-sensitive": True, "everything-case-insensitive": False, "": True}


_WRITTEN: Final = {
    str(value): str(value)
    for value in (
        *PrincipalScope,
        *Right,
        *Inheritance,
        "add",
        "delete",
        "true",
        "false",
        "base64binary",
        "base64compressed",
    )
}


def enum_form(text: str) -> str:
    """Return an enumerated value as the DTD writes it: feeds use any case, group feeds underscores."""
    return _WRITTEN.get(text) or text.strip().lower().replace("_", "-")


def read_principal(text: str, attributes: Mapping[str, str], troubles: list[str]) -> Principal | None:
    """Return the principal of an element, ``None`` for an empty one; what is odd goes to *troubles*.

    *attributes*: ``scope``, ``namespace``, ``case-sensitivity-type``, ``principal-type``, all of them optional here.
    """
    scope = enum_form(attributes.get("scope", ""))
    if scope not in _SCOPES:
        troubles.append(f"a principal's scope is {scope!r}, not user or group")
        return None
    case = enum_form(attributes.get("case-sensitivity-type", ""))
    if case not in _CASES:
        troubles.append(f"a principal's case-sensitivity-type is {case!r}")
    kind = enum_form(attributes.get("principal-type", ""))
    if kind not in {"", "unqualified"}:
        troubles.append(f"a principal's principal-type is {kind!r}")
    return principal(
        text,
        PrincipalScope(scope),
        namespace=attributes.get("namespace", ""),
        case_sensitive=_CASES.get(case, True),
        unqualified=kind == "unqualified",
    )


_SCOPES = frozenset(PrincipalScope)
_RIGHTS = frozenset(Right)


@dataclass(slots=True)
class AclReading:
    """An ACL while it is read."""

    most: int
    entries: list[AclEntry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    count: int = 0

    def take(self, entry: AclEntry) -> None:
        """Take an entry that was made before."""
        self.count += 1
        if self.count <= self.most:
            self.entries.append(entry)
        elif self.count == self.most + 1:
            self.problems.append(f"it has more than {self.most} entries")

    def add(self, text: str, attributes: Mapping[str, str]) -> AclEntry | None:
        """Take one principal; *attributes* as for :func:`read_principal`, and ``access``.

        Returns the entry, if nothing is odd about it.
        """
        self.count += 1
        if self.count > self.most:
            if self.count == self.most + 1:
                self.problems.append(f"it has more than {self.most} entries")
            return None
        right = enum_form(attributes.get("access", ""))
        if right not in _RIGHTS:
            self._problem(f"a principal's access is {right!r}, not permit or deny")
            return None
        troubles: list[str] = []
        who = read_principal(text, attributes, troubles)
        for trouble in troubles:
            self._problem(trouble)
        if who is not None:
            self.entries.append(entry := AclEntry(Right(right), who))
            return None if troubles else entry
        if not troubles:
            self.warnings.append(f"an empty principal ({right}) was skipped")
        return None

    def _problem(self, text: str) -> None:
        if text not in self.problems and len(self.problems) < 10:  # noqa: PLR2004
            self.problems.append(text)

    def acl(self, url: str, *, inherit_from: str, inheritance: str, problems: Iterable[str] = ()) -> Acl:
        """Return the ACL of *url*; *inheritance* as written, ``""`` = the default."""
        kind = Inheritance.LEAF_NODE
        written = enum_form(inheritance)
        if written:
            try:
                kind = Inheritance(written)
            except ValueError:
                self._problem(f"the inheritance-type {written!r} is not known")
        for problem in problems:
            self._problem(problem)
        return Acl(url, tuple(self.entries), inherit_from.strip(), kind, "; ".join(self.problems))
