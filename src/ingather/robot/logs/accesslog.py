"""The access log: one JSON line a visited or refused URL, written in batches, bounded in size."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ingather.model.lifecycle import Outcome
from ingather.model.report import Settled
from ingather.robot.logs.logfile import LogFile

__all__ = ["AccessLog"]

_encode = msgspec.json.Encoder().encode
_NAMES = {int(outcome): outcome.name.lower() for outcome in Outcome}


class _Line(msgspec.Struct, omit_defaults=True, frozen=True, gc=False):
    """One visit."""

    at: float
    url: str
    outcome: str
    status: int
    bytes: int
    ms: int
    depth: int
    rule: str | None = None
    reason: str | None = None


class AccessLog:
    """Appends to ``access.log``; at *max_bytes* the file becomes ``access.log.1`` and so on, *keep* old ones.

    A log that cannot be written never stops gathering: :attr:`failed` says so.
    """

    def __init__(self, path: Path, *, max_bytes: int = 64 << 20, keep: int = 4, enabled: bool = True) -> None:
        self._enabled = enabled
        self._file = LogFile(path, max_bytes=max_bytes, keep=keep)
        self.failed = ""

    def write(
        self,
        settled: Iterable[Settled],
        urls: Iterable[str],
        refused: Iterable[tuple[str, str]],
        now_s: float,
    ) -> None:
        """Write a committed batch: time, URL, outcome, status, bytes, milliseconds, deciding rule, reason."""
        if not self._enabled:
            return
        lines: list[bytes] = []
        for item, url in zip(settled, urls, strict=True):
            r = item.report
            rule, reason = (None, r.detail or None) if r.denial is None else (r.denial.where, r.denial.reason)
            lines.append(
                _encode(
                    _Line(
                        round(r.at_s, 3),
                        url,
                        _NAMES[r.outcome],
                        r.status,
                        r.size,
                        int(r.elapsed_s * 1000),
                        item.row.depth,
                        rule,
                        reason,
                    )
                )
            )
        lines += [
            _encode({"at": round(now_s, 3), "url": url, "outcome": "budget", "reason": limit})
            for url, limit in refused
        ]
        if not lines:
            return
        self._file.append(b"\n".join(lines) + b"\n")
        self.failed = self._file.failed
