"""Verdicts and steps as JSON-ready trees, the same wherever a decision is shown."""

from datetime import UTC, datetime
from typing import Any

from ingather.catalog.sqlite_reader_more import PageExtra
from ingather.conf import Rules
from ingather.filters import TraceStep
from ingather.model.exclusion import reported
from ingather.model.lifecycle import Outcome
from ingather.model.verdict import Verdict

__all__ = ["instant", "reported_form", "rule_at", "short", "step_form", "told_form", "verdict_form"]

_SHOWN_CHARS = 300


def instant(seconds: float | None) -> str | None:
    """Return a moment of wall time as text, ``None`` for none."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def verdict_form(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict: whether it allows, why not, its category (ours and the report's), the deciding line and phase."""
    return {
        "allowed": verdict.allowed,
        "reason": verdict.reason,
        "category": str(verdict.category) if verdict.category else None,
        "reported_as": None
        if verdict.allowed
        else reported_form(str(verdict.category or ""), verdict.reason),
        "where": verdict.where,
        "phase": str(verdict.phase) if verdict.phase is not None else None,
    }


def reported_form(category: str, reason: str, outcome: Outcome | None = None) -> dict[str, str]:
    """Return where the vendor's report puts an exclusion; see :func:`ingather.model.exclusion.reported`."""
    found = reported(category, reason, outcome)
    return {"category": str(found.category), "detail": found.detail}


def step_form(step: TraceStep) -> dict[str, Any]:
    """Return one step of a trace; long values are cut."""
    return {
        "filter": str(step.role), "phase": str(step.phase), "directive": step.directive, "where": step.where, "source": step.source,
        "value": short(step.value) if step.value is not None else None, "verdict": step.verdict, "reason": step.reason, "rule": step.rule,
    }  # fmt: skip


def told_form(extra: PageExtra | None) -> dict[str, Any]:
    """Return language and date of a page as its last visit found them, and what said so; ``None`` = nothing did."""
    found = extra or PageExtra()
    return {
        "language": found.language or None,
        "language_source": found.language_source or None,
        "date": instant(found.date_s),
        "date_source": found.date_source or None,
    }


def rule_at(where: str, rules: Rules) -> str:
    """Return the name of the rule that stands at ``file:line`` *where*, ``""`` if none does."""
    if where:
        for rule in rules.rules:
            if f"{rule.place.file}:{rule.place.line}" == where:
                return rule.name
    return ""


def short(text: str) -> str:
    """Return *text*, cut after 300 characters."""
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}... ({len(text)} characters)"
