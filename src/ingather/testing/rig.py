"""A home driven from outside: the command line in processes of its own, and what is there when they are gone.

What an operator can do to Ingather (call it, interrupt it, kill it, fill its disk, break its files) a
:class:`Rig` does; what the home then holds it reads without asking Ingather's own counters: rows straight
from the catalog, the comparison of index and catalog, every kept body.
"""

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

import apsw

import ingather
from ingather.app.checking import check_catalog, check_index
from ingather.app.explaining import explainer_of
from ingather.app.home import Home
from ingather.app.searching import search_service
from ingather.catalog.packing import unpack_visits
from ingather.cli import run
from ingather.explain import as_text
from ingather.model.lifecycle import Outcome, State
from ingather.search import SearchRequest

__all__ = ["Known", "Ran", "Rig", "Running", "Served", "children_are_gone", "wait_until"]

_PATIENCE_S = 60.0


class Known(NamedTuple):
    """What the catalog says of a URL: ``outcome`` ``None`` = never visited, ``duplicate`` = hidden behind another.

    ``history``: how the visits ended, newest first.
    """

    id: int
    depth: int
    state: State
    outcome: Outcome | None
    status: int
    described: bool
    duplicate: bool
    digest: bytes
    detail: str
    history: tuple[Outcome, ...]

    @property
    def visits(self) -> int:
        """How often it was visited."""
        return len(self.history)


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


def wait_until(what: Callable[[], Any], *, timeout_s: float = _PATIENCE_S, pause_s: float = 0.01) -> Any:
    """Ask *what* until its answer is true; return that answer.

    Raises:
        TimeoutError: it never was; the deadline is for a loaded machine, not a measurement.
    """
    until = time.monotonic() + timeout_s
    while not (answer := what()):
        if time.monotonic() > until:
            msg = f"waited {timeout_s} s for {what}"
            raise TimeoutError(msg)
        time.sleep(pause_s)
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

    def end(self, timeout_s: float = _PATIENCE_S) -> Ran:
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
        return [pid for pid, line in self.children().items() if "ingather.app.converter" in line]

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


class Rig:
    """A home at *path* and the commands on it.

    Args:
        path: where the home is, or will be made by :meth:`init`.
        settings: settings that every command gets by environment: ``"gather.gatherers"`` to text.
    """

    def __init__(self, path: Path, **settings: str) -> None:
        self.path = path
        self.settings = dict(settings)
        self._source = str(Path(ingather.__file__).parent.parent)

    # -- commands ---------------------------------------------------------------------------------

    def tune(self, name: str, value: str) -> Self:
        """Give every later command the setting *name* (``section.key``)."""
        self.settings[name] = value
        return self

    def given(self) -> dict[str, str]:
        """Return the variables that carry the settings."""
        return {
            f"INGATHER_{name.replace('.', '_').replace('-', '_').upper()}": value
            for name, value in self.settings.items()
        }

    def environment(self) -> dict[str, str]:
        """Return what the commands' environment is."""
        return {**os.environ, "PYTHONPATH": self._source, **self.given()}

    def start(self, *arguments: str, files_bytes: int = 0) -> Running:
        """Start ``ingather ARGUMENTS``; ``--home`` is added to verbs that want it.

        *files_bytes*: no file of it grows beyond (soft ``RLIMIT_FSIZE``), 0 = no limit.
        """
        whole = [sys.executable, "-W", "error", "-m", "ingather", *arguments]
        if arguments and arguments[0] not in {"init", "demo"} and not arguments[0].startswith("-"):
            whole += ["--home", str(self.path)]
        return Running(whole, environment=self.environment(), files_bytes=files_bytes)

    def run(self, *arguments: str, timeout_s: float = _PATIENCE_S, files_bytes: int = 0) -> Ran:
        """Run ``ingather ARGUMENTS`` to its end."""
        with self.start(*arguments, files_bytes=files_bytes) as running:
            return running.end(timeout_s)

    def call(self, *arguments: str) -> Ran:
        """Run ``ingather ARGUMENTS`` in this process: quicker, for verbs that start no processes."""
        out, err = io.StringIO(), io.StringIO()
        kept = dict(os.environ)
        os.environ.update(self.given())
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status = run([*arguments, "--home", str(self.path)])
        finally:
            os.environ.clear()
            os.environ.update(kept)
        return Ran(status, out.getvalue(), err.getvalue())

    def init(self) -> Self:
        """Make the home, in this process: ``ingather init`` has tests of its own."""
        Home.create(self.path)
        return self

    def crawl(
        self, *urls: str, own: bool = True, flags: tuple[str, ...] = (), timeout_s: float = 120.0
    ) -> Ran:
        """Run ``ingather crawl --json``; *own*: the given hosts are ours, no delay."""
        return self.run(*self.crawling(*urls, own=own, flags=flags), timeout_s=timeout_s)

    @staticmethod
    def crawling(*urls: str, own: bool = True, flags: tuple[str, ...] = ()) -> list[str]:
        """Return the arguments of :meth:`crawl`."""
        hosts = dict.fromkeys(url.split("/")[2] for url in urls) if own else ()
        return ["crawl", "--json", *flags, *(word for host in hosts for word in ("--own-host", host)), *urls]

    # -- configuration ----------------------------------------------------------------------------

    def toml(self, text: str) -> Self:
        """Append to ``ingather.toml``."""
        with (self.path / "ingather.toml").open("a") as file:
            file.write(f"\n{text}\n")
        return self

    def site(  # noqa: PLR0913 - parts of a site
        self,
        origin: str,
        *,
        source: str = "web",
        depth: int = 10,
        lines: str = "",
        own: bool = True,
        keys: str = "",
        ports: tuple[int, ...] = (),
    ) -> Self:
        """Configure a loopback site with its source: *lines* go into ``<Site>``, *keys* into ``[source.NAME]``."""
        host, _, port = origin.partition("://")[2].partition(":")
        known = self.path / "config" / "filterrules.conf"
        text = known.read_text()
        known.write_text(
            f'<Site name="{source}" host="{host}" type=server enable=true depth={depth} source={source}>\n'
            f'Start url="{origin}/"\nProtocol allow="http"\nPort allow="{",".join(map(str, (port, *ports)))}"\n{lines}</Site>\n{text}'
        )
        mine = f'own-hosts = ["{host}:{port}"]\n' if own else ""
        return self.toml(f'[source.{source}]\naddresses = ["127.0.0.0/8"]\n{mine}{keys}')

    @contextmanager
    def serving(self, *, search: int = 0, admin: int = 0) -> Iterator["Served"]:
        """Run ``ingather serve`` on free ports until the block ends; then it is asked to stop, and must."""
        self.tune("listen.search", f"127.0.0.1:{search}").tune("listen.admin", f"127.0.0.1:{admin}")
        with self.start("serve") as running:
            served = Served(running, (self.path / "admin-token").read_text().strip())
            yield served
            if running.process.poll() is None:
                running.signal(signal.SIGTERM)
            ran = running.end()
            assert ran.status == 0, ran.err

    # -- what is there ----------------------------------------------------------------------------

    @property
    def database(self) -> Path:
        """The catalog's file."""
        return self.path / "catalog" / "catalog.db"

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Give a read-only connection to the catalog."""
        db = apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(5_000)
        try:
            yield db
        finally:
            db.close()

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Return what the catalog answers to a query."""
        with self.reading() as db:
            return list(db.execute(sql, values))

    def known(self) -> dict[str, Known]:
        """Return every URL of the catalog."""
        rows = self.rows(
            "select h.origin || u.path, u.id, u.depth, u.state, u.outcome, coalesce(u.status, 0), u.version is not null, "
            "u.dup is not null, u.digest, coalesce(u.detail, ''), u.hist from url u join host h on h.id = u.host"
        )
        found = {
            url: Known(
                number, depth, State(state), None if outcome is None else Outcome(outcome), status, bool(described),
                bool(duplicate), digest or b"", detail, tuple(visit.outcome for visit, _ in unpack_visits(history)),
            )
            for url, number, depth, state, outcome, status, described, duplicate, digest, detail, history in rows
        }  # fmt: skip
        assert len(found) == len(rows), "a URL has two rows"
        return found

    def shown(self) -> set[str]:
        """Return the URLs that readers may find, as the catalog says."""
        return {url for url, page in self.known().items() if page.described and not page.duplicate}

    @contextmanager
    def searching(self) -> Iterator[Callable[[str], list[str]]]:
        """Give a function that searches: query to URLs, best first; none when not every word was found."""
        home = Home.open(self.path)
        service, _, texts = search_service(home, home.settings(environment=self.given()).settings)

        def found(query: str) -> list[str]:
            answer = service.search(SearchRequest(query, limit=50))
            return [result.url for result in answer.results] if answer.all_words else []

        try:
            yield found
        finally:
            texts.close()

    def found(self, query: str) -> list[str]:
        """Return the URLs that one search gives, as :meth:`searching`."""
        with self.searching() as search:
            return search(query)

    def explained(self, url: str, *, fetch: bool = False) -> str:
        """Return what ``ingather explain`` prints, its first line first."""
        home = Home.open(self.path)
        read = home.settings(environment=self.given())
        return as_text(explainer_of(home, read.settings, read.sources).explain(url, fetch=fetch))

    def complaints(self, *, bodies: bool = True) -> list[str]:
        """Return whatever is wrong with the home: catalog, bodies, index against catalog; nobody may own it now."""
        home = Home.open(self.path)
        found = [f"{finding['place']}: {finding['what']}" for finding in check_catalog(home, bodies=bodies)]
        index = check_index(home)
        return found + [str(finding) for finding in index["findings"]]

    def alter(self, sql: str, *values: object) -> None:
        """Change the catalog by hand (time passes, for instance); nobody may own the home now."""
        with apsw.Connection(str(self.database)) as db:
            db.execute(sql, values)
        db.close()

    def copy(self, to: Path) -> "Rig":
        """Return a rig on a copy of the home."""
        shutil.copytree(self.path, to, ignore=shutil.ignore_patterns("k"))
        return Rig(to, **self.settings)

    def access_log(self) -> list[dict[str, Any]]:
        """Return the lines of the access log."""
        path = self.path / "log" / "access.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def children_are_gone(pids: Mapping[int, str]) -> bool:
    """Whether none of these processes is left (zombies do not count)."""
    return not any(
        _text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"]) for pid in pids
    )
