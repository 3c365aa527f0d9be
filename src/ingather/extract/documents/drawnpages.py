"""Pages that are drawn: Visio (vsdx) and XPS packages; what is written on each page, in order of the pages.

[MS-VSDX]: ``Text`` elements of shapes. ECMA-388: ``UnicodeString`` of ``Glyphs``.
"""

import re
from collections.abc import Mapping

from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.xmlevents import XmlReader

__all__ = ["read_document"]

_VISIO_PAGE = re.compile(r"visio/(?:pages|masters)/(?:page|master)(\d+)\.xml", re.IGNORECASE)
_XPS_PAGE = re.compile(r"documents/(\d+)/pages/(\d+)\.fpage", re.IGNORECASE)


class _VisioPage(XmlReader):
    def __init__(self, office: Office) -> None:
        super().__init__()
        self._office = office
        self._depth = 0
        self.starts = {"Text": self._open}
        self.ends = {"Text": self._close}

    def text(self, data: str) -> None:
        if self._depth:
            self._office.draft.write(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._office.draft.end_block()


class _XpsPage(XmlReader):
    def __init__(self, office: Office) -> None:
        super().__init__()
        self._draft = office.draft
        self.starts = {"Glyphs": self._glyphs, "Path": self._link, "Canvas": self._link}

    def _glyphs(self, attributes: Mapping[str, str]) -> None:
        words = attributes.get("UnicodeString", "").removeprefix("{}")
        self._draft.block(words)
        self._link(attributes, words)

    def _link(self, attributes: Mapping[str, str], anchor: str = "") -> None:
        if "://" in (url := attributes.get("FixedPage.NavigateUri", "")):
            self._draft.link(url, anchor)


def read_document(office: Office, _main: str) -> None:
    """Read every page into the office's draft.

    Raises:
        ExtractError: ``refused`` for a document type declaration.
        LimitReachedError: a limit of the draft's budget.
    """
    pages: list[tuple[int, int, str, XmlReader]] = []
    for name in office.names():
        if found := _VISIO_PAGE.fullmatch(name):
            pages.append(("master" in name.lower(), int(found[1]), name, _VisioPage(office)))
        elif found := _XPS_PAGE.fullmatch(name):
            pages.append((int(found[1]), int(found[2]), name, _XpsPage(office)))
    for _, _, name, reader in sorted(pages, key=lambda page: page[:3]):
        office.parse(name, reader)
        office.draft.end_block()
