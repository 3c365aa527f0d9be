"""Reading filterrules.conf (section 9): text to the sites and rules of :mod:`ingather.conf.sites.rules`.

Rules are read here, sites by :mod:`ingather.conf.sites.siteconf`.
"""

from ingather.conf.patterns.dialects import DIALECTS
from ingather.conf.patterns.reading import read_pattern
from ingather.conf.report import Report
from ingather.conf.sites.blockvalues import BlockValues
from ingather.conf.sites.rules import METHODS, SOURCES, Match, Rule, Rules
from ingather.conf.sites.siteconf import SiteReader
from ingather.conf.text.blocks import Grammar, parse_blocks
from ingather.conf.text.tree import Block, Entry

__all__ = ["GRAMMAR", "parse_rules"]

GRAMMAR = Grammar({"Rule": ("Match",), "Site": ("Start", "Protocol", "Port", "Use")})
_SOURCE_ALIASES = {"mime-type": "type", "mime type": "type", "content-type": "type"}
_METHOD_ALIASES = {
    "begins with": "begins-with",
    "ends with": "ends-with",
    "regular expression": "regex",
    "regular-expression": "regex",
}


def parse_rules(text: str, file: str, report: Report, *, dialect: str = "auto") -> Rules:
    """Read a rules file; all findings go to *report*."""
    document = parse_blocks(text, file, GRAMMAR, report)
    rules = _RuleReader(report, dialect)
    for block in document.blocks("Rule"):
        rules.rule(block)
    sites = SiteReader(report, rules.rules)
    for block in document.blocks("Site"):
        sites.site(block)
    sites.same_hosts()
    return Rules(tuple(sites.sites.values()), tuple(rules.rules.values()), file)


class _RuleReader(BlockValues):
    """Turns blocks into rules."""

    def __init__(self, report: Report, dialect: str) -> None:
        super().__init__(report)
        self.dialect = dialect
        self.rules: dict[str, Rule] = {}

    def rule(self, block: Block) -> None:
        """Take in one block."""
        self.known(block, ("name", "enable", "new-sites", "action"))
        action = block.get("action")
        include = self.choice(action, ("exclude", "include"), {}) == "include"
        enabled = self.switch(block, "enable", default=True)
        new_sites = self.switch(block, "new-sites", default=True)
        matches = tuple(m for m in map(self._match, block.entries()) if m is not None)
        name = self.name(block, self.rules)
        if name is None:
            return
        if not matches and not any(True for _ in block.entries()):
            self.report.add("W-EMPTY-RULE", block.place, f"rule {name!r} has no Match line: it never matches")
        self.rules[name] = Rule(name, matches, block.place, include, enabled, new_sites)

    def _match(self, entry: Entry) -> Match | None:
        self.known(entry, ("src", "method", "value", "ignore-case", "dialect"))
        given = [self.required(entry, name) for name in ("src", "method", "value")]
        source = self.choice(entry.get("src"), SOURCES, _SOURCE_ALIASES) if given[0] else None
        method = self.choice(entry.get("method"), METHODS, _METHOD_ALIASES) if given[1] else None
        item = entry.get("value")
        fold = self.switch(entry, "ignore-case", default=False)
        dialect = self.choice(entry.get("dialect"), DIALECTS, {}) or self.dialect
        if source is None or method is None or given[2] is None or item is None:
            return None
        if method != "regex":
            return Match(source, method, item.value, entry.place, ignore_case=fold)
        pattern = read_pattern(item, source, dialect=dialect, report=self.report)
        return Match(source, method, item.value, entry.place, pattern) if pattern else None
