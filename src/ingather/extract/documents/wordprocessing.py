"""WordprocessingML: docx, docm, dotx and the flat form; headers, body, notes, comments, footers, drawings.

ECMA-376 part 1, chapter 17. Deleted and moved-away text is left out, hidden text is not.
Text boxes come before the paragraph that anchors them. Links: hyperlink elements, field
codes (simple and complex), sub-documents, the attached template, shapes.
"""

import re
from collections.abc import Mapping

from ingather.extract.documents.drawing import DrawingReader, read_drawings
from ingather.extract.documents.numbering import Numbering
from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.xmlevents import XmlReader

__all__ = ["StoryReader", "equation_of", "hyperlink_of", "read_document"]

_BEFORE = ("header",)
_AFTER = ("footnotes", "endnotes", "comments", "footer")
_BUILDING_BLOCKS = "glossarydocument"
_FIELD = re.compile(r"""\s*HYPERLINK\b""", re.IGNORECASE)
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"?|(\\[A-Za-z])|([^\s"]+)')
_HEADING = re.compile(r"(?:heading|berschrift|titre|encabezado|kop|rubrik)\s*([1-6])\b", re.IGNORECASE)
_DEEPEST_FIELD = 50
_PRIVATE_FIRST, _PRIVATE_LAST = 0xF020, 0xF0FF


_EQUATION = re.compile(r"\s*EQ\s", re.IGNORECASE)
_GUIDE = re.compile(
    r"\\o\s*(?:\\a[a-z]{1,2}\s*)?\(\s*\\s\s*\\up\s*\d*\s*\(([^()]*)\)\s*[,;]([^()]*)\)", re.IGNORECASE
)
_EQUATION_SWITCH = re.compile(r"\\\*\s*(?:\"[^\"]*\"|[^\s\\]+)|\\[a-z]+(?:\s*\d+)?", re.IGNORECASE)
_EQUATION_MARKS = str.maketrans("(),;", "    ")


def hyperlink_of(instruction: str) -> str:
    r"""Return the URL of a field code ``HYPERLINK "url" \l "place"``, or ``""``."""
    match = _FIELD.match(instruction)
    if not match:
        return ""
    url = place = ""
    switch = ""
    for quoted, letter, bare in _ARGUMENT.findall(instruction, match.end()):
        if letter:
            switch = letter.lower()
            continue
        value = quoted.replace("\\\\", "\\").replace('\\"', '"') or bare
        if switch == "\\l":
            place = place or value
        elif switch not in {"\\t", "\\o"}:
            url = url or value
        switch = ""
    return f"{url}#{place}" if url and place and "#" not in url else url


def equation_of(instruction: str) -> str:
    r"""Return the words of a field code ``EQ`` (a phonetic guide: base text, then its reading), or ``""``.

    ``EQ \* jc2 \* "Font:x" \* hps10 \o\ad(\s\up 9(reading),base)``.
    """
    if not _EQUATION.match(instruction):
        return ""
    if guide := _GUIDE.search(instruction):
        return f"{guide[2].strip()} {guide[1].strip()}"
    bare = _EQUATION_SWITCH.sub(" ", instruction[instruction.upper().index("EQ") + 2 :])
    return " ".join(bare.translate(_EQUATION_MARKS).split())


class _Styles(XmlReader):
    """Heading levels and lists (number, depth) of paragraph styles, by style id."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, int] = {}
        self.lists: dict[str, tuple[str, int]] = {}
        self.numbering = Numbering()
        self._style = ""
        self.starts = {
            "style": self._open,
            "name": self._name,
            "outlineLvl": self._outline,
            "ilvl": self._depth,
            "numId": self._list,
        }

    def _depth(self, attributes: Mapping[str, str]) -> None:
        if self._style:
            self.lists[self._style] = (self.lists.get(self._style, ("", 0))[0], depth_of(attributes))

    def _list(self, attributes: Mapping[str, str]) -> None:
        if self._style:
            self.lists[self._style] = (attributes.get("val", ""), self.lists.get(self._style, ("", 0))[1])

    def _open(self, attributes: Mapping[str, str]) -> None:
        self._style = attributes.get("styleId", "") if attributes.get("type") == "paragraph" else ""

    def _name(self, attributes: Mapping[str, str]) -> None:
        name = attributes.get("val", "")
        if self._style and name.lower() == "title":
            self.levels[self._style] = 1
        elif self._style and (match := _HEADING.match(name)):
            self.levels[self._style] = int(match[1])

    def _outline(self, attributes: Mapping[str, str]) -> None:
        level = attributes.get("val", "")
        if self._style and level.isdigit() and int(level) < 6:  # noqa: PLR2004 (outline levels 0 to 5 are h1 to h6)
            self.levels.setdefault(self._style, int(level) + 1)


class _Field:
    """A complex field between its begin and end marks."""

    __slots__ = ("instruction", "shown")

    def __init__(self) -> None:
        self.instruction: list[str] = []
        self.shown = False


def depth_of(attributes: Mapping[str, str]) -> int:
    """Return a list's depth as ``ilvl`` gives it, 0 for what is none."""
    value = attributes.get("val", "")
    return int(value) if value in set("012345678") else 0


class StoryReader(DrawingReader):
    """One story: the body, a header, the notes, the comments."""

    skipped = DrawingReader.skipped | {"delInstrText", "instrTextDeleted", "sectPr", "rPrChange", "pPrChange"}

    def __init__(self, office: Office, part: str, styles: _Styles | None = None) -> None:
        super().__init__(office, part)
        self._styles = styles or _Styles()
        self._levels = self._styles.levels
        self._list = ("", 0)
        self._fields: list[_Field] = []
        self._urls: list[str] = []
        self._in_instruction = False
        self._rows = 0
        self.starts |= {
            "t": self._open_text,
            "tab": self._tab,
            "ptab": self._tab,
            "br": self._break,
            "cr": self._break,
            "noBreakHyphen": self._hyphen,
            "sym": self._symbol,
            "pStyle": self._style,
            "pPr": self._open_properties,
            "ilvl": self._depth,
            "numId": self._number,
            "outlineLvl": self._outline,
            "instrText": self._open_instruction,
            "fldChar": self._field_mark,
            "fldSimple": self._open_simple_field,
            "hyperlink": self._open_hyperlink,
            "hlink": self._open_hyperlink,
            "txbxContent": self._open_box,
            "altChunk": self._foreign,
            "comment": self._comment,
            "shape": self._legacy_shape,
            "rect": self._legacy_shape,
        }
        self.ends |= {
            "pPr": self._close_properties,
            "instrText": self._close_instruction,
            "fldSimple": self._close_hyperlink,
            "hyperlink": self._close_hyperlink,
            "hlink": self._close_hyperlink,
            "txbxContent": self._close_box,
            "footnote": self.draft.end_block,
            "endnote": self.draft.end_block,
            "comment": self.draft.end_block,
        }
        # Word's runs know no links of their own; DrawingML's run handling would cut anchors.
        for name in ("r", "fld"):
            self.starts.pop(name)
            self.ends.pop(name)
        self._boxes: list[int] = []

    # --- running text -------------------------------------------------------------------------

    def text(self, data: str) -> None:
        """Take the text of ``w:t`` and of field codes."""
        if self._in_text:
            self.draft.write(data)
        elif self._in_instruction and self._fields:
            self._fields[-1].instruction.append(data)

    def _tab(self, attributes: Mapping[str, str]) -> None:
        if not attributes.get("val"):  # a tab stop's definition has a value, a tab has none
            self.draft.write("\t")

    def _break(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write(" " if self._cells else "\n")

    def _hyphen(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write("-")

    def _symbol(self, attributes: Mapping[str, str]) -> None:
        try:
            code = int(attributes.get("char", ""), 16)
        except ValueError:
            return
        # Symbol fonts live in the private area; only what stands for itself is text.
        if not _PRIVATE_FIRST <= code <= _PRIVATE_LAST and 0 < code < 0xD800:  # noqa: PLR2004
            self.draft.write(chr(code))

    def _open_properties(self, _attributes: Mapping[str, str]) -> None:
        self._list = ("", 0)

    def _depth(self, attributes: Mapping[str, str]) -> None:
        self._list = (self._list[0], depth_of(attributes))

    def _number(self, attributes: Mapping[str, str]) -> None:
        self._list = (attributes.get("val", ""), self._list[1])

    def _close_properties(self) -> None:
        number, depth = self._list
        if number and (label := self._styles.numbering.label(number, depth)):
            self.draft.write(f"{label} ")

    def _style(self, attributes: Mapping[str, str]) -> None:
        self._list = self._styles.lists.get(attributes.get("val", ""), self._list)
        if not self._cells and (level := self._levels.get(attributes.get("val", ""))):
            self.draft.heading(level)

    def _outline(self, attributes: Mapping[str, str]) -> None:
        level = attributes.get("val", "")
        if not self._cells and level.isdigit() and int(level) < 6:  # noqa: PLR2004
            self.draft.heading(int(level) + 1)

    def _comment(self, attributes: Mapping[str, str]) -> None:
        if author := attributes.get("author"):
            self.draft.write(f"{author}: ")

    # --- boxes, shapes, foreign parts -----------------------------------------------------------

    def _open_box(self, _attributes: Mapping[str, str]) -> None:
        self.draft.open_aside()
        self._boxes.append(self._cells)
        self._cells = 0

    def _close_box(self) -> None:
        self.draft.close_aside()
        if self._boxes:
            self._cells = self._boxes.pop()

    def _legacy_shape(self, attributes: Mapping[str, str]) -> None:
        self.draft.link(attributes.get("href", ""), attributes.get("title", ""))
        if words := attributes.get("alt"):
            self.shape({"descr": words})

    def _foreign(self, attributes: Mapping[str, str]) -> None:
        relationship = self.office.relationships(self.part).get(attributes.get("r:id", ""))
        if relationship and not relationship.external and not self.office.seen(relationship.target):
            data = self.office.data(relationship.target)
            if data:
                kind = self.office.content_type(relationship.target)
                self.draft.embed("", data, kind or None, keep=False)

    # --- links ----------------------------------------------------------------------------------

    def _open_hyperlink(self, attributes: Mapping[str, str]) -> None:
        place = attributes.get("anchor", "") or attributes.get("bookmark", "")
        url = self.office.url(self.part, attributes.get("r:id", ""), place) or attributes.get("dest", "")
        self._urls.append(url)
        self.draft.open_anchor()

    def _open_simple_field(self, attributes: Mapping[str, str]) -> None:
        self._urls.append(hyperlink_of(attributes.get("instr", "")))
        self.draft.open_anchor()

    def _close_hyperlink(self) -> None:
        if self._urls:
            self.draft.close_anchor(self._urls.pop())

    def _open_instruction(self, _attributes: Mapping[str, str]) -> None:
        self._in_instruction = True

    def _close_instruction(self) -> None:
        self._in_instruction = False

    def _field_mark(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("fldCharType", "")
        if kind == "begin":
            if len(self._fields) < _DEEPEST_FIELD:
                self._fields.append(_Field())
        elif not self._fields:
            return
        elif kind == "separate" and not self._fields[-1].shown:
            self._fields[-1].shown = True
            self.draft.open_anchor()
        elif kind == "end":
            field = self._fields.pop()
            instruction = "".join(field.instruction)
            url = hyperlink_of(instruction)
            if field.shown:
                self.draft.close_anchor(url)
            else:
                self.draft.link(url)
                self.draft.write(equation_of(instruction))


def read_document(office: Office, main: str) -> None:
    """Read the document whose main part is *main* into the office's draft.

    Raises:
        ExtractError: ``refused`` for a document type declaration.
        LimitReachedError: a limit of the draft's budget.
    """
    styles = _Styles()
    for part in office.targets(main, "styles"):
        office.parse(part, styles)
    for part in office.targets(main, "numbering"):
        office.parse(part, styles.numbering)
    stories = [*office.targets(main, *_BEFORE), main, *office.targets(main, *_AFTER)]
    if "template" in office.content_type(main):
        # In a template the building blocks are what it is for, elsewhere they say "click here to enter text".
        stories += office.targets(main, _BUILDING_BLOCKS)
    stories += [name for name in office.names_under(main.rpartition("/")[0]) if _is_story(office, name)]
    for part in stories:
        office.parse(part, StoryReader(office, part, styles))
        office.draft.end_block()
        read_drawings(office, part)


def _is_story(office: Office, part: str) -> bool:
    kind = office.content_type(part)
    return kind.endswith(("header+xml", "footer+xml", "footnotes+xml", "endnotes+xml", "comments+xml"))
