"""From form, query and the XML's own header to what the desk is told (GSA feeds specification, sections 4.1, 12 and 21)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ingather.errors import UnitError
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind, FeedRefusedError, feed_type
from ingather.units import parse_bool
from ingather.web.feedgate.refusal import bad

__all__ = ["Order", "XmlHeader", "early_check", "order_of", "xml_header"]

_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_SESSION: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_PART: Final = re.compile(r"[0-9]{1,6}")
_ENCODED_WIDE: Final = {
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
}


@dataclass(frozen=True, slots=True)
class XmlHeader:
    """``datasource`` and ``feedtype`` of the XML's header, ``""`` = absent."""

    datasource: str = ""
    feedtype: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """A request understood: the feed's fields, and how its sender wants to be answered.

    Attributes:
        fields: for the desk.
        wait: the answer waits for the feed's end and is its report.
        wait_for_text: the answer waits for the feed's end and is ``Success`` or an error text.
    """

    fields: FeedFields
    wait: bool = False
    wait_for_text: bool = False


def xml_header(head: bytes) -> XmlHeader:
    """Read source and type out of the first kilobytes of a feed; cheap, and wrong bytes are no error."""
    text = head.decode(_ENCODED_WIDE.get(head.lstrip()[:2], "utf-8"), "replace")
    text = _COMMENT.sub("", text)
    header = text.partition("<header")[2].partition("</header")[0]
    return XmlHeader(_element(header, "datasource"), _element(header, "feedtype"))


def _element(text: str, name: str) -> str:
    found = re.search(
        rf"<{name}\s*>\s*(?:<!\[CDATA\[)?\s*([^<\]]{{0,400}}?)\s*(?:\]\]>)?\s*</{name}\s*>", text
    )
    return found[1] if found else ""


def early_check(name: str, value: str, kind: FeedKind) -> None:
    """Look at one field as soon as it is complete, so that a long body behind it is not stored in vain.

    Raises:
        RefusedError: it can never be right.
    """
    try:
        if name == "feedtype" and kind is FeedKind.DOCUMENTS and value:
            feed_type(value)
        elif name in {"datasource", "groupsource"} and value:
            FeedFields(datasource=value, feedtype="incremental").check()
    except FeedRefusedError as error:
        raise bad(f"bad {name}: {error}") from None


def order_of(  # noqa: PLR0913 - what a request consists of
    form: Mapping[str, str],
    query: Mapping[str, str],
    *,
    kind: FeedKind,
    format_: FeedFormat,
    bare: bool,
    has_payload: bool,
    head: bytes,
) -> Order:
    """Put together what a request says.

    A form field wins over the XML header, which is the fallback. For a body without a form (*bare*) the
    address's query takes the form's place.

    Raises:
        RefusedError: something is missing or cannot be right (400, with the reason).
    """
    named = {**query, **form} if bare else form
    asked = {**query, **form}
    make = _groups if kind is FeedKind.GROUPS else _documents
    fields = make(named, asked, format_, has_payload=has_payload, head=head)
    _check(fields)
    return Order(fields, _flag(asked, "wait"), _flag(asked, "waittocomplete"))


def _check(fields: FeedFields) -> None:
    early_check("feedtype", fields.feedtype, fields.kind)
    try:
        fields.check()
    except FeedRefusedError as error:
        raise bad(f"bad {'groupsource' if fields.groupsource else 'datasource'}: {error}") from None


def _documents(
    named: Mapping[str, str], asked: Mapping[str, str], format_: FeedFormat, *, has_payload: bool, head: bytes
) -> FeedFields:
    if not has_payload:
        raise bad("there is no feed: send the XML in the field 'data'")
    header = xml_header(head) if format_ is FeedFormat.XML else XmlHeader()
    warnings = tuple(
        f"the form says {name} {given!r} and the XML header {inside[:200]!r}; the form counts"
        for name, given, inside in (
            ("datasource", named.get("datasource", ""), header.datasource),
            ("feedtype", named.get("feedtype", ""), header.feedtype),
        )
        if given and inside and given.lower() != inside.lower()
    )
    datasource = named.get("datasource") or header.datasource
    feedtype = named.get("feedtype") or header.feedtype
    if not datasource:
        raise bad("no datasource: send the form field 'datasource', or name it in the XML header")
    if not feedtype:
        raise bad("no feedtype: send the form field 'feedtype', or name it in the XML header")
    session, part, last = _session(asked)
    return FeedFields(
        datasource=datasource,
        feedtype=feedtype,
        format=format_,
        session=session,
        part=part,
        last=last,
        dryrun=_flag(asked, "dryrun"),
        warnings=warnings,
    )


def _groups(
    named: Mapping[str, str], asked: Mapping[str, str], format_: FeedFormat, *, has_payload: bool, head: bytes
) -> FeedFields:
    replace, cleanup = asked.get("replace", ""), asked.get("cleanup", "")
    if replace and cleanup:
        raise bad("replace and cleanup exclude each other")
    header = xml_header(head)
    source = (
        cleanup or replace or asked.get("groupsource", "") or named.get("datasource", "") or header.datasource
    )
    if not source:
        raise bad("no groupsource: send the form field 'groupsource'")
    feedtype = (named.get("feedtype", "") or header.feedtype).lower()
    feedtype = "cleanup" if cleanup else "replace" if replace else feedtype or "incremental"
    if feedtype not in {"full", "incremental", "replace", "cleanup"}:
        raise bad(f"bad feedtype: {feedtype[:40]!r} is none of group feeds; send full or incremental")
    if not has_payload and not cleanup:
        raise bad("there are no groups: send the XML in the field 'data'")
    return FeedFields(
        datasource=source,
        feedtype=feedtype,
        kind=FeedKind.GROUPS,
        format=format_,
        groupsource=source,
        replace=bool(replace),
        cleanup=bool(cleanup),
        dryrun=_flag(asked, "dryrun"),
    )


def _session(asked: Mapping[str, str]) -> tuple[str, int, bool]:
    session = asked.get("session", "")
    if not session:
        return "", 0, False
    if not _SESSION.fullmatch(session):
        raise bad("bad session: letters, digits, '_', '.' and '-', at most 100 characters")
    part = asked.get("part", "")
    if not _PART.fullmatch(part) or int(part) < 1:
        raise bad("bad part: parts of a session are numbered from 1")
    return session, int(part), _flag(asked, "last")


def _flag(asked: Mapping[str, str], name: str) -> bool:
    value = asked.get(name)
    if value is None:
        return False
    if not value:
        return True
    try:
        return parse_bool(value)
    except UnitError:
        return False
