"""What filter-by-max has let pass in this run: one count for all gatherers, owned by the keeper (section 7.4)."""

from collections.abc import Iterable

__all__ = ["Tally"]


class Tally:
    """Hosts and URLs that passed, by what is counted; a key that passed once passes again.

    The catalog keeps them too: what :meth:`admit` lets pass waits in ``fresh`` until a batch takes it.
    In memory a key takes about 60 bytes, and there are never more of them than the limits allow.

    Args:
        passed: what the catalog remembers of a run that goes on: (what, key).
    """

    def __init__(self, passed: Iterable[tuple[int, int]] = ()) -> None:
        self._passed: dict[int, set[int]] = {}
        self.fresh: list[tuple[int, int]] = []
        for what, key in passed:
            self._passed.setdefault(what, set()).add(key)

    def admit(self, what: int, key: int, limit: int) -> bool:
        """Tell whether *key* passes, and count it."""
        passed = self._passed.setdefault(what, set())
        if key in passed:
            return True
        if len(passed) >= limit:
            return False
        passed.add(key)
        self.fresh.append((what, key))
        return True

    def reset(self) -> None:
        """Begin with nothing: a new run."""
        self._passed.clear()
        self.fresh.clear()
