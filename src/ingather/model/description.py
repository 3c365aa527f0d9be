"""The resource description (RD): attributes in layers, the effective value computed, never stored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = [
    "CLASSES",
    "DISPLAY_URL",
    "LAYERS",
    "PERSISTENT",
    "Attributes",
    "Description",
    "overlay",
    "stacked",
]

AttributesView = Mapping[str, tuple[str, ...]]
Attributes = dict[str, tuple[str, ...]]

CLASSES = "classes"
"""The layer of autoclassify: it adds values to what the layers below say, instead of replacing them."""
DISPLAY_URL = "display-url"
"""The address that searchers are shown and led to instead of the URL; the word of feeds, heads and people, never of the page itself."""
LAYERS = ("page", "listing", "feed", "header", CLASSES, "import", "editor")
"""Lowest first: editor over import over header over feed (pushed) over listing (what a source of web feeds says) over page, per
attribute; classes are added between."""
PERSISTENT = ("import", "editor")
"""What people brought in or wrote; the others are what resources say and what was gathered (non-persistent)."""


@dataclass(frozen=True, slots=True)
class Description:
    """What is kept of a resource; every value knows its layer.

    ``layers`` maps a name of :data:`LAYERS` to attributes (lower-case names, values in order).
    A recrawl replaces only the layer that it speaks for.
    """

    url: str
    layers: Mapping[str, AttributesView] = field(default_factory=dict)

    def effective(self) -> Attributes:
        """Return the attributes as readers see them."""
        merged: Attributes = {}
        if DISPLAY_URL in self.layers.get("page", {}):
            page = {name: values for name, values in self.layers["page"].items() if name != DISPLAY_URL}
            return Description(self.url, {**self.layers, "page": page}).effective()
        overlay(merged, stacked((layer, self.layers[layer]) for layer in LAYERS if layer in self.layers))
        return merged

    def origin(self, name: str) -> str:
        """Return the layer that speaks for attribute *name*, ``""`` if none does."""
        for layer in reversed(LAYERS):
            if name in self.layers.get(layer, {}):
                return layer
        return ""


_ADD = "\0"
"""Begins the names of attributes that are to be added to; no attribute of a resource begins so."""


def stacked(layers: Iterable[tuple[str, AttributesView]]) -> Attributes:
    """Return *layers* (name, attributes; the lowest first) as one, to be laid over others by :func:`overlay`."""
    merged: Attributes = {}
    for layer, attributes in layers:
        for name, values in attributes.items():
            if layer == CLASSES:
                merged[_ADD + name] = values
            else:
                merged.pop(_ADD + name, None)
                merged[name] = values
    return merged


def overlay(below: Attributes, upper: AttributesView) -> None:
    """Lay what :func:`stacked` gave over *below*, in place."""
    for name, values in upper.items():
        if name.startswith(_ADD):
            there = below.get(name[1:], ())
            below[name[1:]] = (*there, *(value for value in values if value not in there))
        else:
            below[name] = values
