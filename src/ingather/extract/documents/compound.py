"""OLE compound files: their streams say whether it is old Word, Excel, PowerPoint, a message, or encrypted."""

import struct

from ingather.errors import ExtractError
from ingather.extract.documents.cfb import CompoundFile
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.foreign import read_as
from ingather.extract.documents.kinds import Kind, kind_of
from ingather.extract.documents.objdata import unpack_native
from ingather.extract.documents.summary import read_summary

__all__ = ["read"]

_WORD = "application/msword"
_OBJECT_POOLS = ("ObjectPool",)
_SHEET_OBJECT = "MBD"
_QUILL_LINE = 0x18
_NATIVE = "\x01Ole10Native"
_WRAPPED = ("Package", "CONTENTS", "EmbeddedOdf")


def read(body: bytes, draft: Draft, name: str, content_type: str | None) -> None:
    """Read a compound file into *draft*.

    Raises:
        ExtractError: ``encrypted``, ``unsupported``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    file = CompoundFile(body)
    if not any(entry.is_stream for entry in file.entries):
        raise ExtractError("the compound file's directory is cut off", reason="damaged")
    if (package := file.stream("EncryptedPackage")) is not None:
        from ingather.extract.documents.container import read as read_container
        from ingather.extract.documents.wellknown import opened_package

        opened = opened_package(file.stream("EncryptionInfo") or b"", package)
        draft.flag("encrypted")
        read_container(opened, draft, name, content_type)
        return
    read_summary(file, draft)
    if file.find("__properties_version1.0"):
        from ingather.extract.documents.outlook import read_message

        read_message(file, draft)
        return
    if _read_storage(file, (), draft, body):
        _read_objects(file, draft)
        return
    if file.find("FileHeader"):
        from ingather.extract.documents.hwp import read_compound

        read_compound(file, draft)
        return
    raise ExtractError("a compound file of no kind that we read", reason="unsupported")


def _read_storage(file: CompoundFile, path: tuple[str, ...], draft: Draft, body: bytes | None) -> bool:
    """Read the document in the storage at *path*, if it is one; *body* is the file when that is its root."""
    if word := file.stream(*path, "WordDocument"):
        _read_word(file, path, word, draft, body)
    elif sheets := file.stream(*path, "Workbook") or file.stream(*path, "Book"):
        from ingather.extract.documents.excel97 import read_stream

        read_stream(sheets, draft)
    elif slides := file.stream(*path, "PowerPoint Document"):
        from ingather.extract.documents.powerpoint97 import read_streams

        read_streams(slides, file.stream(*path, "Current User") or b"", draft)
    elif quill := file.stream(*path, "Quill", "QuillSub", "CONTENTS"):
        _read_quill(quill, draft)
    elif packaged := unpack_native(file.stream(*path, _NATIVE) or b""):
        draft.embed(*packaged)
    else:
        for stream in _WRAPPED:
            data = file.stream(*path, stream)
            if data and kind_of(data) is not Kind.UNREADABLE:
                draft.embed("", data, keep=False)
                return True
        return False
    return True


def _read_quill(data: bytes, draft: Draft) -> None:
    """Read the text of a Publisher document: a table of 24-byte lines says where it lies."""
    for position in range(0x20, min(0x20 + 20 * 24, len(data) - 24), 24):
        mark, _, _, _, _, kind, start, size = struct.unpack_from("<H4sHHH4sII", data, position)
        if mark == _QUILL_LINE and kind == b"TEXT":
            for line in (
                data[start : start + size].decode("utf-16-le", "replace").replace("\x0b", "\r").split("\r")
            ):
                draft.block(line)


def _read_word(
    file: CompoundFile, path: tuple[str, ...], word: bytes, draft: Draft, body: bytes | None
) -> None:
    from ingather.extract.documents.word97 import read_streams

    tables = {name: file.stream(*path, name) or b"" for name in ("0Table", "1Table")}
    try:
        done = read_streams(word, tables, draft)
    except ExtractError as error:
        if error.reason != "damaged" or body is None:
            raise
        done = False
    if not done and body is not None:
        # Older than Word 97 or broken in a way that another reader may forgive.
        read_as(_WORD, body, draft)


def _read_objects(file: CompoundFile, draft: Draft) -> None:
    """Read the documents embedded in a document: each lies in a storage of its own."""
    storages = [entry for pool in _OBJECT_POOLS for entry in file.children(pool) if not entry.is_stream]
    storages += [e for e in file.children() if not e.is_stream and e.path[-1].startswith(_SHEET_OBJECT)]
    for storage in storages:
        draft.budget.take_member()
        try:
            _read_storage(file, storage.path, draft, None)
        except ExtractError:
            draft.flag("partial")
        draft.end_block()
