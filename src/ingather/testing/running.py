"""Commands of Ingather as processes: started, waited for, signalled, killed; and what ``serve`` answers."""

import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

__all__ = ["PATIENCE_S", "Ran", "Running", "Served", "children_are_gone", "wait_until"]

PATIENCE_S = 180.0
"""Time for what must happen; it guards against hangs and says nothing about speed."""
_LONGEST_PAUSE_S = 0.3


@dataclass(frozen=True)
class Ran:
    """A command that ended: exit status (negative = signal), standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output read as JSON."""
        return json.loads(self.out)

    @property
    def first(self) -> str:
        """First line of standard error."""
        return self.err.partition("\n")[0]


def wait_until(what: Callable[[], Any], *, timeout_s: float = PATIENCE_S, pause_s: float = 0.01) -> Any:
    """Ask *what* until its answer is true; return that answer.

    Asking takes a fifth of the time at most: what is asked over HTTP is to get on with its work.

    Raises:
        TimeoutError: it never was; the deadline is for a loaded machine, not a measurement.
    """
    asked = time.monotonic()
    until = asked + timeout_s
    while not (answer := what()):
        now = time.monotonic()
        if now > until:
            msg = f"waited {timeout_s} s for {what}"
            raise TimeoutError(msg)
        time.sleep(max(pause_s, min(4 * (now - asked), _LONGEST_PAUSE_S)))
        asked = time.monotonic()
    return answer


class Running:
    """A command that runs, in a process group of its own; leaving ``with`` kills what is left of it."""

    def __init__(self, arguments: list[str], *, environment: Mapping[str, str], files_bytes: int = 0) -> None:
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
        # Our own interpreter, a module of ours and a test's arguments: nothing comes from outside.
        self.process = subprocess.Popen(  # noqa: S603
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            env=dict(environment),
            start_new_session=True,
        )
        if files_bytes:  # in time: an interpreter that starts writes no file of ours
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (files_bytes, resource.RLIM_INFINITY))
        self._ran: Ran | None = None

    @property
    def pid(self) -> int:
        """Process id of the command."""
        return self.process.pid

    @property
    def out(self) -> str:
        """What it wrote to standard output so far."""
        return self._read(self._out)

    @property
    def err(self) -> str:
        """What it wrote to standard error so far."""
        return self._read(self._err)

    @staticmethod
    def _read(file: Any) -> str:
        return os.pread(file.fileno(), 1 << 24, 0).decode("utf-8", "replace")

    def signal(self, number: int) -> None:
        """Send a signal to the command alone."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> Ran:
        """``kill -9`` the command with all its children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self.end()

    def end(self, timeout_s: float = PATIENCE_S) -> Ran:
        """Wait for the command's end and return how it ended."""
        if self._ran is None:
            status = self.process.wait(timeout_s)
            self._ran = Ran(status, self.out, self.err)
            self._out.close()
            self._err.close()
        return self._ran

    def children(self) -> dict[int, str]:
        """Return the processes below the command, however deep: process id to command line."""
        return dict(_below(self.pid))

    def gatherers(self) -> list[int]:
        """Return the process ids of the gatherers."""
        return [pid for pid, line in self.children().items() if "spawn_main" in line]

    def converters(self) -> list[int]:
        """Return the process ids of the converters."""
        return [pid for pid, line in self.children().items() if "ingather.app.confined.converter" in line]

    def browsers(self) -> list[int]:
        """Return the process ids of the browsers, and of the parts that they are made of."""
        return [pid for pid, line in self.children().items() if "chrom" in line.partition(" ")[0]]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ran is None:
            self.kill()


class Served:
    """``ingather serve`` that answers: its two listeners."""

    def __init__(self, running: Running, token: str) -> None:
        self.running = running
        self._token = token
        wait_until(lambda: "admin page" in running.out or running.process.poll() is not None)
        lines = running.out.splitlines()
        if len(lines) < 2:  # noqa: PLR2004 - a listener a line
            raise AssertionError(running.end().err)
        self.search_url, self.admin_url = (line.split()[2].rstrip("/") for line in lines[:2])

    def get(self, path: str) -> tuple[int, Any]:
        """Ask the search listener: status and JSON."""
        return _asked(self.search_url + path, {})

    def admin(
        self, path: str, form: Mapping[str, str] | None = None, *, token: str | None = None
    ) -> tuple[int, Any]:
        """Ask the admin listener: status and JSON; with *form* a POST."""
        headers = {"Authorization": f"Bearer {self._token if token is None else token}"}
        return _asked(self.admin_url + path, headers, form)

    @property
    def status(self) -> dict[str, Any]:
        """The status document."""
        code, answer = self.admin("/api/v1/status")
        assert code == HTTPStatus.OK, answer
        return dict(answer)

    def found(self, query: str) -> list[str]:
        """Return the URLs that a search over HTTP gives."""
        code, answer = self.get(f"/api/v1/search?q={quote(query)}")
        assert code == HTTPStatus.OK, answer
        return [result["url"] for result in answer["results"]]

    def rest(self, visits: int = 1) -> dict[str, Any]:
        """Wait until at least *visits* were made, nothing is to be done, and the index has everything."""

        def quiet() -> dict[str, Any] | None:
            now = self.status
            busy = now["pool"] or now["in_flight"] or now["backlog"] or now["visits"] < visits
            return None if busy else now

        answer: dict[str, Any] = wait_until(quiet, pause_s=0.1)
        return answer


def _asked(url: str, headers: Mapping[str, str], form: Mapping[str, str] | None = None) -> tuple[int, Any]:
    data = None if form is None else json.dumps(form).encode()
    request = Request(url, data, {**headers, **({"Content-Type": "application/json"} if data else {})})  # noqa: S310 - loopback
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=30) as got:
            status, body = got.status, got.read()
    except HTTPError as error:
        with error:
            status, body = error.code, error.read()
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body.decode("utf-8", "replace")


def _below(pid: int) -> Iterator[tuple[int, str]]:
    for task in _lines(f"/proc/{pid}/task"):
        for child in _text(f"/proc/{pid}/task/{task}/children").split():
            yield int(child), _text(f"/proc/{child}/cmdline").replace("\0", " ")
            yield from _below(int(child))


def _lines(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names of /proc
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def children_are_gone(pids: Mapping[int, str]) -> bool:
    """Whether none of these processes is left (zombies do not count)."""
    return not any(
        _text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"]) for pid in pids
    )
