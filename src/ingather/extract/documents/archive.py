"""Tar archives and single compressed files: what comes out is counted, members are read by what they are."""

import bz2
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.kinds import Kind, kind_of
from ingather.extract.documents.package import gather

__all__ = ["read"]

_CHUNK = 64 * 1024
_INFLATED = zlib.MAX_WBITS | 16
_MEMORY = 64 * 1024 * 1024
_SUFFIXES = (".gz", ".bz2", ".xz", ".tgz")


def read(body: bytes, draft: Draft, name: str, content_type: str | None) -> None:
    """Read an archive into *draft*.

    Raises:
        ExtractError: ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    kind = kind_of(body, name=name, content_type=content_type)
    if kind is Kind.TAR:
        _read_tar(body, draft)
        return
    inner = gather(_unpacked(body, kind, draft), draft.budget)
    if not inner:
        raise ExtractError("nothing can be unpacked", reason="damaged")
    draft.budget.take_member()
    # The compression is no document of its own: what is inside speaks for itself.
    plain = name
    for suffix in _SUFFIXES:
        plain = plain.removesuffix(suffix)
    draft.embed("", inner, None, keep=False) if not plain else draft.embed(plain, inner, None, keep=False)


def _unpacked(body: bytes, kind: Kind, draft: Draft) -> Iterator[bytes]:
    try:
        if kind is Kind.GZIP:
            yield from _gunzipped(body, draft)
        else:
            yield from _decompressed(body, kind, draft)
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        draft.flag("partial")
        if isinstance(error, lzma.LZMAError) and "emory" in str(error):
            raise ExtractError("the archive wants more memory than allowed", reason="damaged") from error


def _gunzipped(body: bytes, draft: Draft) -> Iterator[bytes]:
    while body.startswith(b"\x1f\x8b"):  # several may stand one after the other
        inflater = zlib.decompressobj(_INFLATED)
        data = body
        while not inflater.eof and data:
            chunk = inflater.decompress(data, _CHUNK)
            data = inflater.unconsumed_tail
            draft.budget.take_unpacked(len(chunk))
            yield chunk
        body = inflater.unused_data


def _decompressed(body: bytes, kind: Kind, draft: Draft) -> Iterator[bytes]:
    unpacker = bz2.BZ2Decompressor() if kind is Kind.BZIP2 else lzma.LZMADecompressor(memlimit=_MEMORY)
    data = body
    while not unpacker.eof:
        chunk = unpacker.decompress(data, _CHUNK)
        data = b""
        if not chunk and unpacker.needs_input:
            return
        draft.budget.take_unpacked(len(chunk))
        yield chunk


def _read_tar(body: bytes, draft: Draft) -> None:
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as archive:
            for member in archive:
                draft.budget.take_member()
                # Everything is in memory already; links and devices point outside of the archive.
                file = archive.extractfile(member) if member.isreg() and not member.sparse else None
                if file is not None:
                    draft.embed(member.name, file.read(), keep=False)
    except (tarfile.TarError, OSError, EOFError) as error:
        if not draft.has_text:
            raise ExtractError("the archive cannot be read", reason="damaged") from error
        draft.flag("partial")
