"""The rules of classification.conf, applied when a description is made (section 13, DEC-37).

All rules are tested; their categories are added in rule order behind those that Generate lines gave, each
once, and the whole is cut at the largest number. Whole values, beginnings and endings are looked up by
length in tables, contained texts and expressions are one RE2 set for each source: the cost does not grow with the rules.
"""

from collections.abc import Callable, Iterable, Mapping

import re2
from ingather.conf.patterns.dialects import FOLDED_SOURCES, options
from ingather.conf.rd.classification import Classification, ClassifyRule
from ingather.filters.evaluation import State
from ingather.filters.sources import Read, Value, comparer

__all__ = ["CATEGORIES", "Classifier"]

CATEGORIES = "classification"
"""The attribute that holds a description's categories."""

_OF_THE_URL = frozenset({"url", "protocol", "host", "path", "query", "type", "content-type", "depth", "ip"})


class Classifier:
    """Puts descriptions into categories.

    Args:
        classification: the rules.
        most: robot.conf's largest number of categories; that of the file goes before it.
    """

    def __init__(self, classification: Classification, most: int) -> None:
        self.most = classification.most or most
        self._categories = [rule.category for rule in classification.rules]
        by_source: dict[str, list[tuple[int, ClassifyRule]]] = {}
        for number, rule in enumerate(classification.rules):
            by_source.setdefault(rule.match.source, []).append((number, rule))
        self._tests = [(_reading(source), _Tests(source, rules)) for source, rules in by_source.items()]

    def classify(self, state: State) -> None:
        """Add the categories of a resource to its description."""
        attributes = state.attributes
        hits: set[int] = set()
        for read, tests in self._tests:
            value = read(state)
            for text in (value,) if isinstance(value, str) else value or ():
                tests.add(text, hits)
        there = attributes.get(CATEGORIES, ())
        found = dict.fromkeys((*there, *(self._categories[number] for number in sorted(hits))))
        if found:
            attributes[CATEGORIES] = tuple(found)[: self.most]


def _reading(source: str) -> Read:
    """Return what reads a source; what the page or a line does not define is looked for in the description."""
    read = comparer(source)
    if source in _OF_THE_URL:
        if source == "type":
            return lambda state: tuple(dict.fromkeys(kind for kind in state.kinds() if kind))
        return read

    def run(state: State) -> Value:
        value = state.attributes.get(source)
        return value if value is not None else read(state)

    return run


class _Tests:
    """All rules about one source."""

    def __init__(self, source: str, rules: Iterable[tuple[int, ClassifyRule]]) -> None:
        self._exact: dict[tuple[bool, str], list[int]] = {}
        self._starts: dict[tuple[bool, int], dict[str, list[int]]] = {}
        self._ends: dict[tuple[bool, int], dict[str, list[int]]] = {}
        self._single: list[tuple[int, Callable[[str], bool]]] = []
        inside: dict[bool, list[tuple[int, str]]] = {}
        for number, rule in rules:
            match = rule.match
            folded = match.ignore_case or source in FOLDED_SOURCES
            text = match.value.lower() if folded else match.value
            match match.method:
                case "is":
                    self._exact.setdefault((folded, text), []).append(number)
                case "begins-with":
                    self._starts.setdefault((folded, len(text)), {}).setdefault(text, []).append(number)
                case "ends-with":
                    self._ends.setdefault((folded, len(text)), {}).setdefault(text, []).append(number)
                case "regex" if match.pattern is not None:
                    self._single.append((number, match.pattern.test))
                case _:
                    inside.setdefault(folded, []).append((number, text))
        self._inside = [(folded, _set_of(pairs), [n for n, _ in pairs]) for folded, pairs in inside.items()]
        self._folds = (
            any(folded for folded, _ in (*self._exact, *self._starts, *self._ends)) or True in inside
        )

    def add(self, value: str, hits: set[int]) -> None:
        """Put the numbers of the rules that hold for *value* into *hits*."""
        forms: Mapping[bool, str] = {False: value, True: value.lower()} if self._folds else {False: value}
        for folded, text in forms.items():
            hits.update(self._exact.get((folded, text), ()))
        for (folded, length), table in self._starts.items():
            hits.update(table.get(forms[folded][:length], ()))
        for (folded, length), table in self._ends.items():
            text = forms[folded]
            hits.update(table.get(text[-length:] if length else "", ()))
        for folded, many, numbers in self._inside:
            hits.update(numbers[hit] for hit in many.Match(forms[folded]) or ())
        hits.update(number for number, test in self._single if number not in hits and test(value))


def _set_of(pairs: list[tuple[int, str]]) -> "re2.Set":
    found = re2.Set.SearchSet(options(folded=False))
    for _, text in pairs:
        found.Add(re2.escape(text))
    found.Compile()
    return found
