"""The resource description (RD): attributes in layers, the effective value computed, never stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["LAYERS", "PERSISTENT", "Attributes", "Description"]

AttributesView = Mapping[str, tuple[str, ...]]
Attributes = dict[str, tuple[str, ...]]

LAYERS = ("page", "feed", "header", "import", "editor")
"""Lowest first: editor over import over header over feed over page, per attribute."""
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
        for layer in LAYERS:
            merged.update(self.layers.get(layer, {}))
        return merged

    def origin(self, name: str) -> str:
        """Return the layer that speaks for attribute *name*, ``""`` if none does."""
        for layer in reversed(LAYERS):
            if name in self.layers.get(layer, {}):
                return layer
        return ""
