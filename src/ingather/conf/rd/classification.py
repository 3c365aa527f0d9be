"""classification.conf: rules of the form "if condition then category" (section 13, DEC-37).

::

    Classify src=host method=ends-with value=".siroe.com" category="Siroe:Web"
    Classify method=query value="title:holiday" category="Staff:Leave"

``src`` is a source, or an attribute of the description; methods are those of filterrules.conf, and ``query``,
which is asked of the index afterwards (``ingather classify``). ``max-categories=N`` on any line, or on one of its
own before the first, is for the whole file and goes before robot.conf's.
"""

import re
from dataclasses import dataclass, field

from ingather.conf.filters.directives import source_name
from ingather.conf.names import suggestion
from ingather.conf.patterns.dialects import Pattern
from ingather.conf.patterns.reading import read_pattern
from ingather.conf.rd.taxonomy import Taxonomy, category_name
from ingather.conf.report import Report
from ingather.conf.sites.blockvalues import BlockValues
from ingather.conf.sites.rules import METHODS, Match
from ingather.conf.text.blocks import Grammar, parse_blocks
from ingather.conf.text.parameters import Parameter
from ingather.conf.text.tree import Document, Entry
from ingather.model.diagnostic import Place

__all__ = [
    "CLASSIFICATION_GRAMMAR",
    "CategoryQuery",
    "Classification",
    "ClassifyRule",
    "parse_classification",
]

CLASSIFICATION_GRAMMAR = Grammar({}, outside=("Classify",))
_QUERY = "query"
_PARAMETERS = ("src", "method", "value", "category", "ignore-case", "dialect", "enable", "max-categories")
_METHOD_ALIASES = {
    "begins with": "begins-with",
    "ends with": "ends-with",
    "regular expression": "regex",
    "regular-expression": "regex",
    "exact": "is",
    "prefix": "begins-with",
    "suffix": "ends-with",
}
_SOURCE_ALIASES = {"mime type": "type", "mime-type": "type"}
_ONE_OF_ITS_OWN = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?P<line>[ \t]*max-categories[ \t]*=[ \t]*\"?(?P<value>[^\s\"#]*)\"?[ \t]*(?:#[^\n]*)?)\r?$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ClassifyRule:
    """If *match* holds, the resource belongs to *category*."""

    match: Match
    category: str
    place: Place


@dataclass(frozen=True, slots=True)
class CategoryQuery:
    """What the index finds for *query* belongs to *category*."""

    query: str
    category: str
    place: Place


@dataclass(frozen=True, slots=True)
class Classification:
    """A whole classification.conf: enabled rules in file order. *most* ``None`` = robot.conf's max-categories."""

    rules: tuple[ClassifyRule, ...] = ()
    queries: tuple[CategoryQuery, ...] = ()
    most: int | None = None
    file: str = ""
    taxonomy: Taxonomy = field(default_factory=Taxonomy)


def parse_classification(
    text: str, file: str, report: Report, *, taxonomy: Taxonomy | None = None, dialect: str = "auto"
) -> tuple[Classification, Document]:
    """Read the file; every finding goes to *report*. A category that *taxonomy* lacks is ``W-CATEGORY``."""
    reader = _Reader(file, report, taxonomy, dialect)
    lone = _ONE_OF_ITS_OWN.match(text)
    written: Document | None = None
    if lone:
        start = lone.start("line")
        reader.limit(
            lone["value"], Place(file, text.count("\n", 0, start) + 1, lone.start("value") - start + 1)
        )
        # Written again it is a parameter like any other: nothing that the file says is lost.
        whole = f"{text[:start]}Classify {text[start:]}"
        written = parse_blocks(whole, file, CLASSIFICATION_GRAMMAR, Report())
        text = text[:start] + " " * len(lone["line"]) + text[lone.end("line") :]
    document = parse_blocks(text, file, CLASSIFICATION_GRAMMAR, report)
    return reader.run(document), written or document


class _Reader:
    """Turns entries into rules."""

    def __init__(self, file: str, report: Report, taxonomy: Taxonomy | None, dialect: str) -> None:
        self.file, self.report, self.dialect = file, report, dialect
        self._values = BlockValues(report)
        self.taxonomy = taxonomy
        self.most: int | None = None
        self.rules: list[ClassifyRule] = []
        self.queries: list[CategoryQuery] = []

    def run(self, document: Document) -> Classification:
        for entry in document.entries():
            self._entry(entry)
        return Classification(
            tuple(self.rules), tuple(self.queries), self.most, self.file, self.taxonomy or Taxonomy()
        )

    def _entry(self, entry: Entry) -> None:
        for bare in entry.bare:
            self.report.add("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")
        for item in entry.items:
            if item.name not in _PARAMETERS:
                self.report.add(
                    "W-PARAM-UNKNOWN",
                    item.place,
                    f"Classify has no parameter {item.written!r}: it is ignored",
                    hint=suggestion(item.name, _PARAMETERS),
                )
        if not self._values.switch(entry, "enable", default=True) or entry.parameters.broken:
            return
        limit = entry.get("max-categories")
        if limit is not None:
            self.limit(limit.value, limit.value_place)
            if not any(item.name in {"src", "method", "value", "category"} for item in entry.items):
                return
        self._rule(entry)

    def limit(self, value: str, place: Place) -> None:
        """Take the largest number of categories."""
        try:
            most = int(value)
        except ValueError:
            self.report.add("E-TYPE", place, f"max-categories={value!r} is not a whole number")
            return
        if most < 1:
            self.report.add(
                "E-RANGE", place, f"max-categories={most} is out of range", hint="allowed: 1 or more"
            )
            return
        self.most = most

    def _rule(self, entry: Entry) -> None:
        method = self._method(entry)
        value = self._text(entry, "value")
        category = self._category(entry)
        if method == _QUERY:
            if value is not None and category:
                self.queries.append(CategoryQuery(value.value, category, entry.place))
            return
        src = self._text(entry, "src")
        fold = self._values.switch(entry, "ignore-case", default=False)
        if method is None or value is None or src is None or not category:
            return
        source = source_name(src.value)
        source = _SOURCE_ALIASES.get(source, source)
        pattern = None
        if method == "regex":
            pattern = self._pattern(entry, value, source)
            if pattern is None:
                return
        match = Match(source, method, value.value, entry.place, pattern, ignore_case=fold)
        self.rules.append(ClassifyRule(match, category, entry.place))

    def _method(self, entry: Entry) -> str | None:
        item = self._text(entry, "method")
        if item is None:
            return None
        word = " ".join(item.value.lower().split())
        word = _METHOD_ALIASES.get(word, word)
        if word in METHODS or word == _QUERY:
            return word
        allowed = ", ".join((*METHODS, _QUERY))
        self.report.add("E-RANGE", item.value_place, f"method={item.value!r}", hint=f"allowed: {allowed}")
        return None

    def _category(self, entry: Entry) -> str:
        item = self._text(entry, "category")
        if item is None:
            return ""
        name = category_name(item.value)
        if not name:
            self.report.add("E-RANGE", item.value_place, f"category={item.value!r} has an empty level")
            return ""
        if self.taxonomy is not None and name not in self.taxonomy:
            self.report.add(
                "W-CATEGORY",
                item.value_place,
                f"category {name!r} is not in the taxonomy; it is kept as it is",
                hint=suggestion(name, self.taxonomy.names),
            )
        return name

    def _text(self, entry: Entry, name: str) -> Parameter | None:
        item = entry.get(name)
        if item is None:
            self.report.add("E-PARAM-MISSING", entry.place, f"Classify needs {name}=")
        elif not item.value.strip():
            self.report.add("E-PARAM-EMPTY", item.place, f"{name} is empty")
        else:
            return item
        return None

    def _pattern(self, entry: Entry, item: Parameter, source: str) -> Pattern | None:
        override = entry.get("dialect")
        dialect = override.value.strip().lower() if override else self.dialect
        return read_pattern(item, source, dialect=dialect, report=self.report)
