"""filter.log: what the filters decided, one line a decision, with one JSON line beside it (sections 7.1 and 11).

A line has eight fields between tabs: ``[22/Jan/2026:15:57:31]`` (UTC), run, filter, phase, verdict, reason,
``file:line``, URL; ``-`` stands for nothing. A run begins with ``Filter log started - loop N``. ``filter.jsonl``
says the same for programs. The keeper writes; gatherers send what they noted with their reports.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ingather.model.judgement import Judgement
from ingather.robot.logs.logfile import LogFile, one_line, stamp

__all__ = ["FilterLog"]

_encode = msgspec.json.Encoder().encode


class _Line(msgspec.Struct, omit_defaults=True, frozen=True, gc=False):
    at: float
    run: int
    filter: str
    phase: str
    verdict: str
    reason: str
    where: str
    url: str
    tested: tuple[str, ...] = ()


class FilterLog:
    """Appends to ``filter.log`` and ``filter.jsonl``; bounded as all logs are.

    Args:
        folder: the home's ``log``.
        max_bytes: size at which a file is put aside.
        keep: files that are put aside.
    """

    def __init__(self, folder: Path, *, max_bytes: int = 64 << 20, keep: int = 4) -> None:
        self._text = LogFile(folder / "filter.log", max_bytes=max_bytes, keep=keep)
        self._json = LogFile(folder / "filter.jsonl", max_bytes=max_bytes, keep=keep)
        self.run = 0

    @property
    def failed(self) -> str:
        """Why the log cannot be written, ``""`` while it can."""
        return self._text.failed or self._json.failed

    def started(self, run: int, now_s: float) -> None:
        """Begin the lines of a run."""
        self.run = run
        self._text.append(f"{stamp(int(now_s))} Filter log started - loop {run}\n".encode())

    def write(self, judgements: Sequence[Judgement], now_s: float) -> None:
        """Write what filters decided."""
        if not judgements:
            return
        at, run = round(now_s, 3), self.run
        self._json.append(
            b"".join(
                _encode(_Line(at, run, j.filter, j.phase, _verdict(j), j.reason, j.where, j.url, j.tested))
                + b"\n"
                for j in judgements
            )
        )
        head = f"{stamp(int(now_s))}\t{run}"
        self._text.append("".join(f"{head}\t{_fields(j)}\n" for j in judgements).encode("utf-8", "replace"))


def _verdict(said: Judgement) -> str:
    return "allow" if said.allowed else "deny"


def _fields(said: Judgement) -> str:
    tested = f"tested: {', '.join(said.tested)}" if said.tested else ""
    reason = "; ".join(part for part in (said.reason, tested) if part)
    fields = (said.filter, said.phase, _verdict(said), reason, said.where, said.url)
    return "\t".join(one_line(field) or "-" for field in fields)
