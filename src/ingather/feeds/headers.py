"""Crawl-time headers of adaptors: a response's head read into :class:`~ingather.model.controls.Controls`.

An adaptor's feed has URLs alone; who may see a document is said when it is fetched. So what cannot be read here makes the
document's ACL untrusted (``Acl.problem``), which shows it to nobody: a permit that is lost harms less than a denial.
Source: GSA feeds specification, sections 9.3, 11.1 and 13.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from ingather.access.metas import acl_of_metas, is_acl_meta, is_reserved
from ingather.errors import UrlError
from ingather.feeds.acls import AclReading
from ingather.model.acl import Acl, Right, storable
from ingather.model.controls import Controls
from ingather.model.page import Link
from ingather.model.url import canonical as canonical_of
from ingather.model.url import fed_url

__all__ = ["CONTROL_FIELDS", "has_controls", "read_anchors", "read_controls", "skips_content"]

_METADATA: Final = "x-gsa-external-metadata"
_CONTROLS: Final = "x-gsa-doc-controls"
_SECURITY: Final = "x-gsa-serve-security"
_ANCHOR: Final = "x-gsa-external-anchor"
_SKIP: Final = "x-gsa-skip-updating-content"
CONTROL_FIELDS: Final = frozenset({_METADATA, _CONTROLS, _SECURITY, _ANCHOR, _SKIP})
"""Field names that count, lower case."""

_NO_CONTENT: Final = 204
_MOST_ENTRIES: Final = 100_000
_MOST_NOTES: Final = 10
_NAMES: Final = ("acl", "display_url", "crawl_once", "lock", "scoring")
_NEXT: Final = re.compile(rf",(?=\s*(?:{'|'.join(_NAMES)})\s*=)", re.IGNORECASE)
"""Between controls that something on the way joined into one line; a comma in a value is percent-encoded."""
_ACL_KEYS: Final = frozenset({"entries", "inherit_from", "inheritance_type"})
_ENTRY_KEYS: Final = frozenset(
    {"access", "scope", "name", "namespace", "case_sensitivity_type", "principal_type"}
)

Fields = Sequence[tuple[str, str]]
"""Header fields as they came: names in any case, values decoded as Latin-1."""


def has_controls(lowered: Mapping[str, str]) -> bool:
    """Whether a head, by lower-case names, has any crawl-time header; cheap, because every page is asked."""
    return not lowered.keys().isdisjoint(CONTROL_FIELDS)


def skips_content(fields: Fields, status: int) -> bool:
    """Whether the answer says: keep the content, take my metadata and ACL (204 with its header)."""
    return status == _NO_CONTENT and any(value.lower() == "true" for value in _values(fields, _SKIP))


def read_controls(url: str, fields: Fields, *, canonical: Callable[[str], str] = fed_url) -> Controls | None:
    """Return what the head of the answer for *url* says, ``None`` if it says nothing.

    Args:
        url: canonical URL of the document.
        fields: see :data:`Fields`.
        canonical: makes the URL of a parent ACL canonical.
    """
    reading = _Reading(url, canonical)
    metadata, controls, security = (_values(fields, name) for name in (_METADATA, _CONTROLS, _SECURITY))
    if not (metadata or controls or security):
        return None
    if metadata:
        reading.metadata(metadata)
    for line in controls:
        for one in _NEXT.split(line):
            reading.control(one.strip())
    reading.security(security)
    return reading.finished()


def read_anchors(fields: Fields, base: str) -> list[Link]:
    """Return the links that the head gives a document that cannot have any; what is no URL is left out."""
    links: list[Link] = []
    for line in _values(fields, _ANCHOR):
        for pair in line.split(","):
            text, equals, target = pair.partition("=")
            if not equals:
                text, target = "", pair
            try:
                links.append(Link(canonical_of(_text(target.strip()), base), " ".join(_text(text).split())))
            except UrlError:
                continue
    return links


def _values(fields: Fields, name: str) -> list[str]:
    size = len(name)
    return [value.strip() for key, value in fields if len(key) == size and key.lower() == name]


def _text(value: str) -> str:
    """Decode percent-encoding (RFC 3986: ``+`` is a plus); bytes that are not UTF-8 are taken for what they may be."""
    return unquote_to_bytes(value.encode("latin-1", "replace")).decode(errors="replace")


def _exact(value: str) -> str:
    """Decode as :func:`_text`, where a guess could lose a denial.

    Raises:
        ValueError: it is not UTF-8, or not percent-encoded as it should be.
    """
    if re.search(r"%(?![0-9A-Fa-f]{2})", value):
        raise ValueError("a percent sign does not begin an encoded byte")
    return unquote_to_bytes(value.encode("latin-1")).decode()


class _Reading:
    """One head while it is read."""

    def __init__(self, url: str, canonical: Callable[[str], str]) -> None:
        self._url, self._canonical = url, canonical
        self._made = Controls()
        self._notes: list[str] = []
        self._problems: list[str] = []
        self._meta_acl: Acl | None = None
        self._acl: Acl | None = None
        self._said_acl: str | None = None

    # -- external metadata ------------------------------------------------------------------------

    def metadata(self, lines: Iterable[str]) -> None:
        """Read the pairs of all lines as one list."""
        plain: list[tuple[str, str]] = []
        rights: list[tuple[str, str]] = []
        broken: list[str] = []
        for pair in ",".join(lines).split(","):
            if not pair.strip():
                continue
            name, equals, value = pair.partition("=")
            low = _text(name).strip().lower()
            if not equals or not low:
                broken.append(pair)
            elif is_acl_meta(low):
                rights.append((low, self._right(low, value)))
            elif not is_reserved(low):
                plain.append((low, _text(value).strip()))
        if broken:
            self._note(f"X-Gsa-External-Metadata: {broken[0][:80]!r} is not name=value; it is ignored")
        self._made.metadata = tuple(plain)
        if not rights:
            return
        if broken:
            self._problem("a part of X-Gsa-External-Metadata is not name=value, and may have been a denial")
        found = acl_of_metas(self._url, rights, canonical=self._canonical)
        for said in (*found.warnings, *found.notes):
            self._note(said)
        self._meta_acl = found.acl

    def _right(self, name: str, value: str) -> str:
        try:
            return _exact(value)
        except ValueError as error:
            self._problem(f"{name} in X-Gsa-External-Metadata cannot be read: {error}")
            return ""

    # -- document controls ------------------------------------------------------------------------

    def control(self, text: str) -> None:
        """Read one ``name=value`` of X-Gsa-Doc-Controls."""
        name, equals, value = text.partition("=")
        name, value = name.strip().lower(), value.strip()
        made = self._made
        if name.startswith("acl") and (name != "acl" or not equals):
            self._problem(f"X-Gsa-Doc-Controls: {text[:80]!r} is not known and may have been an ACL")
        elif name == "acl":
            self._take_acl(value)
        elif name == "display_url":
            made.display_url = _text(value).strip()
        elif name == "crawl_once":
            made.once = self._flag(name, value)
        elif name == "lock":
            made.locked = self._flag(name, value)
        elif name == "scoring":
            made.scoring = _text(value).strip().lower()
        elif text:
            self._note(f"X-Gsa-Doc-Controls: {text[:80]!r} is not known; it is ignored")

    def _flag(self, name: str, value: str) -> bool | None:
        low = _text(value).strip().lower()
        if low not in {"true", "false"}:
            self._note(f"X-Gsa-Doc-Controls: {name} is {low[:80]!r}, not true or false; it is ignored")
            return None
        return low == "true"

    def _take_acl(self, value: str) -> None:
        if self._said_acl not in {None, value}:
            self._problem("X-Gsa-Doc-Controls has two ACLs that differ")
            return
        self._said_acl = value
        if not value:
            return
        self._acl = Acl(self._url)
        try:
            said = json.loads(_exact(value), object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            self._problem(
                f"the ACL in X-Gsa-Doc-Controls cannot be read: {str(error) or 'it nests too deeply'}"
            )
            return
        if not isinstance(said, dict):
            self._problem("the ACL in X-Gsa-Doc-Controls is no JSON object")
            return
        self._acl = self._read_acl(said)

    def _read_acl(self, said: Mapping[str, Any]) -> Acl:
        reading = AclReading(_MOST_ENTRIES)
        self._known(said, _ACL_KEYS, "the ACL")
        entries = said.get("entries") or []
        if not isinstance(entries, list):
            self._problem("entries in the ACL is no list")
            entries = []
        for entry in entries:
            if not isinstance(entry, dict) or not all(isinstance(one, str | None) for one in entry.values()):
                self._problem("an entry of the ACL is no object of texts")
                continue
            self._known(entry, _ENTRY_KEYS, "an entry of the ACL")
            if not (entry.get("name") or "").strip():
                self._problem("an entry of the ACL names nobody")
                continue
            reading.add(entry["name"], {key.replace("_", "-"): value or "" for key, value in entry.items()})
        parent, kind = said.get("inherit_from") or "", said.get("inheritance_type") or ""
        if not (isinstance(parent, str) and isinstance(kind, str)):
            self._problem("inherit_from or inheritance_type of the ACL is no text")
            parent = kind = ""
        if parent.strip():
            try:
                parent = self._canonical(parent.strip())
            except UrlError as error:
                self._problem(f"inherit_from of the ACL is no URL: {error}")
                parent = ""
        return reading.acl(self._url, inherit_from=parent, inheritance=kind)

    def _known(self, said: Mapping[str, Any], names: frozenset[str], where: str) -> None:
        strange = [name for name in said if name not in names]
        if strange:
            self._problem(f"{where} has {strange[0][:40]!r}, which is not known and may have been a denial")

    # -- security, and the end --------------------------------------------------------------------

    def security(self, said: Sequence[str]) -> None:
        """Read X-Gsa-Serve-Security; what is neither of its words, or both, secures."""
        words = {word.strip().lower() for line in said for word in line.split(",")}
        if not words:
            return
        self._made.secured = words != {"public"}
        if strange := words - {"public", "secure"}:
            self._note(f"X-Gsa-Serve-Security: {min(strange)[:80]!r} is not known and taken for secure")
        elif len(words) > 1:
            self._note("X-Gsa-Serve-Security says secure and public: it is taken for secure")

    def finished(self) -> Controls:
        """Return what came of it."""
        made = self._made
        acl = self._united()
        made.acl_from_metas = self._meta_acl is not None and self._said_acl is None
        if self._problems:
            acl = acl or Acl(self._url)
            problems = [acl.problem, *self._problems] if acl.problem else self._problems
            acl = replace(acl, problem="; ".join(problems))
        if acl is not None:
            acl = storable(acl)
            if acl.problem:
                self._note(f"nobody may see it: {acl.problem}")
        made.acl = acl
        made.no_acl = acl is None and self._said_acl == ""
        if made.no_acl and made.secured is None:
            made.secured = True
            self._note("it says that there is no ACL, and not whether it is public: it is hidden")
        made.notes = tuple(note.encode(errors="replace").decode() for note in self._notes)
        return made

    def _united(self) -> Acl | None:
        """The JSON counts; but what metas deny beside it, or what is wrong with them, is not lost."""
        metas, acl = self._meta_acl, self._acl
        if self._said_acl is None or metas is None:
            return acl or metas
        self._note("it has an ACL in X-Gsa-Doc-Controls and in X-Gsa-External-Metadata: the first counts")
        denials = tuple(entry for entry in metas.entries if entry.right is Right.DENY)
        if acl is None:  # "acl=" takes away what metas of the same head say: that cannot be meant
            return metas
        problem = "; ".join(one for one in (acl.problem, metas.problem) if one)
        return replace(acl, entries=(*acl.entries, *denials), problem=problem)

    def _problem(self, text: str) -> None:
        if text not in self._problems and len(self._problems) < _MOST_NOTES:
            self._problems.append(text)

    def _note(self, text: str) -> None:
        if text not in self._notes and len(self._notes) < _MOST_NOTES:
            self._notes.append(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that names a key twice: a reader that takes the last one loses the first."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made
