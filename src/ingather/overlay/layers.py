"""Several files at once: override happens within a layer, across layers values accumulate (specification, section 7)."""

from collections.abc import Mapping, Sequence

from ingather.overlay.explaining import Explanation
from ingather.overlay.laid import Overlay
from ingather.overlay.line import Own
from ingather.overlay.options import SINGLE
from ingather.overlay.prefix import key_of

__all__ = ["Layers", "accumulated"]


class Layers:
    """Overlays in the order of their weight: file, API, fetched listing; the nearer file before the general one.

    Args:
        overlays: the layers; the first that has one of the classes *single* speaks for it alone.
        single: classes of one value (or, for ``t``, of one speaker).
        permission: classes that narrow access; see :meth:`requirements`.
    """

    def __init__(
        self,
        overlays: Sequence[Overlay],
        *,
        single: frozenset[str] = SINGLE,
        permission: frozenset[str] = frozenset(),
    ) -> None:
        self.overlays = tuple(overlays)
        self._single = single
        self._permission = permission

    def lookup(self, url: str) -> Own:
        """Return the classes and values for any URL text."""
        if not self.overlays:
            return {}
        keys = key_of(url, self.overlays[0].options)
        return {} if keys is None else dict(self.lookup_key(keys[1]))

    def lookup_key(self, stripped_key: str | bytes) -> Mapping[str, tuple[str, ...]]:
        """Return the classes and values for a canonical URL without its default page; must not be changed."""
        answers = [answer for overlay in self.overlays if (answer := overlay.lookup_key(stripped_key))]
        if len(answers) == 1:
            return answers[0]
        return accumulated(answers, self._single)

    def requirements(self, stripped_key: str | bytes) -> tuple[frozenset[str], ...]:
        """Return sets of principals; a searcher must be one of *each* set.

        Every layer and every class gives a set of its own, so that a further layer only narrows.
        """
        return tuple(
            frozenset(values)
            for overlay in self.overlays
            for name, values in overlay.lookup_key(stripped_key).items()
            if name in self._permission
        )

    def explain(self, url: str) -> tuple[Explanation, ...]:
        """Return what each layer says, in their order."""
        return tuple(overlay.explain(url) for overlay in self.overlays)


def accumulated(answers: Sequence[Mapping[str, tuple[str, ...]]], single: frozenset[str] = SINGLE) -> Own:
    """Return several layers' answers as one; the first speaks alone for the classes *single*."""
    out: Own = {}
    for answer in answers:
        for name, values in answer.items():
            there = out.get(name)
            if there is None:
                out[name] = values
            elif name not in single:
                out[name] = tuple(dict.fromkeys(there + values))
    return out
