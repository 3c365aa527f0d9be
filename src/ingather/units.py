"""Durations, sizes, shares and counts, in and out: ``"120s"``, ``"10MiB"``, ``"10%"``, ``1 document``.

Inside the program durations are float seconds (``_s``), sizes are int bytes
(``_bytes``) and shares are floats between 0 and 1.
"""

import re

from ingather.errors import UnitError

__all__ = [
    "counted",
    "format_bytes",
    "format_seconds",
    "parse_bool",
    "parse_bytes",
    "parse_seconds",
    "parse_share",
]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _BYTES[_letter] = _BYTES[f"{_letter}ib"] = 1024**_power
    _BYTES[f"{_letter}b"] = 1000**_power
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*\Z")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def counted(number: int, noun: str) -> str:
    """Return ``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _number(text: str, what: str, units: dict[str, float] | dict[str, int], example: str) -> float:
    match = _NUMBER.match(text)
    unit = match[2].lower() if match else ""
    if not match or unit not in units:
        msg = f"{text!r} is not a {what}"
        raise UnitError(msg, hint=f"write it like {example}")
    return float(match[1]) * units[unit]


def parse_seconds(text: str) -> float:
    """Read a duration: ``"250ms"``, ``"30s"``, ``"5m"``, ``"2h"``, ``"30d"``; a bare number is seconds.

    Raises:
        UnitError: *text* is not a duration.
    """
    return _number(text, "duration", _SECONDS | {"": 1.0}, '"30s", "5m", "2h" or "7d"')


def parse_bytes(text: str) -> int:
    """Read a size: ``"10MiB"``, ``"64k"`` (1024), ``"1MB"`` (1000); a bare number is bytes.

    Raises:
        UnitError: *text* is not a size.
    """
    return int(_number(text, "size", _BYTES, '"64KiB", "10MiB" or "1GiB"'))


def parse_share(text: str) -> float:
    """Read a share: ``"10%"`` or ``"0.1"``.

    Raises:
        UnitError: *text* is not a share between 0 and 1.
    """
    bare = text.strip()
    try:
        value = float(bare[:-1]) / 100 if bare.endswith("%") else float(bare)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        msg = f"{text!r} is not a share"
        raise UnitError(msg, hint='write it like "10%" or 0.1')
    return value


def parse_bool(text: str) -> bool:
    """Read a switch: true/yes/on/1 or false/no/off/0, any case.

    Raises:
        UnitError: *text* is neither.
    """
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    msg = f"{text!r} is neither true nor false"
    raise UnitError(msg, hint="write true or false")


def format_seconds(value: float) -> str:
    """Write a duration so that :func:`parse_seconds` reads the same value back."""
    for unit, factor in (("d", 86400), ("h", 3600), ("m", 60)):
        if value and value % factor == 0:
            return f"{int(value // factor)}{unit}"
    if value == int(value):
        return f"{int(value)}s"
    text = f"{value:.9f}".rstrip("0")
    return f"{text}s"


def format_bytes(value: int) -> str:
    """Write a size so that :func:`parse_bytes` reads the same value back."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value and value % factor == 0:
            return f"{value // factor}{unit}"
    return str(value)
