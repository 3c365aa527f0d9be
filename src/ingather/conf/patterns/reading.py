"""A pattern as a parameter states it: compiled, with what is odd about it reported at its place."""

from ingather.conf.patterns.dialects import Pattern, PatternError, compile_pattern
from ingather.conf.report import Report
from ingather.conf.text.parameters import Parameter

__all__ = ["read_pattern"]


def read_pattern(item: Parameter, source: str, *, dialect: str, report: Report) -> Pattern | None:
    """Return the pattern of *item* over *source* (``host``, ``type`` ...); ``None`` after ``E-REGEX``."""
    try:
        pattern = compile_pattern(item.value, source, dialect=dialect)
    except PatternError as error:
        report.add(
            "E-REGEX",
            item.value_place,
            f"{item.value!r} is not a {error.dialect} pattern: {error.text} at offset {error.offset}",
        )
        return None
    if pattern.guessed:
        report.add(
            "W-REGEX-DIALECT", item.value_place, f"read as wildcard {pattern.read_as}", hint=pattern.hint
        )
    if pattern.never:
        report.add("W-REGEX-NEVER", item.value_place, f"never matches: {pattern.never}")
    return pattern
