"""OpenDocument: text, spreadsheets, presentations, drawings, packed or flat (odt, ods, odp, odg, fodt, ...).

OASIS OpenDocument 1.3. Content first, then headers and footers of the page styles, then
embedded objects. Tracked deletions are left out; repeated cells are written once; dates
appear as shown and as ISO.
"""

from collections.abc import Mapping
from functools import partial

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.limits import LimitReachedError
from ingather.extract.documents.odf_lists import Lists, ListStyles
from ingather.extract.documents.package import Package
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["ListStyles", "MetaReader", "TextReader", "read_package"]

_DATE_SIZE = 10
_WIDEST_SPACE = 100
_SYMBOLS = ("mi", "mn", "mo", "ms", "mtext")
_METADATA = {
    "title": "title",
    "subject": "subject",
    "description": "description",
    "keyword": "keywords",
    "initial-creator": "author",
    "creator": "last-author",
    "creation-date": "created",
    "date": "modified",
    "language": "language",
    "generator": "generator",
    "print-date": "printed",
}


class MetaReader(XmlReader):
    """meta.xml, or ``office:meta`` of a flat document."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._words: list[str] | None = None
        self._name = ""
        self._keywords: list[str] = []
        self._inside = False
        self.starts = {
            "meta": self._open_all,
            "user-defined": self._open_named,
            "document-statistic": self._statistic,
            "template": self._template,
        }
        self.ends = {"user-defined": self._close_named, "meta": self._close_all}
        for name, key in _METADATA.items():
            self.starts[name] = self._open
            self.ends[name] = partial(self._close, key)

    def text(self, data: str) -> None:
        """Take the values."""
        if self._words is not None:
            self._words.append(data)

    def _open_all(self, _attributes: Mapping[str, str]) -> None:
        self._inside = True

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._words = [] if self._inside else None

    def _open_named(self, attributes: Mapping[str, str]) -> None:
        self._name = attributes.get("name", "").lower()
        self._open(attributes)

    def _close(self, key: str) -> None:
        if self._words is None:
            return
        value = "".join(self._words)
        self._words = None
        if key == "keywords":
            self._keywords.append(value)
        else:
            self._draft.meta(key, value)

    def _close_named(self) -> None:
        self._close(f"custom:{self._name}")

    def _close_all(self) -> None:
        self._inside = False
        self._draft.meta("keywords", ", ".join(self._keywords))
        # A document whose first author is not named was written by the one who last was.
        self._draft.meta("author", self._draft.metadata.get("last-author"))

    def _statistic(self, attributes: Mapping[str, str]) -> None:
        self._draft.meta("pages", attributes.get("page-count"))
        self._draft.meta("words", attributes.get("word-count"))

    def _template(self, attributes: Mapping[str, str]) -> None:
        self._draft.meta("template", attributes.get("title"))


class TextReader(XmlReader):
    """content.xml and styles.xml, or the whole of a flat document."""

    skipped = frozenset(
        {
            "tracked-changes",
            "meta",
            "settings",
            "scripts",
            "font-face-decls",
            "automatic-styles",
            "binary-data",
        }
    )

    def __init__(self, draft: Draft, styles: ListStyles | None = None) -> None:
        super().__init__()
        self.draft = draft
        self._lists = Lists(styles or ListStyles())
        self.objects: list[str] = []
        self._depth = 0
        self._cells = 0
        self._formulas = 0
        self._urls: list[str] = []
        self._iso: list[str] = []
        self.starts = {
            "p": self._open_text,
            "h": self._open_heading,
            "list": self._lists.open_list,
            "list-item": self._lists.open_item,
            "s": self._spaces,
            "tab": self._tab,
            "line-break": self._line_break,
            "a": self._open_link,
            "table": self._table,
            "table-cell": self._open_cell,
            "covered-table-cell": self._open_cell,
            "annotation": self._open_annotation,
            "math": self._open_math,
            "note": self._open_aside,
            "text-box": self._open_aside,
            "title": self._open_words,
            "desc": self._open_words,
            "creator": self._open_words,
            "object": self._object,
            "object-ole": self._object,
            "ruby-text": self._ruby,
            "page": self._page,
            "value": self._field,
            "image-map": self._nothing,
        }
        self.ends = {
            "p": self._close_text,
            "h": self._close_text,
            "a": self._close_link,
            "list": self._lists.close_list,
            "table-cell": self._close_cell,
            "covered-table-cell": self._close_cell,
            "table-row": draft.end_block,
            "annotation": self._close_aside,
            "note": self._close_aside,
            "text-box": self._close_aside,
            "title": self._close_words,
            "desc": self._close_words,
            "creator": self._close_words,
            "math": self._close_math,
        }
        for name in _SYMBOLS:
            self.ends[name] = self._end_symbol
        for name in ("area-rectangle", "area-circle", "area-polygon"):
            self.starts[name] = self._area
        for name in (
            "text",
            "textarea",
            "fixed-text",
            "button",
            "checkbox",
            "radio",
            "listbox",
            "combobox",
            "option",
            "item",
        ):
            self.starts.setdefault(name, self._control)
        self._aside_states: list[tuple[int, int]] = []

    def text(self, data: str) -> None:
        """Take the text of paragraphs and headings."""
        if self._depth:
            self.draft.write(data)

    def _nothing(self, _attributes: Mapping[str, str]) -> None:
        """Let the areas inside speak."""

    # --- paragraphs -----------------------------------------------------------------------------

    def _open_text(self, _attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self.draft.write(self._lists.take())

    def _open_heading(self, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        level = attributes.get("outline-level", "1")
        if not self._cells:
            self.draft.heading(int(level) if level.isdecimal() else 1)
            self._lists.heading(attributes)
            self.draft.write(self._lists.take())

    def _close_text(self) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._cells:
            self.draft.write(" ")
        else:
            self.draft.end_block()

    def _spaces(self, attributes: Mapping[str, str]) -> None:
        count = attributes.get("c", "1")
        self.draft.write(" " * min(int(count) if count.isdecimal() else 1, _WIDEST_SPACE))

    def _tab(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write("\t")

    def _line_break(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write(" " if self._cells else "\n")

    def _ruby(self, _attributes: Mapping[str, str]) -> None:
        self.draft.write(" ")

    def _open_words(self, _attributes: Mapping[str, str]) -> None:
        """Begin an alternative text or a comment's author: text outside of any paragraph."""
        self._open_aside(_attributes)
        self._depth = 1

    def _close_words(self) -> None:
        self._close_aside()

    def _open_aside(self, _attributes: Mapping[str, str]) -> None:
        self._aside_states.append((self._depth, self._cells))
        self._depth = self._cells = 0
        self.draft.open_aside()

    def _close_aside(self) -> None:
        self.draft.close_aside()
        if self._aside_states:
            self._depth, self._cells = self._aside_states.pop()

    # --- formulas ---------------------------------------------------------------------------------

    def _open_math(self, attributes: Mapping[str, str]) -> None:
        """Begin MathML: its symbols stand apart by blanks, then what was typed (StarMath) is an annotation."""
        self._formulas += 1
        self._open_words(attributes)

    def _close_math(self) -> None:
        self._formulas = max(self._formulas - 1, 0)
        self._close_words()

    def _end_symbol(self) -> None:
        if self._formulas:
            self.draft.write(" ")

    def _open_annotation(self, attributes: Mapping[str, str]) -> None:
        if self._formulas:
            self._open_words(attributes)
        else:
            self._open_aside(attributes)

    # --- tables, pages, forms ---------------------------------------------------------------------

    def _table(self, attributes: Mapping[str, str]) -> None:
        # Only a spreadsheet's tables carry names that people gave them.
        name = attributes.get("name", "")
        if name and not self._depth and not self._cells:
            self.draft.block(name, level=2)

    def _page(self, attributes: Mapping[str, str]) -> None:
        name = attributes.get("name", "")
        if name and not name.startswith("page"):
            self.draft.block(name, level=2)

    def _open_cell(self, attributes: Mapping[str, str]) -> None:
        self._cells += 1
        self._iso.append(attributes.get("date-value", "") if attributes.get("value-type") == "date" else "")
        if url := _formula_link(attributes.get("formula", "")):
            self.draft.link(url)

    def _close_cell(self) -> None:
        self._cells = max(self._cells - 1, 0)
        iso = self._iso.pop() if self._iso else ""
        if iso:
            self.draft.write(
                f" {iso if len(iso) != _DATE_SIZE + 9 or not iso.endswith('T00:00:00') else iso[:_DATE_SIZE]}"
            )
        self.draft.write("\t")

    def _control(self, attributes: Mapping[str, str]) -> None:
        for key in ("label", "current-value", "value", "title"):
            if words := attributes.get(key):
                self.draft.open_aside()
                self.draft.block(words)
                self.draft.close_aside()

    def _field(self, _attributes: Mapping[str, str]) -> None:
        """A value's text stands in its paragraph."""

    # --- links and objects --------------------------------------------------------------------------

    def _open_link(self, attributes: Mapping[str, str]) -> None:
        self._urls.append(attributes.get("href", ""))
        self.draft.open_anchor()

    def _close_link(self) -> None:
        if self._urls:
            self.draft.close_anchor(self._urls.pop())

    def _area(self, attributes: Mapping[str, str]) -> None:
        self.draft.link(attributes.get("href", ""), attributes.get("name", ""))

    def _object(self, attributes: Mapping[str, str]) -> None:
        place = attributes.get("href", "").removeprefix("./")
        if place and "://" not in place:
            self.objects.append(place)


def _formula_link(formula: str) -> str:
    from ingather.extract.documents.spreadsheet import hyperlink_formula

    return hyperlink_formula(formula) if "HYPERLINK" in formula.upper() else ""


class _Manifest(XmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.encrypted = False
        self.starts = {"encryption-data": self._encryption}

    def _encryption(self, _attributes: Mapping[str, str]) -> None:
        self.encrypted = True


def read_package(package: Package, draft: Draft) -> None:
    """Read the document in *package* into *draft*.

    Raises:
        ExtractError: ``encrypted``, ``damaged``, ``refused``.
        LimitReachedError: a limit of the draft's budget.
    """
    manifest = _Manifest()
    _parse(package, "META-INF/manifest.xml", manifest, draft, quiet=True)
    if manifest.encrypted:
        raise ExtractError("the document needs a password", reason="encrypted")
    _parse(package, "meta.xml", MetaReader(draft), draft, quiet=True)
    styles = ListStyles()
    for name in ("styles.xml", "content.xml"):
        _parse(package, name, styles, draft, quiet=True)
    content = TextReader(draft, styles)
    if not _parse(package, "content.xml", content, draft, part=False) and not draft.has_text:
        raise ExtractError("the document's content cannot be read", reason="damaged")
    _parse(package, "styles.xml", TextReader(draft), draft)
    _read_objects(package, content.objects, draft)


def _parse(  # noqa: PLR0913 (two switches beside what is read by whom)
    package: Package, name: str, reader: XmlReader, draft: Draft, *, quiet: bool = False, part: bool = True
) -> bool:
    """Read one member; a *part* that cannot be read makes the document partial unless *quiet*, any other ends it."""
    member = package.find(name)
    if member is None:
        return False
    try:
        parse_xml(package.chunks(member), reader)
    except BrokenXmlError:
        if not quiet:
            draft.flag("partial")
        return False
    except ExtractError:
        if not part:
            raise
        if not quiet:
            draft.flag("partial")
        return False
    finally:
        draft.drop_anchors()
        draft.end_block()
    return True


def _read_objects(package: Package, places: list[str], draft: Draft) -> None:
    seen: set[str] = set()
    while places:
        place = places.pop(0)
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > draft.budget.limits.members:
            raise LimitReachedError("members")
        if f"{place}/content.xml" in package:
            inner = TextReader(draft)
            _parse(package, f"{place}/content.xml", inner, draft)
            places += inner.objects
        elif place in package:
            try:
                draft.embed(place.rpartition("/")[2], package.read(place))
            except ExtractError:
                draft.flag("partial")
