"""The plug-ins of a home: the folder that ingather.toml names, and installed packages."""

from pathlib import Path

from ingather.app.home import Home
from ingather.conf.settings.values import Settings
from ingather.plugins import PlugIns

__all__ = ["converter_environment", "plug_in_folder", "plug_ins"]


def plug_in_folder(home: Home, settings: Settings) -> Path:
    """Return the folder of one-file plug-ins; a relative one lies in the home."""
    return home.path / Path(settings.text("plugins.folder") or "plugins").expanduser()


def plug_ins(home: Home, settings: Settings) -> PlugIns:
    """Load all plug-ins; one that cannot be loaded is in the result with the reason."""
    return PlugIns(plug_in_folder(home, settings))


def converter_environment(own: PlugIns) -> dict[str, str]:
    """Return the variables by which converters find plug-ins that read documents; none without any."""
    if own.folder is None or not (own.converters or own.extractors):
        return {}
    return {"INGATHER_PLUG_INS": str(own.folder)}
