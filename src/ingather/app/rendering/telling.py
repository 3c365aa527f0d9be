"""What rendering a page gave, as simulate tells people."""

from typing import Any

from ingather.ports.renderer import Rendered
from ingather.robot.visit.rendering import Outcome

__all__ = ["rendering_form"]


def rendering_form(outcome: Outcome) -> dict[str, Any]:
    """Return *outcome* JSON-ready; empty if nobody thought of rendering."""
    answer = outcome.answer
    if answer is None:
        return {"remarks": list(outcome.flags)} if outcome.flags else {}
    form: dict[str, Any] = {
        "remarks": list(outcome.flags),
        "requests": [
            {"url": fate.url, "kind": fate.kind, "fate": fate.fate, "detail": fate.detail}
            for fate in answer.fates
        ],
        "errors": list(answer.errors),
        "refused_at_proxy": answer.refused_at_proxy,
    }
    if isinstance(answer, Rendered):
        return {**form, "url": answer.url, "led_to": list(answer.led_to)}
    return {**form, "failure": answer.reason, "detail": answer.detail}
