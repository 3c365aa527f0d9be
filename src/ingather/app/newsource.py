"""A new source, written behind what stands in ``ingather.toml``."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ingather.app.home import Home
from ingather.conf.names import suggestion
from ingather.conf.settings.file import SETTINGS_FILE, SettingsFile, read_settings
from ingather.conf.sources.sections import SOURCE_KEYS
from ingather.conf.sources.source import SourceConf, is_source_name
from ingather.conf.text.toml_edit import toml_text
from ingather.errors import ConfigurationError, HomeError, UnitError, UsageError

__all__ = ["add_source", "appended", "check_source_name", "preview", "rewrite_settings", "source_text"]

_KEYS = {setting.key: setting for setting in SOURCE_KEYS}


def add_source(home: Home, name: str, assignments: Sequence[str]) -> Path:
    """Write ``[source.NAME]`` with *assignments* (``KEY=VALUE``) into the settings, whole or not at all; return the file.

    Raises:
        UsageError: *name* is none or is taken, an assignment is wrong.
        ConfigurationError: the file has errors, or would have.
        HomeError: it cannot be read or written.
    """
    text = source_text(name, assignments)

    def make(body: bytes, before: SettingsFile) -> bytes:
        if name in before.sources and (name != "web" or before.sources[name].origins):
            raise UsageError(
                f"there is a source {name!r} already", hint=f"change it in {home.path / SETTINGS_FILE}"
            )
        return appended(body, text)

    return rewrite_settings(home, make)


def source_text(
    name: str, assignments: Sequence[str], *, lists: Mapping[str, Mapping[str, str]] | None = None
) -> str:
    """Return ``[source.NAME]`` with *assignments* (``KEY=VALUE``) as the settings file has it.

    *lists*: keys with lists of texts, a line each, and what is said behind each as a comment (``""`` = nothing).

    Raises:
        UsageError: *name* is none, an assignment is wrong, or a key is given twice.
    """
    check_source_name(name)
    lines = [f"[source.{name}]", *(_line(text) for text in assignments)]
    for key, values in (lists or {}).items():
        lines.append(f"{key} = [")
        lines += [
            f"  {toml_text(value)},{f'  # {said}' if said.isprintable() and said else ''}"
            for value, said in values.items()
        ]
        lines.append("]")
    keys = [*(text.partition("=")[0].strip() for text in assignments), *(lists or ())]
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice", hint="give a list of words with commas between")
    return "\n".join(lines) + "\n"


def appended(body: bytes, text: str) -> bytes:
    """Return the settings file *body* with *text* behind an empty line at its end."""
    return body.rstrip(b"\n") + b"\n\n" + text.encode()


def preview(name: str, assignments: Sequence[str]) -> SourceConf:
    """Return the source that :func:`add_source` would write.

    Raises:
        UsageError: *name* is none, an assignment is wrong.
        ConfigurationError: the assignments do not go together.
    """
    made = source_text(name, assignments).encode()
    read = read_settings(made)
    if read.refused:
        raise ConfigurationError(read.diagnostics, bodies={SETTINGS_FILE: made})
    return read.sources[name]


def check_source_name(name: str) -> None:
    """See that a source may be called *name*.

    Raises:
        UsageError: it may not.
    """
    if not is_source_name(name):
        raise UsageError(
            f"{name!r} is no name of a source",
            hint="letters, digits, - and _, at most 200, no - first; case does not matter",
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
