"""What was read, as bytes between processes: msgpack maps of the model's fields."""

import msgspec

from ingather.model.page import Converted, Page

__all__ = ["decode_converted", "decode_page", "encode"]

_CONVERTED = msgspec.msgpack.Decoder(Converted)
_PAGE = msgspec.msgpack.Decoder(Page)


def encode(value: Converted | Page) -> bytes:
    """Return *value* as msgpack."""
    return msgspec.msgpack.encode(value)


def decode_converted(data: bytes) -> Converted:
    """Return what :func:`encode` made of a ``Converted``.

    Raises:
        msgspec.DecodeError: *data* is something else.
    """
    return _CONVERTED.decode(data)


def decode_page(data: bytes) -> Page:
    """Return what :func:`encode` made of a ``Page``.

    Raises:
        msgspec.DecodeError: *data* is something else.
    """
    return _PAGE.decode(data)
