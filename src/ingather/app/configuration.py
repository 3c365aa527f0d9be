"""The whole configuration of a home, read at once: settings, sources, filters, rules, robot.conf."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingather.app.home import Home
from ingather.app.plugging import plug_ins
from ingather.conf import Loaded, Vocabulary, load
from ingather.conf.report import Report
from ingather.conf.settings.file import SETTINGS_FILE
from ingather.conf.settings.values import Flag, Settings
from ingather.conf.sites.sitechecks import check_sites
from ingather.conf.sources.source import SourceConf
from ingather.errors import ConfigurationError
from ingather.model.diagnostic import Diagnostic

__all__ = ["Configuration", "read_configuration"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a process works by; usable only when no diagnostic is an error (:meth:`require`).

    Attributes:
        settings: of ``ingather.toml``, environment and flags.
        sources: by name; ``web`` is always there.
        loaded: robot.conf, filters, rules, MIME map.
        diagnostics: findings of all files, those of ``ingather.toml`` first.
        settings_body: ``ingather.toml`` as it was read.
    """

    settings: Settings
    sources: Mapping[str, SourceConf]
    loaded: Loaded
    diagnostics: tuple[Diagnostic, ...] = ()
    settings_body: bytes = field(default=b"", repr=False)

    @property
    def bodies(self) -> Mapping[str, bytes]:
        """Name -> bytes of every file that was read, ``ingather.toml`` included."""
        return {**self.loaded.bodies, SETTINGS_FILE: self.settings_body}

    def require(self) -> "Configuration":
        """Return self.

        Raises:
            ConfigurationError: with every finding, if one of them is an error.
        """
        if any(d.is_error for d in self.diagnostics):
            raise ConfigurationError(self.diagnostics, bodies=self.bodies)
        return self


def read_configuration(  # noqa: PLR0913 - what an answer may depend on
    home: Home,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Flag] | None = None,
    vocabulary: Vocabulary | None = None,
    strict: bool = False,
    config: Path | None = None,
) -> Configuration:
    """Read every file of *home*; nothing that stands in them raises.

    Args:
        home: an open home.
        environment: variables of the process.
        flags: setting name to the flag that was given for it.
        vocabulary: functions that filters may call; default: the built-in ones and those of plug-ins.
        strict: what the lexer of config/ tolerates is an error.
        config: a folder to read in place of the home's ``config``: a change that is not published yet.
    """
    found = home.settings(environment=environment, flags=flags)
    if vocabulary is None:
        vocabulary = plug_ins(home, found.settings).vocabulary
    loaded = load(home.config if config is None else config, vocabulary=vocabulary, strict=strict)
    report = Report()
    check_sites(loaded.rules, found.sources, report, credentials=found.credentials)
    findings = (*found.diagnostics, *loaded.diagnostics, *report.sorted())
    return Configuration(found.settings, found.sources, loaded, findings, found.body)
