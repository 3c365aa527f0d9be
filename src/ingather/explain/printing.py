"""The answer as text for a terminal: the headline, then what led to it, in the order of the journey."""

from collections.abc import Iterator, Mapping
from typing import Any

from ingather.explain.proof import proof_lines
from ingather.explain.syndicated import lines

__all__ = ["as_text"]


def as_text(answer: Mapping[str, Any]) -> str:
    """Return the lines of an answer of :class:`ingather.explain.Explainer`."""
    return "\n".join(_lines(answer))


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield answer["answer"]
    yield ""
    yield f"url        {answer['url']}"
    if answer.get("alias"):
        yield from _alias(answer["alias"])
    if answer["known"]:
        yield from _known(answer)
    yield from _robots(answer["robots"])
    if answer.get("fetched"):
        yield f"fetched    {', '.join(f'{k} {v}' for k, v in answer['fetched'].items())}"
    yield from _decision(answer["decision"])
    if answer["known"]:
        yield from proof_lines(answer)
        yield from lines(answer)
        yield from _history(answer)
        yield from _layers(answer)
    yield from _overlay(answer.get("overlay") or {})
    index = answer["index"]
    yield f"index      {'holds it' if index.get('indexed') else 'does not hold it'}, {index.get('detail') or 'change ' + str(index['sequence'])}"


def _alias(alias: Mapping[str, Any]) -> Iterator[str]:
    who = (
        f" by {alias['who']}"
        if alias["who"]
        else " by smart-host-heuristics"
        if alias["state"] == "folded"
        else ""
    )
    yield f"host alias: {alias['alias']} is {alias['host']}, {alias['state']}{who}" + (
        f" since {alias['since']}" if alias["since"] else ""
    )
    if alias["key"]:
        yield f"           its key is {alias['key']}: explain that"


def _alike(answer: Mapping[str, Any]) -> Iterator[str]:
    """Say what a page's canonical link came to, and which pages are nearly like it."""
    named, near = answer.get("canonical"), answer.get("near")
    if named:
        verdict = {None: "waits for the next pass", "": "obeyed"}.get(
            named["verdict"], f"ignored: {named['verdict']}"
        )
        shown = (
            f", shown as {named['shown_as']}"
            if named["shown_as"] and named["shown_as"] != named["url"]
            else ""
        )
        yield f"canonical  {named['url']} ({verdict}{shown})"
    if near:
        where = (
            "the head"
            if near["head"] == answer["url"]
            else f"near to {near['head']}, {near['bits']} of 64 bits differ"
        )
        yield f"near       one of {near['count']} near-duplicates: {where}"


def _overlay(overlay: Mapping[str, Any]) -> Iterator[str]:
    for layer in overlay.get("layers", ()):
        for step in layer["chain"]:
            said = "; ".join(
                f"{name}={' | '.join(values) or '(cleared)'}" for name, values in step["own"].items()
            )
            yield f"laid over  {layer['layer']}:{step['line']} {step['prefix']} {said}"
    if overlay.get("expires"):
        yield f"{'expired   ' if overlay['expired'] else 'expires   '} {overlay['expires']}"
    if overlay.get("restricted"):
        yield "restricted a searcher must be named by external metadata, and its access list must permit"


def _known(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"source     {answer['source']} ({answer['access']}), depth {answer['depth']}"
    if answer.get("disabled"):
        yield f"           disabled since {answer['disabled']}: nothing is fetched for it, its feeds wait"
    chain = answer["found"]["referrers"]
    listed = (answer.get("web_feeds") or {}).get("listings")
    first = "by a feed" if answer.get("feeds") else "by a web feed" if listed else "a starting point"
    yield f"found      {first if not chain else 'linked from ' + chain[0]}"
    for url in chain[1:]:
        yield f"           which is linked from {url}"
    state = answer["state"] + (f", last visit: {answer['outcome']}" if answer["outcome"] else "")
    yield f"state      {state}{' ' + str(answer['status']) if answer['status'] else ''}{': ' + answer['detail'] if answer['detail'] else ''}"
    if answer.get("needs"):
        yield f"needs      {answer['needs']}"
    if answer["where"]:
        yield f"decided by {answer['where']} (configuration {answer['config_version']})"
    yield from _alike(answer)
    if answer["next_visit"]:
        yield f"next visit {answer['next_visit']}"
    if answer["linked_from"]:
        yield f"links here {answer['linked_from']} pages{': ' + ', '.join(answer['anchors']) if answer['anchors'] else ''}"
    if answer.get("shown_as", answer["url"]) != answer["url"]:
        yield f"shown as   {answer['shown_as']}"
    for listing in answer.get("feeds", ()):
        yield _fed(listing)
    yield from _told(answer)
    if answer["flags"]:
        yield f"remarks    {', '.join(answer['flags'])}"


def _told(answer: Mapping[str, Any]) -> Iterator[str]:
    for name in ("language", "date"):
        if said := answer.get(name):
            source = answer[f"{name}_source"]
            yield f"{name:<11}{said}{' (' + source + ')' if source else ''}"


def _fed(listing: Mapping[str, Any]) -> str:
    way = "listed by" if listing["web"] else "pushed by"
    said = [word for word, name in (("crawl-once", "crawl_once"), ("lock", "lock")) if listing[name]]
    if listing["pagerank"] is not None:
        said.append(f"pagerank {listing['pagerank']}")
    where = f" (record {listing['record']} of {listing['feed']})" if listing["feed"] else ""
    owner = "feeds     " if listing["owner"] else "also      "
    return f"{owner} {way} {listing['source']}{where}{': ' + ', '.join(said) if said else ''}"


def _robots(robots: Mapping[str, Any]) -> Iterator[str]:
    said = {True: "allows it", False: "forbids it", None: "unknown"}[robots.get("allowed")]
    line = f", line {robots['line']}: {robots['text'].strip()}" if robots.get("line") else ""
    detail = robots.get("why") or robots.get("detail") or ""
    yield f"robots.txt {said}{line}{' (' + detail + ')' if detail and not line else ''}"


def _decision(decision: Mapping[str, Any]) -> Iterator[str]:
    for role in ("enumeration", "generation"):
        verdict = decision[role]
        said = (
            "passes"
            if verdict["allowed"]
            else f"denied: {verdict['reason']}" + (f" ({verdict['where']})" if verdict["where"] else "")
        )
        yield f"{role:<12}{said}"
        for step in decision["steps"]:
            if step["filter"] != role:
                continue
            value = f" {step['source']}={step['value']!r}" if step["source"] else ""
            reason = f" -- {step['reason']}" if step["reason"] else ""
            rule = f" [{step['rule']}]" if step["rule"] else ""
            yield f"  {step['where']:<18} {step['verdict']:<9} {step['directive']}{value}{reason}{rule}"


def _history(answer: Mapping[str, Any]) -> Iterator[str]:
    for visit in answer["visits"]:
        yield f"visit      {visit['at']}  {visit['outcome']}{' ' + str(visit['status']) if visit['status'] else ''}  {visit['detail']}".rstrip()


def _layers(answer: Mapping[str, Any]) -> Iterator[str]:
    for layer, attributes in answer.get("layers", {}).items():
        yield f"layer      {layer}"
        for name, values in attributes.items():
            shadowed = (
                "" if answer["origins"].get(name) == layer else f" (hidden by {answer['origins'].get(name)})"
            )
            yield f"  {name}: {' | '.join(value.replace(chr(10), ' ') for value in values)}{shadowed}"
