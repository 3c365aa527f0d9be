"""The configuration files that a new home gets."""

from importlib.resources import files

__all__ = ["NAMES", "shipped"]

NAMES = ("robot.conf", "filter.conf", "filterrules.conf", "mime.types", "rd-schema.conf")


def shipped() -> dict[str, str]:
    """Return name -> text of the default files, to be written into ``config/``."""
    folder = files("ingather.conf") / "defaults"
    return {name: (folder / name).read_text(encoding="utf-8") for name in NAMES}
