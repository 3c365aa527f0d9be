"""A new source, written behind what stands in ``ingather.toml``."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ingather.app.home import Home
from ingather.conf.names import suggestion
from ingather.conf.settings_file import SETTINGS_FILE, SettingsFile, read_settings
from ingather.conf.sources import SOURCE_KEYS, is_source_name
from ingather.errors import ConfigurationError, HomeError, UnitError, UsageError

__all__ = ["add_source", "check_source_name", "rewrite_settings"]

_KEYS = {setting.key: setting for setting in SOURCE_KEYS}


def add_source(home: Home, name: str, assignments: Sequence[str]) -> Path:
    """Write ``[source.NAME]`` with *assignments* (``KEY=VALUE``) into the settings, whole or not at all; return the file.

    Raises:
        UsageError: *name* is none or is taken, an assignment is wrong.
        ConfigurationError: the file has errors, or would have.
        HomeError: it cannot be read or written.
    """
    check_source_name(name)
    lines = [f"[source.{name}]", *(_line(text) for text in assignments)]
    keys = [text.partition("=")[0].strip() for text in assignments]
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice", hint="give a list of words with commas between")

    def make(body: bytes, before: SettingsFile) -> bytes:
        if name in before.sources and (name != "web" or before.sources[name].origins):
            raise UsageError(
                f"there is a source {name!r} already", hint=f"change it in {home.path / SETTINGS_FILE}"
            )
        return body.rstrip(b"\n") + b"\n\n" + "\n".join(lines).encode() + b"\n"

    return rewrite_settings(home, make)


def check_source_name(name: str) -> None:
    """See that a source may be called *name*.

    Raises:
        UsageError: it may not.
    """
    if not is_source_name(name):
        raise UsageError(
            f"{name!r} is no name of a source",
            hint="small letters, digits, - and _, at most 63, a letter or digit first",
        )


def rewrite_settings(home: Home, make: Callable[[bytes, SettingsFile], bytes]) -> Path:
    """Put what *make* makes of the settings file (its bytes, and what they say) in its place, whole or not at all; return the file.

    Raises:
        ConfigurationError: the file has errors, or would have.
        HomeError: it cannot be read or written.
    """
    path = home.path / SETTINGS_FILE
    try:
        body = path.read_bytes()
    except OSError as error:
        raise HomeError(f"{path} cannot be read: {error.strerror}") from error
    before = read_settings(body)
    if before.refused:
        raise ConfigurationError(before.diagnostics, bodies={SETTINGS_FILE: body})
    made = make(body, before)
    after = read_settings(made)
    if after.refused:
        raise ConfigurationError(after.diagnostics, bodies={SETTINGS_FILE: made})
    try:
        new = path.with_name(path.name + ".new")
        new.write_bytes(made)
        new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except OSError as error:
        raise HomeError(f"{path} cannot be written: {error.strerror}") from error
    return path


def _line(text: str) -> str:
    key, found, value = text.partition("=")
    key = key.strip()
    if not found:
        raise UsageError(f"{text!r} is not of the form KEY=VALUE", hint="for example: access=secure")
    setting = _KEYS.get(key)
    if setting is None:
        raise UsageError(
            f"a source has no key {key!r}", hint=suggestion(key, _KEYS) or f"there are: {', '.join(_KEYS)}"
        )
    try:
        return f"{key} = {setting.write(setting.read_text(value.strip()))}"
    except UnitError as error:
        raise UsageError(f"{key}: {error}", hint=setting.help) from error
