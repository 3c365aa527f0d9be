"""Memberships out of files that directories and spreadsheets write: CSV and LDIF.

CSV (RFC 4180; comma, semicolon or tab): a line for each membership, columns by the names in the first line:
``group``, ``member``, and if wanted ``type`` (user or group), ``namespace``, ``case`` (sensitive or insensitive).
Without such a first line: group, member.

LDIF (RFC 2849): entries that have ``member``, ``uniqueMember`` or ``memberUid`` are groups, and ``memberOf`` of any entry
counts too. A member is called what its own entry in the file says (``sAMAccountName``, else ``uid``, else ``cn``).
A group of which the server gave a part only (``member;range=0-1499``) counts as not read whole. A member that has no entry there stays a distinguished name: a guess could let in somebody else.
"""

import base64
import binascii
import csv
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, Final

from ingather.access.principals import principal
from ingather.errors import UsageError
from ingather.model.acl import DEFAULT_NAMESPACE, Principal, PrincipalScope
from ingather.model.feed import FeedEnd, FeedRejection, GroupMembership

__all__ = ["ImportOptions", "read_csv", "read_ldif"]

_CELL_CHARS: Final = 131_072

Item = GroupMembership | FeedRejection | FeedEnd
Entry = tuple[int, dict[str, list[str]]]

_COLUMNS: Final = frozenset({"group", "member", "type", "namespace", "case"})
_MEMBERS: Final = ("member", "uniquemember")
_CUT: Final = "\0cut"
_NAMES: Final = ("samaccountname", "uid", "cn")
_GROUPS: Final = frozenset({"group", "groupofnames", "groupofuniquenames", "posixgroup"})
_UID: Final = re.compile(r"uid\s*=\s*((?:[^,+\\]|\\.)+)", re.IGNORECASE)
_AROUND: Final = re.compile(r"\s*([,=+])\s*")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What a file does not say of its names.

    Attributes:
        domain: of names that have none.
        namespace: ``""`` = the default one.
        case_sensitive: how members are compared; directories do not mind case.
    """

    domain: str = ""
    namespace: str = ""
    case_sensitive: bool = True

    def principal(
        self, text: str, scope: PrincipalScope, *, case: str = "", namespace: str = ""
    ) -> Principal | None:
        """Return whom *text* means."""
        sensitive = self.case_sensitive if not case else case == "sensitive"
        made = principal(text, scope, namespace=namespace or self.namespace, case_sensitive=sensitive)
        if made is not None and not made.domain and self.domain and "=" not in made.name:
            made = replace(made, domain=self.domain)
        return made


def _bounded(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Pass *rows* on, none with an endless cell: the limit of ``csv`` itself belongs to the whole process."""
    for row in rows:
        if any(len(cell) > _CELL_CHARS for cell in row):
            raise csv.Error(f"a cell of more than {_CELL_CHARS:,} characters")
        yield row


def read_csv(stream: IO[bytes], options: ImportOptions) -> Iterator[Item]:
    """Yield the memberships of *stream*, one a line.

    Raises:
        UsageError: the first line names columns, and ``group`` and ``member`` are not among them.
    """
    head = stream.readline().removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
    mark = max(",;\t", key=head.count)
    columns = [name.strip(' \t\r\n"').lower() for name in head.split(mark)]
    named = bool(_COLUMNS & set(columns))
    if named and not {"group", "member"} <= set(columns):
        raise UsageError(
            "the first line has no columns group and member",
            hint=f"name some of {', '.join(sorted(_COLUMNS))}",
        )
    if not named:
        columns = ["group", "member"]

    def lines() -> Iterator[str]:
        if not named:
            yield head
        for line in stream:
            yield line.decode("utf-8", "surrogateescape")

    reader = csv.reader(lines(), delimiter=mark, strict=True)  # strict: an end within quotes is an error
    first = 2 if named else 1
    items = 0
    try:
        for row in _bounded(reader):
            if any(cell.strip() for cell in row):
                items += 1
                yield _of_row(dict(zip(columns, row, strict=False)), reader.line_num + first - 1, options)
    except csv.Error as error:
        yield FeedEnd(
            complete=False, repaired=True, items=items, trouble=f"line {reader.line_num + first - 1}: {error}"
        )
        return
    yield FeedEnd(complete=True, repaired=False, items=items)


def read_ldif(opened: Callable[[], IO[bytes]], options: ImportOptions) -> Iterator[Item]:
    """Yield the memberships of an LDIF file, which is read twice: for names, then for members."""
    known: dict[str, tuple[str, PrincipalScope]] = {}
    with opened() as stream:
        for _, entry in _entries(stream):
            dn = _plain_dn(entry.get("dn", [""])[0])
            name = next((entry[key][0] for key in _NAMES if entry.get(key)), "")
            if dn and name:
                scope = PrincipalScope.GROUP if _is_group(entry) else PrincipalScope.USER
                known[dn] = (name, scope)
    items = 0
    with opened() as stream:
        for line, entry in _entries(stream):
            for item in _of_entry(line, entry, known, options):
                items += 1
                yield item
    yield FeedEnd(complete=True, repaired=False, items=items)


def _of_row(row: dict[str, str], line: int, options: ImportOptions) -> GroupMembership | FeedRejection:
    kind, case = row.get("type", "").strip().lower(), row.get("case", "").strip().lower()
    text = row.get("group", "").strip()
    if kind not in {"", "user", "group"} or case not in {"", "sensitive", "insensitive"}:
        reason = (
            f"{kind or case!r} is neither user nor group"
            if kind not in {"", "user", "group"}
            else f"case is {case!r}"
        )
        return FeedRejection(line, 0, text, reason, denies=True)
    if "\n" in text or any("\udc80" <= letter <= "\udcff" for cell in row.values() for letter in cell):
        return FeedRejection(line, 0, "", "it is not UTF-8", denies=True)
    namespace = row.get("namespace", "").strip()
    group = options.principal(text, PrincipalScope.GROUP, namespace=namespace)
    if group is None:
        return FeedRejection(line, 0, "", "its group is empty", denies=True)
    scope = PrincipalScope.GROUP if kind == "group" else PrincipalScope.USER
    member = options.principal(row.get("member", ""), scope, case=case, namespace=namespace)
    return GroupMembership(line, 0, group, () if member is None else (member,))


def _of_entry(
    line: int,
    entry: dict[str, list[str]],
    known: dict[str, tuple[str, PrincipalScope]],
    options: ImportOptions,
) -> Iterator[GroupMembership | FeedRejection]:
    dn = entry.get("dn", [""])[0]
    own = known.get(_plain_dn(dn))
    if any(key in entry for key in (*_MEMBERS, "memberuid")):
        group = None if own is None else options.principal(own[0], PrincipalScope.GROUP)
        if group is None:
            yield FeedRejection(line, 0, dn, "the group has no sAMAccountName, uid or cn", denies=True)
        else:
            warnings: list[str] = []
            members = [
                _of_dn(text, known, options, warnings) for key in _MEMBERS for text in entry.get(key, ())
            ]
            members += [options.principal(text, PrincipalScope.USER) for text in entry.get("memberuid", ())]
            yield GroupMembership(
                line, 0, group, tuple(m for m in members if m is not None), warnings=tuple(warnings[:10])
            )
            if _CUT in entry:
                reason = (
                    f"only a part of its members is in the file ({entry[_CUT][-1]}): ask for the rest too"
                )
                yield FeedRejection(line, 0, group.name, reason, denies=True)
    if own is not None:
        member = options.principal(own[0], own[1])
        for text in entry.get("memberof", ()):
            above = known.get(_plain_dn(text))
            group = (
                options.principal(above[0], PrincipalScope.GROUP)
                if above
                else _whole(text, PrincipalScope.GROUP, options)
            )
            if group is not None and member is not None:
                yield GroupMembership(line, 0, group, (member,))


def _of_dn(
    text: str, known: dict[str, tuple[str, PrincipalScope]], options: ImportOptions, warnings: list[str]
) -> Principal | None:
    found = known.get(_plain_dn(text))
    if found is not None:
        return options.principal(found[0], found[1])
    if uid := _UID.match(text.strip()):
        return options.principal(uid.group(1).strip(), PrincipalScope.USER)
    warnings.append(f"{text[:200]!r} has no entry in the file and stays a distinguished name")
    return _whole(text, PrincipalScope.USER, options)


def _whole(text: str, scope: PrincipalScope, options: ImportOptions) -> Principal | None:
    name = text.strip()
    namespace = options.namespace or DEFAULT_NAMESPACE
    return Principal(scope, name, "", namespace, options.case_sensitive) if name else None


def _is_group(entry: dict[str, list[str]]) -> bool:
    classes = {value.lower() for value in entry.get("objectclass", ())}
    return bool(classes & _GROUPS) or any(key in entry for key in (*_MEMBERS, "memberuid"))


def _plain_dn(text: str) -> str:
    return _AROUND.sub(r"\1", text.strip()).lower()


def _entries(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield (first line, attributes in lower case with their values) of each entry."""
    entry: dict[str, list[str]] = {}
    first = 0
    for number, line in _unfolded(stream):
        if not line.strip():
            if entry:
                yield first, entry
            entry = {}
            continue
        if line.startswith(b"#"):
            continue
        name, _, value = line.partition(b":")
        key, _, option = name.decode("ascii", "replace").strip().lower().partition(";")
        if option.startswith("range=") and not option.endswith("*"):
            entry.setdefault(_CUT, []).append(option)
        if not entry and key in {"version", "search", "result"}:
            continue
        first = first if entry else number
        entry.setdefault(key, []).append(_value(value))
    if entry:
        yield first, entry


def _value(raw: bytes) -> str:
    if raw.startswith(b":"):
        try:
            raw = base64.b64decode(raw[1:].strip(), validate=True)
        except binascii.Error:
            return ""
    return raw.strip().decode("utf-8", "replace")


def _unfolded(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) with continuation lines joined."""
    held: bytes | None = None
    at = 0
    for number, raw in enumerate(stream, 1):
        line = raw.rstrip(b"\r\n")
        if line.startswith(b" ") and held is not None:
            held += line[1:]
            continue
        if held is not None:
            yield at, held
        held, at = line, number
    if held is not None:
        yield at, held
