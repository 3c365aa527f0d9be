"""Which proxy a source's requests take: what one place says of it, and the order of places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingather.fetch.proxies.bypass import Bypass
from ingather.model.proxies import Proxy, Ways

__all__ = ["Choice", "Rule", "Rules", "pac_names"]

Login = Callable[[str, Proxy], tuple[str, str] | None]
"""User and password for (scheme of the URL, proxy); ``None`` = none. Raises ``ProxyError`` when they cannot be had."""


def _no_login(_scheme: str, _proxy: Proxy) -> tuple[str, str] | None:
    return None


@dataclass(frozen=True, slots=True)
class Rule:
    """What one place says.

    Attributes:
        why: the place, for people: a key with file and line, a variable.
        ways: proxies or PAC file.
        bypass: hosts that are asked directly all the same.
        login: user and password for its proxies.
        perhaps_pac: URL that is a PAC file if its content type says so, and else the proxy in *ways*; ``""`` = it is plain.
        places: by scheme, where the rule comes from several.
    """

    why: str
    ways: Ways
    bypass: Bypass = field(default_factory=Bypass)
    login: Login = _no_login
    perhaps_pac: str = ""
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, scheme: str) -> str:
        """Return who names the proxy for URLs of *scheme*."""
        return self.places.get(scheme, self.why)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules: those of sources by name, and *usual* for every other source (``None`` = directly)."""

    of: Mapping[str, Rule] = field(default_factory=dict)
    usual: Rule | None = None

    def __bool__(self) -> bool:
        return bool(self.of) or self.usual is not None

    def find(self, source: str) -> Rule | None:
        """Return the rule of *source*."""
        return self.of.get(source, self.usual)


@dataclass(frozen=True, slots=True)
class Choice:
    """The ways that one request may take.

    Attributes:
        why: who says so.
        ways: in their order; ``None`` = directly.
        reason: what in that place decides, for people.
        answer: of the PAC file, ``""`` = none was asked.
        pac: the PAC file that names them, ``""`` = none does.
    """

    why: str
    ways: tuple[Proxy | None, ...]
    reason: str = ""
    answer: str = ""
    pac: str = ""

    @property
    def by_pac(self) -> bool:
        """Whether a PAC file names the ways."""
        return bool(self.pac)

    def names(self, host: str, port: int) -> tuple[str, ...]:
        """Return what lies between us and a host, as :class:`ingather.model.resource.Way` names it."""
        names = pac_names(self.pac, host, port) if self.pac else ()
        if all(way is None for way in self.ways):
            return names
        ways = ", then ".join("directly" if way is None else str(way) for way in self.ways)
        return *names, f"proxy {ways}", f"proxy {ways} to {host}:{port}"


def pac_names(location: str, host: str, port: int) -> tuple[str, str]:
    """Return the names of a PAC file as parts of a way: as a whole, and asked for one host."""
    return f"PAC file {location}", f"PAC file {location} for {host}:{port}"
