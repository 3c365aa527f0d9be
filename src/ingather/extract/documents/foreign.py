"""What no reader of ours takes, given to kreuzberg: old Office texts, 7z, notebooks.

Its cache and its text recognition stay off (the first keeps extracted text in the user's
home, the second wants models), headers and repeated text stay in. It never gets a PDF from here:
for those it unpacks a library into the temporary folder and loads what lies there already.
A panic in its native code need not arrive as ``Exception``.
"""

import functools
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft

__all__ = ["read", "read_as"]

_TYPES = {
    "7z": "application/x-7z-compressed",
    "ipynb": "application/x-ipynb+json",
}
_SEVENZIP = b"7z\xbc\xaf\x27\x1c"
_METADATA = {
    "title": "title",
    "subject": "subject",
    "keywords": "keywords",
    "language": "language",
    "created_at": "created",
    "modified_at": "modified",
    "modified_by": "last-author",
    "from_email": "from",
    "page_count": "pages",
    "slide_count": "slides",
}
_DEEPEST = 5
_LOCK = threading.Lock()


def read(body: bytes, draft: Draft, name: str, _content_type: str | None) -> None:
    """Read a document by its magic bytes or extension.

    Raises:
        ExtractError: ``unsupported``, ``encrypted``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    extension = "7z" if body.startswith(_SEVENZIP) else name.rpartition(".")[2].lower()
    if extension not in _TYPES:
        raise ExtractError("no reader takes such bytes", reason="unsupported")
    read_as(_TYPES[extension], body, draft)


def read_as(media_type: str, body: bytes, draft: Draft) -> None:
    """Read a document that is known to be of *media_type*, with its members.

    Raises:
        ExtractError: ``unsupported``, ``encrypted``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    import kreuzberg

    try:
        with _private_folder():
            result = kreuzberg.extract_bytes_sync(body, media_type, _settings())
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _refusal(error) from error
    _take(result, draft, 0)


@contextmanager
def _private_folder() -> Iterator[None]:
    """Let the temporary folder be nobody else's: the library loads code that it finds there (for a PDF in an archive).

    A converter's folder is private already; elsewhere one is made, kept to the end of the process.
    """
    found = Path(tempfile.gettempdir()).stat()
    if found.st_uid == os.geteuid() and not found.st_mode & 0o077:
        yield
        return
    with _LOCK:
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = _own_folder().name
        try:
            yield
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


@functools.cache
def _own_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="ingather-")


@functools.cache
def _settings() -> Any:
    from kreuzberg import ContentFilterConfig, ExtractionConfig

    return ExtractionConfig(
        use_cache=False,
        disable_ocr=True,  # type: ignore[call-arg]  # the stub lags behind
        enable_quality_processing=False,
        output_format="plain",
        content_filter=ContentFilterConfig(
            include_headers=True, include_footers=True, strip_repeating_text=False, include_watermarks=True
        ),
    )


def _refusal(error: BaseException) -> ExtractError:
    text = str(error)
    low = text.lower()
    if "password" in low or "encrypt" in low:
        return ExtractError("the document needs a password", reason="encrypted")
    if low.startswith("unsupported"):
        return ExtractError("no reader takes such bytes", reason="unsupported")
    return ExtractError(f"the document cannot be read: {text[:200]}", reason="damaged")


def _take(result: Any, draft: Draft, depth: int) -> None:
    for line in str(_field(result, "content") or "").split("\n"):
        draft.block(line)
    metadata = _field(result, "metadata") or {}
    if depth == 0:
        for key, name in _METADATA.items():
            value = metadata.get(key)
            draft.meta(name, ", ".join(map(str, value)) if isinstance(value, list) else str(value or ""))
        authors = metadata.get("authors")
        draft.meta("author", ", ".join(map(str, authors)) if isinstance(authors, list) else "")
    for uri in _field(result, "uris") or ():
        draft.link(str(_field(uri, "url") or ""), str(_field(uri, "label") or ""))
    for child in _field(result, "children") or ():
        inner = _field(child, "result")
        draft.block(str(_field(child, "path") or ""))
        if inner is not None and depth < _DEEPEST:
            _take(inner, draft, depth + 1)


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, dict) else getattr(record, name, None)
