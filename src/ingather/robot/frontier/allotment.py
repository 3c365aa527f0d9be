"""Which hosts' URLs go to which gatherer: the keeper's side of the frontier. Pure.

Hosts are spread over 1,024 buckets by hash; a gatherer leases buckets, and a host's URLs go only
to the holder of its bucket, so a host is never in two hands. The catalog knows how many URLs of a
host wait; the allotment knows how many of them are out, and says how many more may go where
(:meth:`Allotment.batch`). What it says is a claim, not a state: after a crash of the keeper every
URL that was out waits again, after the death of a gatherer (:meth:`Allotment.leave`) its own do.

A bucket stays with its holder (who has the host's robots.txt, DNS answer and clock in memory) until
another gatherer would have nothing to do: then it takes over buckets that have nothing out.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xxhash import xxh3_64_intdigest

__all__ = ["BUCKETS", "Allotment", "AllotmentLimits", "Batch", "batch_size", "bucket_of"]

BUCKETS = 1024


def bucket_of(host: str) -> int:
    """Return the bucket of a host key, 0 to 1023; the same on every machine and in every version."""
    return xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) % BUCKETS


@dataclass(frozen=True, slots=True)
class AllotmentLimits:
    """How much goes out at a time.

    Attributes:
        min_batch: least URLs of a host in one batch (if so many wait).
        max_batch: most URLs of a host in one batch.
        horizon_s: a batch should last its host about so long at its delay.
        ahead: batches of one host that may be out together when it has no delay; a host
            with a delay has one, topped up when half of it is done.
    """

    min_batch: int = 20
    max_batch: int = 200
    horizon_s: float = 60.0
    ahead: int = 8


def batch_size(delay_s: float, limits: AllotmentLimits | None = None) -> int:
    """Return how many URLs of a host with *delay_s* from start to start make a batch."""
    limits = limits or AllotmentLimits()
    if delay_s <= 0:
        return limits.max_batch
    return int(min(max(limits.horizon_s / delay_s, limits.min_batch), limits.max_batch))


@dataclass(frozen=True, slots=True)
class Batch:
    """Claim *count* URLs of *host*. *fresh*: the bucket came from another hand, the host counts as just visited."""

    host: str
    count: int
    fresh: bool


@dataclass(slots=True)
class _Host:
    name: str
    bucket: int
    size: int
    delay_s: float = 1.0
    waiting: int = 0
    out: int = 0
    not_before: float = 0.0


@dataclass(slots=True)
class _Bucket:
    holder: Hashable = None
    out: int = 0
    seen: set[str] | None = None
    """Hosts that the holder has been given since it took the bucket over."""


@dataclass(slots=True)
class _Turn:
    """One gatherer's turn: what it may still get and what it has got."""

    gatherer: Hashable
    room: int
    share: int
    now: float
    batches: list[Batch]


class Allotment:
    """The keeper's book of who has which host in hand. Owned by one thread.

    Costs: :meth:`batch` looks at hosts with something to give only; a host costs about 300 bytes
    while URLs of it wait or are out.
    """

    def __init__(self, limits: AllotmentLimits | None = None) -> None:
        self.limits = limits or AllotmentLimits()
        self._gatherers: dict[Hashable, int] = {}
        self._buckets = [_Bucket() for _ in range(BUCKETS)]
        self._hosts: dict[str, _Host] = {}
        # Hosts that may give something, by bucket, in turn: the first goes next, then behind all.
        self._ready: dict[int, OrderedDict[str, _Host]] = {}
        self._order: OrderedDict[int, None] = OrderedDict()

    def join(self, gatherer: Hashable) -> None:
        """Note that a gatherer is there (*gatherer* is never ``None`` and never used again after it left)."""
        self._gatherers[gatherer] = 0

    def leave(self, gatherer: Hashable) -> list[str]:
        """Note that a gatherer is gone; its connections must be closed by now.

        Returns:
            The hosts of which URLs were out: the frontier lets these wait again and tells by
            :meth:`waiting`.
        """
        self._gatherers.pop(gatherer, None)
        lost: list[str] = []
        freed = {i for i, b in enumerate(self._buckets) if b.holder == gatherer}
        for index in freed:
            self._buckets[index] = _Bucket()
        for host in list(self._hosts.values()):
            if host.bucket in freed:
                if host.out:
                    lost.append(host.name)
                host.out = 0
                self._settle(host)
        return lost

    def waiting(
        self, host: str, count: int, *, delay_s: float | None = None, not_before: float = 0.0
    ) -> None:
        """Tell how many URLs of *host* may be claimed (those that are out not among them).

        *delay_s* is the host's effective delay if it is known; before *not_before* (monotonic) nothing
        of the host goes out, because it backs off.
        """
        entry = self._hosts.get(host)
        if entry is None:
            if count <= 0:
                return
            entry = self._hosts[host] = _Host(host, bucket_of(host), batch_size(1.0, self.limits))
        entry.waiting = max(count, 0)
        entry.not_before = not_before
        if delay_s is not None and delay_s != entry.delay_s:
            entry.delay_s = delay_s
            entry.size = batch_size(delay_s, self.limits)
        self._settle(entry)

    def batch(self, gatherer: Hashable, room: int, now: float) -> list[Batch]:
        """Say which claims go to *gatherer*, at most *room* URLs in all; they count as out from now on.

        Its own buckets go first, then buckets that nobody holds, then, when both give nothing and it has
        nothing out, buckets of others that have nothing out at the moment.
        """
        if gatherer not in self._gatherers:
            return []
        batches: list[Batch] = []
        # Many hosts share the room: each gets at least the least batch, but no more than its part.
        share = max(room // max(sum(map(len, self._ready.values())), 1), self.limits.min_batch)
        turn = _Turn(gatherer, room, share, now, batches)
        for index in list(self._order):
            if turn.room <= 0:
                break
            if self._buckets[index].holder in (gatherer, None):
                self._give(turn, index)
        if not batches and turn.room > 0 and not self._gatherers[gatherer]:
            for index in list(self._order):
                bucket = self._buckets[index]
                if bucket.holder != gatherer and not bucket.out:
                    self._give(turn, index)
                    if batches:
                        break
        return batches

    def done(self, host: str, count: int = 1) -> None:
        """Note that *count* URLs of *host* came back: visited, or handed back unvisited (then also :meth:`waiting`)."""
        entry = self._hosts.get(host)
        if entry is None:
            return
        count = min(count, entry.out)
        entry.out -= count
        bucket = self._buckets[entry.bucket]
        bucket.out -= count
        if bucket.holder in self._gatherers:
            self._gatherers[bucket.holder] -= count
        self._settle(entry)

    def holder(self, host: str) -> Hashable:
        """Return the gatherer that has *host* in hand, ``None`` if nobody has."""
        return self._buckets[bucket_of(host)].holder

    def out(self, gatherer: Hashable) -> int:
        """Return how many URLs are out at *gatherer*."""
        return self._gatherers.get(gatherer, 0)

    def totals(self) -> tuple[int, int, int]:
        """Return (hosts known, URLs waiting, URLs out)."""
        hosts = self._hosts.values()
        return len(hosts), sum(h.waiting for h in hosts), sum(h.out for h in hosts)

    def backing_off(self, now: float) -> Iterator[tuple[str, float]]:
        """Name the hosts of which nothing goes out yet, and for how many seconds."""
        return ((h.name, h.not_before - now) for h in self._hosts.values() if h.not_before > now)

    def _wanted(self, host: _Host) -> int:
        # How many URLs of the host may go out now.
        size = host.size
        if host.delay_s <= 0:
            # The gatherer's reports come in groups: several batches bridge the time until they are in.
            return min(host.waiting, max(size * self.limits.ahead - host.out, 0), size)
        return min(host.waiting, size - host.out) if host.out <= size // 2 else 0

    def _give(self, turn: _Turn, index: int) -> None:
        bucket = self._buckets[index]
        for name, host in list(self._ready[index].items()):
            if turn.room <= 0:
                break
            count = 0 if host.not_before > turn.now else min(self._wanted(host), turn.room, turn.share)
            if count <= 0:
                continue
            if bucket.holder != turn.gatherer or bucket.seen is None:
                bucket.holder, bucket.seen = turn.gatherer, set()
            turn.batches.append(Batch(name, count, name not in bucket.seen))
            bucket.seen.add(name)
            turn.room -= count
            host.waiting -= count
            host.out += count
            bucket.out += count
            self._gatherers[turn.gatherer] += count
            self._ready[index].move_to_end(name)
            self._settle(host)
            if index not in self._ready:
                break
        if index in self._order:
            self._order.move_to_end(index)

    def _settle(self, host: _Host) -> None:
        # Keep the host in the book, and among the ready, as long as it has a reason to be there.
        ready = self._ready.get(host.bucket)
        if self._wanted(host) > 0:
            if ready is None:
                ready = self._ready[host.bucket] = OrderedDict()
                self._order[host.bucket] = None
            ready[host.name] = host
            return
        if ready is not None and host.name in ready:
            del ready[host.name]
            if not ready:
                del self._ready[host.bucket]
                del self._order[host.bucket]
        if not host.waiting and not host.out:
            self._hosts.pop(host.name, None)
