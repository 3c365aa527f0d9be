"""What a result shows of a document, stored in the index: one small packed field, read for one page of results."""

import msgspec

from ingather.index.languages import nfc
from ingather.ports.index import IndexDocument

__all__ = ["Card", "pack", "unpack"]


class Card(msgspec.Struct, frozen=True, array_like=True):
    """All that a result shows besides its snippet.

    ``date_s`` epoch seconds or ``None``; ``size`` bytes of the body; ``snippet`` whether the page
    allows excerpts; ``description`` the page's own summary, shortened, for results without a hit in the text; ``display`` the address that is shown and linked instead of ``url``;
    ``title_original`` the page's own title where an editor gave another; ``classes`` values of metadata classes.
    """

    id: int
    url: str
    title: str
    site: str
    path: str
    kind: str
    media_type: str
    language: str
    date_s: int | None
    size: int
    source: str
    snippet: bool
    description: str = ""
    display: str = ""
    title_original: str = ""
    classes: dict[str, tuple[str, ...]] = {}


_DESCRIPTION_CHARS = 300
_TITLE_CHARS = 500
_VALUES = 64
_VALUE_CHARS = 500
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Card).decode


def pack(document: IndexDocument) -> bytes:
    """Return the stored form of *document*'s card."""
    summary = document.meta.get("description", ("",))[0]
    return _encode(
        Card(
            document.id,
            nfc(document.url),
            nfc(document.title[:_TITLE_CHARS]),
            nfc(document.site),
            nfc(document.path),
            nfc(document.kind),
            nfc(document.media_type),
            nfc(document.language),
            document.date_s,
            document.size,
            nfc(document.source),
            document.snippet,
            nfc(summary[:_DESCRIPTION_CHARS]),
            nfc(document.display),
            nfc(document.title_original[:_TITLE_CHARS]),
            _classes(document) if document.shown else {},
        )
    )


def _classes(document: IndexDocument) -> dict[str, tuple[str, ...]]:
    """Return what a result shows of its classes, bounded."""
    found: dict[str, tuple[str, ...]] = {}
    left = _VALUES
    for name, values in document.classes.items():
        if name in document.shown and left > 0:
            found[name] = tuple(nfc(value[:_VALUE_CHARS]) for value in values[:left])
            left -= len(values)
    return found


def unpack(packed: bytes) -> Card:
    """Return the card."""
    return _decode(packed)
