"""PresentationML: pptx, pptm, ppsx, potx; slide by slide: text, notes, comments, drawings; then the masters' own text.

ECMA-376 part 1, chapter 19. Masters and layouts give only what stands outside of their
placeholders ("Click to edit" is nobody's text). Links: runs, shapes, hover.
"""

from collections.abc import Mapping

from ingather.extract.documents.drawing import DrawingReader, read_drawings
from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.xmlevents import XmlReader

__all__ = ["read_document"]

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "sldImg"})


class _Order(XmlReader):
    """The slides' relationships, in the order of the show."""

    def __init__(self) -> None:
        super().__init__()
        self.slides: list[str] = []
        self.starts = {"sldId": self._slide}

    def _slide(self, attributes: Mapping[str, str]) -> None:
        self.slides.append(attributes.get("r:id", ""))


class _Slide(DrawingReader):
    """A slide, its notes, or (*placeholders* off) a master or layout."""

    def __init__(self, office: Office, part: str, *, placeholders: bool = True) -> None:
        super().__init__(office, part)
        self._placeholders = placeholders
        self._quiet = False
        self._title = False
        self.starts |= {"ph": self._placeholder, "sp": self._open_shape, "t": self._open_words}
        self.ends |= {"sp": self._close_shape, "p": self._close_paragraph}
        # PowerPoint's comments hold their text in p:text, old style.
        self.starts["text"] = self._open_words
        self.ends["text"] = self._close_value

    def _open_shape(self, _attributes: Mapping[str, str]) -> None:
        self._quiet = self._title = False

    def _close_shape(self) -> None:
        self._quiet = self._title = False
        self.draft.end_block()

    def _placeholder(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "")
        self._quiet = not self._placeholders or kind in _FURNITURE
        self._title = kind in _TITLES

    def _open_words(self, attributes: Mapping[str, str]) -> None:
        if not self._quiet:
            self._open_text(attributes)

    def _close_paragraph(self) -> None:
        if self._title:
            self.draft.heading(2)
        self._paragraph()


def read_document(office: Office, main: str) -> None:
    """Read the presentation whose main part is *main* into the office's draft.

    Raises:
        ExtractError: ``refused`` for a document type declaration.
        LimitReachedError: a limit of the draft's budget.
    """
    order = _Order()
    office.parse(main, order)
    relationships = office.relationships(main)
    slides = [relationships[rid].target for rid in order.slides if rid in relationships]
    slides += [part for part in office.targets(main, "slide") if part not in slides]
    slides += [
        part for part in office.names_under("ppt/slides") if part.endswith(".xml") and part not in slides
    ]
    for slide in slides:
        _read(office, slide, _Slide(office, slide))
        for kind in ("notesslide", "comments"):
            for part in office.targets(slide, kind):
                _read(office, part, _Slide(office, part))
    for part in office.targets(main, "slidemaster", "notesmaster", "handoutmaster"):
        _read(office, part, _Slide(office, part, placeholders=False))
        for layout in office.targets(part, "slidelayout"):
            _read(office, layout, _Slide(office, layout, placeholders=False))


def _read(office: Office, part: str, reader: DrawingReader) -> None:
    office.parse(part, reader)
    office.draft.end_block()
    read_drawings(office, part)
