"""PDF over pdfium: text, links (annotations and addresses in the text), form values, comments, outline, attachments.

ISO 32000. PDFium is not thread-safe: one document at a time, held by a lock. It aborts at a
memory limit, it does not raise: whoever reads strangers' files isolates this.
"""

import ctypes
import datetime as dt
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium
from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.limits import LimitReachedError
from ingather.extract.documents.pdf_heading import heading_of
from ingather.extract.documents.xfa import read_xfa

__all__ = ["pdf_date", "read"]

_LOCK = threading.Lock()
_METADATA = (
    (b"Title", "title"),
    (b"Author", "author"),
    (b"Subject", "subject"),
    (b"Keywords", "keywords"),
    (b"Creator", "generator"),
    (b"Producer", "producer"),
    (b"CreationDate", "created"),
    (b"ModDate", "modified"),
)
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(?:([Zz])|([+-])(\d\d)'?(\d\d)?'?)?",
)
_MOST_BOOKMARKS = 10_000
_MOST_ANNOTATIONS = 10_000
_LONGEST_STRING = 2_000_000
_COMMENTS = frozenset(
    {
        pdfium.FPDF_ANNOT_TEXT,
        pdfium.FPDF_ANNOT_FREETEXT,
        pdfium.FPDF_ANNOT_LINE,
        pdfium.FPDF_ANNOT_SQUARE,
        pdfium.FPDF_ANNOT_CIRCLE,
        pdfium.FPDF_ANNOT_POLYGON,
        pdfium.FPDF_ANNOT_POLYLINE,
        pdfium.FPDF_ANNOT_HIGHLIGHT,
        pdfium.FPDF_ANNOT_UNDERLINE,
        pdfium.FPDF_ANNOT_SQUIGGLY,
        pdfium.FPDF_ANNOT_STRIKEOUT,
        pdfium.FPDF_ANNOT_STAMP,
        pdfium.FPDF_ANNOT_CARET,
        pdfium.FPDF_ANNOT_INK,
        pdfium.FPDF_ANNOT_FILEATTACHMENT,
    }
)


def pdf_date(value: str) -> str:
    """Return a PDF date (``D:20070214130500+01'00'``) as RFC 3339 in UTC, ``""`` when it is none."""
    match = _DATE.match(value.strip())
    if not match:
        return ""
    year, month, day, hour, minute, second = (int(part) if part else 0 for part in match.groups()[:6])
    try:
        moment = dt.datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=dt.UTC)
        if match[8]:
            offset = dt.timedelta(hours=int(match[9]), minutes=int(match[10] or 0))
            moment += -offset if match[8] == "+" else offset
    except (ValueError, OverflowError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read a PDF document into *draft*.

    Raises:
        ExtractError: ``encrypted`` (needs a password to open), ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    attachments: list[tuple[str, bytes]] = []
    with _LOCK, _opened(body) as document:
        pdf = _Pdf(document, draft, attachments)
        try:
            pdf.read_metadata()
            pdf.read_pages()
            pdf.read_outline()
        finally:
            draft.end_block()
        if not draft.has_text:
            draft.flag("no-text")  # pictures of pages: the document says nothing that can be searched
        read_xfa(pdf.xfa_packets(), draft)
        pdf.read_attachments()
    # Outside of the lock: an attachment may be a PDF itself.
    for name, data in attachments:
        draft.embed(name, data)


@contextmanager
def _opened(body: bytes) -> Iterator[Any]:
    document = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
    if not document:
        code = pdfium.FPDF_GetLastError()
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise ExtractError("the document needs a password", reason="encrypted")
        raise ExtractError("the document cannot be opened", reason="damaged")
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


def _string(call: Callable[[Any, int], int]) -> str:
    """Return what a pdfium call writes as UTF-16LE with a final NUL; it tells the size first."""
    size = int(call(None, 0))
    if size <= 2 or size > _LONGEST_STRING:  # noqa: PLR2004 (the NUL alone)
        return ""
    buffer = ctypes.create_string_buffer(size)
    call(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\x00")


class _Pdf:
    """One open document."""

    def __init__(self, document: Any, draft: Draft, attachments: list[tuple[str, bytes]]) -> None:
        self._document = document
        self._draft = draft
        self._attachments = attachments
        self._pages = int(pdfium.FPDF_GetPageCount(document))
        self._headed = False

    # --- the document as a whole ------------------------------------------------------------------

    def read_metadata(self) -> None:
        """Title, author, dates, language, pages."""
        document = self._document
        for tag, key in _METADATA:
            value = _string(partial(pdfium.FPDF_GetMetaText, document, tag))
            self._draft.meta(key, pdf_date(value) if key in {"created", "modified"} else value)
        self._draft.meta("pages", str(self._pages))
        self._draft.meta("language", _string(partial(pdfium.FPDFCatalog_GetLanguage, document)))

    def read_outline(self) -> None:
        """The bookmarks' titles and the addresses that they lead to."""
        waiting = [pdfium.FPDFBookmark_GetFirstChild(self._document, None)]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST_BOOKMARKS:
            bookmark = waiting.pop()
            if not bookmark or (place := ctypes.addressof(bookmark.contents)) in seen:
                continue
            seen.add(place)
            title = _string(partial(pdfium.FPDFBookmark_GetTitle, bookmark))
            self._draft.block(title)
            self._draft.link(self._target(pdfium.FPDFBookmark_GetAction(bookmark)), title)
            waiting.append(pdfium.FPDFBookmark_GetNextSibling(self._document, bookmark))
            waiting.append(pdfium.FPDFBookmark_GetFirstChild(self._document, bookmark))

    def xfa_packets(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of the XFA packets."""
        document = self._document
        for index in range(min(int(pdfium.FPDF_GetXFAPacketCount(document)), 100)):
            size = int(pdfium.FPDF_GetXFAPacketName(document, index, None, 0))
            name = ctypes.create_string_buffer(max(size, 1))
            pdfium.FPDF_GetXFAPacketName(document, index, name, size)
            wanted = ctypes.c_ulong()
            pdfium.FPDF_GetXFAPacketContent(document, index, None, 0, wanted)
            content = self._bytes(
                wanted.value,
                partial(pdfium.FPDF_GetXFAPacketContent, document, index),
            )
            yield name.value.decode("utf-8", "replace"), content

    def read_attachments(self) -> None:
        """The files of the document's name tree."""
        for index in range(int(pdfium.FPDFDoc_GetAttachmentCount(self._document))):
            self._draft.budget.take_member()
            self._attach(pdfium.FPDFDoc_GetAttachment(self._document, index))

    def _attach(self, attachment: Any) -> None:
        if not attachment:
            return
        name = _string(partial(pdfium.FPDFAttachment_GetName, attachment))
        wanted = ctypes.c_ulong()
        if pdfium.FPDFAttachment_GetFile(attachment, None, 0, wanted) and wanted.value:
            data = self._bytes(
                wanted.value,
                partial(pdfium.FPDFAttachment_GetFile, attachment),
            )
            self._attachments.append((name, data))

    def _bytes(self, size: int, call: Callable[[Any, int, Any], int]) -> bytes:
        if size > self._draft.budget.limits.unpacked_bytes // 4:
            raise LimitReachedError("unpacked_bytes")
        self._draft.budget.take_unpacked(size)
        buffer = ctypes.create_string_buffer(max(size, 1))
        return buffer.raw[:size] if call(buffer, size, ctypes.c_ulong()) else b""

    # --- pages --------------------------------------------------------------------------------------

    def read_pages(self) -> None:
        """Every page up to the limit: text, addresses, annotations, form values."""
        info = pdfium.FPDF_FORMFILLINFO(version=2)
        form = pdfium.FPDFDOC_InitFormFillEnvironment(self._document, info)
        try:
            for number in range(self._pages):
                try:
                    self._draft.budget.take_page()
                except LimitReachedError:
                    self._draft.flag("cut")
                    return
                page = pdfium.FPDF_LoadPage(self._document, number)
                if not page:
                    self._draft.flag("partial")
                    continue
                try:
                    self._read_page(page, form)
                finally:
                    pdfium.FPDF_ClosePage(page)
        finally:
            if form:
                pdfium.FPDFDOC_ExitFormFillEnvironment(form)

    def _read_page(self, page: Any, form: Any) -> None:
        text = pdfium.FPDFText_LoadPage(page)
        try:
            if text:
                self._read_text(text)
            count = min(int(pdfium.FPDFPage_GetAnnotCount(page)), _MOST_ANNOTATIONS)
            for index in range(count):
                annotation = pdfium.FPDFPage_GetAnnot(page, index)
                if annotation:
                    try:
                        self._read_annotation(annotation, form, text)
                    finally:
                        pdfium.FPDFPage_CloseAnnot(annotation)
            if text:
                self._read_addresses(text)
        finally:
            if text:
                pdfium.FPDFText_ClosePage(text)

    def _read_text(self, text: Any) -> None:
        count = int(pdfium.FPDFText_CountChars(text))
        if count <= 0:
            return
        if not self._headed:
            self._headed = True
            if self._draft.lacks_title:
                self._draft.suggest_title(heading_of(text, count))
        buffer = (ctypes.c_ushort * (2 * count + 2))()
        written = int(pdfium.FPDFText_GetText(text, 0, count, buffer))
        words = bytes(buffer)[: max(written, 0) * 2].decode("utf-16-le", "replace").rstrip("\x00")
        self._draft.write(_HYPHEN.sub("", words))
        self._draft.end_block()

    def _read_addresses(self, text: Any) -> None:
        links = pdfium.FPDFLink_LoadWebLinks(text)
        if not links:
            return
        try:
            for index in range(min(int(pdfium.FPDFLink_CountWebLinks(links)), _MOST_ANNOTATIONS)):
                size = int(pdfium.FPDFLink_GetURL(links, index, None, 0))
                if 1 < size < _LONGEST_STRING:
                    buffer = (ctypes.c_ushort * size)()
                    pdfium.FPDFLink_GetURL(links, index, buffer, size)
                    self._draft.link_once(bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00"))
        finally:
            pdfium.FPDFLink_CloseWebLinks(links)

    # --- annotations ----------------------------------------------------------------------------------

    def _read_annotation(self, annotation: Any, form: Any, text: Any) -> None:
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_LINK:
            link = pdfium.FPDFAnnot_GetLink(annotation)
            url = self._target(pdfium.FPDFLink_GetAction(link)) if link else ""
            if url:
                self._draft.link(
                    url, self._words_under(annotation, text) or self._entry(annotation, b"Contents")
                )
        elif kind == pdfium.FPDF_ANNOT_WIDGET and form:
            self._read_field(annotation, form)
        elif kind in _COMMENTS:
            for key in (b"Subj", b"Contents"):
                self._draft.block(self._entry(annotation, key))
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                self._attach(pdfium.FPDFAnnot_GetFileAttachment(annotation))

    def _read_field(self, annotation: Any, form: Any) -> None:
        kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
        if kind in {pdfium.FPDF_FORMFIELD_PUSHBUTTON, pdfium.FPDF_FORMFIELD_SIGNATURE}:
            return
        if kind in {
            pdfium.FPDF_FORMFIELD_CHECKBOX,
            pdfium.FPDF_FORMFIELD_RADIOBUTTON,
        } and not pdfium.FPDFAnnot_IsChecked(form, annotation):
            return
        value = _string(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))
        if value and value != "Off":
            name = _string(
                lambda buffer, size: pdfium.FPDFAnnot_GetFormFieldAlternateName(
                    form, annotation, buffer, size
                )
            ) or _string(partial(pdfium.FPDFAnnot_GetFormFieldName, form, annotation))
            self._draft.block(f"{name}: {value}" if name else value)

    def _entry(self, annotation: Any, key: bytes) -> str:
        return _string(partial(pdfium.FPDFAnnot_GetStringValue, annotation, key))

    def _words_under(self, annotation: Any, text: Any) -> str:
        """Return the text inside of an annotation's rectangle."""
        box = pdfium.FS_RECTF()
        if not text or not pdfium.FPDFAnnot_GetRect(annotation, box):
            return ""
        corners = (box.left, box.top, box.right, box.bottom)
        count = int(pdfium.FPDFText_GetBoundedText(text, *corners, None, 0))
        if not 0 < count < _LONGEST_STRING:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        pdfium.FPDFText_GetBoundedText(text, *corners, buffer, count)
        return _HYPHEN.sub("", bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00"))

    def _target(self, action: Any) -> str:
        """Return the address that an action leads to, or ``""``."""
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            return ""
        size = int(pdfium.FPDFAction_GetURIPath(self._document, action, None, 0))
        if not 1 < size < _LONGEST_STRING:
            return ""
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(self._document, action, buffer, size)
        return buffer.value.decode("utf-8", "replace")
