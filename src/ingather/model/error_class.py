"""Classes of errors, as reports and figures name them."""

from ingather.model.lifecycle import Outcome

__all__ = ["ERRORS", "error_class", "error_detail"]

ERRORS = frozenset({
    Outcome.NOT_FOUND, Outcome.REFUSED, Outcome.BACK_OFF, Outcome.SERVER_ERROR, Outcome.FAILED, Outcome.QUARANTINED,
    Outcome.ROBOTS_UNREACHABLE, Outcome.SOFT_404,
})  # fmt: skip
"""Outcomes of visits that went wrong."""

_LONGEST = 40
_HTTP = "http-"
_GONE = frozenset({"404", "410"})
_DETAILS = {
    "not-found": "not found", "refused": "refused", "back-off": "server", "server-error": "server", "quarantined": "quarantine",
    "robots-unreachable": "robots", "soft-404": "soft not found", "refused-address": "address",
}  # fmt: skip


def error_class(outcome: Outcome, status: int, detail: str) -> str:
    """Return the class of a visit that went wrong, ``""`` for any other.

    ``http-404`` for an answer, the kind of a failure without one (``dns``, ``connect-timeout``...), else the outcome.
    """
    if outcome not in ERRORS:
        return ""
    if outcome is Outcome.FAILED:
        kind = detail.partition(":")[0].strip()
        return kind[:_LONGEST] if kind and " " not in kind else "failed"
    if outcome in (Outcome.QUARANTINED, Outcome.ROBOTS_UNREACHABLE, Outcome.SOFT_404):
        return outcome.name.lower().replace("_", "-")
    return f"http-{status}" if status else outcome.name.lower().replace("_", "-")


def error_detail(name: str) -> str:
    """Return the detail (:data:`ingather.model.exclusion.DETAILS`) under which reports of exclusions put a class of errors."""
    if not name.startswith(_HTTP):
        return _DETAILS.get(name, "failure")
    status = name.removeprefix(_HTTP)
    if status in _GONE:
        return "not found"
    return "server" if status.startswith("5") or status == "429" else "refused"
