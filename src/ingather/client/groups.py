"""A feed of group memberships (``xmlgroups``; GSA feeds specification, section 12)."""

from collections.abc import Iterable
from typing import Final

from ingather.client.acls import principal_element
from ingather.client.document import FeedDocument
from ingather.client.xmltext import FeedWriteError, Output
from ingather.model.acl import Principal, PrincipalScope

__all__ = ["GroupWriter"]

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<xmlgroups>\n'
_FOOT: Final = "</xmlgroups>\n"


class GroupWriter(FeedDocument):
    """Writes memberships to *out*; a context manager like ``FeedWriter``.

    Attributes:
        memberships: written so far.
        size: bytes so far.
    """

    def __init__(self, out: Output) -> None:
        """Begin a feed."""
        super().__init__(out, _HEAD, _FOOT)
        self.memberships = 0

    def add(self, group: Principal, members: Iterable[Principal]) -> None:
        """Say who is in *group*; memberships of the same group are united.

        Raises:
            FeedWriteError: a name cannot be written, or *group* is a user; nothing was written.
        """
        self._see_open()
        if group.scope is not PrincipalScope.GROUP:
            raise FeedWriteError(f"{group.name[:100]!r} has members and is not a group")
        where = f"group {group.name[:100]!r}"
        inside = "".join(principal_element(one, where) for one in members)
        self._put(f"<membership>{principal_element(group, where)}<members>{inside}</members></membership>\n")
        self.memberships += 1
