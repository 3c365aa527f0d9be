"""The journey of a document that is not HTML: bytes -> kind -> reader -> :class:`Converted`.

:func:`convert` is the public face; ``documents/`` holds one format a file. Reading hostile
files costs bounded text and bounded unpacked bytes here; CPU, memory and time are bounded by the process
that calls it (``ingather.app.confined.pool``).
"""

from importlib import import_module

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.kinds import Kind, kind_of
from ingather.extract.documents.limits import Budget, ConversionLimits
from ingather.model.page import Converted

__all__ = ["ConversionLimits", "convert"]

_DEFAULTS = ConversionLimits()
_READERS = {
    Kind.ZIP: "container",
    Kind.COMPOUND: "compound",
    Kind.PDF: "pdf",
    Kind.RTF: "rtf",
    Kind.MAIL: "mail",
    Kind.MBOX: "mail",
    Kind.MIF: "mif",
    Kind.HTML: "markup",
    Kind.XML: "flatxml",
    Kind.CSV: "plain",
    Kind.TEXT: "plain",
    Kind.TAR: "archive",
    Kind.GZIP: "archive",
    Kind.BZIP2: "archive",
    Kind.XZ: "archive",
    Kind.DBASE: "dbase",
    Kind.FOREIGN: "foreign",
}
"""Kind -> module of ``documents`` whose ``read(body, draft, name, content_type)`` takes it."""


def convert(
    body: bytes,
    *,
    name: str | None = None,
    content_type: str | None = None,
    limits: ConversionLimits = _DEFAULTS,
) -> Converted:
    """Read a document: text, HTML, links, attachments, metadata, flags.

    The bytes decide what it is; extension and declared type only settle what they leave open.
    Reaching a limit keeps what was read so far and sets the flag ``cut``; a document without any text has ``no-text``.

    Args:
        body: the document as fetched, content encoding removed.
        name: file name or last part of the URL's path, if known.
        content_type: media type as declared, parameters allowed.
        limits: what may be unpacked and produced.

    Raises:
        ExtractError: the only one; ``reason`` is ``unsupported`` (no reader for such bytes),
            ``encrypted`` (needs a password), ``damaged`` (nothing of it can be read), ``refused`` (entities
            in XML), ``empty`` (no bytes), ``memory`` (the process ran out of it: no verdict on
            the document).
    """
    if not body:
        raise ExtractError("the document is empty", reason="empty")
    draft = Draft(Budget(limits), _read)
    try:
        with draft.until_limit():
            _read(bytes(body), draft, name or "", content_type)
        if not draft.has_text:
            draft.flag("no-text")
        return draft.finish()
    except MemoryError as error:
        raise ExtractError("out of memory", reason="memory") from error


def _read(body: bytes, draft: Draft, name: str, content_type: str | None) -> None:
    """Give *body* to the reader of its kind; whatever a library throws becomes an ExtractError."""
    kind = kind_of(body, name=name, content_type=content_type)
    if kind is Kind.UNREADABLE:
        raise ExtractError("no reader takes such bytes", reason="unsupported")
    reader = import_module(f"ingather.extract.documents.{_READERS[kind]}")
    try:
        reader.read(body, draft, name, content_type)
    except RecursionError as error:
        draft.flag("cut")
        if not draft.has_text:
            raise ExtractError("the document is nested too deeply", reason="damaged") from error
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        OSError,
    ) as error:
        # A reader stumbled over bytes that nobody foresaw: keep what was read, else refuse.
        if not draft.has_text:
            raise ExtractError(
                f"the document cannot be read: {type(error).__name__}", reason="damaged"
            ) from error
        draft.flag("partial")
