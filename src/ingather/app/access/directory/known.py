"""What the directory said about people, and how long that may be believed.

An answer is used for *fresh_s*. Then the directory is asked again; while it cannot be asked, the last answer is used until it is
*last_s* old. After that there is no answer: a group that is not known could be one that an access list denies.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from ingather.access.principals import fold, principal
from ingather.app.access.directory.people import Directory, Known
from ingather.errors import DirectoryError
from ingather.log import get
from ingather.model.acl import Principal, PrincipalScope
from ingather.ports.clock import Clock

__all__ = ["KnownPeople"]

_log = get("access")
_KEPT: Final = 20_000
_REST_S: Final = 5.0


@dataclass(slots=True)
class _Answer:
    known: Known | None
    monotonic_s: float
    wall_s: float


class KnownPeople:
    """The people of one directory, as principals. Any thread may ask.

    Args:
        directory: is asked.
        clock: of the ages; the larger of both clocks' differences counts, so that neither a jump nor a sleep makes an answer young.
        fresh_s, last_s: see above.
    """

    def __init__(self, directory: Directory, clock: Clock, *, fresh_s: float, last_s: float) -> None:
        self._directory = directory
        self._clock = clock
        self._fresh_s, self._last_s = fresh_s, max(last_s, fresh_s)
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, _Answer] = OrderedDict()
        self._asking: dict[str, threading.Lock] = {}
        self._failed: tuple[float, DirectoryError] | None = None

    @property
    def offers_login(self) -> bool:
        """Whether people may log in with the directory's passwords."""
        return self._directory.conf.login

    def log_in(self, name: str, password: str) -> str | None:
        """Return who that is, as access lists spell him, if the password is his; else ``None``.

        Raises:
            DirectoryError: no server can be asked.
        """
        said = principal(name, PrincipalScope.USER)
        if said is None or not self.responsible(said):
            return None
        found = self._directory.log_in(said.name, password)
        if found is None:
            return None
        domain = self._directory.conf.domain
        text = f"{domain}\\{found}" if domain else found
        # What is kept is this text; it has to come apart again as it was put together.
        again = principal(text, PrincipalScope.USER)
        return text if again is not None and (again.name, again.domain) == (found, domain) else None

    def responsible(self, who: Principal) -> bool:
        """Whether the directory is the one that knows *who*: his namespace is its own, and his domain too or none."""
        conf = self._directory.conf
        if fold(who.namespace) != fold(conf.namespace):
            return False
        ours, theirs = fold(conf.domain), fold(who.domain)
        return not theirs or theirs.partition(".")[0] == ours.partition(".")[0]

    def groups_of(self, who: Principal) -> tuple[Principal, ...] | None:
        """Return the groups of somebody for whom the directory is responsible; ``None``: it does not know him.

        Raises:
            DirectoryError: it cannot be asked, and what it said last is too old: show nothing.
        """
        known = self._known(who.name)
        if known is None:
            return None
        conf = self._directory.conf
        return tuple(
            Principal(PrincipalScope.GROUP, name, conf.domain, conf.namespace) for name in known.groups
        )

    # -- ages ------------------------------------------------------------------------------------------

    def _known(self, name: str) -> Known | None:
        key = fold(name)
        answer = self._answer(key)
        if answer is not None and self._age(answer) <= self._fresh_s:
            return answer.known
        with self._lock:
            mine = self._asking.setdefault(key, threading.Lock())
        with mine:
            try:
                answer = self._answer(key)  # somebody else may have asked meanwhile
                if answer is None or self._age(answer) > self._fresh_s:
                    answer = self._asked(key, name, answer)
            finally:
                with self._lock:
                    self._asking.pop(key, None)
        return answer.known

    def _asked(self, key: str, name: str, last: _Answer | None) -> _Answer:
        began, wall = self._clock.monotonic(), self._clock.wall()
        failed = self._failed
        if failed is not None and began - failed[0] < _REST_S:
            return self._last(last, failed[1])
        try:
            answer = _Answer(self._directory.find(name), began, wall)
        except DirectoryError as error:
            self._failed = (self._clock.monotonic(), error)
            _log.warning("the directory cannot be asked", error=str(error))
            return self._last(last, error)
        with self._lock:
            self._failed = None
            self._answers[key] = answer
            self._answers.move_to_end(key)
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return answer

    def _last(self, last: _Answer | None, error: DirectoryError) -> _Answer:
        if last is not None and self._age(last) <= self._last_s:
            return last
        raise DirectoryError(
            "who may see what is not known: the directory cannot be asked", hint="try again later"
        ) from error

    def _answer(self, key: str) -> _Answer | None:
        with self._lock:
            return self._answers.get(key)

    def _age(self, answer: _Answer) -> float:
        wall = abs(self._clock.wall() - answer.wall_s)
        return max(self._clock.monotonic() - answer.monotonic_s, wall)
