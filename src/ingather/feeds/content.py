"""A record's content: base64 as clients write it, zlib, gzip or raw deflate inside, never more than allowed.

Source: GSA feeds specification, section 10.
"""

import binascii
import zlib
from typing import Final

import msgspec
from isal import isal_zlib

__all__ = ["ContentError", "decode_base64", "decode_content", "inflate"]

_WHITE: Final = b" \t\n\r\f\v"
_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PADDINGS: Final = frozenset({b"", b"=", b"=="})
_SHORT: Final = 1 << 20
_FAST: Final = msgspec.json.Decoder(bytes)
_GZIP: Final = b"\x1f\x8b"
_FIRST: Final = 64 * 1024
_SLICE: Final = 1 << 20
_QUANTUM: Final = 4
_BROKEN: Final[type[Exception]] = isal_zlib.error  # type: ignore[assignment]  # its stub calls the class an instance


class ContentError(ValueError):
    """The content cannot be decoded; the text says why."""


def decode_content(text: str | bytes, encoding: str, most: int) -> bytes:
    """Return the document's bytes.

    Args:
        text: of the ``content`` element.
        encoding: ``base64binary`` or ``base64compressed``.
        most: bytes that may come out.

    Raises:
        ContentError: it is not what *encoding* says, or too large.
    """
    if len(text) // 4 * 3 > most + (most >> 1):
        raise ContentError(f"its content is larger than {most} bytes")
    data = decode_base64(text)
    if encoding == "base64compressed":
        return inflate(data, most)
    if len(data) > most:
        raise ContentError(f"its content is larger than {most} bytes")
    return data


def decode_base64(text: str | bytes) -> bytes:
    """Decode base64 that may be broken into lines and may lack its padding.

    Raises:
        ContentError: it is not base64.
    """
    try:
        bare = (text.encode("ascii") if isinstance(text, str) else text).translate(None, _WHITE)
    except UnicodeEncodeError as error:
        raise ContentError(f"it holds {error.object[error.start]!r}, which is not base64") from None
    if len(bare) % _QUANTUM:
        bare = bare.rstrip(b"=")
        bare += b"=" * (-len(bare) % _QUANTUM)
    if not bare:
        return b""
    if (strange := bare.translate(None, _ALPHABET)) not in _PADDINGS:
        raise ContentError(f"it holds {chr(strange[0])!r}, which is not base64")
    try:
        if len(bare) <= _SHORT:
            # Six times as fast as binascii, for one copy more.
            return _FAST.decode(b'"%b"' % bare)
        return binascii.a2b_base64(bare, strict_mode=True)
    except (binascii.Error, msgspec.DecodeError) as error:
        raise ContentError(f"it is not base64 ({error})") from None


def inflate(data: bytes, most: int) -> bytes:
    """Return what *data* was before compression: zlib as the protocol says, gzip and raw deflate by trying.

    Raises:
        ContentError: it is none of them, it is cut, or more than *most* bytes come out.
    """
    if not data:
        return b""
    tries = (zlib.MAX_WBITS | 16,) if data.startswith(_GZIP) else (zlib.MAX_WBITS, -zlib.MAX_WBITS)
    trouble = ""
    for bits in tries:
        try:
            return _inflated(data, bits, most)
        except _BROKEN as error:
            trouble = trouble or str(error)
    raise ContentError(f"its content is not compressed as it says ({trouble})")


def _inflated(data: bytes, bits: int, most: int) -> bytes:
    parts, size, left = [], 0, data
    while True:
        engine = isal_zlib.decompressobj(bits)  # half the time of zlib's
        while not engine.eof:
            made = engine.decompress(left, _SLICE if size else _FIRST)
            left = engine.unconsumed_tail
            size += len(made)
            if size > most:
                raise ContentError(f"its content is larger than {most} bytes")
            parts.append(made)
            if not made and not left and not engine.eof:
                raise ContentError("its compressed content is cut")
        left = engine.unused_data
        if not (bits > zlib.MAX_WBITS and left.startswith(_GZIP)):  # gzip may have several members
            return b"".join(parts)
