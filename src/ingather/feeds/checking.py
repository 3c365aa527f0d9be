"""``feed check`` and dry runs: a feed against the letter of the DTD, for authors of clients.

The reader takes what clients write; this says what they ought to write. Errors are what the DTD forbids or costs the record;
warnings are what is taken with tolerance. (GSA feeds specification, sections 7.2, 7.4 and 21.)
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import BinaryIO, Final

from lxml import etree

from ingather.errors import FeedError
from ingather.feeds.columns import Spot, columns
from ingather.feeds.dates import parse_feed_date
from ingather.feeds.dtd import ELEMENTS, GROUP_ELEMENTS, Element
from ingather.feeds.encoding import ByteStream
from ingather.feeds.groups_reading import GroupReader
from ingather.feeds.jsonlines import JsonLinesReader
from ingather.feeds.limits import FeedLimits
from ingather.feeds.naming import local_name
from ingather.feeds.reading import FeedItem, FeedReader
from ingather.model.feed import (
    FeedAcl,
    FeedEnd,
    FeedHeader,
    FeedRecord,
    FeedRejection,
    FeedType,
    GroupMembership,
)

__all__ = ["FeedFinding", "FeedReport", "Severity", "check"]

_DATASOURCE: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
_LONGEST_NAME: Final = 200
_MOST_FINDINGS: Final = 10_000
_AROUND: Final = frozenset({"gsafeed", "group", "header", "datasource", "feedtype", "xmlgroups"})


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class FeedFinding:
    """One thing that is wrong: where (line from 1, 0 = the feed as a whole), in which element, what.

    ``column``: from 1, in characters; 0 = not looked for, or not to be seen.
    """

    line: int
    element: str
    text: str
    severity: Severity = Severity.ERROR
    column: int = 0


@dataclass(frozen=True, slots=True)
class FeedReport:
    """What checking a feed gave.

    Attributes:
        findings: by line, at most 10,000; *more* says how many were left out.
        records, acls, memberships, rejected: how many items of each kind there are.
        complete: the feed was read to its end tag.
        datasource, feedtype: of the header.
    """

    findings: tuple[FeedFinding, ...]
    more: int = 0
    records: int = 0
    acls: int = 0
    memberships: int = 0
    rejected: int = 0
    complete: bool = False
    datasource: str = ""
    feedtype: str = ""

    @property
    def valid(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def check(  # noqa: PLR0913 - what it is, and how it is read
    stream: ByteStream,
    *,
    groups: bool = False,
    json_lines: bool = False,
    feedtype: FeedType | None = None,
    limits: FeedLimits | None = None,
    again: BinaryIO | None = None,
) -> FeedReport:
    """Return everything that is wrong with the feed in *stream*. Never raises for what it reads.

    Args:
        stream: the feed from its first byte.
        groups: it is a group feed.
        json_lines: it is a feed of JSON lines; no DTD then, but all that is tolerated and rejected.
        feedtype: what the form field would say; ``None`` = the header's.
        limits: as for reading.
        again: the same bytes once more, from which the columns of the findings are read; ``None`` = no columns.
    """
    checker = _Checker(GROUP_ELEMENTS if groups else ELEMENTS)
    try:
        reader: FeedReader | JsonLinesReader
        if json_lines:
            reader = JsonLinesReader(stream, limits=limits, feedtype=feedtype)
        else:
            kind = GroupReader if groups else FeedReader
            reader = kind(
                stream, limits=limits, feedtype=feedtype, on_element=checker.element, on_slip=checker.slip
            )
        for item in reader.items():
            checker.item(item)
    except FeedError as error:
        hint = f" ({error.hint})" if error.hint else ""
        checker.find(0, "", f"{error}{hint}")
    report = checker.report(needs_header=not groups)
    return report if again is None else checker.placed(report, again)


class _Checker:
    """Findings, while a feed is read."""

    def __init__(self, table: Mapping[str, Element]) -> None:
        self._table = table
        self._findings: dict[FeedFinding, int] = {}
        self._more = 0
        self._count = {FeedRecord: 0, FeedAcl: 0, GroupMembership: 0, FeedRejection: 0}
        self._header: FeedHeader | None = None
        self._complete = False
        self._line, self._met = 0, dict[str, int]()
        """Start tags met in the line that the parser is at, by name."""

    def find(
        self, line: int, element: str, text: str, severity: Severity = Severity.ERROR, *, nth: int = 1
    ) -> None:
        """Note a finding, once; *nth*: which element of that name in its line."""
        finding = FeedFinding(line, element, text, severity)
        if len(self._findings) < _MOST_FINDINGS:
            self._findings.setdefault(finding, nth)
        elif finding not in self._findings:
            self._more += 1

    def placed(self, report: FeedReport, stream: BinaryIO) -> FeedReport:
        """Return *report* with the columns of its findings."""
        spots = {finding: Spot(finding.line, finding.element, nth) for finding, nth in self._findings.items()}
        found = columns(stream, spots.values())
        placed = (replace(finding, column=found.get(spots[finding], 0)) for finding in report.findings)
        return replace(
            report,
            findings=tuple(sorted(placed, key=lambda one: (one.line, one.column, one.element, one.text))),
        )

    def slip(self, text: str, line: int) -> None:
        """Take a slip outside records."""
        self.find(line, "", text)

    def report(self, *, needs_header: bool) -> FeedReport:
        """Return what was found."""
        head = self._header or FeedHeader()
        if needs_header and self._header is not None:
            self._check_header(head)
        found = sorted(self._findings, key=lambda finding: (finding.line, finding.element, finding.text))
        return FeedReport(
            findings=tuple(found),
            more=self._more,
            records=self._count[FeedRecord],
            acls=self._count[FeedAcl],
            memberships=self._count[GroupMembership],
            rejected=self._count[FeedRejection],
            complete=self._complete,
            datasource=head.datasource,
            feedtype=head.feedtype,
        )

    def _check_header(self, head: FeedHeader) -> None:
        if not head.datasource:
            self.find(
                0, "datasource", "the header names no datasource; the form field must", Severity.WARNING
            )
        elif _DATASOURCE.fullmatch(head.datasource) is None or len(head.datasource) > _LONGEST_NAME:
            self.find(0, "datasource", f"{head.datasource[:100]!r} does not match [a-zA-Z_][a-zA-Z0-9_-]*")
        if not head.feedtype:
            self.find(0, "feedtype", "the header names no feedtype; the form field must", Severity.WARNING)
        elif head.feedtype not in frozenset(FeedType):
            self.find(0, "feedtype", f"{head.feedtype[:100]!r} is none of {', '.join(FeedType)}")

    def item(self, item: FeedItem) -> None:
        """Take what the reader made."""
        if type(item) in self._count:
            self._count[type(item)] += 1
        match item:
            case FeedHeader():
                self._header = item
                self._warn(0, "", item.warnings)
            case FeedRejection():
                where = f" (url {item.url[:200]})" if item.url else ""
                self.find(item.line, "", f"rejected: {item.reason}{where}")
            case FeedEnd():
                self._complete = item.complete
                self._warn(0, "", item.warnings)
                if item.trouble:
                    self.find(item.line, "", item.trouble)
            case FeedRecord():
                self._warn(item.line, "record", item.warnings)
                if item.denied:
                    self.find(item.line, "record", f"nobody may see it: {item.denied}")
            case FeedAcl():
                self._warn(item.line, "acl", item.warnings)
            case GroupMembership():
                self._warn(item.line, "membership", item.warnings)

    def _warn(self, line: int, element: str, texts: tuple[str, ...]) -> None:
        for text in texts:
            self.find(line, element, text, Severity.WARNING)

    # --- the DTD --------------------------------------------------------------------------------------------

    def element(self, top: etree._Element, line: int) -> None:
        """Hold a parsed element, which begins in *line*, to the DTD."""
        for element in top.iter():
            name = local_name(element.tag)
            place = line + (element.sourceline or 1) - 1
            nth = self._nth(place, name)
            rule = self._table.get(name)
            if rule is None:
                self.find(place, name, "the DTD knows no such element", nth=nth)
                continue
            for text, severity in _attribute_faults(element, name, rule):
                self.find(place, name, text, severity, nth=nth)
            if name not in _AROUND:
                for text in _content_faults(element, rule):
                    self.find(place, name, text, nth=nth)
        if local_name(top.tag) == "acl" and not (top.get("url") or "").strip():
            self.find(line, "acl", "an acl in a group needs a url")

    def _nth(self, line: int, name: str) -> int:
        """Count the start tag of an element."""
        if line != self._line:
            self._line, self._met = line, {}
        self._met[name] = self._met.get(name, 0) + 1
        return self._met[name]


def _attribute_faults(element: etree._Element, name: str, rule: Element) -> Iterator[tuple[str, Severity]]:
    for written, value in element.attrib.items():
        key = str(written)
        known = rule.attributes.get(key)
        if known is None:
            if not key.startswith("{http://www.w3.org/"):
                close = next((one for one in rule.attributes if one.lower() == key.lower()), None)
                meant = f"; the DTD writes {close}" if close else ""
                yield f"the DTD knows no attribute {local_name(key)!r} here{meant}", Severity.ERROR
        elif known.values and value not in known.values:
            yield f"{key}={str(value)[:100]!r} is none of {', '.join(sorted(known.values))}", Severity.ERROR
    for key, attribute in rule.attributes.items():
        if attribute.required and element.get(key) is None:
            yield f"the attribute {key!r} is missing", Severity.ERROR
    if name == "meta" and element.get("content") == "":
        yield "an empty content made an appliance skip the whole record", Severity.ERROR
    modified = element.get("last-modified") if name == "record" else None
    if modified and modified.strip() and parse_feed_date(modified) is None:
        yield f"last-modified={modified[:60]!r} is no RFC 822 date", Severity.ERROR


def _content_faults(element: etree._Element, rule: Element) -> Iterator[str]:
    names = "".join(f"{local_name(child.tag)} " for child in element)
    if rule.children.fullmatch(names) is None:
        yield f"its content ({names.strip().replace(' ', ', ')[:200]}) does not follow the DTD: {rule.model}"
    if not rule.text and any(
        part and part.strip() for part in (element.text, *(child.tail for child in element))
    ):
        yield "text stands where the DTD allows none"
