"""Reading filterrules.conf (section 9): text to the sites and rules of :mod:`ingather.conf.rules`."""

import re

from ingather.conf.blocks import Grammar, parse_blocks
from ingather.conf.names import few
from ingather.conf.parameters import Parameter
from ingather.conf.patterns import DIALECTS, Pattern, PatternError, compile_pattern
from ingather.conf.report import Report
from ingather.conf.rules import METHODS, PROTOCOLS, SOURCES, Match, Rule, Rules, Site, Start
from ingather.conf.tree import Block, Document, Entry
from ingather.errors import UnitError, UrlError
from ingather.model.url import canonical, split
from ingather.units import parse_bool

__all__ = ["GRAMMAR", "parse_rules"]

GRAMMAR = Grammar({"Rule": ("Match",), "Site": ("Start", "Protocol", "Port", "Use")})
_SOURCE_ALIASES = {"mime-type": "type", "mime type": "type", "content-type": "type"}
_METHOD_ALIASES = {
    "begins with": "begins-with",
    "ends with": "ends-with",
    "regular expression": "regex",
    "regular-expression": "regex",
}
_HOST = re.compile(r"([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?")
_MOST_DEPTH = 2**31 - 1
_LONGEST_HOST = 260
_MAX_PORT = 65535


def parse_rules(text: str, file: str, report: Report, *, dialect: str = "auto") -> Rules:
    """Read a rules file; all findings go to *report*."""
    return _Reader(file, report, dialect).run(parse_blocks(text, file, GRAMMAR, report))


class _Reader:
    """Turns blocks into rules and sites."""

    def __init__(self, file: str, report: Report, dialect: str) -> None:
        self.file = file
        self.report = report
        self.dialect = dialect
        self.rules: dict[str, Rule] = {}
        self.sites: dict[str, Site] = {}

    def run(self, document: Document) -> Rules:
        for block in document.blocks("Rule"):
            self._rule(block)
        for block in document.blocks("Site"):
            self._site(block)
        self._same_hosts()
        return Rules(tuple(self.sites.values()), tuple(self.rules.values()), self.file)

    # --- values ---

    def _known(self, holder: Block | Entry, names: tuple[str, ...]) -> None:
        if isinstance(holder, Entry):
            for bare in holder.bare:
                self.report.add("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")
        for item in holder.parameters.items:
            if item.name not in names:
                self.report.add(
                    "W-PARAM-UNKNOWN",
                    item.place,
                    f"unknown parameter {item.written!r}",
                    hint=self.report.suggest(item.name, names),
                )

    def _required(self, holder: Block | Entry, name: str) -> str | None:
        item = holder.get(name)
        if item is None:
            what = holder.tag if isinstance(holder, Block) else holder.keyword
            if not holder.parameters.broken:
                self.report.add("E-PARAM-MISSING", holder.place, f"{what} needs {name}=")
            return None
        if not item.value.strip():
            self.report.add("E-PARAM-EMPTY", item.place, f"{name} is empty")
            return None
        return item.value.strip()

    def _switch(self, holder: Block | Entry, name: str, *, default: bool) -> bool:
        item = holder.get(name)
        if item is None:
            return default
        try:
            return parse_bool(item.value)
        except UnitError:
            code = "E-ENABLE" if name == "enable" else "E-TYPE"
            self.report.add(code, item.value_place, f"{name}={item.value!r} is neither true nor false")
            return default

    def _choice(
        self, item: Parameter | None, choices: tuple[str, ...], aliases: dict[str, str]
    ) -> str | None:
        if item is None:
            return None
        word = " ".join(item.value.lower().split())
        word = aliases.get(word, word)
        if word in choices:
            return word
        self.report.add(
            "E-RANGE", item.value_place, f"{item.name}={item.value!r}", hint=f"allowed: {', '.join(choices)}"
        )
        return None

    def _depth(self, holder: Block | Entry) -> int | None:
        item = holder.get("depth")
        if item is None:
            return None
        try:
            depth = int(item.value)
        except ValueError:
            self.report.add("E-TYPE", item.value_place, f"depth={item.value!r} is not a whole number")
            return None
        if not -1 <= depth <= _MOST_DEPTH:
            self.report.add(
                "E-RANGE",
                item.value_place,
                f"depth={item.value}",
                hint=f"allowed: -1 (no limit) to {_MOST_DEPTH}",
            )
            return None
        return depth

    def _name(self, block: Block, taken: dict[str, Rule] | dict[str, Site]) -> str | None:
        name = self._required(block, "name")
        if name is None:
            return None
        first = taken.get(name)
        if first is not None and first.place is not None:
            self.report.add(
                f"E-{block.tag.upper()}-DUP",
                block.place,
                f"{block.tag} {name!r} is defined twice",
                notes=((first.place, "first defined here"),),
            )
            return None
        return name

    # --- rules ---

    def _rule(self, block: Block) -> None:
        self._known(block, ("name", "enable", "new-sites", "action"))
        action = block.get("action")
        include = self._choice(action, ("exclude", "include"), {}) == "include"
        enabled = self._switch(block, "enable", default=True)
        new_sites = self._switch(block, "new-sites", default=True)
        matches = tuple(m for m in map(self._match, block.entries()) if m is not None)
        name = self._name(block, self.rules)
        if name is None:
            return
        if not matches and not any(True for _ in block.entries()):
            self.report.add("W-EMPTY-RULE", block.place, f"rule {name!r} has no Match line: it never matches")
        self.rules[name] = Rule(name, matches, block.place, include, enabled, new_sites)

    def _match(self, entry: Entry) -> Match | None:
        self._known(entry, ("src", "method", "value", "ignore-case", "dialect"))
        given = [self._required(entry, name) for name in ("src", "method", "value")]
        source = self._choice(entry.get("src"), SOURCES, _SOURCE_ALIASES) if given[0] else None
        method = self._choice(entry.get("method"), METHODS, _METHOD_ALIASES) if given[1] else None
        item = entry.get("value")
        fold = self._switch(entry, "ignore-case", default=False)
        dialect = self._choice(entry.get("dialect"), DIALECTS, {}) or self.dialect
        if source is None or method is None or given[2] is None or item is None:
            return None
        if method != "regex":
            return Match(source, method, item.value, entry.place, ignore_case=fold)
        pattern = self._pattern(item, source, dialect)
        return Match(source, method, item.value, entry.place, pattern) if pattern else None

    def _pattern(self, item: Parameter, source: str, dialect: str) -> Pattern | None:
        try:
            pattern = compile_pattern(item.value, source, dialect=dialect)
        except PatternError as error:
            self.report.add(
                "E-REGEX",
                item.value_place,
                f"{item.value!r} is not a {error.dialect} pattern: {error.text} at offset {error.offset}",
            )
            return None
        if pattern.guessed:
            self.report.add(
                "W-REGEX-DIALECT",
                item.value_place,
                f"read as wildcard {pattern.read_as}",
                hint=pattern.hint,
            )
        if pattern.never:
            self.report.add("W-REGEX-NEVER", item.value_place, f"never matches: {pattern.never}")
        return pattern

    # --- sites ---

    def _site(self, block: Block) -> None:
        self._known(block, ("name", "host", "type", "enable", "depth", "database", "source"))
        name = self._name(block, self.sites)
        written = self._required(block, "host")
        domain = self._choice(block.get("type"), ("server", "domain"), {}) == "domain"
        enabled = self._switch(block, "enable", default=True)
        depth = self._depth(block)
        starts: list[Start] = []
        protocols: frozenset[str] = frozenset()
        ports: frozenset[int] = frozenset()
        use: list[str] = []
        for entry in block.entries():
            match entry.keyword:
                case "Start":
                    starts.extend(self._start(entry))
                case "Protocol":
                    protocols |= self._protocols(entry)
                case "Port":
                    ports |= self._ports(entry)
                case _:
                    use.extend(self._use(entry))
        found = self._host(block, written)
        if found is None or name is None:
            return
        host, port = found
        if port:
            ports |= {port}
        source, database = block.get("source"), block.get("database")
        self.sites[name] = Site(
            name,
            host,
            domain,
            enabled,
            depth,
            (source.value if source else "") or "web",
            (database.value if database else "") or "default",
            tuple(starts),
            protocols or PROTOCOLS,
            ports,
            tuple(use),
            block.place,
        )

    def _host(self, block: Block, written: str | None) -> tuple[str, int] | None:
        """Return the host as canonical URLs spell it, and the port given with it (0 = none)."""
        if written is None:
            return None
        bare = written.lstrip(".")
        if bare.count(":") > 1 and not bare.startswith("["):
            bare = f"[{bare}]"
        match = _HOST.fullmatch(bare)
        try:
            if match and len(bare) <= _LONGEST_HOST:
                return split(canonical(f"http://{match[1]}/")).host, int(match[2] or 0)
        except UrlError:
            pass
        item = block.get("host")
        place = item.value_place if item else block.place
        self.report.add(
            "E-HOST", place, f"{written!r} is not a host name", hint='write it like "www.example.org"'
        )
        return None

    def _start(self, entry: Entry) -> list[Start]:
        self._known(entry, ("url", "depth"))
        url = self._required(entry, "url")
        depth = self._depth(entry)
        if url is None:
            return []
        try:
            return [Start(canonical(url), depth, entry.place)]
        except UrlError:
            item = entry.get("url")
            place = item.value_place if item else entry.place
            self.report.add("E-URL", place, f"{url!r} is not an absolute URL that can be gathered")
            return []

    def _words(self, entry: Entry) -> list[str]:
        self._known(entry, ("allow",))
        text = self._required(entry, "allow")
        return [word for word in re.split(r"[,\s]+", (text or "").lower()) if word]

    def _protocols(self, entry: Entry) -> frozenset[str]:
        words = self._words(entry)
        for word in words:
            if word not in {"http", "https", "ftp", "file"}:
                self.report.add(
                    "E-RANGE",
                    entry.place,
                    f"unknown protocol {word!r}",
                    hint="allowed: http, https, ftp, file",
                )
        return frozenset(words)

    def _ports(self, entry: Entry) -> frozenset[int]:
        ports = set()
        for word in self._words(entry):
            if word.isascii() and word.isdigit() and 1 <= int(word) <= _MAX_PORT:
                ports.add(int(word))
            else:
                self.report.add("E-RANGE", entry.place, f"{word!r} is not a port", hint="allowed: 1..65535")
        return frozenset(ports)

    def _use(self, entry: Entry) -> list[str]:
        self._known(entry, ("rule",))
        text = self._required(entry, "rule")
        names: list[str] = []
        if text is None:
            return names
        for name in (text,) if text in self.rules else (part.strip() for part in text.split(",")):
            if name in self.rules:
                names.append(name)
            elif name:
                self.report.add(
                    "E-RULE-UNDEF",
                    entry.place,
                    f"no rule {name!r}",
                    hint=self.report.suggest(name, self.rules) or f"defined: {few(self.rules)}",
                )
        return names

    def _same_hosts(self) -> None:
        seen: dict[tuple[str, bool], Site] = {}
        for site in self.sites.values():
            if not site.enabled or site.place is None:
                continue
            first = seen.setdefault((site.host, site.domain), site)
            if first is not site and first.place is not None:
                self.report.add(
                    "W-SITE-HOST",
                    site.place,
                    f"site {site.name!r} has the host of {first.name!r}, which is used",
                    notes=((first.place, "first site of this host"),),
                )
