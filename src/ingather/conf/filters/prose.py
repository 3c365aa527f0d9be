"""A filter as numbered sentences, for people: what happens to a URL, step by step.

Lines are told in the order in which they run (phase by phase, then as written), not as they stand
in the file. Every function of the vendor has its own sentence; one of a plug-in is told by its help.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ingather.conf.filters.directives import Directive
from ingather.conf.filters.filterconf import Filter
from ingather.conf.patterns.dialects import Pattern
from ingather.conf.sites.rules import Rules
from ingather.model.phase import Phase

__all__ = ["SENTENCES", "prose_of", "sentence"]

_TITLES = {
    Phase.SETUP: "At the start (Setup)",
    Phase.METADATA: "Before the fetch (MetaData)",
    Phase.DATA: "After the fetch (Data)",
    Phase.ENUMERATE: "Following links (Enumerate)",
    Phase.GENERATE: "Describing (Generate)",
    Phase.SHUTDOWN: "At the end (Shutdown)",
}
_SIZES = {"hosts": "other hosts than the first {0}", "objects": "more than {0} resources"}

Words = Mapping[str, Any]


def prose_of(chosen: Filter) -> list[str]:
    """Return the lines that tell *chosen*: headings, numbered sentences with ``file:line``."""
    lines = [f"{chosen.name} ({chosen.place.file}:{chosen.place.line})"]
    number = 0
    for phase in Phase:
        directives = chosen.phase(phase)
        if directives:
            lines += ["", f"{_TITLES[phase]}:"]
        for directive in directives:
            number += 1
            lines.append(f"  {number}. at {phase.value}: {sentence(directive)} ({directive.where})")
    if not number:
        lines += ["", "Every resource passes, and nothing is done with it."]
    return lines


def sentence(directive: Directive) -> str:
    """Return what one line does, without its number and place."""
    tell = SENTENCES.get(directive.function)
    words = {name.replace("-", "_"): _shown(value) for name, value in directive.parameters.items()}
    return tell(words) if tell else _plain(directive, words)


def _plain(directive: Directive, words: Words) -> str:
    given = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in words.items())
    what = directive.spec.help.rstrip(".")
    what = what[:1].lower() + what[1:] or "call it"
    return f"{directive.function}: {what}" + (f" ({given})" if given else "")


def _shown(value: object) -> Any:
    if isinstance(value, Pattern):
        return value.written if value.dialect == "all" else f"{value.written} ({value.dialect})"
    if isinstance(value, Rules):
        return value.file
    if isinstance(value, list | tuple):
        return ", ".join(_pair(item) for item in value)
    return value


def _pair(item: object) -> str:
    if isinstance(item, tuple) and len(item) == 2:  # noqa: PLR2004 - old and new name
        return str(item[0]) if item[0] == item[1] else f"{item[0]} as {item[1]}"
    return str(item)


def _test(how: str) -> Callable[[Words], str]:
    def tell(w: Words) -> str:
        if "deny" in w:
            if str(w["deny"]).lower() == "all" and how == "is":
                return "drop every resource"
            return f"drop resources whose {w['src']} {how} {w['deny']}"
        return f"keep only resources whose {w['src']} {how} {w['allow']}"

    return tell


def _set_if(how: str) -> Callable[[Words], str]:
    return lambda w: f"if {w['src']} {how} {w['match']}, set {w['dst']} to {w['value']!r}"


def _max(w: Words) -> str:
    src, value = str(w["src"]), w["value"]
    if src == "depth":
        return f"drop resources more than {value} links from their starting point"
    if src == "content-length":
        size = f"{value // 1024} kilobytes" if value % 1024 == 0 else f"{value} bytes"
        return f"drop resources larger than {size}"
    return f"drop {_SIZES[src].format(value)} in a run"


def _limit(w: Words, unit: str) -> str:
    return f", at most {w['truncate']} {unit}" if "truncate" in w else ""


def _only(w: Words) -> str:
    return f" of {w['type']} resources" if w.get("type") else ""


def _copy(w: Words) -> str:
    clean = " and no partial word" if w.get("clean") else ""
    missing = f" unless there is a {w['dst']}" if w.get("if_missing") else ""
    return f"copy attribute {w['src']} into {w['dst']}{_limit(w, 'characters')}{clean}{missing}"


def _assign(w: Words) -> str:
    return f"set {w['dst']} to {w['value']!r}" if "value" in w else f"set {w['dst']} to what {w['src']} says"


def _text(w: Words) -> str:
    skip = " without headings" if w.get("skip_headings") else ""
    return f"put the first text{_only(w)}{skip} into attribute {w['dst']}{_limit(w, 'bytes')}"


SENTENCES: Mapping[str, Callable[[Words], str]] = {
    "filterrules-setup": lambda w: f"load sites and rules from {w['config']}",
    "setup-regex-cache": lambda _: "nothing (every pattern is compiled once, when it is loaded)",
    "setup-type-by-extension": lambda w: f"load the types of {len(w['file'])} file name extensions",
    "filter-by-exact": _test("is"),
    "filter-by-prefix": _test("starts with"),
    "filter-by-regex": _test("matches"),
    "filter-by-max": _max,
    "filter-by-md5": lambda _: "drop a resource whose bytes another URL has already given",
    "filterrules-process": lambda _: "apply the sites and rules of the rules file; the first rule that fits decides",
    "assign-source": _assign,
    "assign-type-by-extension": lambda w: f"set type by the file name extension in {w['src']}",
    "clear-source": lambda w: f"forget {w['src']}",
    "convert-to-html": lambda w: f"convert {w['type']} documents to HTML" if w["type"] != "unknown"
    else "convert documents that came without a type to HTML",
    "copy-attribute": _copy,
    "generate-by-exact": _set_if("is"),
    "generate-by-prefix": _set_if("starts with"),
    "generate-by-regex": _set_if("matches"),
    "generate-md5": lambda _: "compute the digest of the bytes (md5)",
    "generate-rd-expires": lambda w: f"set {w['dst']} to what the resource says, or to 90 days from now",
    "generate-rd-last-modified": lambda w: f"set {w['dst']} to the time of the description",
    "rename-attribute": lambda w: f"rename attributes: {w['src']}",
    "enumerate-urls": lambda w: f"follow the links{_only(w)}, at most {w['max']} a page",
    "enumerate-urls-from-text": lambda w: f"follow what stands behind URL: in the text{_only(w)}, at most {w['max']}",
    "extract-full-text": lambda w: f"put the whole text into attribute {w['dst']}{_limit(w, 'characters')}",
    "extract-html-meta": lambda w: f"put title and META names{_only(w)} into attributes{_limit(w, 'bytes')} each",
    "extract-html-text": _text,
    "extract-html-toc": lambda w: f"put headings down to level {w['level']}{_only(w)} into attribute {w['dst']}"
    f"{_limit(w, 'bytes')}",
    "extract-source": lambda w: f"put sources into attributes: {w['src']}",
    "harvest-summarizer": lambda w: f"add what the summarizer {w['summarizer']} says",
    "filterrules-shutdown": lambda _: "free the rules",
}  # fmt: skip
"""Function to its sentence, from parameters in Python's spelling."""
