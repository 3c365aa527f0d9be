"""A new site, written into the rules file that the home's enumeration filter uses."""

from pathlib import Path

from ingather.app.configuration import read_configuration
from ingather.app.home import Home
from ingather.conf.newsite import with_site
from ingather.errors import HomeError

__all__ = ["add_site"]


def add_site(
    home: Home, where: str, *, source: str = "web", depth: int | None = None, domain: bool = False
) -> Path:
    """Write a site for *where* into the rules file, whole or not at all; return the file.

    Raises:
        UsageError: *where* is no host, or has a site already.
        ConfigurationError: the configuration has errors.
        HomeError: the file cannot be written.
    """
    rules = read_configuration(home).require().loaded.rules
    name = rules.file or "filterrules.conf"
    path = home.config / name
    try:
        text = path.read_bytes().decode("utf-8-sig")
        made = with_site(text, where, file=name, source=source, depth=depth, domain=domain)
        new = path.with_name(path.name + ".new")
        new.write_text(made, encoding="utf-8")
        new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except UnicodeDecodeError as error:
        raise HomeError(f"{path} is not UTF-8", hint="save it as UTF-8 first: it is written anew") from error
    except OSError as error:
        raise HomeError(f"{path} cannot be written: {error.strerror}") from error
    return path
