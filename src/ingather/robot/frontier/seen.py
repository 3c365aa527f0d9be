"""What a gatherer remembers of URLs it met: a bounded cache that may only answer "known".

Two generations of dictionaries: when the young one is full it becomes the old one, so that
memory is bounded and what is met often stays. It keeps the smallest depth at which a URL was
met, because a shorter path must reach the catalog although the URL is known.
"""

__all__ = ["Seen"]


class Seen:
    """Keys met so far with their smallest depth; a miss means "ask the catalog"."""

    def __init__(self, limit: int = 400_000) -> None:
        self._half = max(limit // 2, 1)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def known(self, key: int, depth: int) -> bool:
        """Return whether *key* was met at *depth* or nearer; it is remembered in the same call."""
        at = self._young.get(key)
        if at is None:
            at = self._old.get(key)
            if at is None or at > depth:
                self._put(key, depth)
                return False
            self._put(key, at)
            return True
        if at <= depth:
            return True
        self._young[key] = depth
        return False

    def _put(self, key: int, depth: int) -> None:
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[key] = depth

    def clear(self) -> None:
        """Forget everything: after a change of configuration judgements must be made again."""
        self._young, self._old = {}, {}
