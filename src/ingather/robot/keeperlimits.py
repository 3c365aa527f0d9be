"""Pace and bounds of the keeper, as values."""

from dataclasses import dataclass

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
        idle_look_s: between two runs due URLs are looked for so often.
    """

    commit_s: float = 0.25
    commit_rows: int = 4000
    client_s: float = 0.005
    promote: int = 2000
    pending_bytes: int = 128 << 20
    disk_retry_s: float = 5.0
    idle_look_s: float = 10.0
