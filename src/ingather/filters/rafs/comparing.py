"""filter-by-exact, filter-by-prefix, filter-by-regex: allow or deny by one source (section 7.2)."""

from collections.abc import Callable

from ingather.conf.patterns.dialects import FOLDED_SOURCES, Pattern
from ingather.filters.evaluation import State
from ingather.filters.sources import Value, comparer
from ingather.model.phase import Phase
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Run, builds

__all__ = ["filter_by_exact", "filter_by_prefix", "filter_by_regex", "tester"]

Test = Callable[[str], bool]
_FOLDED = FOLDED_SOURCES


def _equal(wanted: str) -> Test:
    return lambda value: value == wanted


def _starts(wanted: str) -> Test:
    return lambda value: value.startswith(wanted)


def tester(kind: str, wanted: str | Pattern, source: str) -> Callable[[Value], bool]:
    """Return a test of a source's value, alone or several: it holds if it holds for any of them.

    Args:
        kind: ``exact``, ``prefix`` or ``regex``.
        wanted: what is compared with, ``all`` = anything.
        source: name of the source; decides about case (section 6, rule 4).
    """
    if isinstance(wanted, Pattern):
        return _of_pattern(wanted)
    folded = source in _FOLDED
    text = wanted.lower() if folded else wanted
    test = _equal(text) if kind == "exact" else _starts(text)

    def compare(value: Value) -> bool:
        if isinstance(value, str):
            return test(value.lower() if folded else value)
        return any(test(v.lower() if folded else v) for v in value or ())

    return compare


def _of_pattern(pattern: Pattern) -> Callable[[Value], bool]:
    def compare(value: Value) -> bool:
        if isinstance(value, str):
            return pattern.test(value)
        return value is not None and pattern.any(value)

    return compare


def _filter(binding: Binding, kind: str) -> Run:
    directive = binding.directive
    source = binding.parameters["src"]
    allow = "allow" in binding.parameters
    wanted = binding.parameters["allow" if allow else "deny"]
    shown = wanted.written if isinstance(wanted, Pattern) else wanted
    reason = f"{source} is not {shown}" if allow else f"{source} is {shown}"
    denied = Verdict(
        allowed=False,
        reason=f"{directive.function}: {reason}",
        category=Exclusion.FILTER_RULES,
        where=directive.where,
        phase=directive.phase,
    )
    if shown.lower() == "all":
        # "all" is any string, an undefined one too.
        return (lambda _: None) if allow else (lambda _: denied)
    read = comparer(source)
    compare = tester(kind, wanted, source)
    no_action = directive.phase is Phase.METADATA and binding.robot.undefined_source == "noaction"

    def run(state: State) -> Verdict | None:
        value = read(state)
        if value is None:
            if no_action:
                return None
            value = ""
        return None if compare(value) is allow else denied

    return run


@builds("filter-by-exact")
def filter_by_exact(binding: Binding) -> Run:
    """Whole value."""
    return _filter(binding, "exact")


@builds("filter-by-prefix")
def filter_by_prefix(binding: Binding) -> Run:
    """Start of the value."""
    return _filter(binding, "prefix")


@builds("filter-by-regex")
def filter_by_regex(binding: Binding) -> Run:
    """Pattern."""
    return _filter(binding, "regex")
