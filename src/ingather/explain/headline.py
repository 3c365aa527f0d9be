"""The first line: why a URL is, or is not, in search. One sentence, the strongest reason first."""

from collections.abc import Mapping
from typing import Any

from ingather.explain.syndicated import feed_reason

__all__ = ["headline"]


def headline(answer: Mapping[str, Any]) -> str:
    """Return the sentence for an answer of :class:`ingather.explain.Explainer`."""
    if not answer["known"]:
        return _unknown(answer)
    if answer["index"].get("indexed"):
        return _shown(answer)
    return f"Not in search: {_reason(answer)}."


def _unknown(answer: Mapping[str, Any]) -> str:
    decision, robots = answer["decision"], answer["robots"]
    fetched = answer.get("fetched") or {}
    if not decision["enumeration"]["allowed"] and not decision["generation"]["allowed"]:
        verdict = decision["generation"]
        return f"Not in search: never met, and the filters would exclude it: {_verdict(verdict)}."
    if robots.get("allowed") is False:
        return f"Not in search: never met, and robots.txt forbids it ({_robots(robots)})."
    if "failure" in fetched:
        return (
            f"Not in search: never met, and it cannot be fetched: {fetched['failure']} {fetched['detail']}".rstrip()
            + "."
        )
    if not decision["generation"]["allowed"]:
        return f"Not in search: never met; it would be read for its links only: {_verdict(decision['generation'])}."
    return "Not in search: never met by a link, a starting point or a feed; the filters would let it pass."


def _shown(answer: Mapping[str, Any]) -> str:
    overlay = answer.get("overlay") or {}
    if overlay.get("expired"):
        return f"Not in search: its last day of validity is over since {overlay['expires']}{_line_of(overlay, 'X')}."
    if answer.get("held"):
        return f"In search; its deletion is held: {answer['held']}."
    generation = (answer.get("decision") or {}).get("generation") or {}
    if generation and not generation["allowed"] and not answer.get("feeds"):
        when = f", next visit {answer['next_visit']}" if answer.get("next_visit") else ""
        return f"In search still, but the configuration in force excludes it{when}: {_verdict(generation)}."
    behind = answer["index"].get("behind", 0)
    unread = _unread(answer)
    why = f": {_listed(answer)}" if _listed(answer) else ""
    late = f" (the index is {behind} changes behind)" if behind else ""
    if unread:
        return f"In search by its address only{late}: text not read, because {unread}{f'; {why[2:]}' if why else ''}."
    return f"In search{late}{why}."


def _unread(answer: Mapping[str, Any]) -> str:
    """Return why a document's text is not in search, ``""`` when it is."""
    flags = tuple(answer.get("flags") or ())
    for flag in flags:
        if flag.startswith("conversion-failed:"):
            reason = flag.partition(":")[2]
            return _UNREADABLE.get(reason, f"its reader failed ({reason})")
    if "no-text" in flags:
        return "there is none in it (no-text), as in scanned pages and drawings"
    if "unread" in flags:
        return "no convert-to-html line of filter.conf takes its type"
    return ""


def _listed(answer: Mapping[str, Any]) -> str:
    """Return what is to be said of a document that web feeds list."""
    return str((answer.get("web_feeds") or {}).get("because", ""))


def _line_of(overlay: Mapping[str, Any], name: str) -> str:
    """Return the place of the line that won class *name*, in parentheses."""
    for layer in overlay["layers"]:
        for story in layer["classes"]:
            if story["class"] == name and story["values"]:
                return f" ({layer['layer']}:{story['line']})"
    return ""


def _because(answer: Mapping[str, Any]) -> str:
    """Return what the visit that led to a deletion was told, with its line, if a filter or robots rule decided."""
    if not answer.get("where") or answer["outcome"] not in _DECIDED:
        return ""
    return f": {answer['detail']} ({answer['where']})"


def _reason(answer: Mapping[str, Any]) -> str:  # noqa: PLR0911 - the strongest reason first
    if feed_reason(answer):
        return feed_reason(answer)
    if answer.get("tombstone"):
        said = f"deleted {answer['tombstone']['at']}: {answer['tombstone']['reason']}{_because(answer)}"
        return f"{said}; {_listed(answer)}" if _listed(answer) else said
    if answer.get("duplicate_of"):
        return f"duplicate of {answer['duplicate_of']}"
    if (answer.get("canonical") or {}).get("shown_as"):
        return f"shown as {answer['canonical']['shown_as']}, which it names as its canonical address"
    if answer.get("described"):
        return _described(answer)
    if _listed(answer) and not (answer.get("disabled") or answer.get("ways")):
        return _listed(answer)
    state, outcome = answer["state"], answer["outcome"]
    where = f" ({answer['where']})" if answer["where"] else ""
    if state == "waiting" and (outcome is None or answer.get("disabled") or answer.get("ways")):
        return _waits(answer)
    if state == "quarantined":
        return f"quarantined: {answer['detail']}"
    if state == "excluded":
        return f"excluded before any visit: {answer['detail']}{where}"
    return _OUTCOMES.get(outcome or "", "{detail}").format(
        detail=answer["detail"] or outcome,
        where=where,
        to=answer.get("redirects_to") or answer["detail"],
        status=answer["status"],
    )


def _waits(answer: Mapping[str, Any]) -> str:
    if answer.get("disabled"):
        return (
            f"it waits in the frontier: its source {answer['source']} is disabled since {answer['disabled']}"
        )
    for way in answer.get("ways") or ():
        when = f"rests until {way['until']}" if way["until"] else "is tried by the next visit"
        return f"it waits in the frontier: {way['way']} of its source {answer['source']} failed and {when}: {way['why']}"
    return "it waits in the frontier, not visited yet"


def _described(answer: Mapping[str, Any]) -> str:
    """Return why nobody finds a document that there is."""
    if any("readacl" in attributes for attributes in answer.get("layers", {}).values()):
        return "its description has an access list (readacl): ingather access explain says who may see it"
    if answer.get("access") != "public":
        closed = "access=secure of its source, its authmethod, the login that it was fetched with, or its host's word"
        return f"shown to nobody: it is not for everybody ({closed}), and no access list of the document says who may see it"
    behind = answer["index"].get("behind", 0)
    if answer.get("held"):
        return f"hidden while its deletion is held: {answer['held']}"
    return (
        f"described, but the index is {behind} changes behind"
        if behind
        else "described, but missing in the index (run: ingather index check)"
    )


_UNREADABLE = {
    "unsupported": "no reader takes such bytes",
    "encrypted": "it needs a password",
    "damaged": "it is damaged",
    "refused": "it declares entities (XML) that are used or lie outside of it",
    "empty": "there is nothing in it",
    "died": "it brought down its reader",
    "timeout": "its reader took too long",
    "cpu": "its reader took too much processor time",
    "memory": "its reader took too much memory",
    "unavailable": "no reader is running",
}
_DECIDED = frozenset({"enumerated", "excluded", "robots"})
_OUTCOMES = {
    "redirected": "it redirects to {to}",
    "robots": "{detail}{where}",
    "robots_unreachable": "{detail}; nothing is fetched from its host until it answers",
    "not_found": "it does not exist (HTTP {status})",
    "refused": "its host refuses it ({detail})",
    "back_off": "its host asked to be left alone ({detail})",
    "server_error": "its host failed ({detail})",
    "failed": "it could not be fetched: {detail}",
    "noindex": "the page asks not to be indexed: {detail}{where}",
    "enumerated": "read for its links only: {detail}{where}",
    "excluded": "excluded: {detail}{where}",
    "budget": "refused by a budget: {detail}",
    "quarantined": "it killed its reader: {detail}",
}


def _verdict(verdict: Mapping[str, Any]) -> str:
    where = f" ({verdict['where']})" if verdict["where"] else ""
    return f"{verdict['reason'] or verdict['category']}{where}"


def _robots(robots: Mapping[str, Any]) -> str:
    if robots.get("line"):
        return f"line {robots['line']}: {robots['text'].strip()}"
    return str(robots.get("why") or robots.get("detail"))
