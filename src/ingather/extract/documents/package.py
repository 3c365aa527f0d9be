"""A zip container read as it is, not as its headers claim: names, members, what comes out counted.

Names are compared without case and with forward slashes. Sizes in the headers are not
believed. A container without its central directory (cut off) is read from the front.
"""

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ingather.errors import ExtractError
from ingather.extract.documents.limits import Budget, LimitReachedError

__all__ = ["Member", "Package", "gather", "member_key"]

_END = b"PK\x05\x06"
_CENTRAL = b"PK\x01\x02"
_LOCAL = re.compile(re.escape(b"PK\x03\x04"))
_CENTRAL_HEADER = struct.Struct("<4s6H3I5H2I")
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_END_RECORD = struct.Struct("<4s4H2IH")
_ZIP64_MARK = 0xFFFFFFFF
_ENCRYPTED = 0x1
_UTF8 = 0x800
_STORED, _DEFLATED = 0, 8
_CHUNK = 64 * 1024


def member_key(name: str) -> str:
    """Return the form of a member's name by which it is found: forward slashes, no case, no leading slash."""
    return name.replace("\\", "/").lstrip("/").lower()


@dataclass(frozen=True, slots=True)
class Member:
    """One member: name as stored, where its local header stands, how it is packed.

    ``packed_size`` is what the directory claims, used only for members stored unpacked.
    """

    name: str
    offset: int
    method: int
    packed_size: int
    encrypted: bool


class Package:
    """The members of a zip container; raises ``ExtractError`` (``damaged``) when it has none."""

    def __init__(self, body: bytes, budget: Budget) -> None:
        self._body = body
        self._budget = budget
        self.truncated = False
        self.cut = False
        members = self._directory()
        if not members:
            members = self._scan()
            self.truncated = True
        if not members and not body.startswith(_END):
            raise ExtractError("the archive holds no readable member", reason="damaged")
        self._members: dict[str, Member] = {}
        for member in members:
            self._members.setdefault(member_key(member.name), member)

    def __contains__(self, name: str) -> bool:
        return member_key(name) in self._members

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def find(self, name: str) -> Member | None:
        """Return the member called *name* in any case and with either slash."""
        return self._members.get(member_key(name))

    def chunks(self, member: Member) -> Iterator[bytes]:
        """Yield what comes out of *member*, counted against the budget.

        Raises:
            ExtractError: ``encrypted``, ``unsupported`` (packing), ``damaged`` (before anything came out).
            LimitReachedError: the budget for unpacked bytes or members is spent.
        """
        if member.encrypted:
            raise ExtractError(f"{member.name} is encrypted", reason="encrypted")
        self._budget.take_member()
        start = self._data_start(member.offset)
        if start is None:
            raise ExtractError(f"{member.name} cannot be located", reason="damaged")
        if member.method == _STORED:
            yield from self._stored(start, member.packed_size)
        elif member.method == _DEFLATED:
            yield from self._inflated(start, member.name)
        else:
            raise ExtractError(f"{member.name} is packed by method {member.method}", reason="unsupported")

    def read(self, name: str | Member) -> bytes:
        """Return all of a member, which may take a quarter of the budget for unpacked bytes.

        Raises as :meth:`chunks`, and ``damaged`` when there is no such member.
        """
        member = self.find(name) if isinstance(name, str) else name
        if member is None:
            raise ExtractError(f"the archive holds no {name}", reason="damaged")
        return gather(self.chunks(member), self._budget)

    # --- the way in ---------------------------------------------------------------------------

    def _directory(self) -> list[Member]:
        body = self._body
        end = body.rfind(_END)
        if end < 0 or end + _END_RECORD.size > len(body):
            return []
        _, _, _, _, _, size, offset, _ = _END_RECORD.unpack_from(body, end)
        # In front of the archive something may stand (a self-extractor): count from the end.
        start = end - size
        shift = start - offset
        if _ZIP64_MARK in (size, offset) or body[start : start + 4] != _CENTRAL:
            start, shift = body.find(_CENTRAL), 0
        return list(self._entries(start, shift)) if start >= 0 else []

    def _entries(self, position: int, shift: int) -> Iterator[Member]:
        body, left = self._body, self._budget.limits.members
        while body.startswith(_CENTRAL, position) and position + _CENTRAL_HEADER.size <= len(body):
            if left == 0:
                self.cut = True
                return
            left -= 1
            fields = _CENTRAL_HEADER.unpack_from(body, position)
            flags, method, packed = fields[3], fields[4], fields[8]
            name_size, extra_size, comment_size, offset = fields[10], fields[11], fields[12], fields[16]
            name_start = position + _CENTRAL_HEADER.size
            name = _name(body[name_start : name_start + name_size], flags)
            yield Member(name, offset + shift, method, packed, bool(flags & _ENCRYPTED))
            position = name_start + name_size + extra_size + comment_size

    def _scan(self) -> list[Member]:
        body = self._body
        members: list[Member] = []
        for found in _LOCAL.finditer(body):
            if len(members) >= self._budget.limits.members:
                self.cut = True
                break
            position = found.start()
            if position + _LOCAL_HEADER.size > len(body):
                break
            fields = _LOCAL_HEADER.unpack_from(body, position)
            flags, method, packed, name_size = fields[2], fields[3], fields[7], fields[9]
            name_start = position + _LOCAL_HEADER.size
            name = _name(body[name_start : name_start + name_size], flags)
            members.append(Member(name, position, method, packed, bool(flags & _ENCRYPTED)))
        return members

    def _data_start(self, offset: int) -> int | None:
        if offset < 0 or offset + _LOCAL_HEADER.size > len(self._body):
            return None
        fields = _LOCAL_HEADER.unpack_from(self._body, offset)
        if not _LOCAL.match(fields[0]):
            return None
        return offset + _LOCAL_HEADER.size + int(fields[9]) + int(fields[10])

    # --- the way out --------------------------------------------------------------------------

    def _stored(self, start: int, size: int) -> Iterator[bytes]:
        end = min(start + size, len(self._body))
        for position in range(start, end, _CHUNK):
            chunk = self._body[position : min(position + _CHUNK, end)]
            self._budget.take_unpacked(len(chunk))
            yield chunk

    def _inflated(self, start: int, name: str) -> Iterator[bytes]:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        position, came = start, False
        while not inflater.eof:
            packed = inflater.unconsumed_tail
            if not packed:
                packed = self._body[position : position + _CHUNK]
                position += len(packed)
            if not packed:
                return  # cut off: what came out stays
            try:
                chunk = inflater.decompress(packed, _CHUNK)
            except zlib.error as error:
                if came:
                    return
                raise ExtractError(f"{name} cannot be unpacked", reason="damaged") from error
            if chunk:
                came = True
                self._budget.take_unpacked(len(chunk))
                yield chunk


def gather(chunks: Iterable[bytes], budget: Budget) -> bytes:
    """Join *chunks*; one member may take a quarter of what may be unpacked, for it stands in memory whole.

    Raises:
        LimitReachedError: it takes more.
    """
    most, data = budget.limits.unpacked_bytes // 4, bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > most:
            raise LimitReachedError("unpacked_bytes")
    return bytes(data)


def _name(raw: bytes, flags: int) -> str:
    if flags & _UTF8:
        return raw.decode("utf-8", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp437")
