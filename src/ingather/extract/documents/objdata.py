"""Objects embedded in RTF and old Office: OLE 1 wrapping ([MS-OLEDS] 2.2), packaged files ([MS-OLEDS] 2.3.6)."""

import struct

from ingather.extract.documents.draft import Draft

__all__ = ["embed_object", "unpack_native"]

_EMBEDDED = 2


def embed_object(digits: str, draft: Draft) -> None:
    """Read the object whose OLE 1 form is written in hexadecimal *digits*; a broken one is left out."""
    wanted = "".join(digits.split())
    try:
        data = bytes.fromhex(wanted[: len(wanted) // 2 * 2])
        _, kind = struct.unpack_from("<II", data, 0)
        position = 8
        names = []
        for _ in range(3):  # class, topic, item
            (size,) = struct.unpack_from("<I", data, position)
            names.append(data[position + 4 : position + 4 + size].rstrip(b"\x00"))
            position += 4 + size
        (size,) = struct.unpack_from("<I", data, position)
    except (ValueError, struct.error):
        return
    native = data[position + 4 : position + 4 + size]
    if kind != _EMBEDDED or not native:
        return
    packaged = unpack_native(native) if names[0] == b"Package" else None
    if packaged:
        draft.embed(*packaged)
    else:
        draft.embed("", native, keep=False)


def unpack_native(data: bytes) -> tuple[str, bytes] | None:
    """Return label and bytes of a packaged file (after a length of four bytes or without), or ``None``."""
    for start in (0, 4):
        try:
            return _unpack(data, start)
        except (struct.error, ValueError):
            continue
    return None


def _unpack(data: bytes, start: int) -> tuple[str, bytes]:
    (mark,) = struct.unpack_from("<H", data, start)
    if mark != _EMBEDDED:
        raise ValueError(mark)
    label_end = data.index(b"\x00", start + 2)
    path_end = data.index(b"\x00", label_end + 1)
    (path_size,) = struct.unpack_from("<I", data, path_end + 5)
    position = path_end + 9 + path_size
    (size,) = struct.unpack_from("<I", data, position)
    content = data[position + 4 : position + 4 + size]
    if not content:
        raise ValueError(size)
    return data[start + 2 : label_end].decode("cp1252", "replace"), content
