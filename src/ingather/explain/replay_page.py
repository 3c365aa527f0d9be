"""A replay's diff as one HTML file: no script, nothing from elsewhere, everything that came from outside escaped."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from ingather.explain.replayed import replay_headline

__all__ = ["replay_page"]

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}"
    "th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid #ccc;overflow-wrap:anywhere}"
    "td.n,th.n{text-align:right;white-space:nowrap}"
    "del{background:#fbe0dd;text-decoration:none}ins{background:#dcf3dd;text-decoration:none}"
    ".warn{border-left:.3rem solid #b3261e;padding-left:.8rem}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td{border-color:#444}"
    "del{background:#5a1f1a}ins{background:#1d4a20}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def replay_page(answer: Mapping[str, Any]) -> str:
    """Return the whole page for an answer of ``ingather.app.rehearsal.replaying.replay``."""
    return "\n".join(_page(answer)) + "\n"


def _page(answer: Mapping[str, Any]) -> Iterator[str]:
    title = f"Replay of {answer['config']}"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
    yield '<meta name="referrer" content="no-referrer">\n<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>{escape(title)}</h1>\n<p>{escape(replay_headline(answer))}</p>"
    for entry in answer["sources"]:
        if entry["held"]:
            yield f'<p class="warn">Source {escape(entry["source"])}: the deletions would be held: {escape(entry["held"])}</p>'
    yield from _section(
        "Documents that would go", ("URL", "source", "reason", "line"),
        ((e["url"], e["source"], e["reason"], e["where"]) for e in answer["lost"]["listed"]), answer["lost"]["total"],
    )  # fmt: skip
    yield from _section(
        "Excluded URLs that would be allowed", ("URL", "source", "excluded until now because of", "line", "configuration"),
        (
            (e["url"], e["source"], e["was"]["reason"], e["was"]["where"], e["was"]["version"])
            for e in answer["allowed"]["listed"]
        ),
        answer["allowed"]["total"],
    )  # fmt: skip
    yield from _changed(answer["changed"])
    yield from _section("Attributes that change", ("attribute", "documents"), answer["attributes"].items())
    yield from _section(
        "By directive", ("line", "reason", "documents lost", "URLs excluded"),
        ((d["where"], d["reason"], d["lost"], d["excluded"]) for d in answer["directives"]),
    )  # fmt: skip
    yield from _section(
        "Lines that no longer exclude", ("line", "reason", "configuration", "URLs allowed"),
        ((d["where"], d["reason"], d["version"], d["allowed"]) for d in answer["released"]),
    )  # fmt: skip
    yield from _section(
        "By host", ("host", "documents", "lost", "changed", "allowed", "excluded"),
        ((h["host"], h["documents"], h["lost"], h["changed"], h["allowed"], h["excluded"]) for h in answer["hosts"]),
    )  # fmt: skip
    if answer["unknown"]:
        yield "<section>\n<h2>What this does not tell</h2>\n<ul>"
        yield from (f"<li>{escape(sentence)}</li>" for sentence in answer["unknown"])
        yield "</ul>\n</section>"
    yield "</main>\n</body>\n</html>"


def _section(
    title: str, heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]], total: int | None = None
) -> Iterator[str]:
    listed = list(rows)
    if not listed:
        return
    yield f"<section>\n<h2>{escape(title)}{f' ({total})' if total is not None else ''}</h2>\n<table>"
    yield f"<thead><tr>{''.join(_head(head) for head in heads)}</tr></thead>\n<tbody>"
    for row in listed:
        yield f"<tr>{''.join(_cell(value) for value in row)}</tr>"
    yield "</tbody>\n</table>"
    if total is not None and total > len(listed):
        yield f"<p>and {total - len(listed)} more</p>"
    yield "</section>"


def _head(text: str) -> str:
    return f'<th scope="col">{escape(text)}</th>'


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value}</td>'
    return f"<td>{escape(str(value))}</td>"


def _changed(changed: Mapping[str, Any]) -> Iterator[str]:
    if not changed["listed"]:
        return
    yield f"<section>\n<h2>Descriptions that would change ({changed['total']})</h2>\n<table>"
    yield '<thead><tr><th scope="col">URL</th><th scope="col">attribute</th><th scope="col">old</th><th scope="col">new</th></tr></thead>\n<tbody>'
    for entry in changed["listed"]:
        for number, attribute in enumerate(entry["attributes"]):
            url = escape(entry["url"]) if not number else ""
            old, new = (escape(" | ".join(attribute[side])) for side in ("old", "new"))
            yield f"<tr><td>{url}</td><td>{escape(attribute['name'])}</td><td><del>{old}</del></td><td><ins>{new}</ins></td></tr>"
    yield "</tbody>\n</table>"
    if changed["total"] > len(changed["listed"]):
        yield f"<p>and {changed['total'] - len(changed['listed'])} more</p>"
    yield "</section>"
