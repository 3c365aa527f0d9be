"""Reading the sites of filterrules.conf (section 9)."""

import re
from collections.abc import Mapping
from typing import Final

from ingather.conf.names import few
from ingather.conf.rd.rdm import database_name
from ingather.conf.report import Report
from ingather.conf.sites.blockvalues import BlockValues
from ingather.conf.sites.rules import PROTOCOLS, SITE_PROTOCOLS, Rule, Site, Start
from ingather.conf.text.tree import Block, Entry
from ingather.errors import UnitError, UrlError, UsageError
from ingather.model.url import canonical
from ingather.model.urlparts import split
from ingather.units import parse_seconds

__all__ = ["CREDENTIAL_NAME", "FILES", "MOST_CONNECTIONS", "MOST_DELAY_S", "SITE_PARAMETERS", "SiteReader"]

SITE_PARAMETERS: Final = (
    "name", "host", "type", "enable", "depth", "database", "source", "delay", "connections", "credentials",
)  # fmt: skip
MOST_DELAY_S: Final = 86_400
MOST_CONNECTIONS: Final = 100
FILES: Final = "file:"
"""The host of the files of this machine; their URLs have none."""
CREDENTIAL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOST = re.compile(r"([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?")
_LONGEST_HOST = 260
_MAX_PORT = 65535
_DIGITS = 9


class SiteReader(BlockValues):
    """Turns blocks into sites, which may use *rules*."""

    def __init__(self, report: Report, rules: Mapping[str, Rule]) -> None:
        super().__init__(report)
        self.rules = rules
        self.sites: dict[str, Site] = {}

    def site(self, block: Block) -> None:
        """Take in one block."""
        self.known(block, SITE_PARAMETERS)
        name = self.name(block, self.sites)
        written = self.required(block, "host")
        domain = self.choice(block.get("type"), ("server", "domain"), {}) == "domain"
        enabled = self.switch(block, "enable", default=True)
        depth, delay_s = self.depth(block), self._delay(block)
        connections, credentials = self._connections(block), self._credentials(block)
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
        source, database = block.get("source"), self._database(block)
        self.sites[name] = Site(
            name,
            host,
            domain,
            enabled,
            depth,
            (source.value if source else "") or "web",
            database,
            tuple(starts),
            protocols or PROTOCOLS,
            ports,
            tuple(use),
            block.place,
            delay_s,
            connections,
            credentials,
            {item.name: item.value_place for item in block.parameters.items},
        )

    def _database(self, block: Block) -> str:
        item = block.get("database")
        if item is None or not item.value.strip():
            return ""
        try:
            return database_name(item.value)
        except UsageError as error:
            text = f"{item.value!r} cannot be the name of a database: descriptions stay where they are"
            self.report.add("W-DATABASE", item.value_place, text, hint=error.hint)
            return ""

    def _delay(self, block: Block) -> float | None:
        item = block.get("delay")
        if item is None:
            return None
        try:
            delay_s = parse_seconds(item.value)
        except UnitError:
            self.report.add("E-TYPE", item.value_place, f"delay={item.value!r} is not a number of seconds")
            return None
        if not 0 <= delay_s <= MOST_DELAY_S:
            hint = f"allowed: 0 to {MOST_DELAY_S}"
            self.report.add("E-RANGE", item.value_place, f"delay={item.value} is out of range", hint=hint)
            return None
        return delay_s

    def _connections(self, block: Block) -> int | None:
        item = block.get("connections")
        if item is None:
            return None
        text = item.value.strip()
        if not text.isascii() or not text.lstrip("-").isdigit():
            text = f"connections={item.value!r} is not a whole number"
            self.report.add("E-TYPE", item.value_place, text)
            return None
        if len(text) > _DIGITS or not 1 <= int(text) <= MOST_CONNECTIONS:
            hint = f"allowed: 1 to {MOST_CONNECTIONS}"
            self.report.add("E-RANGE", item.value_place, f"connections={text} is out of range", hint=hint)
            return None
        return int(text)

    def _credentials(self, block: Block) -> str:
        """Return the name; what is none is not repeated, it may be a secret."""
        item = block.get("credentials")
        if item is None:
            return ""
        name = item.value.strip()
        if not CREDENTIAL_NAME.fullmatch(name):
            hint = (
                "write the name of a [credential.NAME] of ingather.toml; names and passwords never stand here"
            )
            self.report.add("E-CREDENTIAL", item.value_place, "credentials= is not a name", hint=hint)
            return ""
        return name

    def _host(self, block: Block, written: str | None) -> tuple[str, int] | None:
        """Return the host as canonical URLs spell it, and the port given with it (0 = none)."""
        if written is None:
            return None
        if written.lower() == FILES:
            return "", 0
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
        self.known(entry, ("url", "depth"))
        url = self.required(entry, "url")
        depth = self.depth(entry)
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
        self.known(entry, ("allow",))
        text = self.required(entry, "allow")
        return [word for word in re.split(r"[,\s]+", (text or "").lower()) if word]

    def _protocols(self, entry: Entry) -> frozenset[str]:
        words = self._words(entry)
        for word in words:
            if word not in SITE_PROTOCOLS:
                self.report.add(
                    "E-RANGE",
                    entry.place,
                    f"unknown protocol {word!r}",
                    hint=f"allowed: {', '.join(SITE_PROTOCOLS)}",
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
        self.known(entry, ("rule",))
        text = self.required(entry, "rule")
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

    def same_hosts(self) -> None:
        """Report enabled sites of one host."""
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
