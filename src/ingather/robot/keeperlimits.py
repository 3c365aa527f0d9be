"""Pace and bounds of the keeper, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingather.robot.frontier.sampling import SamplingLimits

__all__ = ["KeeperLimits"]


@dataclass(frozen=True, slots=True)
class KeeperLimits:
    """Pace and bounds of the keeper.

    Attributes:
        commit_s, commit_rows: a batch of reports is committed at this age or size.
        client_s: the same when somebody waits for the answer.
        promote: due URLs that are put into the frontier at a time.
        pending_bytes: reports received and not yet committed; beyond it sockets are not read.
        disk_retry_s: pause before another try when there was no space.
        storage_retry_s: the same when a call of the operating system failed.
        idle_look_s: between two runs due URLs are looked for so often.
        sampling: when a host is quiet.
        recheck_max_s, recheck_max_of: longest interval, and that of sources that have their own, by name.
    """

    commit_s: float = 0.25
    commit_rows: int = 4000
    client_s: float = 0.005
    promote: int = 2000
    pending_bytes: int = 128 << 20
    disk_retry_s: float = 5.0
    storage_retry_s: float = 1.0
    idle_look_s: float = 10.0
    sampling: SamplingLimits = field(default_factory=lambda: SamplingLimits(after=0))
    recheck_max_s: float = 30 * 86_400.0
    recheck_max_of: Mapping[str, float] = field(default_factory=dict)

    def longest_s(self, source: str) -> float:
        """Return the longest interval of a source."""
        return self.recheck_max_of.get(source, self.recheck_max_s)
