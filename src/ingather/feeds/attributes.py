"""Values of a record's attributes, read with tolerance; what is odd is said (GSA feeds specification, sections 7.3 and 7.4)."""

import re
from collections.abc import Mapping
from typing import Final

from ingather.feeds.acls import enum_form
from ingather.feeds.dtd import ELEMENTS

__all__ = ["authmethod_of", "flag_of", "number_of", "scoring_of"]

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{0,9})?")
_AUTHMETHODS: Final = ELEMENTS["record"].attributes["authmethod"].values


def flag_of(written: Mapping[str, str], key: str, warnings: list[str]) -> bool:
    """Return whether attribute *key* says ``true``."""
    if key not in written:
        return False
    value = enum_form(written[key])
    if value not in {"", "true", "false"}:
        warnings.append(f"{key} is {value[:40]!r}, neither true nor false")
    return value == "true"


def number_of(written: Mapping[str, str], key: str, default: int | None, warnings: list[str]) -> int | None:
    """Return the whole number that attribute *key* says, *default* if it says none."""
    value = written.get(key, "").strip()
    if not value:
        return default
    if _NUMBER.fullmatch(value) is None:
        warnings.append(f"{key} is {value[:40]!r}, not a number")
        return default
    return int(float(value))


def authmethod_of(written: str, warnings: list[str]) -> str:
    """Return the authmethod; one that is not known secures the document all the same."""
    value = enum_form(written)
    if value and value not in _AUTHMETHODS:
        warnings.append(f"the authmethod {value[:40]!r} is not known and taken as secure")
    return value[:100]


def scoring_of(written: str, warnings: list[str]) -> str:
    """Return ``content``, ``web``, or nothing."""
    value = enum_form(written)
    if value not in {"", "content", "web"}:
        warnings.append(f"scoring is {value[:40]!r}, neither content nor web")
        return ""
    return value
