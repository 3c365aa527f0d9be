"""Where the time goes: py-spy on the keeper and its gatherers while a crawl is under way."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from _watch import tree

__all__ = ["Profiler", "top"]


class Profiler:
    """Samples a command's processes, each into a file of its own."""

    def __init__(self, folder: Path, *, seconds: int) -> None:
        program = os.environ.get("INGATHER_PYSPY") or shutil.which("py-spy")
        if program is None:
            raise SystemExit("--profile needs py-spy (pip install py-spy, or INGATHER_PYSPY=path)")
        self._program, self._folder, self._seconds = program, folder, seconds
        self._running: list[tuple[str, Path, subprocess.Popen[bytes]]] = []

    def attach(self, root: int) -> None:
        """Begin to sample the tree of process *root*."""
        for pid, role in tree(root).items():
            if role in ("main", "child"):
                name = "keeper" if role == "main" else "gatherer"
                path = self._folder / f"{name}-{pid}.raw"
                command = [
                    self._program,
                    "record",
                    "-t",
                    "-r",
                    "200",
                    "-d",
                    str(self._seconds),
                    "-f",
                    "raw",
                    "-o",
                    str(path),
                ]
                process = subprocess.Popen(
                    [*command, "-p", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                self._running.append((name, path, process))

    def results(self) -> Iterator[tuple[str, Counter[tuple[str, ...]]]]:
        """Return the samples of each process, once they are complete."""
        for name, path, process in self._running:
            process.wait()
            samples: Counter[tuple[str, ...]] = Counter()
            for line in path.read_text().splitlines():
                stack, _, count = line.rpartition(" ")
                samples[tuple(stack.split(";"))] += int(count)
            yield name, samples
        self._running.clear()


def top(samples: Counter[tuple[str, ...]], count: int) -> str:
    """Return the *count* costliest functions, by their own time, as a table; waiting left out."""
    own: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for stack, number in samples.items():
        names = [frame.rpartition(":")[0] + ")" if ":" in frame else frame for frame in stack]
        if any(
            waiting in names[-1]
            for waiting in ("select (selectors.py", "wait (threading.py", "_worker (concurrent")
        ):
            continue
        own[names[-1]] += number
        for name in set(names):
            below[name] += number
    total = sum(own.values()) or 1
    rows = ["| own time | with what it calls | function |", "|---|---|---|"]
    rows += [
        f"| {n / total:.1%} | {below[name] / total:.1%} | {name} |" for name, n in own.most_common(count)
    ]
    return "\n".join(rows)
