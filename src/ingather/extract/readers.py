"""Which reader takes documents of a declared media type, for who lists converters.

A reading itself goes by the bytes (:mod:`ingather.extract.documents.kinds`); this says what a type promises.
"""

import re
from typing import Final

__all__ = ["ANY", "reader_of"]

ANY: Final = "any"
"""What takes ``unknown``: whichever reader the bytes ask for."""

_READERS: Final = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"unknown", ANY),
        (r"application/(x-)?pdf", "pdf"),
        (r"(application/(x-)?|text/)rtf", "rtf"),
        (r"application/(x-|vnd\.)mif", "mif"),
        (r"message/(rfc822|global)|multipart/related|application/mbox", "mail"),
        (r".*flat-xml|(application|text)/xml|application/.*\+xml", "flatxml"),
        (
            (
                r"application/(vnd\.openxmlformats-officedocument\..+|vnd\.ms-.+macroenabled\.12|vnd\.oasis\.opendocument\..+"
                r"|vnd\.ms-visio\..+|vnd\.sun\.xml\..+|vnd\.ms-xpsdocument|oxps|epub\+zip|zip|x-zip-compressed"
                r"|x-iwork-.+|vnd\.apple\.(pages|numbers|keynote)|haansofthwpx|hwp\+zip|vnd\.hancom\.hwpx)"
            ),
            "container",
        ),
        (
            r"application/(msword|msexcel|x-msexcel|mspowerpoint|x-mspowerpoint|vnd\.ms-(word|excel|powerpoint|outlook)|x-mspublisher|x-ole-storage|x-hwp|vnd\.hancom\.hwp)",
            "compound",
        ),
        (r"application/(x-tar|x-gtar|gzip|x-gzip|x-bzip2|x-xz)", "archive"),
        (
            r"application/(x-7z-compressed|x-ipynb\+json)",
            "foreign",
        ),
        (r"application/((x-|vnd\.)?dbf)", "dbase"),
        (r"text/(csv|tab-separated-values|plain)", "plain"),
    )
)


def reader_of(media_type: str) -> str:
    """Return the reader of *media_type* (lower case, no parameters), a module of ``extract.documents``; ``""`` = there is none."""
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(media_type)), "")
