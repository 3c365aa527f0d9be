"""A feed of group memberships (``xmlgroups``; GSA feeds specification, section 12)."""

from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self

from ingather.client.acls import principal_element
from ingather.client.xmltext import FeedWriteError, Output
from ingather.model.acl import Principal, PrincipalScope

__all__ = ["GroupWriter"]

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<xmlgroups>\n'
_FOOT: Final = "</xmlgroups>\n"


class GroupWriter:
    """Writes memberships to *out*; a context manager like ``FeedWriter``.

    Attributes:
        memberships: written so far.
        size: bytes so far.
    """

    def __init__(self, out: Output) -> None:
        """Begin a feed."""
        self.memberships = self.size = 0
        self._out, self._closed = out, False
        self._put(_HEAD)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self._closed = True

    def close(self) -> None:
        """Write the end tag; *out* stays open."""
        if not self._closed:
            self._closed = True
            self._put(_FOOT)

    def add(self, group: Principal, members: Iterable[Principal]) -> None:
        """Say who is in *group*; memberships of the same group are united.

        Raises:
            FeedWriteError: a name cannot be written, or *group* is a user; nothing was written.
        """
        if self._closed:
            raise FeedWriteError("the feed is closed")
        if group.scope is not PrincipalScope.GROUP:
            raise FeedWriteError(f"{group.name[:100]!r} has members and is not a group")
        where = f"group {group.name[:100]!r}"
        inside = "".join(principal_element(one, where) for one in members)
        self._put(f"<membership>{principal_element(group, where)}<members>{inside}</members></membership>\n")
        self.memberships += 1

    def _put(self, text: str) -> None:
        data = text.encode()
        self._out.write(data)
        self.size += len(data)
