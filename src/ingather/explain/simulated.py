"""A simulation as text for a terminal: what would become of each URL, then the steps that said so."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["simulation_text"]

_SHOWN_LINKS = 5


def simulation_text(answer: Mapping[str, Any]) -> str:
    """Return the lines of an answer of ``ingather.app.rehearsal.simulating.simulate``."""
    return "\n\n".join("\n".join(_lines(url, data=answer["data"])) for url in answer["urls"])


def _lines(url: Mapping[str, Any], *, data: bool) -> Iterator[str]:
    yield f"{url['url']}: {_headline(url, data=data)}"
    yield f"site       {url['site'] or 'none'}{', source ' + url['source'] if url['source'] else ''}, depth {url['depth']}"
    yield from _alias(url.get("alias"))
    if "robots" in url:
        robots = url["robots"]
        line = f", line {robots['line']}: {robots['text']}" if robots["line"] else f" ({robots['detail']})"
        yield f"robots.txt {'allows it' if robots['allowed'] else 'forbids it'}{line}"
    if "fetched" in url:
        yield f"fetched    {', '.join(f'{name} {value}' for name, value in url['fetched'].items() if value)}"
    yield from _rendering(url.get("rendering"))
    if "redirect" in url:
        target = url["redirect"]
        said = "which the filters let pass" if target["allowed"] else f"which is denied: {target['reason']}"
        yield f"redirects  to {target['url']}, {said}"
    for role in ("enumeration", "generation"):
        yield from _filter(role, url)
    for counter in url["depends_on_the_run"]:
        yield f"depends on the run: {counter['what']} ({counter['where']}): {counter['detail']}"
    if url["link_count"]:
        yield f"links      {url['link_count']} would be followed"
        yield from (f"  {link}" for link in url["links"][:_SHOWN_LINKS])
    if "rd" in url:
        yield f"RD         {url['title'] or 'without title'}"
        for name, values in url["rd"].items():
            yield f"  {name}: {_cut(' | '.join(values))}"
        if url["flags"]:
            yield f"remarks    {', '.join(url['flags'])}"


def _alias(alias: Mapping[str, Any] | None) -> Iterator[str]:
    if alias is not None and alias["key"]:
        yield f"host alias {alias['alias']} is {alias['host']}: not visited, {alias['key']} is"


def _rendering(said: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield whether a browser read the page, why, and what it asked for; nothing if nobody thought of it."""
    if said is None:
        return
    yield f"rendering  {', '.join(said['remarks'])}{': ' + said['detail'] if said.get('detail') else ''}"
    for one in said.get("requests", ()):
        yield f"  {one['kind']:<10} {one['fate']:<10} {one['url']}{' -- ' + one['detail'] if one['detail'] else ''}"
    yield from (f"  script error: {text}" for text in said.get("errors", ()))


def _headline(url: Mapping[str, Any], *, data: bool) -> str:
    enumeration, generation = url["enumeration"]["allowed"], url["generation"]["allowed"]
    outcome = url.get("outcome")
    if outcome is not None and outcome not in {"indexed", "enumerated", "excluded", "noindex"}:
        return f"{outcome.replace('_', ' ')}{': ' + url['detail'] if url['detail'] else ''}"
    if not (enumeration or generation):
        return (
            f"excluded: {url['generation']['reason']} ({url['generation']['where'] or 'no line of a file'})"
        )
    found = [
        "its links are followed" if enumeration else "its links are not followed",
        "it gets a description" if generation else "it gets no description",
    ]
    return ", ".join(found) + ("" if data else ", as far as MetaData can tell")


def _filter(role: str, url: Mapping[str, Any]) -> Iterator[str]:
    verdict = url[role]
    said = "passes"
    if not verdict["allowed"]:
        rule = f", rule {verdict['rule']}" if verdict["rule"] else ""
        said = f"denied: {verdict['reason']} ({verdict['where'] or 'no line of a file'}{rule}), {verdict['category']}"
    yield f"{role:<12}{said}"
    for step in url["steps"]:
        if step["filter"] == role:
            value = f" {step['source']}={step['value']!r}" if step["source"] else ""
            reason = f" -- {step['reason']}" if step["reason"] else ""
            yield f"  {step['where']:<18} {step['verdict']:<9} {step['directive']}{value}{reason}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    limit = 200
    return line if len(line) <= limit else f"{line[:limit]}... ({len(text)} characters)"
