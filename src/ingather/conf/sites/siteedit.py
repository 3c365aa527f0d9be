"""Changing and taking out sites of filterrules.conf in place: comments, order and every other byte stay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.sites.newsite import canonical_start, use_lists
from ingather.conf.sites.rules import Rules, Site
from ingather.conf.sites.rulesconf import GRAMMAR, parse_rules
from ingather.conf.sites.siteconf import SITE_PARAMETERS
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.textedit import FileEdit, in_quotes
from ingather.conf.text.tree import Block, Document, Entry
from ingather.errors import ConfigurationError, UnknownNameError, UsageError

__all__ = ["SETTABLE", "SiteChange", "changed_site", "find_site", "without_site"]

SETTABLE: Final = tuple(name for name in SITE_PARAMETERS if name != "enable")
"""Header parameters that a change may name."""
_ORDER: Final = ("Start", "Protocol", "Port", "Use")
_UNJUDGED: Final = frozenset({"delay", "connections", "credentials", "database", "name"})
_NEEDED: Final = frozenset({"name", "host"})


@dataclass(frozen=True, slots=True)
class SiteChange:
    """What is to be another way; ``None`` = as it is.

    Attributes:
        enable: switched on or off.
        parameters: of the header; the value ``""`` takes one out.
        add_starts, remove_starts: starting points, as URLs.
        protocols, ports, rules: the whole list; an empty one takes the lines out.
    """

    enable: bool | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    add_starts: tuple[str, ...] = ()
    remove_starts: tuple[str, ...] = ()
    protocols: tuple[str, ...] | None = None
    ports: tuple[str, ...] | None = None
    rules: tuple[str, ...] | None = None

    @property
    def judges_nothing(self) -> bool:
        """Whether every URL is judged as before: only pace, credentials, database or starting points are another way."""
        lists = (self.protocols, self.ports, self.rules)
        return (
            self.enable is None and self.parameters.keys() <= _UNJUDGED and all(one is None for one in lists)
        )


def find_site(rules: Rules, name: str) -> Site:
    """Return the site of that name, else the only one of that host.

    Raises:
        UsageError: there is none.
    """
    for site in rules.sites:
        if site.name == name:
            return site
    of_host = [site for site in rules.sites if site.host == name.strip().lower()]
    if len(of_host) == 1:
        return of_host[0]
    if of_host:
        names = ", ".join(site.name for site in of_host)
        raise UsageError(f"several sites have the host {name}", hint=f"name one of them: {names}")
    known = [word for site in rules.sites for word in (site.name, site.host)]
    raise UnknownNameError(
        f"there is no site {name!r}",
        kind="site",
        name=name,
        hint=suggestion(name, known) or "ingather site list shows those there are",
    )


def changed_site(body: bytes, name: str, change: SiteChange, *, file: str) -> bytes:
    """Return *body* (a rules file) with *change* done to site *name*.

    Raises:
        UsageError: there is no such site, the change cannot be, or its lines are written so that a person must.
        ConfigurationError: the file has errors; it is not touched.
    """
    edit, document, rules = _read(body, file)
    site = find_site(rules, name)
    block = _block(document, site)
    _header(edit, block, change)
    _starts(edit, block, site, change)
    for keyword, name_, values in _lists(change):
        _replace(edit, block, keyword, name_, values)
    return _checked(edit, rules, site, name, gone=False)


def without_site(body: bytes, name: str, *, file: str) -> bytes:
    """Return *body* without site *name*; a comment that stands before it stays.

    Raises:
        UsageError: there is no such site.
        ConfigurationError: the file has errors; it is not touched.
    """
    edit, document, rules = _read(body, file)
    site = find_site(rules, name)
    block = _block(document, site)
    first, last = block.place.line, _end(block)
    before = first == 1 or edit.blank(first - 1)
    if before and edit.blank(last + 1):
        last += 1
    elif first > 1 and before and last >= edit.lines:
        first -= 1
    edit.remove(first, last)
    return _checked(edit, rules, site, name, gone=True)


def _read(body: bytes, file: str) -> tuple[FileEdit, Document, Rules]:
    edit, report = FileEdit(file, body), Report()
    document = parse_blocks(edit.text, file, GRAMMAR, Report())
    rules = parse_rules(edit.text, file, report)
    if report.refused:
        raise ConfigurationError(report.sorted(), bodies={file: body})
    return edit, document, rules


def _block(document: Document, site: Site) -> Block:
    return next(block for block in document.blocks("Site") if block.place == site.place)


def _end(block: Block) -> int:
    return block.end.line if block.end is not None else block.place.line


# -- the parts of a change ----------------------------------------------------------------------


def _header(edit: FileEdit, block: Block, change: SiteChange) -> None:
    for key, value in change.parameters.items():
        if key not in SETTABLE:
            raise UsageError(f"a site has no {key!r}", hint=suggestion(key, SETTABLE))
        if value:
            edit.put(block.parameters, key, value)
        elif key in _NEEDED:
            raise UsageError(f"a site needs {key}=")
        else:
            edit.drop(block.parameters, key)
    item = block.get("enable")
    if change.enable is None or (item is None and change.enable):
        return
    # What disabling put last goes again, so that enabling gives back the bytes that were.
    if (
        change.enable
        and item is not None
        and item is block.parameters.items[-1]
        and len(block.parameters.items) > 1
    ):
        edit.drop(block.parameters, "enable")
    else:
        edit.put(block.parameters, "enable", str(change.enable).lower())


def _starts(edit: FileEdit, block: Block, site: Site, change: SiteChange) -> None:
    there = {start.url: start for start in site.starts}
    for url in map(canonical_start, change.remove_starts):
        if url not in there:
            raise UsageError(
                f"{site.name} does not start at {url}", hint=f"it starts at: {', '.join(there) or 'nowhere'}"
            )
    gone = set(map(canonical_start, change.remove_starts))
    places = {start.place for url, start in there.items() if url in gone}
    for number, entry in _entries(block, "Start"):
        if entry.place in places:
            edit.remove(entry.place.line, _next_line(block, number) - 1)
    new = [url for url in dict.fromkeys(map(canonical_start, change.add_starts)) if url not in there]
    if new:
        edit.insert(_behind(block, "Start"), [f"Start url={in_quotes(url)}" for url in new])


def _lists(change: SiteChange) -> list[tuple[str, str, list[str]]]:
    """Return keyword, name of the parameter and values, a line each."""
    found: list[tuple[str, str, list[str]]] = []
    for keyword, words in (("Protocol", change.protocols), ("Port", change.ports)):
        if words is not None:
            found.append((keyword, "allow", [",".join(words)] if words else []))
    if change.rules is not None:
        found.append(("Use", "rule", use_lists(change.rules)))
    return found


def _replace(edit: FileEdit, block: Block, keyword: str, name: str, values: list[str]) -> None:
    """Put lines with *values* where the first line of *keyword* is, and take out those there are; one for one it keeps its comment."""
    entries = _entries(block, keyword)
    if len(entries) == len(values) == 1 and edit.is_whole(entries[0][1].parameters, name):
        edit.put(entries[0][1].parameters, name, values[0])
        return
    lines = [f"{keyword} {name}={in_quotes(value)}" for value in values]
    edit.insert(entries[0][1].place.line if entries else _behind(block, keyword), lines)
    for number, entry in entries:
        edit.remove(entry.place.line, _next_line(block, number) - 1)


def _entries(block: Block, keyword: str) -> list[tuple[int, Entry]]:
    return [
        (n, node) for n, node in enumerate(block.body) if isinstance(node, Entry) and node.keyword == keyword
    ]


def _next_line(block: Block, number: int) -> int:
    """Return the line at which what follows node *number* of the body begins."""
    return block.body[number + 1].place.line if number + 1 < len(block.body) else _end(block)


def _behind(block: Block, keyword: str) -> int:
    """Return the line for new lines of *keyword*: behind those that usually stand before it."""
    wanted = _ORDER[: _ORDER.index(keyword) + 1]
    numbers = [n for n, node in enumerate(block.body) if isinstance(node, Entry) and node.keyword in wanted]
    if numbers:
        return _next_line(block, numbers[-1])
    return block.body[0].place.line if block.body else _end(block)


# -- what came out ------------------------------------------------------------------------------


def _checked(edit: FileEdit, before: Rules, site: Site, name: str, *, gone: bool) -> bytes:
    """Return the file if all that was not meant means what it meant before."""
    made, report = edit.done(), Report()
    after = parse_rules(FileEdit(edit.file, made).text, edit.file, report)
    if report.refused:
        wrong = next(d for d in report.sorted() if d.is_error)
        raise UsageError(wrong.text, hint=wrong.hint)
    number = before.sites.index(site)
    others = [*after.sites[:number], *after.sites[number + (0 if gone else 1) :]]
    kept = [*before.sites[:number], *before.sites[number + 1 :]]
    if _meaning(kept) != _meaning(others) or len(before.rules) != len(after.rules):
        raise UsageError(
            f"{site.where}: site {name!r} is written so that it cannot be changed in place",
            hint=f"change {edit.file} by hand, then: ingather conf publish",
        )
    return made


def _meaning(sites: list[Site]) -> list[tuple[object, ...]]:
    return [
        (
            s.name, s.host, s.domain, s.enabled, s.depth, s.source, s.database, [(x.url, x.depth) for x in s.starts],
            s.protocols, s.ports, s.use, s.delay_s, s.connections, s.credentials,
        )
        for s in sites
    ]  # fmt: skip
