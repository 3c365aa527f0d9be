"""The keeper's hold on the frontier: what is out, with whom, and what goes out next.

The catalog keeps the waiting URLs; :class:`ingather.robot.frontier.allotment.Allotment` says which hosts'
batches go to which gatherer; this joins the two. A claim lives in memory only: until its
visit is settled *and committed* the row waits in the catalog, so whoever dies loses nothing.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from math import inf

from ingather.model.report import Row
from ingather.robot.frontier.allotment import Allotment
from ingather.robot.frontier.queue import FrontierSource, Queue, Resting

__all__ = ["Frontier"]

_PASSES = 5_000
"""So many rows of sources whose way rests are passed over at a time."""


class Frontier:
    """Owned by the keeper's loop. Counts are exact as far as the commits that it was told of."""

    def __init__(self, source: FrontierSource, allotment: Allotment) -> None:
        self._source = source
        self._allotment = allotment
        self._queues: dict[int, Queue] = {}
        self._hosts: dict[str, list[Queue]] = {}
        self._out: dict[int, tuple[Row, object]] = {}
        self._not_before: dict[str, float] = {}
        self._delay: dict[str, float] = {}
        self._shut: dict[str, float] = {}
        self._lost: dict[int, Row] = {}
        self._looks: list[tuple[float, int]] = []
        """When to look at which hosts again because something rests there."""

    # -- what the catalog says ------------------------------------------------------------------

    def load(self) -> int:
        """Read the waiting counts at start; return how many URLs wait."""
        counts = self._source.waiting_hosts()
        self.woken(counts)
        return sum(counts.values())

    def reload(self) -> int:
        """Read everything again: what waits changed otherwise than by visits (a source was disabled, or is no longer).

        What is out is counted twice until it is settled; a count that is ahead is put right when its host is drawn from.
        """
        for queue in self._queues.values():
            queue.rewind()
            queue.waiting = 0
            self._tell(queue.key)
        return self.load()

    def woken(self, counts: Mapping[int, int]) -> None:
        """Take in that *counts* more URLs wait at these hosts (committed)."""
        unknown = [host for host in counts if host not in self._queues]
        for host, (origin, key) in self._source.names(unknown).items():
            queue = self._queues[host] = Queue(host, origin, key)
            self._hosts.setdefault(key, []).append(queue)
        for host, count in counts.items():
            queue = self._queues[host]
            queue.waiting += count
            if queue.resting:
                queue.dry, queue.more = False, True
            self._tell(queue.key)

    def _tell(self, key: str) -> None:
        total = sum(queue.waiting for queue in self._hosts[key] if not queue.dry)
        self._allotment.waiting(key, total, delay_s=self._delay.get(key), not_before=self._from(key))

    def _from(self, key: str) -> float:
        """From when (monotonic) URLs of a host may go out: it asked for time, or somebody shut it."""
        return max(self._not_before.get(key, 0.0), self._shut.get(key, 0.0))

    def rewind(self, hosts: Iterable[int]) -> None:
        """Read these hosts' queues from the front again: something waits there now that goes ahead."""
        for host in hosts:
            if (queue := self._queues.get(host)) is not None:
                queue.rewind()
                self._tell(queue.key)

    # -- out and back ---------------------------------------------------------------------------

    def take(self, gatherer: object, room: int, now: float) -> tuple[list[Row], set[int], set[str]]:
        """Return (rows, their hosts, politeness names that come from another hand) for a gatherer."""
        self._look(now)
        rows: list[Row] = []
        hosts: set[int] = set()
        fresh: set[str] = set()
        for batch in self._allotment.batch(gatherer, room, now):
            got = self._draw(batch.host, batch.count, gatherer, now)
            hosts.update(row.host for row in got)
            rows += got
            if batch.fresh:
                fresh.add(batch.host)
            if len(got) < batch.count:  # the count was ahead of what is there: correct it
                self._allotment.done(batch.host, batch.count - len(got))
                for queue in self._hosts[batch.host]:
                    if not queue.resting:
                        queue.waiting = len(queue.rows)
                self._tell(batch.host)
        return rows, hosts, fresh

    def _draw(self, key: str, count: int, gatherer: object, now: float) -> list[Row]:
        got: list[Row] = []
        passes = _PASSES
        for queue in self._hosts.get(key, ()):
            while len(got) < count and queue.waiting > 0 and not queue.dry:
                if not queue.rows and not queue.fill(self._source, self._out, now, self._looks):
                    if queue.resting:
                        queue.dry = True
                    else:
                        queue.waiting = 0
                    break
                row = queue.rows.popleft()
                if row.source in queue.resting:
                    queue.passed[row.source] += 1
                    passes -= 1
                    if passes <= 0:
                        break
                    continue
                queue.waiting -= 1
                if row.id not in self._out:
                    self._out[row.id] = (
                        row,
                        gatherer,
                    )  # at once: reading on from the front must not give it again
                    got.append(row)
        return got

    def settled(self, ids: Iterable[int]) -> None:
        """Take in that these visits are committed."""
        for url_id in ids:
            entry = self._out.pop(url_id, None)
            if entry is not None and entry[1] is not None:
                self._allotment.done(self._queues[entry[0].host].key)

    def handed_back(self, ids: Iterable[int]) -> None:
        """Take in claims that come back unvisited: they wait again."""
        touched: set[str] = set()
        for url_id in ids:
            entry = self._out.pop(url_id, None)
            if entry is None:
                continue
            queue = self._queues[entry[0].host]
            queue.rows.appendleft(entry[0])
            queue.waiting += 1
            if entry[0].source not in queue.resting:
                queue.dry = False
            self._allotment.done(queue.key)
            touched.add(queue.key)
        for key in touched:
            self._tell(key)

    def join(self, gatherer: object) -> None:
        """A gatherer is there and may be given work."""
        self._allotment.join(gatherer)

    def lost(self, gatherer: object, *, keep: Collection[int]) -> None:
        """A gatherer died: everything that it had waits again, but visits *keep* that it reported in time."""
        self._allotment.leave(gatherer)
        self._lost = {}
        touched: set[str] = set()
        for url_id, (row, who) in list(self._out.items()):
            if who is not gatherer:
                continue
            if url_id in keep:
                self._out[url_id] = (row, None)
                continue
            del self._out[url_id]
            self._lost[url_id] = row
            queue = self._queues[row.host]
            queue.dry = False
            queue.rows.appendleft(row)
            queue.waiting += 1
            touched.add(queue.key)
        for key in touched:
            self._tell(key)

    def last_lost(self, url_id: int) -> Row | None:
        """Return a row that the gatherer that died last had in hand."""
        return self._lost.get(url_id)

    def claim(self, row: Row) -> None:
        """Take a waiting row out without giving it to anybody: its visit is being settled."""
        if row.id in self._out:
            return
        queue = self._queues[row.host]
        before = len(queue.rows)
        queue.rows = deque(r for r in queue.rows if r.id != row.id)
        queue.waiting -= before - len(queue.rows)
        self._out[row.id] = (row, None)
        self._tell(queue.key)

    def key(self, host: int) -> str:
        """Return the politeness name of a host."""
        return self._queues[host].key

    def holder(self, host_key: str) -> object:
        """Return the gatherer that has a host in hand, ``None`` if nobody has."""
        return self._allotment.holder(host_key)

    def origin(self, host: int) -> str:
        """Return the origin of a host."""
        return self._queues[host].origin

    def claimed(self, url_id: int) -> Row | None:
        """Return the row that is out under this id."""
        entry = self._out.get(url_id)
        return entry[0] if entry else None

    def out_at(self, keys: Collection[str]) -> Counter[str]:
        """Return how many URLs of these politeness names are in gatherers' hands."""
        names = (self._queues[row.host].key for row, _ in self._out.values())
        return Counter(name for name in names if name in keys)

    # -- hosts ----------------------------------------------------------------------------------

    def host_state(self, host: int, *, delay_s: float | None, not_before: float) -> None:
        """Take in a host's effective delay and until when (monotonic) nothing of it goes out."""
        queue = self._queues.get(host)
        if queue is None:
            return
        if delay_s is not None:
            self._delay[queue.key] = delay_s
        self._not_before[queue.key] = not_before
        self._tell(queue.key)

    def key_waits(self, key: str, not_before: float) -> None:
        """Nothing of politeness name *key* goes out before *not_before* (monotonic)."""
        self._not_before[key] = max(self._not_before.get(key, 0.0), not_before)
        if key in self._hosts:
            self._tell(key)

    def shut(self, key: str, until: float) -> None:
        """Nothing of politeness name *key* goes out before *until* (monotonic, infinity = until :meth:`unshut`)."""
        self._shut[key] = until
        if key in self._hosts:
            self._tell(key)

    def unshut(self, key: str) -> None:
        """It goes out again, once the host's own wait is over."""
        if self._shut.pop(key, None) is not None and key in self._hosts:
            self._tell(key)

    # -- ways of sources ------------------------------------------------------------------------

    def rest(self, ids: Iterable[int], why: tuple[str, str], until: float) -> None:
        """Take claims back unvisited: nothing of their source goes out to their hosts before *until* (monotonic).

        *why*: the source's name, and its way that failed.
        """
        back = [url_id for url_id in ids if url_id in self._out]
        for host, source in {(row.host, row.source) for row in (self._out[url_id][0] for url_id in back)}:
            queue = self._queues[host]
            rest = queue.resting.get(source)
            if rest is None:
                queue.resting[source] = Resting(why, until)
            elif until > rest.until:
                rest.why, rest.until = why, until
            heappush(self._looks, (until, host))
        self.handed_back(back)

    def rests_on(self, why: tuple[str, str], until: float) -> None:
        """Let what rests for *why* do so until *until*; a time that is over lets it go out again."""
        for queue in self._queues.values():
            for rest in queue.resting.values():
                if rest.why == why:
                    rest.until = until
                    heappush(self._looks, (until, queue.host))

    def resting(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return of ways that rest how many hosts are behind them, and about how many URLs wait there, by (source, way)."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for queue in list(self._queues.values()):
            for source, rest in list(queue.resting.items()):
                hosts, waiting = found.get(rest.why, (0, 0))
                found[rest.why] = hosts + 1, waiting + max(rest.waiting, queue.passed[source])
        return found

    def _look(self, now: float) -> None:
        """Let out what need not rest any more."""
        looks = self._looks
        while looks and looks[0][0] <= now:
            queue = self._queues[heappop(looks)[1]]
            over = [source for source, rest in queue.resting.items() if rest.until <= now]
            for source in over:
                del queue.resting[source]
            if over:
                queue.rewind()
            elif queue.more:
                queue.dry = False
            else:
                continue
            self._tell(queue.key)

    # -- numbers --------------------------------------------------------------------------------

    @property
    def out(self) -> int:
        """URLs in gatherers' hands."""
        return len(self._out)

    @property
    def waiting(self) -> int:
        """URLs that wait and are not out."""
        return sum(queue.waiting for queue in self._queues.values())

    def waiting_now(self, now: float) -> int:
        """URLs that wait at hosts that may be asked now, by ways that may be gone."""
        return sum(queue.may_go(now) for queue in self._queues.values() if self._from(queue.key) <= now)

    def backing_off(self, now: float) -> dict[str, float]:
        """Hosts that are left alone, with the seconds that remain."""
        return {key: at - now for key, at in self._not_before.items() if at > now}

    def queues(self, limit: int, now: float) -> list[dict[str, float | str | int]]:
        """The hosts with most waiting URLs: name, waiting, delay, and in how many seconds the first may go out.

        ``in_s`` is -1 for a host that is shut until somebody opens it.
        """
        found: list[dict[str, float | str | int]] = []
        for key, waiting in self.busiest(limit):
            wait_s = max(self._from(key) - now, 0.0)
            found.append(
                {"host": key, "waiting": waiting, "delay_s": self._delay.get(key, 0.0), "in_s": -1 if wait_s == inf else round(wait_s, 1)}
            )  # fmt: skip
        return found

    def slow(self, least_s: float) -> list[dict[str, float | str | int]]:
        """Hosts with a delay of *least_s* and more: name, delay, waiting URLs, estimated seconds."""
        found: list[dict[str, float | str | int]] = []
        for key, delay in self._delay.items():
            waiting = sum(queue.waiting for queue in self._hosts.get(key, ()))
            if delay >= least_s and waiting:
                found.append(
                    {"host": key, "delay_s": delay, "waiting": waiting, "estimated_s": delay * waiting}
                )
        return found

    def busiest(self, limit: int = 20) -> list[tuple[str, int]]:
        """The hosts with most waiting URLs."""
        totals = [(key, sum(queue.waiting for queue in queues)) for key, queues in self._hosts.items()]
        return sorted((t for t in totals if t[1]), key=lambda t: -t[1])[:limit]
