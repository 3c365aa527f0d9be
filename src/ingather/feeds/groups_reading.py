"""A group feed (``xmlgroups``), membership by membership.

Source: GSA feeds specification, section 12. Enumerated values come in upper case with underscores here, and are
read in any form. A DOCTYPE of ``gsafeed`` over it is accepted (section 7.4).
"""

from collections.abc import Iterator
from typing import ClassVar

from lxml import etree

from ingather.feeds.acls import read_principal
from ingather.feeds.cursor import FeedCursor
from ingather.feeds.encoding import ByteStream
from ingather.feeds.limits import FeedLimits
from ingather.feeds.naming import local_name
from ingather.feeds.pieces import GUESSED
from ingather.feeds.reading import FeedItem, FeedReader
from ingather.feeds.references import LOST
from ingather.feeds.scanned import Piece
from ingather.model.acl import Principal
from ingather.model.feed import FeedEnd, FeedHeader, FeedRejection, GroupMembership

__all__ = ["GroupReader", "read_group_items"]


def read_group_items(
    stream: ByteStream, *, limits: FeedLimits | None = None, start: FeedCursor | None = None
) -> Iterator[GroupMembership | FeedRejection | FeedEnd]:
    """Yield the memberships of *stream*, a rejection for each that cannot be read, and one ``FeedEnd``.

    A rejection's ``url`` is the text of the group, if that much could be read; its ``denies`` is ``True``: an ACL that
    denies the group may miss somebody.

    Raises:
        FeedError: as :func:`ingather.feeds.reading.read_items`.
    """
    for item in GroupReader(stream, limits=limits, start=start).items():
        if isinstance(item, GroupMembership | FeedRejection | FeedEnd):
            yield item


class GroupReader(FeedReader):
    """One pass over a group feed."""

    root: ClassVar[str] = "xmlgroups"
    kinds: ClassVar[frozenset[str]] = frozenset({"membership"})

    def items(self) -> Iterator[FeedItem]:
        """Yield the items; see :func:`read_group_items`."""
        for item in FeedReader.items(self):  # no expression: compiled it would be a list of the whole feed
            if not isinstance(item, FeedHeader):
                yield item

    def _value(
        self, piece: Piece, element: etree._Element, warnings: list[str], *, marked: bool
    ) -> GroupMembership | FeedRejection:
        groups: list[etree._Element] = []
        members: list[etree._Element] = []
        for child in element:
            name = local_name(child.tag).lower()
            if name == "principal":
                groups.append(child)
            elif name == "members":
                members += [one for one in child.iter() if local_name(one.tag).lower() == "principal"]
            else:
                self.names.unknown(f"the element membership/{name}", warnings)
        text = (groups[0].text or "").strip() if groups else ""
        troubles: list[str] = []
        if marked and any(
            LOST in one or GUESSED in one for part in (*groups, *members) for one in _texts(part)
        ):
            troubles.append("a principal holds a reference or character that was lost")
        if len(groups) != 1:
            troubles.append(f"it has {len(groups)} groups, not one")
        if len(members) > self.limits.members:
            troubles.append(f"it has more than {self.limits.members} members")
        read = [] if troubles else [self._principal(part, troubles) for part in (*groups, *members)]
        if troubles or read[0] is None:
            reason = "; ".join(dict.fromkeys(troubles[:5])) or "its group is empty"
            return FeedRejection(piece.place.line, piece.place.offset, text[:1000], reason, denies=True)
        if len(found := [one for one in read[1:] if one is not None]) < len(members):
            warnings.append("empty members were skipped")
        source = next((str(v) for k, v in element.attrib.items() if local_name(k).lower() == "source"), "")
        return GroupMembership(
            piece.place.line,
            piece.place.offset,
            read[0],
            tuple(found),
            source.strip()[:200],
            tuple(text[:1000] for text in warnings),
        )

    @staticmethod
    def _principal(element: etree._Element, troubles: list[str]) -> Principal | None:
        attributes = {
            local_name(key).lower().replace("_", "-"): str(value) for key, value in element.attrib.items()
        }
        return read_principal(element.text or "", attributes, troubles)


def _texts(element: etree._Element) -> Iterator[str]:
    yield element.text or ""
    yield from map(str, element.attrib.values())
