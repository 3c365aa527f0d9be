"""A parsed ``record`` or ``acl`` element becomes a value of the model.

Source: GSA feeds specification, sections 7.3, 7.4, 9.1, 10 and 11.2.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingather.access.metas import is_acl_meta
from ingather.feeds.acls import AclReading, enum_form
from ingather.feeds.attributes import authmethod_of, flag_of, number_of, scoring_of
from ingather.feeds.content import ContentError, decode_base64, decode_content
from ingather.feeds.dates import header_date
from ingather.feeds.limits import FeedLimits
from ingather.feeds.naming import Names, action_of, attributes_of, local_name
from ingather.feeds.pieces import GUESSED
from ingather.feeds.references import LOST
from ingather.feeds.scanned import Place
from ingather.model.acl import Acl, AclEntry
from ingather.model.feed import FeedAcl, FeedContent, FeedRecord, FeedRejection, MetaPair

__all__ = ["GroupContext", "RecordReader"]

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]")
_ENCODINGS: Final = frozenset({"base64binary", "base64compressed"})
_REMEMBERED: Final = 4096
_SHORT: Final = 500
_DATE_CHARS: Final = 200
_MARKED: Final = "it holds a reference or character that was lost"


class RejectedError(Exception):
    """The record cannot be taken; the text says why. *denies*: and nobody may see its document."""

    def __init__(self, text: str, *, denies: bool = False) -> None:
        super().__init__(text)
        self.denies = denies


@dataclass(frozen=True, slots=True)
class GroupContext:
    """What the group around a record says; *action* is ``""`` if that cannot be read."""

    action: str = "add"
    pagerank: int | None = None


def _text(element: etree._Element) -> str:
    return element.text or "" if len(element) == 0 else "".join(str(part) for part in element.itertext())


def _marked(text: str) -> bool:
    return LOST in text or GUESSED in text


@dataclass(slots=True)
class RecordReader:
    """Makes values of elements; one for a feed.

    Attributes:
        limits: what a record may hold.
        names: unknown names so far.
        keeps_content: ``False`` for metadata-and-url feeds.
        lifted: base64 that was taken out of the record before it was parsed.
    """

    limits: FeedLimits
    names: Names
    keeps_content: bool = True
    lifted: bytes = b""
    _warnings: list[str] = field(default_factory=list)
    _marks: bool = False
    _entries: dict[tuple[object, ...], AclEntry] = field(default_factory=dict)

    def record(
        self, element: etree._Element, place: Place, group: GroupContext, warnings: list[str], *, marked: bool
    ) -> FeedRecord | FeedRejection:
        """Return the record in *element*; *marked*: something in it was lost or guessed (see ``pieces``)."""
        self._warnings, self._marks = warnings, marked
        written = attributes_of(element, "record", self.names, warnings)
        url = written.get("url", "").strip()
        try:
            return self._record(element, place, group, written)
        except RejectedError as error:
            denies = error.denies or self._speaks_of_access(element)
            return FeedRejection(
                place.line, place.offset, self._plain(url)[: self.limits.url_chars], str(error), denies
            )

    def _record(
        self, element: etree._Element, place: Place, group: GroupContext, written: Mapping[str, str]
    ) -> FeedRecord:
        url = self._url(written.get("url", ""))
        action = action_of(written["action"], self._warnings) if "action" in written else group.action
        if not action:
            raise RejectedError(
                f"the action {written['action']!r} is neither add nor delete"
                if "action" in written
                else "the action of its group cannot be read"
            )
        if self._marks:
            self._lossless(written, "displayurl", "mimetype", "last-modified")
        modified = self._plain(written.get("last-modified", "")).strip()
        if modified and not header_date(modified[:_DATE_CHARS]):
            self._warnings.append(f"last-modified {modified[:60]!r} is no date")
        parts = self._children(element)
        acl = self._acl(parts["acl"][-1], url) if parts["acl"] else None
        if len(parts["acl"]) > 1:
            self._warnings.append("several acl elements: the last one counts")
        denied: list[str] = []
        metadata = self._metadata(parts["metadata"], denied) if parts["metadata"] else None
        if acl is not None and metadata and any(is_acl_meta(name) for name, _ in metadata):
            acl, metadata = self._last_wins(parts, acl, metadata, denied)
        return FeedRecord(
            line=place.line,
            offset=place.offset,
            url=url,
            delete=action == "delete",
            display_url=self._plain(written.get("displayurl", "")).strip(),
            mimetype=self._plain(written.get("mimetype", "")).strip(),
            last_modified=modified,
            lock=flag_of(written, "lock", self._warnings),
            authmethod=authmethod_of(written.get("authmethod", ""), self._warnings),
            pagerank=number_of(written, "pagerank", group.pagerank, self._warnings),
            crawl_immediately=flag_of(written, "crawl-immediately", self._warnings),
            crawl_once=flag_of(written, "crawl-once", self._warnings),
            scoring=scoring_of(written.get("scoring", ""), self._warnings),
            metadata=metadata,
            overwrite_acls=all(self._overwrites(part) for part in parts["metadata"]),
            acl=acl,
            content=self._content(parts["content"]),
            warnings=self._all_warnings(),
            denied="; ".join(dict.fromkeys(denied)),
        )

    def free_acl(
        self, element: etree._Element, place: Place, group: GroupContext, warnings: list[str], *, marked: bool
    ) -> FeedAcl | FeedRejection:
        """Return the named resource in *element*."""
        self._warnings, self._marks = warnings, marked
        written = attributes_of(element, "acl", self.names, warnings)
        action = action_of(written["action"], warnings) if "action" in written else group.action
        try:
            url = self._url(written.get("url", ""))
            if not action:
                raise RejectedError("whether it is added or deleted cannot be read")  # noqa: TRY301
        except RejectedError as error:
            url = self._plain(written.get("url", "")).strip()[: self.limits.url_chars]
            return FeedRejection(place.line, place.offset, url, str(error), denies=True)
        acl = self._acl(element, url, written)
        return FeedAcl(place.line, place.offset, acl, action == "delete", self._all_warnings())

    def _all_warnings(self) -> tuple[str, ...]:
        most, found = self.limits.warnings, [text[:1000] for text in self._warnings]
        return (*found[:most], f"and {len(found) - most} more") if len(found) > most else tuple(found)

    # --- attributes ---------------------------------------------------------------------------------------

    def _url(self, written: str) -> str:
        url = written.strip()
        if not url:
            raise RejectedError("its url is empty")
        if len(url) > self.limits.url_chars:
            raise RejectedError(f"its url is longer than {self.limits.url_chars} characters")
        if self._marks and _marked(url):
            raise RejectedError(f"the url cannot be known: {_MARKED}", denies=True)
        if _ABSOLUTE.match(url) is None:
            raise RejectedError("its url is relative: it must begin with a scheme, like http://")
        return url

    def _lossless(self, written: Mapping[str, str], *keys: str) -> None:
        for key in keys:
            if LOST in written.get(key, ""):
                raise RejectedError(f"{key}: {_MARKED}")

    def _plain(self, text: str) -> str:
        return text.replace(GUESSED, "").replace(LOST, "\ufffd") if self._marks else text

    def _overwrites(self, element: etree._Element) -> bool:
        value = enum_form(
            attributes_of(element, "metadata", self.names, self._warnings).get("overwrite-acls", "")
        )
        if value not in {"", "true", "false"}:
            self._warnings.append(f"overwrite-acls is {value[:40]!r} and read as false, which clears no ACL")
        return value in {"", "true"}

    # --- children ---------------------------------------------------------------------------------------

    def _children(self, element: etree._Element) -> dict[str, list[etree._Element]]:
        found: dict[str, list[etree._Element]] = {"acl": [], "metadata": [], "content": []}
        for child in element:
            name = local_name(child.tag)
            place = found.get(name)
            if place is None and (place := found.get(name.lower())) is None:
                self.names.unknown(f"the element record/{name}", self._warnings)
            else:
                place.append(child)
        return found

    def _acl(  # noqa: C901 (each part has its own way to be wrong)
        self, element: etree._Element, url: str, written: Mapping[str, str] | None = None
    ) -> Acl:
        reading = AclReading(self.limits.acl_entries)
        bound = written is None
        if written is None:
            written = attributes_of(element, "acl", self.names, self._warnings)
        problems = []
        if bound and (own := written.get("url", "").strip()) and own != url:
            problems.append(f"the acl of a record names another url, {own[:200]!r}")
        loose = element.text
        for child in element:
            loose = (loose or "") + tail if (tail := child.tail) else loose
            name = child.tag if child.tag == "principal" else local_name(child.tag).lower()
            form = (child.text, *child.items())
            if not self._marks and (known := self._entries.get(form)) is not None and len(child) == 0:
                reading.take(known)
                continue
            if name != "principal":
                self.names.unknown(f"the element acl/{name}", self._warnings)
                problems.append(f"it holds a {name[:60]!r} element, which may have been a denial")
                continue
            attributes = attributes_of(child, "principal", self.names, self._warnings)
            text = _text(child)
            if len(child):
                problems.append("a principal holds elements")
            if self._marks and (_marked(text) or any(map(_marked, attributes.values()))):
                problems.append(f"a principal: {_MARKED}")
            entry = reading.add(self._plain(text), attributes)
            if entry is not None and len(child) == 0 and not self._marks and len(text) < _SHORT:
                if len(self._entries) >= _REMEMBERED:
                    self._entries.clear()
                self._entries[form] = entry
        parent = written.get("inherit-from", "")
        if len(parent) > self.limits.url_chars or (self._marks and _marked(parent)):
            problems.append("inherit-from cannot be known")
            parent = ""
        if loose and not loose.isspace():
            problems.append("it holds text, which may have been a denial")
        acl = reading.acl(
            url, inherit_from=parent, inheritance=written.get("inheritance-type", ""), problems=problems
        )
        self._warnings += reading.warnings
        if acl.problem:
            self._warnings.append(f"nobody may see what this ACL governs: {acl.problem}")
        return acl

    def _metadata(self, elements: list[etree._Element], denied: list[str]) -> tuple[MetaPair, ...]:
        pairs: list[MetaPair] = []
        size = 0
        for count, (name, content) in enumerate(self._metas(elements, denied), start=1):
            if count > self.limits.metas:
                raise RejectedError(f"it has more than {self.limits.metas} metas")
            size += len(name.encode("utf-8", "replace")) + len(content.encode("utf-8", "replace"))
            if size > self.limits.metadata_bytes:
                raise RejectedError(f"its metadata is larger than {self.limits.metadata_bytes} bytes")
            if not name:
                self._warnings.append("a meta without a name was dropped")
            elif content.strip() or is_acl_meta(name):
                # An ACL meta without content is an empty list: without it the document might become public.
                pairs.append((name, content))
            else:
                self._warnings.append(f"the meta {name[:100]!r} is empty and was dropped")
        return tuple(pairs)

    def _metas(  # noqa: C901 (one meta after the other)
        self, elements: list[etree._Element], denied: list[str]
    ) -> Iterator[MetaPair]:
        for element in elements:
            for meta in element.iterdescendants():
                if not self._marks and meta.tag == "meta":
                    match meta.items():
                        case [("name", name), ("content", content)] if name and content:
                            yield name.strip(), content
                            continue
                        case _:
                            pass
                if meta.tag != "meta" and (tag := local_name(meta.tag)).lower() != "meta":
                    self.names.unknown(f"the element metadata/{tag}", self._warnings)
                    continue
                written = attributes_of(meta, "meta", self.names, self._warnings)
                name, content = written.get("name", ""), written.get("content", "")
                encoding = enum_form(written.get("encoding", ""))
                if encoding == "base64binary" and not (self._marks and _marked(name + content)):
                    try:
                        name, content = (decode_base64(text).decode() for text in (name, content))
                    except ValueError as error:
                        # Neither its name nor what it denies can be known.
                        denied.append(
                            f"a meta in base64 cannot be decoded and may have been an ACL ({error})"
                        )
                        continue
                elif encoding:
                    denied.append(f"a meta with the encoding {encoding[:40]!r} may have been an ACL")
                    continue
                if self._marks and _marked(name + content):
                    lost = LOST in name or LOST in content
                    if _marked(name) or is_acl_meta(name):
                        denied.append(f"a meta that is or may be of an ACL: {_MARKED}")
                    elif lost:
                        raise RejectedError(f"the meta {name[:100]!r}: {_MARKED}")
                yield self._plain(name).strip(), self._plain(content)

    def _last_wins(
        self,
        parts: Mapping[str, list[etree._Element]],
        acl: Acl,
        metadata: tuple[MetaPair, ...],
        denied: list[str],
    ) -> tuple[Acl | None, tuple[MetaPair, ...]]:
        """Settle a record that has both an ``acl`` and ACL metas (section 11.2)."""
        record = parts["acl"][-1].getparent()
        assert record is not None  # noqa: S101 (children have a parent)
        if record.index(parts["acl"][-1]) > record.index(parts["metadata"][-1]):
            self._warnings.append("both ACL metas and an acl element: the element stands last and counts")
            return acl, tuple((name, content) for name, content in metadata if not is_acl_meta(name))
        self._warnings.append("both an acl element and ACL metas: the metas stand last and count")
        if acl.problem:
            denied.append(f"the acl element: {acl.problem}")
        return None, metadata

    def _content(  # noqa: C901 (each way to be wrong has its words)
        self, elements: list[etree._Element]
    ) -> FeedContent | None:
        if not elements:
            return None
        if not self.keeps_content:
            self._warnings.append("content in a metadata-and-url feed was ignored")
            return None
        element = elements[0]
        if len(elements) > 1:
            element = next((one for one in elements if one.text or len(one)), element)
            self._warnings.append("several content elements: the first that is not empty counts")
        encoding = enum_form(
            attributes_of(element, "content", self.names, self._warnings).get("encoding", "")
        )
        if encoding and encoding not in _ENCODINGS:
            raise RejectedError(f"the content's encoding is {encoding[:60]!r}")
        if len(element):
            if encoding:
                raise RejectedError("elements stand in the base64 of its content")
            self._warnings.append("the content is markup that is not escaped: taken as it stands")
            text = self._inner(element)
        else:
            text = element.text or ""
        if self.lifted and encoding and not text:
            return self._decoded(self.lifted, encoding)
        if self._marks:
            if LOST in text:
                raise RejectedError(f"its content: {_MARKED}")
            text = self._plain(text)
        if not encoding:
            body = text.encode("utf-8", "replace")
            if len(body) > self.limits.content_bytes:
                raise RejectedError(f"its content is larger than {self.limits.content_bytes} bytes")
            return FeedContent(body, text=True)
        return self._decoded(text, encoding)

    def _decoded(self, text: str | bytes, encoding: str) -> FeedContent:
        try:
            return FeedContent(decode_content(text, encoding, self.limits.content_bytes), text=False)
        except ContentError as error:
            raise RejectedError(str(error)) from None

    @staticmethod
    def _inner(element: etree._Element) -> str:
        parts = [element.text or ""]
        parts += [etree.tostring(child, encoding="unicode", with_tail=True) for child in element]
        return "".join(parts)

    def _speaks_of_access(self, element: etree._Element) -> bool:
        """Whether a record that is rejected said anything of who may see it."""
        for child in element.iter():
            name = local_name(child.tag).lower()
            if name == "acl":
                return True
            if name == "meta":
                keys = {enum_form(local_name(key)): str(value) for key, value in child.attrib.items()}
                if keys.get("encoding") or is_acl_meta(keys.get("name", "")) or _marked(keys.get("name", "")):
                    return True
        return False
