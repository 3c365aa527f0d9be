"""Addresses of a site that its source does not reach: which they are, and opening them in ``ingather.toml``."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingather.app.home import Home
from ingather.app.newsource import appended, rewrite_settings
from ingather.app.runhosts import resolve
from ingather.conf.settings.file import SETTINGS_FILE, SettingsFile
from ingather.conf.sources.source import SourceConf
from ingather.conf.text.toml_edit import NotEditableError, add_to_list, toml_text
from ingather.errors import UsageError
from ingather.fetch.addresses import parse_address, parse_networks, refusal
from ingather.model.urlparts import split

__all__ = ["Opening", "open_addresses", "opening_for"]

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Opening:
    """What ``[source.NAME]`` would have to say so that a site can be asked.

    Attributes:
        source: its name.
        addresses: ranges of one address each, to be added to ``addresses``.
        hosts: to be added to ``hosts``.
        closed: why an address stays closed whatever is written (link-local, multicast, metadata), ``""`` = none does.
    """

    source: str
    addresses: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    closed: str = ""

    @property
    def needed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.addresses or self.hosts)

    def lines(self) -> str:
        """Return the lines of the settings, for people."""
        lists = {"hosts": self.hosts, "addresses": self.addresses}
        keys = [f"{key} += [{', '.join(map(toml_text, values))}]" for key, values in lists.items() if values]
        return f"[source.{self.source}] {', '.join(keys)}"


def opening_for(source: SourceConf, starts: Sequence[str]) -> Opening:
    """Return what *source* lacks to ask for *starts* (canonical URLs): hosts, and private addresses that name service gives."""
    places = dict.fromkeys((split(url).host, split(url).port) for url in starts)
    named, closed = parse_networks(source.addresses), ""
    addresses, hosts = list[str](), list[str]()
    for host, port in places:
        if not host:
            continue
        if not _named(host.strip("[]"), source.hosts):
            hosts.append(host)
        found = resolve(host, port)
        closed = closed or found.closed
        for text in found.private:
            address = parse_address(text.partition("/")[0])
            if address is not None and refusal(address, named):
                addresses.append(text)
    return Opening(source.name, tuple(dict.fromkeys(addresses)), tuple(dict.fromkeys(hosts)), closed)


def _named(host: str, hosts: Sequence[str]) -> bool:
    bare = [entry.strip("[]") for entry in hosts]
    return any(
        entry in {"*", host} or (entry.startswith(".") and f".{host}".endswith(entry)) for entry in bare
    )


def open_addresses(home: Home, opening: Opening) -> Path:
    """Write *opening* into the settings, with all else in the file as it stands; return the file.

    Raises:
        UsageError: the file is written so that a person has to.
        ConfigurationError: the file has errors, or would have.
        HomeError: it cannot be read or written.
    """

    def make(body: bytes, _before: SettingsFile) -> bytes:
        mark = _BOM if body.startswith(_BOM) else b""
        text = body[len(mark) :].decode()
        tables: Mapping[str, object] = tomllib.loads(text).get("source", {})
        if opening.source not in tables:
            text = appended(text.encode(), f"[source.{opening.source}]\n").decode()
        try:
            for key, values in (("hosts", opening.hosts), ("addresses", opening.addresses)):
                text = add_to_list(text, ("source", opening.source), key, values)
        except NotEditableError as error:
            raise UsageError(
                f"{home.path / SETTINGS_FILE} is not changed by program: {error}", hint="write it by hand"
            ) from error
        return mark + text.encode()

    return rewrite_settings(home, make)
