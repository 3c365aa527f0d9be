"""What kind of document the bytes are, when the header does not say it or cannot be right.

The header is believed unless it is absent, generic, or says ``text/plain`` while the bytes carry the
mark of something else. Signs in order: magic bytes, the members of archives, markup, the extension
of the name, and whether the bytes are text at all (MIME Sniffing Standard, sections 4 to 7).
"""

import re
import zipfile
from functools import lru_cache
from io import BytesIO
from typing import Final

__all__ = ["media_type_of", "sniff"]

UNKNOWN: Final = "application/octet-stream"
_GENERIC: Final = frozenset(
    {
        UNKNOWN, "application/unknown", "unknown/unknown", "application/x-unknown", "*/*", "binary/octet-stream",
        "application/binary", "application/x-binary", "application/octetstream", "application/octet_stream",
        "application/download", "application/x-download", "application/force-download",
        "application/x-force-download", "content/unknown", "unknown/application", "multipart/form-data",
    }
)  # fmt: skip
_TYPE: Final = re.compile(r"\s*([a-z0-9!#$&^_.+\-*]+/[a-z0-9!#$&^_.+\-*]+)\s*(?:;|,|$)", re.IGNORECASE)
_HEAD_BYTES: Final = 1445
_LEADING: Final = b"\t\n\x0c\r "

_MAGIC: Final = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"(\xb5/\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "application/ogg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"FLV\x01", "video/x-flv"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"<MIFFile", "application/vnd.mif"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
)
_MARKS: Final = tuple(mark for mark, _ in _MAGIC)
# Other marks that are letters begin words, too ("OTTO", "BM"): they count only in what is no text.
_ALWAYS: Final = frozenset(
    {
        "application/pdf",
        "application/postscript",
        "application/rtf",
        "application/vnd.mif",
        "application/x-bzip2",
        "image/gif",
    }
)
# Two or three bytes are too little to contradict a header that says text.
_WEAK: Final = frozenset({b"BZh", b"\xff\xfb", b"\xff\xf3"})
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS: Final = (
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("__substg1.0_", "application/vnd.ms-outlook"),
    ("Workbook", "application/vnd.ms-excel"),
    ("VisioDocument", "application/vnd.visio"),
    ("EncryptedPackage", "application/x-ole-storage"),
    ("Book", "application/vnd.ms-excel"),
    ("FileHeader", "application/x-hwp"),
)
_OOXML: Final = "application/vnd.openxmlformats-officedocument."
_ZIP_FOLDERS: Final = (
    ("word/", f"{_OOXML}wordprocessingml.document"),
    ("xl/", f"{_OOXML}spreadsheetml.sheet"),
    ("ppt/", f"{_OOXML}presentationml.presentation"),
    ("visio/", "application/vnd.ms-visio.drawing"),
    ("META-INF/MANIFEST.MF", "application/java-archive"),
    ("Index/Slide", "application/vnd.apple.keynote"),
    ("index.apxl", "application/vnd.apple.keynote"),
    ("Index/Document.iwa", "application/vnd.apple.pages"),
    ("Index.zip", "application/vnd.apple.pages"),
    ("index.xml", "application/vnd.apple.pages"),
)
_MARKUP_START: Final = re.compile(
    rb"<(?:!doctype\s+html|(?:html|head|body|title|script|style|iframe|frameset|table|meta|h1|div|font|a|b|br|p)"
    rb"(?=[\s>/])|!--)",
    re.IGNORECASE,
)
_XML_ROOT: Final = re.compile(rb"<(?![!?])([^\s/>]+)")
_XML_ROOTS: Final = {
    b"html": "application/xhtml+xml",
    b"rss": "application/rss+xml",
    b"rdf:RDF": "application/rdf+xml",
    b"feed": "application/atom+xml",
    b"svg": "image/svg+xml",
}
_MAIL_START: Final = re.compile(
    rb"(?:(?:Return-Path|Received|From|To|Subject|Date|Message-ID|MIME-Version|Delivered-To|X-[\w-]+):[^\n]*\n"
    rb"(?:[ \t][^\n]*\n)*){3,}",
    re.IGNORECASE,
)
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BINARY_BYTES: Final = bytes(byte for byte in range(256) if _BINARY.match(bytes((byte,))))
_TEXT_MARKS: Final = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")

_EXTENSIONS: Final[dict[str, str]] = {}
for _row in f"""
application/gzip gz tgz
application/java-archive jar
application/javascript js mjs
application/json json
application/msword doc dot
application/pdf pdf
application/postscript ps eps
application/rtf rtf
application/vnd.mif mif
application/vnd.ms-excel xls xlt
application/vnd.ms-excel.sheet.binary.macroenabled.12 xlsb
application/vnd.ms-excel.sheet.macroenabled.12 xlsm
application/vnd.ms-outlook msg
application/vnd.ms-powerpoint ppt pps pot
application/vnd.oasis.opendocument.graphics odg
application/vnd.oasis.opendocument.presentation odp
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.text odt
{_OOXML}presentationml.presentation pptx
{_OOXML}spreadsheetml.sheet xlsx
{_OOXML}wordprocessingml.document docx
application/epub+zip epub
application/x-7z-compressed 7z
application/x-tar tar
application/xhtml+xml xhtml xht
application/xml xml xsd xsl
application/rss+xml rss
application/atom+xml atom
application/zip zip
message/rfc822 eml mht mhtml
text/calendar ics
text/css css
text/csv csv
text/html html htm
text/markdown md markdown
text/plain txt text log asc
text/tab-separated-values tsv
image/svg+xml svg
image/png png
image/jpeg jpg jpeg
image/gif gif
image/webp webp
audio/mpeg mp3
video/mp4 mp4
""".strip().splitlines():
    _media_type, *_names = _row.split()
    _EXTENSIONS.update(dict.fromkeys(_names, _media_type))


def sniff(body: bytes, *, name: str | None = None, content_type: str | None = None) -> str:
    """Return the media type of *body*: lower case, without parameters.

    Args:
        body: the document; for archives the whole of it.
        name: URL or file name; its extension counts when the bytes do not say enough.
        content_type: the header as received, ``None`` if there was none.

    Never fails; ``application/octet-stream`` is the answer to everything unknown.
    """
    declared = media_type_of(content_type) if content_type else ""
    if declared and declared not in _GENERIC:
        if declared != "text/plain":
            return declared
        if _is_text(body[:_HEAD_BYTES]):
            found = _by_magic(body, weak=False)
            return found or "text/plain"
        return _by_magic(body, weak=True) or UNKNOWN
    return _by_magic(body, weak=True) or _by_text_or_name(body, name)


@lru_cache(maxsize=512)
def media_type_of(content_type: str) -> str:
    """Return the media type that a Content-Type header declares, lower case; ``""`` if it declares none."""
    match = _TYPE.match(content_type)
    return match[1].lower() if match else ""


def _by_magic(body: bytes, *, weak: bool) -> str:
    found = (
        next((row for row in _MAGIC if body.startswith(row[0])), None) if body.startswith(_MARKS) else None
    )
    if found is not None and (weak or found[0] not in _WEAK):
        mark, media_type = found
        if media_type in _ALWAYS or _BINARY.search(body[:_HEAD_BYTES]) or not mark.isascii():
            return media_type
    media_type = ""
    if body.startswith(b"PK\x03\x04"):
        media_type = _zip_kind(body)
    elif body.startswith(_OLE):
        media_type = _ole_kind(body)
    elif body.startswith(b"RIFF") and _BINARY.search(body[:_HEAD_BYTES]):
        media_type = _RIFF.get(body[8:12], UNKNOWN)
    elif body[4:8] == b"ftyp" and _BINARY.search(body[:_HEAD_BYTES]):
        media_type = "image/avif" if body[8:12] in {b"avif", b"avis"} else "video/mp4"
    elif body[257:262] == b"ustar":
        media_type = "application/x-tar"
    elif body[:1].isspace() and b"%PDF-" in body[:1024]:
        # A PDF may begin late: readers look for its mark in the first kilobyte.
        media_type = "application/pdf"
    return media_type


def _by_text_or_name(body: bytes, name: str | None) -> str:
    head = body[:_HEAD_BYTES]
    if not _is_text(head):
        return _by_name(name) or UNKNOWN
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(_LEADING)
    if start.startswith(b"<?xml"):
        return _by_root(head) or "application/xml"
    if _MARKUP_START.match(start):
        return "text/html"
    found = _by_name(name)
    if not found and start[:1] == b"<":
        found = _by_root(start)
    if not found and _MAIL_START.match(start):
        found = "message/rfc822"
    return found or "text/plain"


def _by_root(head: bytes) -> str:
    root = _XML_ROOT.search(head)
    return _XML_ROOTS.get(root[1], "") if root else ""


def _by_name(name: str | None) -> str:
    if not name:
        return ""
    last = name.partition("?")[0].partition("#")[0].rpartition("/")[2]
    stem, dot, extension = last.rpartition(".")
    return _EXTENSIONS.get(extension.lower(), "") if dot and stem else ""


def _is_text(head: bytes) -> bool:
    return head.startswith(_TEXT_MARKS) or len(head.translate(None, _BINARY_BYTES)) == len(head)


def _zip_kind(body: bytes) -> str:
    """Tell the kin of zip apart: the declared member first (ODF, EPUB), then the folders (OOXML)."""
    size = int.from_bytes(body[26:28], "little")
    if body[30 : 30 + size] == b"mimetype":
        start = 30 + size + int.from_bytes(body[28:30], "little")
        declared = body[start : start + int.from_bytes(body[22:26], "little")][:100].decode("latin-1").strip()
        if _TYPE.match(declared):
            return declared.lower()
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            names = archive.namelist()
    except Exception:  # noqa: BLE001 - a broken directory raises many kinds; the first member still speaks
        names = [body[30 : 30 + size].decode("latin-1")]
    for folder, media_type in _ZIP_FOLDERS:
        if any(n.startswith(folder) for n in names):
            return media_type
    return "application/zip"


def _ole_kind(body: bytes) -> str:
    for stream, media_type in _OLE_STREAMS:
        if stream.encode("utf-16-le") in body:
            return media_type
    return "application/x-ole-storage"
