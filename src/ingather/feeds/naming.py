"""Names in feeds: of elements, attributes and actions, whatever their case; and what is said of unknown ones, once.

Source: GSA feeds specification, section 7.4.
"""

from itertools import islice
from typing import Final

from lxml import etree

from ingather.feeds.acls import enum_form
from ingather.feeds.dtd import ELEMENTS

__all__ = ["Names", "action_of", "attributes_of", "local_name"]

_CARRIED: Final = 50


class Names:
    """The unknown names of a feed, each warned of once."""

    def __init__(self, most: int, met: tuple[str, ...] = ()) -> None:
        self._most = most
        self._met = dict.fromkeys(met)
        self.overflow = False

    @property
    def met(self) -> tuple[str, ...]:
        """The first names that were met, for a cursor, which is to stay small."""
        return tuple(islice(self._met, _CARRIED))

    def unknown(self, what: str, warnings: list[str]) -> None:
        """Say that *what* was ignored, if it is the first time."""
        what = what[:200]
        if what not in self._met:
            if len(self._met) >= self._most:
                self.overflow = True
                return
            self._met[what] = None
            warnings.append(f"{what} is not known and ignored")


def local_name(tag: object) -> str:
    """Return the name of an element or attribute without its name space."""
    name = str(tag)
    return name.rpartition("}")[2] if name.startswith("{") else name


def action_of(text: str, warnings: list[str]) -> str:
    """Return ``add`` or ``delete``, ``""`` if *text* is neither (section 7.4: ``remove`` deletes)."""
    action = enum_form(text)
    if action == "remove":
        warnings.append("the action 'remove' was read as 'delete'")
        return "delete"
    return action if action in {"add", "delete"} else ""


def attributes_of(element: etree._Element, name: str, names: Names, warnings: list[str]) -> dict[str, str]:
    """Return the attributes that the DTD knows, by its names, whatever their case."""
    known = ELEMENTS[name].attributes
    found = dict(element.items())
    if known.keys() >= found.keys():
        return found
    written, found = found, {}
    for key, value in written.items():
        if key in known:
            found[key] = value
    for key, value in written.items():
        local = local_name(key)
        form = enum_form(local)
        if form not in known:
            if not key.startswith(("{http://www.w3.org/", "xmlns")):
                names.unknown(f"the attribute {name}@{local}", warnings)
        elif form not in found:
            found[form] = value
    return found
