"""A rule put into filterrules.conf and used by a site, first of all its rules; every other byte stays."""

from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import GRAMMAR, parse_rules
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.textedit import FileEdit, in_quotes
from ingather.conf.text.tree import Block, Document
from ingather.errors import ConfigurationError, UsageError

__all__ = ["with_rule"]


def with_rule(body: bytes, name: str, rule: str, origin: str, *, file: str) -> bytes:
    """Return *body* (a rules file) with a rule in it that the sites of *origin* try before their others.

    Args:
        body: the file.
        name: of the rule.
        rule: its lines, from a remark to ``</Rule>``.
        origin: scheme, host and port of the URLs that it is about.
        file: the file's name, for messages.

    Raises:
        UsageError: there is a rule of this name, or the rule makes the file wrong.
        ConfigurationError: the file has errors; it is not touched.
    """
    edit, report = FileEdit(file, body), Report()
    document = parse_blocks(edit.text, file, GRAMMAR, Report())
    rules = parse_rules(edit.text, file, report)
    if report.refused:
        raise ConfigurationError(report.sorted(), bodies={file: body})
    known = next((known for known in rules.rules if known.name == name), None)
    if known is not None:
        raise UsageError(
            f"there is a rule {name!r} already", hint=f"see {known.place.file}:{known.place.line}"
        )
    places = {site.place.line for site in rules.sites if site.place is not None and site.covers(f"{origin}/")}
    for block in document.blocks("Site"):
        if block.place.line in places:
            edit.insert(_first_use(block), [f"Use rule={in_quotes(name)}"])
    line, lines = _place(document, edit), rule.rstrip("\n").split("\n")
    edit.insert(
        line,
        [
            *([""] if line > 1 and not edit.blank(line - 1) else []),
            *lines,
            *([] if edit.blank(line) else [""]),
        ],
    )
    made, check = edit.done(), Report()
    parse_rules(FileEdit(file, made).text, file, check)
    if check.refused:
        wrong = next(d for d in check.sorted() if d.is_error)
        raise UsageError(wrong.text, hint=wrong.hint)
    return made


def _first_use(block: Block) -> int:
    """Return the line before which a site's first ``Use`` line belongs."""
    uses = [entry.place.line for entry in block.entries() if entry.keyword == "Use"]
    if uses:
        return min(uses)
    return max([block.place.line, *(entry.place.line for entry in block.entries())]) + 1


def _place(document: Document, edit: FileEdit) -> int:
    """Before the first rule (behind its remarks nothing fits better), else at the end."""
    first = min((block.place.line for block in document.blocks("Rule")), default=edit.lines + 1)
    while (
        first > 1 and not edit.blank(first - 1) and edit.text.splitlines()[first - 2].lstrip().startswith("#")
    ):
        first -= 1
    return first
