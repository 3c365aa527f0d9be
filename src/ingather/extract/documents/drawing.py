"""Text in drawings: shapes, charts, diagrams (DrawingML), the same in Word, Excel and PowerPoint.

ECMA-376 part 1, chapters 20 and 21. A chart gives its titles, series names and categories,
not the cached numbers. A shape gives its text, its alternative text and its links.
"""

from collections.abc import Mapping

from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.xmlevents import XmlReader

__all__ = ["DrawingReader", "read_drawings"]

_DRAWN = ("chart", "chartex", "diagramdata", "drawing", "chartusershapes", "vmldrawing")


class DrawingReader(XmlReader):
    """Paragraphs (``a:p``), runs with links, alternative texts, names in charts."""

    skipped = frozenset({"numCache", "numLit", "del", "moveFrom", "delText"})

    def __init__(self, office: Office, part: str) -> None:
        super().__init__()
        self.office = office
        self.part = part
        self.draft = office.draft
        self._in_text = False
        self._run_url = ""
        self.starts = {
            "t": self._open_text,
            "v": self._open_text,
            "br": self._space,
            "tab": self._space,
            "tc": self._open_cell,
            "r": self._open_run,
            "fld": self._open_run,
            "hlinkClick": self._run_link,
            "hlinkMouseOver": self._other_link,
            "hlinkHover": self._other_link,
            "cNvPr": self.shape,
            "docPr": self.shape,
            "textpath": self._word_art,
        }
        self.ends = {
            "t": self._close_text,
            "v": self._close_value,
            "p": self._paragraph,
            "r": self._close_run,
            "fld": self._close_run,
            "tc": self._close_cell,
            "tr": self.draft.end_block,
            "pt": self.draft.end_block,
        }
        self._in_run = 0
        self._cells = 0

    def text(self, data: str) -> None:
        """Take the text of ``t`` and ``v`` elements."""
        if self._in_text:
            self.draft.write(data)

    def _open_text(self, _attributes: Mapping[str, str]) -> None:
        self._in_text = True

    def _close_text(self) -> None:
        self._in_text = False

    def _close_value(self) -> None:
        self._in_text = False
        self.draft.end_block()

    def _space(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write(" ")

    def _paragraph(self) -> None:
        if self._cells:
            self.draft.write(" ")
        else:
            self.draft.end_block()

    def _open_cell(self, _attributes: Mapping[str, str]) -> None:
        self._cells += 1

    def _close_cell(self) -> None:
        self._cells -= 1
        self.draft.write("\t")

    def _open_run(self, _attributes: Mapping[str, str]) -> None:
        self._in_run += 1
        self._run_url = ""
        self.draft.open_anchor()

    def _close_run(self) -> None:
        if self._in_run:
            self._in_run -= 1
            self.draft.close_anchor(self._run_url)
            self._run_url = ""

    def _run_link(self, attributes: Mapping[str, str]) -> None:
        url = self.office.url(self.part, attributes.get("r:id", ""))
        if self._in_run:
            self._run_url = url
        else:
            self.draft.link(url, attributes.get("tooltip", ""))

    def _other_link(self, attributes: Mapping[str, str]) -> None:
        self.draft.link(self.office.url(self.part, attributes.get("r:id", "")), attributes.get("tooltip", ""))

    def shape(self, attributes: Mapping[str, str]) -> None:
        """Take a shape's alternative text; its name (``Picture 1``) is none."""
        for key in ("title", "descr"):
            if words := attributes.get(key):
                self.draft.open_aside()
                self.draft.block(words)
                self.draft.close_aside()

    def _word_art(self, attributes: Mapping[str, str]) -> None:
        if words := attributes.get("string"):
            self.draft.open_aside()
            self.draft.block(words)
            self.draft.close_aside()


def read_drawings(office: Office, part: str) -> None:
    """Read every chart, diagram and drawing that *part* points at, and what those point at in turn."""
    waiting = office.targets(part, *_DRAWN)
    known = set(waiting)
    while waiting:
        drawn = waiting.pop(0)
        if office.content_type(drawn).endswith("vmldrawing") or drawn.lower().endswith(".vml"):
            # Legacy drawings are often not well-formed; what comes before the break is kept.
            office.parse(drawn, _VmlReader(office), lenient=True)
            office.draft.end_block()
        else:
            office.parse(drawn, DrawingReader(office, drawn))
            office.draft.end_block()
            further = [name for name in office.targets(drawn, *_DRAWN) if name not in known]
            known.update(further)
            waiting += further


class _VmlReader(XmlReader):
    """Text inside ``v:textbox`` of a legacy drawing, whose content is HTML or Word's own paragraphs."""

    def __init__(self, office: Office) -> None:
        super().__init__()
        self._draft = office.draft
        self._depth = 0
        self.starts = {
            "textbox": self._open,
            "br": self._space,
            "textpath": self._word_art,
            "shape": self._shape,
        }
        self.ends = {"textbox": self._close, "div": self._draft.end_block, "p": self._draft.end_block}

    def text(self, data: str) -> None:
        """Take the text of text boxes."""
        if self._depth:
            self._draft.write(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._draft.end_block()

    def _space(self, _attributes: Mapping[str, str]) -> None:
        if self._depth:
            self._draft.write(" ")

    def _word_art(self, attributes: Mapping[str, str]) -> None:
        self._draft.block(attributes.get("string", ""))

    def _shape(self, attributes: Mapping[str, str]) -> None:
        self._draft.link(attributes.get("href", ""), attributes.get("title", ""))
        self._draft.block(attributes.get("alt", ""))
