"""Basic Encoding Rules as LDAP uses them: definite lengths, tags of one octet.

Source: RFC 4511, section 5.1; X.690. What a server sends is a stranger's: everything is checked against the bytes
that are there.
"""

from collections.abc import Iterator

from ingather.errors import DirectoryError

__all__ = [
    "BOOLEAN",
    "ENUMERATED",
    "INTEGER",
    "OCTETS",
    "SEQUENCE",
    "SET",
    "Fields",
    "integer",
    "length_of",
    "octets",
    "tlv",
]

BOOLEAN, INTEGER, OCTETS, ENUMERATED, SEQUENCE, SET = 0x01, 0x02, 0x04, 0x0A, 0x30, 0x31
_LONG, _LONG_TAG, _MOST_OCTETS, _MOST_INT = 0x80, 0x1F, 4, 8


def tlv(tag: int, *parts: bytes) -> bytes:
    """Return an element: tag, length, and *parts* one behind the other."""
    size = sum(map(len, parts))
    if size < _LONG:
        head = bytes((tag, size))
    else:
        length = size.to_bytes((size.bit_length() + 7) // 8, "big")
        head = bytes((tag, _LONG | len(length))) + length
    return b"".join((head, *parts))


def integer(value: int, tag: int = INTEGER) -> bytes:
    """Return a whole number, in two's complement."""
    return tlv(tag, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def octets(value: str | bytes, tag: int = OCTETS) -> bytes:
    """Return a text (in UTF-8) or bytes as they are.

    Raises:
        DirectoryError: the text is not valid Unicode.
    """
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError as error:
            raise DirectoryError("a name is not valid Unicode") from error
    return tlv(tag, value)


def length_of(head: bytes) -> tuple[int, int] | None:
    """Return (octets of tag and length, octets behind them) of the element that begins *head*; ``None`` = more is needed.

    Raises:
        DirectoryError: this is no element that LDAP allows.
    """
    if len(head) < 2:  # noqa: PLR2004 - tag, first octet of the length
        return None
    if head[0] & _LONG_TAG == _LONG_TAG:
        raise _broken()
    first = head[1]
    if first < _LONG:
        return 2, first
    count = first & 0x7F
    if not 0 < count <= _MOST_OCTETS:
        raise _broken()
    if len(head) < 2 + count:
        return None
    return 2 + count, int.from_bytes(head[2 : 2 + count], "big")


class Fields:
    """The elements of *data*, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while self._at < len(self._data):
            yield self.any()

    @property
    def more(self) -> bool:
        """Whether there is another element."""
        return self._at < len(self._data)

    def any(self) -> tuple[int, bytes]:
        """Return tag and content of the next element.

        Raises:
            DirectoryError: there is none, or it is longer than what is there.
        """
        found = length_of(self._data[self._at : self._at + 6])
        if found is None or self._at + sum(found) > len(self._data):
            raise _broken()
        tag, start = self._data[self._at], self._at + found[0]
        self._at = start + found[1]
        return tag, self._data[start : self._at]

    def take(self, tag: int) -> bytes:
        """Return the content of the next element, which must have this *tag*.

        Raises:
            DirectoryError: it has another one, or there is none.
        """
        found, content = self.any()
        if found != tag:
            raise _broken()
        return content

    def number(self, tag: int = INTEGER) -> int:
        """Return the next element as a whole number.

        Raises:
            DirectoryError: it is none.
        """
        content = self.take(tag)
        if not 0 < len(content) <= _MOST_INT:
            raise _broken()
        return int.from_bytes(content, "big", signed=True)

    def text(self, tag: int = OCTETS) -> str:
        """Return the next element as a text; what is not UTF-8 is replaced."""
        return self.take(tag).decode("utf-8", "replace")


def _broken() -> DirectoryError:
    return DirectoryError("the directory sent something that is not LDAP", hint="see directory.servers")
