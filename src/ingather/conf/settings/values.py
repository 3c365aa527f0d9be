"""The settings of one run: every value with its origin, typed for whoever asks.

``settings_table`` says what there is, ``settings_file`` reads ``ingather.toml``, :func:`resolve` lays
file, environment and flags over the defaults, ``settings_pages`` writes the commented file and the
reference page. Only ``app`` and ``cli`` ask; the other rooms get plain values.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.settings.hostnames import host_name
from ingather.conf.settings.kinds import Kind, Setting, Value, split_address
from ingather.conf.settings.table import SECTIONS, SETTINGS
from ingather.conf.sources.reach import bypassed
from ingather.errors import UnitError
from ingather.model.diagnostic import Place
from ingather.model.proxies import read_ways

__all__ = ["BY_NAME", "SETTINGS", "Flag", "Found", "Kind", "Setting", "Settings", "Value", "resolve"]

BY_NAME: Mapping[str, Setting] = MappingProxyType({setting.name: setting for setting in SETTINGS})
_BY_VARIABLE = {setting.environment: setting for setting in SETTINGS}

_ORDERED = (
    ("politeness.recheck-min", "politeness.recheck-max"),
    ("politeness.recheck-min", "politeness.recheck-first"),
    ("politeness.recheck-first", "politeness.recheck-max"),
    ("politeness.back-off", "politeness.back-off-max"),
    ("search.page-size", "search.page-size-max"),
)
"""The first of each pair may not be larger than the second."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value and who said so: ``default``, ``FILE:LINE``, ``$VARIABLE`` or a flag."""

    value: Value
    origin: str = "default"
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """What a command's flag says about a setting: the flag as it was written, and its text."""

    flag: str
    text: str


class Settings:
    """All settings, complete and checked; asking for a name or type that does not exist is a bug.

    ``Settings()`` holds the defaults.
    """

    __slots__ = ("_found",)

    def __init__(self, found: Mapping[str, Found] | None = None) -> None:
        self._found = {name: Found(setting.default) for name, setting in BY_NAME.items()}
        self._found.update(found or {})

    def found(self, name: str) -> Found:
        """Return value and origin of the setting ``section.key``."""
        return self._found[name]

    def __iter__(self) -> Iterator[tuple[Setting, Found]]:
        return ((setting, self._found[setting.name]) for setting in SETTINGS)

    def origin(self, name: str) -> str:
        """Return who said so."""
        return self._found[name].origin

    def seconds(self, name: str) -> float:
        """Return a duration in seconds."""
        return float(self._number(name, Kind.SECONDS))

    def size(self, name: str) -> int:
        """Return a size in bytes."""
        return int(self._number(name, Kind.BYTES))

    def count(self, name: str) -> int:
        """Return a whole number."""
        return int(self._number(name, Kind.INT))

    def number(self, name: str) -> float:
        """Return a number."""
        return float(self._number(name, Kind.NUMBER))

    def share(self, name: str) -> float:
        """Return a share, 0 to 1."""
        return float(self._number(name, Kind.SHARE))

    def flag(self, name: str) -> bool:
        """Return a switch."""
        value = self._of(name, Kind.FLAG)
        assert isinstance(value, bool)  # noqa: S101 - the kind was checked
        return value

    def text(self, name: str) -> str:
        """Return a text or a choice."""
        value = self._of(name, Kind.TEXT, Kind.CHOICE)
        assert isinstance(value, str)  # noqa: S101 - the kind was checked
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._of(name, Kind.WORDS)
        assert isinstance(value, tuple)  # noqa: S101 - the kind was checked
        return value

    def address(self, name: str) -> tuple[str, int]:
        """Return host (an IPv6 literal without brackets) and port; port 0 = take a free one."""
        value = self._of(name, Kind.ADDRESS)
        assert isinstance(value, str)  # noqa: S101 - the kind was checked
        return split_address(value)

    def changed(self, new: "Settings") -> tuple[list[Setting], list[Setting]]:
        """Return the settings that differ in *new*: those that act at once, those that need a start."""
        differing = [s for s in SETTINGS if self._found[s.name].value != new.found(s.name).value]
        return [s for s in differing if s.live], [s for s in differing if not s.live]

    def _of(self, name: str, *kinds: Kind) -> Value:
        if BY_NAME[name].kind not in kinds:
            raise TypeError(f"{name} is a {BY_NAME[name].kind}")
        return self._found[name].value

    def _number(self, name: str, kind: Kind) -> float:
        value = self._of(name, kind)
        assert isinstance(value, (float, int))  # noqa: S101 - the kind was checked
        return value


def resolve(
    from_file: Mapping[str, Found],
    environment: Mapping[str, str],
    flags: Mapping[str, Flag],
    report: Report,
) -> Settings:
    """Lay file, environment and flags over the defaults: flag > environment > file > default.

    Args:
        from_file: what ``settings_file`` read.
        environment: variables of the process; ``INGATHER_SECTION_KEY`` counts, others are not ours.
        flags: setting name to flag; unknown names are a bug of the caller.
        report: where bad values and unknown variables are told.
    """
    found = dict(from_file)
    for variable in sorted(environment):
        if not variable.startswith(tuple(f"INGATHER_{section.upper()}_" for section in SECTIONS)):
            continue
        setting = _BY_VARIABLE.get(variable)
        if setting is None:
            report.add(
                "E-KEY",
                Place(f"${variable}", 1),
                "no setting has this name",
                hint=suggestion(variable, _BY_VARIABLE),
            )
            continue
        _take(found, setting, environment[variable], f"${variable}", report)
    for name, flag in flags.items():
        _take(found, BY_NAME[name], flag.text, flag.flag, report)
    settings = Settings(found)
    _check_pairs(settings, report)
    _check_lists(settings, report)
    return settings


def _take(found: dict[str, Found], setting: Setting, text: str, origin: str, report: Report) -> None:
    place = Place(origin, 1)
    try:
        found[setting.name] = Found(setting.read_text(text), origin, place)
    except UnitError as error:
        report.add("E-VALUE", place, f"{setting.name}: {error.text}", hint=error.hint)


def _check_lists(settings: Settings, report: Report) -> None:
    for name, check in (
        ("listen.names", _host_names),
        ("proxy.url", read_ways),
        ("proxy.no-proxy", _bypassed),
        ("proxy.allowed", _bypassed),
    ):
        try:
            check(settings.words(name))
        except UnitError as error:
            place = settings.found(name).place
            if place is not None:
                report.add("E-VALUE", place, f"{name}: {error.text}", hint=error.hint)


def _bypassed(words: Iterable[str]) -> None:
    for word in words:
        bypassed(word)


def _host_names(words: Iterable[str]) -> None:
    for word in words:
        host_name(word)


def _check_pairs(settings: Settings, report: Report) -> None:
    for small, large in _ORDERED:
        low, high = settings.found(small), settings.found(large)
        if low.value <= high.value:  # type: ignore[operator]  # both are numbers
            continue
        place = low.place or high.place
        if place is not None:
            report.add(
                "E-VALUE",
                place,
                f"{small} ({BY_NAME[small].write(low.value)}) is larger than {large} "
                f"({BY_NAME[large].write(high.value)})",
            )
