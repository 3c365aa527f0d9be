"""What is asked of a site, out of a flat form."""

import re
from collections.abc import Mapping
from typing import Final

from ingather.conf.names import suggestion
from ingather.conf.sites.newsite import NewSite
from ingather.conf.sites.siteedit import SiteChange
from ingather.errors import UnitError, UsageError
from ingather.units import parse_bool

__all__ = ["change_of", "new_site_of", "switch_of"]

_TEXTS: Final = ("name", "source", "database", "delay", "credentials")
_NUMBERS: Final = ("depth", "connections")
_LISTS: Final = ("start", "protocols", "ports", "rules")
_EDIT: Final = ("note", "yes", "dry-run", "etag", "csrf")
_NEW: Final = (*_TEXTS, *_NUMBERS, *_LISTS, "host", "domain", "no-start", *_EDIT)
_CHANGE: Final = (*_TEXTS, *_NUMBERS, *_LISTS, "host", "domain", "remove-start", "unset", *_EDIT)
_CLEARED: Final = (*_TEXTS[1:], *_NUMBERS, *_LISTS[1:])
_DIGITS: Final = re.compile(r"-?[0-9]{1,9}")


def new_site_of(fields: Mapping[str, str]) -> NewSite:
    """Return the site to be added: field ``host``, and what the options of ``ingather site add`` say.

    Raises:
        UsageError: a field is unknown or wrong, or there is no host.
    """
    _known(fields, _NEW)
    if not fields.get("host", "").strip():
        raise UsageError("the field host is missing", hint="a host, host:port, or a URL to start from")
    text = {name: fields.get(name, "").strip() for name in _TEXTS}
    return NewSite(
        fields["host"].strip(), name=text["name"], domain=switch_of(fields, "domain"), depth=_number(fields, "depth"),
        source=text["source"] or "web", database=text["database"], delay=text["delay"],
        connections=_number(fields, "connections"), credentials=text["credentials"], starts=_words(fields, "start", r"\s+"),
        no_start=switch_of(fields, "no-start"), protocols=_words(fields, "protocols"), ports=_ports(fields),
        rules=_words(fields, "rules", ",") or None,
    )  # fmt: skip


def change_of(fields: Mapping[str, str]) -> SiteChange:
    """Return the change that is asked for; ``unset`` names what is to be taken out.

    Raises:
        UsageError: a field is unknown or wrong, or nothing is asked for.
    """
    _known(fields, _CHANGE)
    parameters = {name: fields[name].strip() for name in ("host", *_TEXTS) if fields.get(name, "").strip()}
    for name in _NUMBERS:
        number = _number(fields, name)
        if number is not None:
            parameters[name] = str(number)
    if "domain" in fields:
        parameters["type"] = "domain" if switch_of(fields, "domain") else "server"
    lists: dict[str, tuple[str, ...] | None] = {
        "protocols": _words(fields, "protocols") or None,
        "ports": tuple(map(str, _ports(fields))) or None,
        "rules": _words(fields, "rules", ",") or None,
    }
    for name in _words(fields, "unset"):
        if name not in _CLEARED:
            raise UsageError(f"{name!r} cannot be unset", hint=f"what can: {', '.join(_CLEARED)}")
        if name in parameters or lists.get(name):
            raise UsageError(f"{name} is set and unset", hint="give one of the two")
        if name in lists:
            lists[name] = ()
        else:
            parameters[name] = ""
    change = SiteChange(
        parameters=parameters,
        add_starts=_words(fields, "start", r"\s+"),
        remove_starts=_words(fields, "remove-start", r"\s+"),
        protocols=lists["protocols"],
        ports=lists["ports"],
        rules=lists["rules"],
    )
    if change == SiteChange():
        raise UsageError("nothing is asked for", hint=f"fields: {', '.join(_CHANGE)}")
    return change


def switch_of(fields: Mapping[str, str], name: str) -> bool:
    """Return a yes-or-no field; none is no.

    Raises:
        UsageError: it is neither.
    """
    try:
        return parse_bool(fields[name]) if fields.get(name, "").strip() else False
    except UnitError:
        raise UsageError(f"the field {name} is neither true nor false") from None


def _known(fields: Mapping[str, str], names: tuple[str, ...]) -> None:
    for name in fields:
        if name not in names:
            hint = suggestion(name, names) or f"fields: {', '.join(names)}"
            raise UsageError(f"there is no field {name[:40]!r}", hint=hint)


def _number(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    if not _DIGITS.fullmatch(text):
        raise UsageError(f"the field {name} is not a whole number")
    return int(text)


def _words(fields: Mapping[str, str], name: str, parted: str = r"[,\s]+") -> tuple[str, ...]:
    return tuple(word.strip() for word in re.split(parted, fields.get(name, "")) if word.strip())


def _ports(fields: Mapping[str, str]) -> tuple[int, ...]:
    words = _words(fields, "ports")
    if not all(_DIGITS.fullmatch(word) for word in words):
        raise UsageError("the field ports is not a list of numbers")
    return tuple(map(int, words))
