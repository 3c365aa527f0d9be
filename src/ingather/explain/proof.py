"""Why something was deleted, with what proves it: which answers, when, by which rule, in which run, and who wanted it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingather.catalog.deletion.sqlite_tombstones import Observation, Stone
from ingather.explain.forms import instant

__all__ = ["evidence_form", "evidence_line", "proof_lines", "stone_form", "stone_line"]


def stone_form(stone: Stone | None) -> dict[str, Any] | None:
    """Return a tombstone as JSON shows it."""
    if stone is None:
        return None
    return {
        "at": instant(stone.at_s), "reason": stone.reason, "source": stone.source, "by": stone.by, "run": stone.run,
        "hold": stone.hold, "kept": stone.kept, "who": stone.who, "note": stone.note, "observations": stone.observations,
    }  # fmt: skip


def evidence_form(evidence: Iterable[Observation]) -> list[dict[str, Any]]:
    """Return observations as JSON shows them, oldest first."""
    return [
        {
            "at": instant(one.at_s), "reason": one.reason, "decision": one.decision, "why": one.why,
            "outcome": None if one.outcome is None else one.outcome.name.lower(), "status": one.status,
            "where": one.where, "rule": one.rule, "detail": one.detail, "run": one.run,
        }
        for one in evidence
    ]  # fmt: skip


def evidence_line(one: Mapping[str, Any]) -> str:
    """Return one observation of :func:`evidence_form` as a line."""
    seen = " ".join(str(part) for part in (one["outcome"], one["status"]) if part)
    rule = f"{one['rule']} ({one['where']})" if one["where"] else ""
    told = "; ".join(
        part for part in (seen, rule, one["detail"] if one["detail"] != one["rule"] else "") if part
    )
    run = f", run {one['run']}" if one["run"] else ""
    return f"{one['at']} {told or one['reason']} -> {one['decision']}: {one['why'] or one['reason']}{run}"


def proof_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tombstone and the evidence of an answer of :class:`ingather.explain.Explainer`."""
    stone = answer.get("tombstone")
    if stone:
        yield f"deleted    {stone_line(stone)}"
    elif answer.get("held"):
        number = f" {answer['hold']}" if answer.get("hold") else ""
        yield f"held       in hold{number}: {answer['held']}"
    for n, one in enumerate(answer.get("evidence", ())):
        yield f"{'evidence  ' if not n else '          '} {evidence_line(one)}"


def stone_line(stone: Mapping[str, Any]) -> str:
    """Return a tombstone of :func:`stone_form` as a line."""
    said = f"{stone['at']}: {stone['reason']}"
    circumstances = [
        f"run {stone['run']}" if stone["run"] else "",
        f"hold {stone['hold']} released" if stone["hold"] else "",
        f"by {stone['who']}" if stone["who"] else "",
        f'"{stone["note"]}"' if stone["note"] else "",
    ]
    return ", ".join([said, *filter(None, circumstances)])
