"""Numbers of numbered paragraphs in Word documents (ECMA-376 17.9): counted as they are shown.

Bullets are no text. Of a style's own numbering the style's number counts; a paragraph may override it.
"""

from collections.abc import Mapping

from ingather.extract.documents.xmlevents import XmlReader

__all__ = ["Numbering", "shown_number"]

_LEVELS = 9
_MOST_LISTS = 10_000
_LARGEST = 100_000
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 5000


class _Level:
    __slots__ = ("form", "start", "text")

    def __init__(self) -> None:
        self.start = 1
        self.form = "decimal"
        self.text = ""


class Numbering(XmlReader):
    """The part ``numbering.xml`` and how far each list has been counted."""

    def __init__(self) -> None:
        super().__init__()
        self._abstract: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counted: dict[str, list[int | None]] = {}
        self._begun: set[str] = set()
        self._open: dict[int, _Level] = {}
        self._level = _Level()
        self._number = ""
        self._overridden = -1
        self.starts = {
            "abstractNum": self._open_abstract,
            "lvl": self._open_level,
            "start": self._start,
            "numFmt": self._form,
            "lvlText": self._text,
            "num": self._open_list,
            "abstractNumId": self._refer,
            "lvlOverride": self._override,
            "startOverride": self._start_at,
        }

    def _open_abstract(self, attributes: Mapping[str, str]) -> None:
        self._open = {}
        if len(self._abstract) < _MOST_LISTS:
            self._abstract[attributes.get("abstractNumId", "")] = self._open

    def _open_level(self, attributes: Mapping[str, str]) -> None:
        self._level = _Level()
        if 0 <= (depth := _integer(attributes.get("ilvl"), -1)) < _LEVELS:
            self._open[depth] = self._level

    def _start(self, attributes: Mapping[str, str]) -> None:
        self._level.start = _integer(attributes.get("val"), 1)

    def _form(self, attributes: Mapping[str, str]) -> None:
        self._level.form = attributes.get("val", "decimal")

    def _text(self, attributes: Mapping[str, str]) -> None:
        self._level.text = attributes.get("val", "")[:100]

    def _open_list(self, attributes: Mapping[str, str]) -> None:
        self._number = attributes.get("numId", "")
        self._open, self._overridden = {}, -1  # levels that a list describes anew are not looked at

    def _refer(self, attributes: Mapping[str, str]) -> None:
        if len(self._lists) < _MOST_LISTS:
            self._lists.setdefault(self._number, attributes.get("val", ""))

    def _override(self, attributes: Mapping[str, str]) -> None:
        self._overridden = _integer(attributes.get("ilvl"), -1)

    def _start_at(self, attributes: Mapping[str, str]) -> None:
        self._starts.setdefault(self._number, {})[self._overridden] = _integer(attributes.get("val"), 1)

    def label(self, number: str, depth: int) -> str:
        """Count the next paragraph of list *number* at *depth* (0 to 8) and return what stands before it."""
        abstract = self._lists.get(number, "")
        levels = self._abstract.get(abstract, {})
        level = levels.get(depth)
        if level is None:
            return ""
        counted = self._counted.setdefault(abstract, [None] * _LEVELS)
        if number not in self._begun:  # lists of one description go on counting, unless one begins anew
            self._begun.add(number)
            for place, start in self._starts.get(number, {}).items():
                if 0 <= place < _LEVELS:
                    counted[place] = start - 1
        before = counted[depth]
        counted[depth] = level.start if before is None else before + 1
        counted[depth + 1 :] = [None] * (_LEVELS - depth - 1)
        if level.form in {"bullet", "none"}:
            return ""
        label = level.text
        for place in range(depth + 1):
            if f"%{place + 1}" in label:
                shown = levels.get(place, level)
                value = counted[place]
                label = label.replace(
                    f"%{place + 1}", shown_number(shown.start if value is None else value, shown.form)
                )
        return label


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and len(text) <= 6 and text.isascii() and text.isdigit() else default  # noqa: PLR2004


def shown_number(value: int, form: str) -> str:
    """Return *value* in the form that Word names (``decimal``, ``lowerLetter``, ``upperRoman``, ...)."""
    if not 0 < value < _LARGEST:
        return str(value)
    if form in {"lowerLetter", "upperLetter"}:
        letter = chr(ord("a") + (value - 1) % 26) * min((value - 1) // 26 + 1, 10)
        return letter if form == "lowerLetter" else letter.upper()
    if form in {"lowerRoman", "upperRoman"} and value < _LARGEST_ROMAN:
        roman = ""
        for size, mark in _ROMAN:
            roman += mark * (value // size)
            value %= size
        return roman if form == "lowerRoman" else roman.upper()
    return f"{value:02d}" if form == "decimalZero" else str(value)
