"""A replay's diff as text for a terminal: what would go, what would come, what would change."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["replay_headline", "replay_text", "value_text"]

_LISTED = 20
_LINES = 20
_CUT = 100


def replay_headline(answer: Mapping[str, Any]) -> str:
    """Return the sentence that says what matters."""
    documents = answer["documents"]
    lost = documents["lost"]
    if documents["lost_estimate"] > lost:
        said = f"{lost} documents found that would go, about {documents['lost_estimate']} in all"
    else:
        said = f"{lost} documents would go"
    return (
        f"Of {documents['total']} documents: {said}; {documents['changed']} of {documents['read']} that were read would change. "
        f"{answer['allowed']['total']} excluded URLs would be allowed."
    )


def replay_text(answer: Mapping[str, Any]) -> str:
    """Return the lines of an answer of ``ingather.app.rehearsal.replaying.replay``."""
    return "\n".join(_lines(answer))


def value_text(values: list[str]) -> str:
    """Return the values of an attribute on one line, cut."""
    if not values:
        return "(none)"
    line = " ".join(" | ".join(values).split())
    return line if len(line) <= _CUT else f"{line[:_CUT]}..."


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield replay_headline(answer)
    for entry in answer["sources"]:
        if entry["held"]:
            yield f"source {entry['source']}: the deletions would be held: {entry['held']}"
    if answer["urls"]["newly_excluded"]:
        yield f"{answer['urls']['newly_excluded']} URLs without a document would be excluded before the fetch."
    yield from _titled("documents that would go", answer["lost"], _lost)
    yield from _titled("excluded URLs that would be allowed", answer["allowed"], _allowed)
    yield from _titled("descriptions that would change", answer["changed"], _changed)
    if answer["attributes"]:
        yield ""
        yield "attributes that change: " + ", ".join(f"{n} {c}" for n, c in answer["attributes"].items())
    yield from _table("by directive", answer["directives"], ("lost", "excluded"), "where", "reason")
    yield from _table("lines that no longer exclude", answer["released"], ("allowed",), "where", "reason")
    touched = [
        row for row in answer["hosts"] if any(row[n] for n in ("lost", "changed", "allowed", "excluded"))
    ]
    yield from _table("by host", touched, ("documents", "lost", "changed", "allowed", "excluded"), "host")
    if answer["unknown"]:
        yield ""
        yield "What this does not tell:"
        yield from (f"  {sentence}" for sentence in answer["unknown"])


def _titled(title: str, listed: Mapping[str, Any], form: Any) -> Iterator[str]:
    if listed["total"]:
        yield ""
        yield f"{listed['total']} {title}:"
        for entry in listed["listed"][:_LISTED]:
            yield from form(entry)
        if listed["total"] > _LISTED:
            yield f"  ... and {listed['total'] - _LISTED} more"


def _lost(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {entry['url']}  {entry['reason']} ({entry['where'] or 'the page'})"


def _allowed(entry: Mapping[str, Any]) -> Iterator[str]:
    was = entry["was"]
    yield f"  {entry['url']}  was: {was['reason']} ({was['where']}, configuration {was['version']})"


def _changed(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {entry['url']}"
    for attribute in entry["attributes"]:
        yield f"    {attribute['name']}: {value_text(attribute['old'])} -> {value_text(attribute['new'])}"


def _table(title: str, rows: list[Mapping[str, Any]], counts: tuple[str, ...], *names: str) -> Iterator[str]:
    if rows:
        yield ""
        yield f"{title} ({', '.join(counts)}):"
        for row in rows[:_LINES]:
            numbers = " ".join(f"{row[count]:>7}" for count in counts)
            yield f"  {numbers}  {'  '.join(str(row[name]) or '-' for name in names)}"
        if len(rows) > _LINES:
            yield f"  ... and {len(rows) - _LINES} more"
