"""Outlook messages ([MS-OXMSG]): properties as streams; headers, text, links of the HTML, attachments."""

import struct

from ingather.extract.documents.cfb import CompoundFile
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.mail import header_date
from ingather.extract.documents.markup import page_of, write_links, write_page
from ingather.extract.documents.plain import add_addresses
from ingather.extract.documents.summary import codepage_name, filetime

__all__ = ["read_message"]

_PROPERTIES = "__properties_version1.0"
_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0037, 0x0C1A, 0x0C1F, 0x5D01
_TO, _COPY, _HEADERS = 0x0E04, 0x0E03, 0x007D
_BODY, _RTF, _HTML, _INTERNET_ID = 0x1000, 0x1009, 0x1013, 0x1035
_SENT, _DELIVERED, _CREATED = 0x0039, 0x0E06, 0x3007
_CODEPAGE, _INTERNET_CODEPAGE, _LOCALE = 0x3FFD, 0x3FDE, 0x3FF1
_FILE_NAME, _LONG_NAME, _DATA, _MEDIA_TYPE, _DISPLAY_NAME = 0x3704, 0x3707, 0x3701, 0x370E, 0x3001
_SMTP_ADDRESS, _ADDRESS = 0x39FE, 0x3003
_DEEPEST = 10
_LONGEST_RTF = 50_000_000
_COMPRESSED, _UNCOMPRESSED = 0x75465A4C, 0x414C454D
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans"
    b" SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


class _Properties:
    """The properties of a message or attachment, which is a storage."""

    def __init__(self, file: CompoundFile, path: tuple[str, ...], codepage: str) -> None:
        self._file = file
        self._path = path
        self._fixed = self._fixed_values()
        self.codepage = codepage
        for tag in (_CODEPAGE, _INTERNET_CODEPAGE):
            if number := self._fixed.get(tag, 0) & 0xFFFFFFFF:
                self.codepage = codepage_name(number)
                break

    def _fixed_values(self) -> dict[int, int]:
        data = self._file.stream(*self._path, _PROPERTIES) or b""
        # The header's size depends on where the storage stands; entries are 16 bytes from the end.
        start = len(data) % 16 or (0 if self._path else 32)
        found: dict[int, int] = {}
        for position in range(start, len(data) - 15, 16):
            kind, tag, _, value = struct.unpack_from("<HHIQ", data, position)
            if kind in {0x0002, 0x0003, 0x0040}:
                found[tag] = value
        return found

    def data(self, tag: int, kind: int = 0x0102) -> bytes | None:
        """Return the bytes of a property."""
        return self._file.stream(*self._path, f"__substg1.0_{tag:04X}{kind:04X}")

    def text(self, tag: int) -> str:
        """Return a text property, whichever of its two forms there is."""
        wide = self.data(tag, 0x001F)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        narrow = self.data(tag, 0x001E)
        return narrow.decode(self.codepage, "replace").rstrip("\x00") if narrow else ""

    def time(self, tag: int) -> str:
        """Return a time property as RFC 3339."""
        return filetime(self._fixed.get(tag, 0))


def read_message(file: CompoundFile, draft: Draft) -> None:
    """Read the message in *file* into *draft*.

    Raises:
        LimitReachedError: a limit of the draft's budget.
    """
    message = _Properties(file, (), "cp1252")
    sender = _person(message.text(_SENDER), message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS))
    draft.meta("title", message.text(_SUBJECT))
    draft.meta("author", sender)
    draft.meta("to", message.text(_TO))
    draft.meta("cc", message.text(_COPY))
    draft.meta("message-id", message.text(_INTERNET_ID))
    draft.meta(
        "created",
        message.time(_SENT) or message.time(_DELIVERED) or _header_date(message) or message.time(_CREATED),
    )
    _read_storage(file, (), message, draft, 0)


def _read_storage(
    file: CompoundFile, path: tuple[str, ...], message: _Properties, draft: Draft, depth: int
) -> None:
    draft.budget.take_member()
    sender = _person(message.text(_SENDER), message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS))
    lines = (
        ("Subject", message.text(_SUBJECT)),
        ("From", sender),
        ("To", message.text(_TO)),
        ("Cc", message.text(_COPY)),
    )
    for name, value in lines:
        if value.strip():
            draft.block(f"{name}: {value}")
    _write_addresses(file, path, message, draft)
    _read_body(message, draft)
    for entry in file.children(*path):
        if not entry.is_stream and entry.path[-1].startswith("__attach_version1.0_"):
            _read_attachment(file, entry.path, message.codepage, draft, depth)


def _write_addresses(file: CompoundFile, path: tuple[str, ...], message: _Properties, draft: Draft) -> None:
    """Write the recipients' addresses, which the lines above name by what people call them."""
    addresses = []
    for entry in file.children(*path):
        if not entry.is_stream and entry.path[-1].startswith("__recip_version1.0_"):
            recipient = _Properties(file, entry.path, message.codepage)
            address = recipient.text(_SMTP_ADDRESS) or recipient.text(_ADDRESS)
            if "@" in address:
                addresses.append(address)
    draft.block(" ".join(addresses))


def _read_body(message: _Properties, draft: Draft) -> None:
    text = message.text(_BODY)
    html = message.data(_HTML) or message.text(_HTML).encode()
    for line in text.splitlines():
        draft.block(line)
    if html.strip():
        page = page_of(html, f"text/html; charset={message.codepage}")
        (write_links if text.strip() else write_page)(page, draft)
    elif packed := message.data(_RTF):
        rtf = decompressed_rtf(packed)
        if rtf and not text.strip():
            draft.embed("", rtf, "application/rtf", keep=False)
    add_addresses(text, draft)


def _read_attachment(
    file: CompoundFile, path: tuple[str, ...], codepage: str, draft: Draft, depth: int
) -> None:
    attachment = _Properties(file, path, codepage)
    name = attachment.text(_LONG_NAME) or attachment.text(_FILE_NAME) or attachment.text(_DISPLAY_NAME)
    data = attachment.data(_DATA)
    inner = (*path, f"__substg1.0_{_DATA:04X}000D")
    if data:
        draft.embed(name or "attachment", data, attachment.text(_MEDIA_TYPE) or None)
    elif file.find(*inner) and depth < _DEEPEST:
        draft.block(name)
        _read_storage(file, inner, _Properties(file, inner, codepage), draft, depth + 1)
    else:
        draft.block(name)


def _person(name: str, address: str) -> str:
    if "@" in address and address != name:
        return f"{name} <{address}>" if name else address
    return name or address


def _header_date(message: _Properties) -> str:
    for line in message.text(_HEADERS).splitlines():
        if line.lower().startswith("date:"):
            return header_date(line[5:].strip())
    return ""


def decompressed_rtf(packed: bytes) -> bytes:
    """Return the RTF that a message stores compressed ([MS-OXRTFCP]), as far as it goes."""
    if len(packed) < 16:  # noqa: PLR2004 (the header)
        return b""
    _, size, kind, _ = struct.unpack_from("<4I", packed)
    if kind == _UNCOMPRESSED:
        return packed[16 : 16 + size]
    if kind != _COMPRESSED:
        return b""
    return _inflated(packed, min(size, _LONGEST_RTF))


def _inflated(packed: bytes, most: int) -> bytes:
    window = bytearray(_DICTIONARY.ljust(4096, b"\0"))
    write, position = len(_DICTIONARY), 16
    out = bytearray()
    while position < len(packed) and len(out) < most:
        control, position = packed[position], position + 1
        for bit in range(8):
            step = packed[position : position + 1 + (control >> bit & 1)]
            position += len(step)
            if len(step) == 2:  # noqa: PLR2004 (a reference; a literal is one byte)
                offset, length = (step[0] << 8 | step[1]) >> 4, (step[1] & 0xF) + 2
                if offset == write:
                    return bytes(out)
            elif step and not control >> bit & 1:
                window[write], offset, length = step[0], write, 1
            else:
                return bytes(out)
            for _ in range(length):
                byte = window[offset]
                out.append(byte)
                window[write] = byte
                offset, write = (offset + 1) % 4096, (write + 1) % 4096
    return bytes(out)
