"""Numbers of numbered paragraphs and headings in OpenDocument (1.3 part 3, 5.3 and 16.30): counted as they are shown."""

from collections.abc import Mapping

from ingather.extract.documents.numbering import shown_number
from ingather.extract.documents.xmlevents import EnoughError, XmlReader

__all__ = ["ListStyles", "Lists"]

_LEVELS = 10
_MOST_STYLES = 10_000
_OUTLINE = "\0outline"
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class _Level:
    """How a level is numbered; without a form (bullets, pictures) it is not."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.form = _FORMS.get(attributes.get("num-format", ""), "")
        self.prefix = attributes.get("num-prefix", "")[:100]
        self.suffix = attributes.get("num-suffix", "")[:100]
        self.start = _integer(attributes.get("start-value"), 1)
        self.shown = _integer(attributes.get("display-levels"), 1)


class ListStyles(XmlReader):
    """Styles of lists and of the outline, of content.xml and styles.xml."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, dict[int, _Level]] = {}
        self._open: dict[int, _Level] = {}
        self.starts = {
            "list-style": self._style,
            "outline-style": self._outline,
            "list-level-style-number": self._level,
            "outline-level-style": self._level,
            "body": self._body,
        }

    def _body(self, _attributes: Mapping[str, str]) -> None:
        """End the reading where the text begins: styles stand before it."""
        raise EnoughError

    def _style(self, attributes: Mapping[str, str]) -> None:
        self._open = {}
        if len(self.levels) < _MOST_STYLES:
            self.levels[attributes.get("name", "")] = self._open

    def _outline(self, _attributes: Mapping[str, str]) -> None:
        self._open = self.levels[_OUTLINE] = {}

    def _level(self, attributes: Mapping[str, str]) -> None:
        if 1 <= (depth := _integer(attributes.get("level"), 0)) <= _LEVELS:
            self._open[depth] = _Level(attributes)


class Lists:
    """The lists that are open, how far each style has counted, and the number that the next paragraph bears."""

    def __init__(self, styles: ListStyles) -> None:
        self._levels = styles.levels
        self._open: list[str] = []
        self._counted: dict[str, dict[int, int]] = {}
        self._waiting = ""

    def open_list(self, attributes: Mapping[str, str]) -> None:
        """Begin a list; one inside of another has its style unless it names one."""
        style = attributes.get("style-name") or (self._open[-1] if self._open else "")
        goes_on = attributes.get("continue-numbering") == "true" or "continue-list" in attributes
        if not self._open and not goes_on:
            self._counted.pop(style, None)
        self._open.append(style)

    def close_list(self) -> None:
        """End the innermost list."""
        if self._open:
            self._open.pop()
        self._waiting = ""

    def open_item(self, attributes: Mapping[str, str]) -> None:
        """Count an item of the innermost list."""
        if self._open:
            self._waiting = self._count(self._open[-1], len(self._open), attributes)

    def heading(self, attributes: Mapping[str, str]) -> None:
        """Count a heading that stands in no list."""
        if not self._open and attributes.get("is-list-header") != "true":
            self._waiting = self._count(_OUTLINE, _integer(attributes.get("outline-level"), 1), attributes)

    def take(self) -> str:
        """Return the number that stands before the paragraph that begins, with a blank, once."""
        label, self._waiting = self._waiting, ""
        return f"{label} " if label else ""

    def _count(self, style: str, depth: int, attributes: Mapping[str, str]) -> str:
        levels = self._levels.get(style, {})
        level = levels.get(depth)
        if level is None:
            return ""
        counted = self._counted.setdefault(style, {})
        counted[depth] = _integer(attributes.get("start-value"), counted.get(depth, level.start - 1) + 1)
        for deeper in [place for place in counted if place > depth]:
            del counted[deeper]
        if not level.form:
            return ""
        numbers = []
        for place in range(max(depth - level.shown + 1, 1), depth + 1):
            one = levels.get(place)
            if one is not None and one.form:
                numbers.append(shown_number(counted.get(place, one.start), one.form))
        return f"{level.prefix}{'.'.join(numbers)}{level.suffix}".strip()


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and len(text) <= 6 and text.isascii() and text.isdigit() else default  # noqa: PLR2004
