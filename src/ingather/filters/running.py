"""Running the steps of a filter: until one denies, wants something, or none is left; with each step told if asked."""

from dataclasses import replace

from ingather.filters.denying import DenySteps
from ingather.filters.evaluation import Convert, State
from ingather.filters.plan import ConvertSteps, Pair, Step
from ingather.filters.sources import Value
from ingather.filters.trace import TraceStep
from ingather.model.counted import Count
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import AGAIN

Wanted = Convert | Count
"""What stops a filter for a while: a conversion, or the answer whether one more may pass."""

__all__ = ["run_both", "run_once", "run_steps"]


def run_steps(state: State, steps: tuple[Step, ...], start: int = 0) -> Wanted | None:
    """Run *steps* from number *start*; stop at a denial (kept in the state) or where something is wanted.

    ``state.at`` is the number of the step that stopped it.
    """
    if state.trace is not None:
        return _run_traced(state, steps, start, state.trace)
    at = start
    for step in steps[start:] if start else steps:
        try:
            outcome = step.run(state)
        except Exception as error:  # noqa: BLE001 - filters fail closed, whatever a function does
            outcome = step.failed(error)
        if outcome is not None:
            state.at = at
            if type(outcome) is Convert or type(outcome) is Count:
                return outcome
            if isinstance(outcome, Verdict):
                if not outcome.allowed:
                    state.verdict = outcome
                    return None
            elif outcome is AGAIN:
                state.again = step
                return None
            else:
                state.verdict = step.failed(TypeError(f"returned {type(outcome).__name__}"))
                return None
        at += 1
    return None


def run_both(one: State, other: State, phase: Pair, moved: dict[tuple[Verdict, str], Verdict]) -> None:
    """Run the steps that both filters share, once, in *one*, and let *other* have the outcome.

    *moved* keeps verdicts that say the line of the other filter.
    """
    if not phase.common:
        return
    run_steps(one, phase.common)
    other.borrow(one)
    if not one.verdict.allowed:
        other.verdict = _twin(one, phase, moved)


def _twin(one: State, phase: Pair, moved: dict[tuple[Verdict, str], Verdict]) -> Verdict:
    """Return the verdict of the enumeration filter as the generation filter's line says it."""
    verdict = one.verdict
    ran, same = phase.common[one.at], phase.twins[one.at]
    step, twin = ran, same
    if isinstance(ran, DenySteps) and isinstance(same, DenySteps):
        step, twin = ran.steps[ran.active], same.steps[ran.active]
    if verdict.where != step.where:
        return verdict
    if verdict.category is Exclusion.ERROR:
        return replace(verdict, where=twin.where)
    key = (verdict, twin.where)
    found = moved.get(key)
    if found is None:
        found = moved[key] = replace(verdict, where=twin.where)
    return found


def _run_traced(state: State, steps: tuple[Step, ...], start: int, trace: list[TraceStep]) -> Wanted | None:
    """Run *steps* one at a time by :func:`run_steps`, writing down what each saw and did."""
    for at in range(start, len(steps)):
        step = steps[at]
        before = dict(state.own or {}), dict(state.attributes), len(state.links)
        try:
            value = step.value(state)
        except Exception:  # noqa: BLE001 - the step itself will fail the same way and say so
            value = None
        state.trace = None
        wanted = run_steps(state, steps[: at + 1], at)
        state.trace = trace
        trace.append(_told(state, step, value, before, wanted))
        if wanted is not None or not state.verdict.allowed or state.again is not None:
            return wanted
    return None


def run_once(step: Step) -> str:
    """Run a Setup or Shutdown directive; return why it failed, ``""`` if it did not."""
    try:
        outcome = step.run(None)
    except Exception as error:  # noqa: BLE001 - whatever a function does
        outcome = step.failed(error)
    return outcome.reason if isinstance(outcome, Verdict) and not outcome.allowed else ""


def _told(
    state: State,
    step: Step,
    value: str | None,
    before: tuple[dict[str, Value], dict[str, tuple[str, ...]], int],
    wanted: Wanted | None,
) -> TraceStep:
    verdict, reason, rule = "continue", "", ""
    if isinstance(wanted, Convert):
        verdict, reason = (
            "convert",
            f"the body is to be converted from {wanted.media_type or 'an unknown type'}",
        )
    elif state.again is not None:
        verdict, reason = "restart", "the resource is judged again from MetaData"
    elif not state.verdict.allowed:
        verdict = "error" if state.verdict.category is Exclusion.ERROR else "deny"
        reason = state.verdict.reason
        rule = state.verdict.where if state.verdict.where != step.where else ""
    else:
        own, attributes, links = before
        changes = [f"{k}={_shown(v)}" for k, v in (state.own or {}).items() if k not in own or own[k] != v]
        changes += [f"{k}={_shown(v)}" for k, v in state.attributes.items() if attributes.get(k) != v]
        changes += [f"{k} removed" for k in attributes if k not in state.attributes]
        found = sum(1 for link in state.links.values() if link is not None)
        if len(state.links) > links:
            changes.append(f"{found} links")
        if step.directive.function == "filterrules-process" and state.evaluation.site is not None:
            site = state.evaluation.site
            changes.append(f"site {site.name}" if site.source else site.name)
            rule = site.where
        reason = ", ".join(dict.fromkeys(changes))
    line = step.active if isinstance(step, ConvertSteps) else step
    if isinstance(step, ConvertSteps) and verdict == "continue" and not reason:
        reason = f"none of {step.lines} lines is for this type"
    return TraceStep(
        state.role,
        line.directive.phase,
        line.directive.text,
        line.where,
        step.source,
        value,
        verdict,
        reason,
        rule,
    )


def _shown(value: object) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else "undefined" if value is None else str(value)
    text = " ".join(text.split())
    limit = 80
    return text if len(text) <= limit else f"{text[:limit]}..."
