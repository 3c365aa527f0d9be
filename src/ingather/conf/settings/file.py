"""Reading ``ingather.toml``: all findings at once, each with line, column and nearest name."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingather.conf.classes import ClassConf, ClassTable, read_class
from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.robot.robotparameters import PARAMETERS, parameter_name
from ingather.conf.settings.table import SECTIONS, SETTINGS
from ingather.conf.settings.values import BY_NAME, Flag, Found, Settings, resolve
from ingather.conf.sources.credentials import CredentialConf, read_credential
from ingather.conf.sources.days import is_time_zone
from ingather.conf.sources.sections import read_source
from ingather.conf.sources.source import DEFAULT_SOURCE, SourceConf
from ingather.conf.sources.syndication import SOURCE_CODE, SOURCE_CODE_CLASS
from ingather.conf.text.toml_places import TomlPlaces
from ingather.errors import UnitError
from ingather.model.diagnostic import Diagnostic, Place
from ingather.model.source_name import BySource, same_source

__all__ = ["SETTINGS_FILE", "SettingsFile", "load_settings", "read_settings"]

SETTINGS_FILE = "ingather.toml"
_AT = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)\Z")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What was found: *settings* and *sources* are usable only when no diagnostic is an error.

    ``sources`` always holds ``web``. ``classes``: metadata classes. ``credentials``: those that can be used. ``body``: the file as it
    was read.
    """

    settings: Settings = field(default_factory=Settings)
    sources: Mapping[str, SourceConf] = field(
        default_factory=lambda: BySource({DEFAULT_SOURCE: SourceConf()})
    )
    diagnostics: tuple[Diagnostic, ...] = ()
    classes: ClassTable = field(default_factory=ClassTable)
    body: bytes = field(default=b"", repr=False)
    credentials: Mapping[str, CredentialConf] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return any(d.is_error for d in self.diagnostics)


def load_settings(
    path: Path, *, environment: Mapping[str, str] | None = None, flags: Mapping[str, Flag] | None = None
) -> SettingsFile:
    """Read the settings file *path*; see :func:`read_settings`.

    An unreadable file is a diagnostic like all others (``E-FILE``).
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        return SettingsFile(
            diagnostics=(Diagnostic("E-FILE", Place(path.name, 1), what, hint=f"look at {path}"),)
        )
    return read_settings(body, path.name, environment=environment, flags=flags)


def read_settings(
    body: bytes,
    file: str = SETTINGS_FILE,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Flag] | None = None,
) -> SettingsFile:
    """Read a settings file and lay environment and flags over it.

    Args:
        body: the file's bytes.
        file: its name, for diagnostics and origins.
        environment: variables of the process.
        flags: setting name to flag.
    """
    report = Report()
    document, places = _parse(body, file, report)
    found: dict[str, Found] = {}
    sources: BySource[SourceConf] = BySource({DEFAULT_SOURCE: SourceConf()})
    classes: dict[str, ClassConf] = {}
    credentials: dict[str, CredentialConf] = {}
    for section, table in document.items():
        place = Place(file, *places.find((section,)))
        if section == "source":
            sources = sources.with_(_sources(table, file, places, report))
        elif section == "class":
            classes.update(_classes(table, file, places, report))
        elif section == "credential":
            credentials.update(_credentials(table, file, places, report))
        elif section not in SECTIONS:
            hint = suggestion(section, [*SECTIONS, "source", "class", "credential"])
            if parameter_name(section) in PARAMETERS:
                hint = f"{parameter_name(section)} stands in config/robot.conf, and only there"
            elif _homes(section):
                hint = f"it belongs into a section: {_homes(section)}"
            report.add("E-KEY", place, f"there is no section {section!r}", hint=hint)
        elif not isinstance(table, dict):
            report.add(
                "E-VALUE", place, f"{section} is a section", hint=f"write [{section}] on a line of its own"
            )
        else:
            _section(section, table, file, places, report, found)
    settings = resolve(found, environment or {}, flags or {}, report)
    _check_overlays(settings, sources, Place(file, 1), report)
    _facet_of_codes(sources, classes)
    sources = _with_logins(sources, credentials, document, Place(file, 1), report)
    return SettingsFile(settings, sources, report.sorted(), ClassTable(classes), body, credentials)


def _with_logins(
    sources: BySource[SourceConf],
    credentials: Mapping[str, CredentialConf],
    document: Mapping[str, object],
    top: Place,
    report: Report,
) -> BySource[SourceConf]:
    """Give each source the credentials of the file, and report names that are none."""
    written = document.get("credential")
    for name, source in sources.items():
        for one in source.reach.credentials:
            if isinstance(written, dict) and one in written:
                continue  # it is there; what is wrong with it was told
            report.add(
                "E-CREDENTIAL", _placed(source.origins.get("credentials"), top), f"source.{name}: there is no credential {one!r}",
                hint=suggestion(one, written if isinstance(written, dict) else ()) or f"write [credential.{one}]",
            )  # fmt: skip
    if not credentials:
        return sources
    logins = tuple(credentials.values())
    return BySource(
        (name, replace(one, reach=replace(one.reach, logins=logins))) for name, one in sources.items()
    )


def _facet_of_codes(sources: Mapping[str, SourceConf], classes: dict[str, ClassConf]) -> None:
    """Let the codes of sources of web feeds be a facet, unless a class is made of them already."""
    if not any(source.syndicates for source in sources.values()):
        return
    if SOURCE_CODE_CLASS in classes or any(SOURCE_CODE in conf.sources for conf in classes.values()):
        return
    classes[SOURCE_CODE_CLASS] = ClassConf(SOURCE_CODE_CLASS, (SOURCE_CODE,), delimiter="", label="Source")


def _check_overlays(
    settings: Settings, sources: Mapping[str, SourceConf], top: Place, report: Report
) -> None:
    """Report time zones that nobody knows, and mistakes in external metadata that would widen access."""
    zone = settings.found("overlay.time-zone")
    named = [(str(zone.value), "overlay.time-zone", zone.place or top)]
    for name, source in sources.items():
        written = source.origins.get("time-zone")
        if source.time_zone is not None:
            named.append((source.time_zone, f"source.{name}.time-zone", _placed(written, top)))
        on_error = source.overlay_on_error or settings.text("overlay.on-error")
        if source.acl_overlay == "restrict" and on_error not in {"keep_last_good", "fail"}:
            report.add(
                "E-VALUE", _placed(source.origins.get("acl-overlay"), top),
                f"source.{name}: with acl-overlay = restrict a mistake may not take restrictions away, as {on_error} does",
                hint='write overlay-on-error = "keep_last_good" or "fail"',
            )  # fmt: skip
    for text, what, place in named:
        if not is_time_zone(text):
            report.add(
                "E-VALUE",
                place,
                f"{what}: there is no time zone {text!r}",
                hint='write it like "Europe/Vienna", or "UTC"',
            )


def _placed(origin: str | None, otherwise: Place) -> Place:
    file, _, line = (origin or "").rpartition(":")
    return Place(file, int(line)) if line.isdecimal() else otherwise


def _parse(body: bytes, file: str, report: Report) -> tuple[dict[str, object], TomlPlaces]:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start]
        place = Place(file, before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        report.add(
            "E-ENCODING", place, f"byte 0x{body[error.start]:02x} is not UTF-8", hint="save the file as UTF-8"
        )
        return {}, TomlPlaces("")
    try:
        return tomllib.loads(text), TomlPlaces(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        message = str(error)
        match = _AT.search(message)
        last = text.rstrip("\n").count("\n") + 1
        line, column = (int(match[1]), int(match[2])) if match and match[1] else (last if match else 1, 1)
        report.add("E-SYNTAX", Place(file, line, column), _AT.sub("", message)[:200] or "not TOML")
        return {}, TomlPlaces("")


def _section(  # noqa: PLR0913, PLR0917 - one pass, everything it needs
    section: str,
    table: Mapping[str, object],
    file: str,
    places: TomlPlaces,
    report: Report,
    found: dict[str, Found],
) -> None:
    keys = [setting.key for setting in SETTINGS if setting.section == section]
    for key, raw in table.items():
        place = Place(file, *places.find((section, key)))
        setting = BY_NAME.get(f"{section}.{key}")
        if setting is None:
            report.add(
                "E-KEY", place, f"[{section}] has no key {key!r}", hint=_where_else(section, key, keys)
            )
            continue
        try:
            value = setting.read(raw)
        except UnitError as error:
            report.add("E-VALUE", place, f"{setting.name}: {error.text}", hint=error.hint)
            continue
        found[setting.name] = Found(value, f"{file}:{place.line}", place)
        if not setting.acts and value != setting.default:
            report.add("W-NO-EFFECT", place, f"{setting.name} has no effect in this version yet")


def _homes(key: str) -> str:
    return " or ".join(f"[{s.section}] {s.key}" for s in SETTINGS if s.key == key)


def _where_else(section: str, key: str, keys: list[str]) -> str | None:
    if parameter_name(key) in PARAMETERS:
        return f"{parameter_name(key)} stands in config/robot.conf, and only there"
    homes = _homes(key)
    if homes:
        return f"did you mean {homes}?"
    return suggestion(key, keys) or suggestion(f"{section}.{key}", BY_NAME)


def _classes(table: object, file: str, places: TomlPlaces, report: Report) -> dict[str, ClassConf]:
    classes: dict[str, ClassConf] = {}
    for name, keys in table.items() if isinstance(table, dict) else [("", table)]:
        if not name or not isinstance(keys, dict):
            place = Place(file, *places.find(("class", name) if name else ("class",)))
            report.add(
                "E-VALUE",
                place,
                "a metadata class is a table",
                hint="write [class.NAME] on a line of its own",
            )
            continue

        def place_of(key: str, name: str = name) -> Place:
            return Place(file, *places.find(("class", name, key) if key else ("class", name)))

        classes[name] = read_class(name, keys, place_of, report)
    return classes


def _sources(table: object, file: str, places: TomlPlaces, report: Report) -> BySource[SourceConf]:
    sources: BySource[SourceConf] = BySource()
    for name, keys in table.items() if isinstance(table, dict) else [("", table)]:
        if not name or not isinstance(keys, dict):
            place = Place(file, *places.find(("source", name) if name else ("source",)))
            report.add(
                "E-VALUE", place, "a source is a table", hint="write [source.NAME] on a line of its own"
            )
            continue

        def place_of(key: str, name: str = name) -> Place:
            return Place(file, *places.find(("source", name, key) if key else ("source", name)))

        if name in sources:
            report.add(
                "E-VALUE",
                place_of(""),
                f"[source.{name}] and [source.{sources.written(name)}] are one source: case does not matter",
                hint="put their keys into one section",
            )
            continue
        # The source of what is crawled is called "web", however its section is written.
        known = DEFAULT_SOURCE if same_source(name, DEFAULT_SOURCE) else name
        sources[known] = read_source(known, keys, place_of, report)
    return sources


def _credentials(table: object, file: str, places: TomlPlaces, report: Report) -> dict[str, CredentialConf]:
    found: dict[str, CredentialConf] = {}
    for name, keys in table.items() if isinstance(table, dict) else [("", table)]:
        if not name or not isinstance(keys, dict):
            place = Place(file, *places.find(("credential", name) if name else ("credential",)))
            hint = "write [credential.NAME] on a line of its own"
            report.add("E-VALUE", place, "a credential is a table", hint=hint)
            continue

        def place_of(key: str, name: str = name) -> Place:
            return Place(file, *places.find(("credential", name, key) if key else ("credential", name)))

        one = read_credential(name, keys, place_of, report)
        if one is not None:
            found[name] = one
    return found
