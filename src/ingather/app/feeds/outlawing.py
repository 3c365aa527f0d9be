"""URL patterns over what was pushed: done once for each state of the lists, at start and after a change."""

import hashlib
from collections.abc import Callable
from typing import Any, Final

from ingather.catalog.sqlite_changes import Applied
from ingather.conf.loading import Loaded
from ingather.conf.urlpatterns.gates import DONOTFOLLOW, FOLLOW
from ingather.feeds.outlawing import Outlawed, outlaw
from ingather.feeds.sweeping import Guard
from ingather.filters import Engine
from ingather.model.candidate import Candidate, Pushed

__all__ = ["outlaw_when_changed", "patterns_digest"]

_DONE: Final = "patterns-outlawed"
Transact = Callable[[Callable[[Any, Applied], Any]], Any]


def patterns_digest(loaded: Loaded) -> bytes:
    """Return what tells one set of lists from another, empty for none."""
    names = sorted(name for name in loaded.files if name.rpartition("/")[2] in {FOLLOW, DONOTFOLLOW})
    if not names:
        return b""
    said = "".join(f"{name}\0{loaded.files[name]}\n" for name in names)
    return hashlib.sha256(said.encode()).hexdigest().encode()


def outlaw_when_changed(
    transact: Transact, loaded: Loaded, engine: Callable[[], Engine], guard: Guard, now: Callable[[], float]
) -> Outlawed | None:
    """Let pushed documents go that the lists of *loaded* exclude; ``None`` = that was done before.

    Args:
        transact: runs a job on the catalog's writer; called from a thread.
        loaded: the configuration in force.
        engine: makes that of it.
        guard: the deletion policy.
        now: the wall clock.
    """
    digest = patterns_digest(loaded)
    if (transact(lambda w, _: w.memory.recall(_DONE)) or b"") == digest:
        return None

    judge = engine()

    def refused(url: str, source: str) -> bool:
        found = judge.refusal(Candidate(url=url, source=source, pushed=Pushed.CONTENT))
        return found is not None and found.banned  # Follow refuses records; what is there stays (section 8.4)

    done = outlaw(transact, refused, guard, now) if digest else Outlawed()
    transact(lambda w, _: w.memory.remember(_DONE, digest))
    return done
