"""Sessions of browsers on the admin listener: in memory, few, and mortal by the monotonic clock."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Session", "Sessions"]


@dataclass(slots=True)
class Session:
    """A logged-in browser; *csrf* must come back with every change of state.

    ``notice`` is said once, on the next page: what the last change did; with it ``undoable``, the decision that a button takes back,
    and ``asked``, a removal that waits for a yes (``removed``, ``target``, ``sample``, ``too_much``).
    """

    csrf: str
    born_s: float
    used_s: float
    notice: str = ""
    undoable: int | None = None
    asked: Mapping[str, Any] | None = None


class Sessions:
    """Open sessions. A restart ends them all; a clock jump ends or prolongs none.

    Kept under the digest of their id, so that a look at memory or a core file logs nobody in.
    """

    def __init__(
        self,
        *,
        monotonic: Callable[[], float],
        idle_s: float = 1_800.0,
        life_s: float = 43_200.0,
        limit: int = 64,
    ) -> None:
        self._monotonic = monotonic
        self._idle_s = idle_s
        self._life_s = life_s
        self._limit = limit
        self._open: OrderedDict[bytes, Session] = OrderedDict()

    def open(self) -> tuple[str, Session]:
        """Begin a session; return its id for the cookie. The one unused for longest makes room."""
        name = secrets.token_urlsafe(32)
        now_s = self._monotonic()
        session = Session(csrf=secrets.token_urlsafe(32), born_s=now_s, used_s=now_s)
        self._open[_key(name)] = session
        while len(self._open) > self._limit:
            self._open.popitem(last=False)
        return name, session

    def find(self, name: str) -> Session | None:
        """Return the living session of this id and mark it used."""
        key = _key(name)
        session = self._open.get(key)
        if session is None:
            return None
        now_s = self._monotonic()
        if now_s - session.used_s > self._idle_s or now_s - session.born_s > self._life_s:
            del self._open[key]
            return None
        session.used_s = now_s
        self._open.move_to_end(key)
        return session

    def end(self, name: str) -> None:
        """End a session; an unknown id is no error."""
        self._open.pop(_key(name), None)


def _key(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
