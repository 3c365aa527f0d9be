"""A home driven from outside: the command line in processes of its own, and what is there when they are gone.

What an operator can do to Ingather (call it, interrupt it, kill it, fill its disk, break its files) a
:class:`Rig` does; what the home then holds it reads without asking Ingather's own counters: rows straight
from the catalog, the comparison of index and catalog, every kept body.
"""

import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, Self

import apsw

import ingather
from ingather.app.checking import check_catalog, check_index
from ingather.app.explaining import explainer_of
from ingather.app.home import Home
from ingather.app.searching import search_service
from ingather.catalog.packing import unpack_visits
from ingather.catalog.sqlite_open import open_writer
from ingather.cli import run
from ingather.explain import as_text
from ingather.model.lifecycle import Outcome, State
from ingather.search import SearchRequest
from ingather.testing import absent
from ingather.testing.running import PATIENCE_S, Ran, Running, Served, children_are_gone, wait_until

__all__ = ["Known", "Ran", "Rig", "Running", "Served", "children_are_gone", "wait_until"]


_FREE_PORTS = {
    "feeds.listen": "127.0.0.1",
    "feeds.port": "0",
    "feeds.tls-port": "0",
    "listen.names": "gsa.example",
}
"""Feeds are listened for by default: two rigs at once must not meet on the well-known ports. The name is that of :mod:`ingather.testing.feedwire`."""
_ABSENT = Path(absent.__file__).parent


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


class Rig:
    """A home at *path* and the commands on it.

    Args:
        path: where the home is, or will be made by :meth:`init`.
        settings: settings that every command gets by environment: ``"gather.gatherers"`` to text.

    Attributes:
        variables: further variables of the environment of its processes.
    """

    def __init__(self, path: Path, **settings: str) -> None:
        self.path = path
        # Cut off at its time a search is right with what it found; on a busy machine that is not what a test asks.
        self.settings = {"limits.query-time": "30s", **_FREE_PORTS, **settings}
        self.variables: dict[str, str] = {}
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
        return {
            **os.environ,
            "PYTHONPATH": f"{_ABSENT}{os.pathsep}{self._source}",
            **self.given(),
            **self.variables,
        }

    def start(self, *arguments: str, files_bytes: int = 0) -> Running:
        """Start ``ingather ARGUMENTS``; ``--home`` is added to verbs that want it.

        *files_bytes*: no file of it grows beyond (soft ``RLIMIT_FSIZE``), 0 = no limit.
        """
        whole = [sys.executable, "-W", "error", "-m", "ingather", *arguments]
        if arguments and arguments[0] not in {"init", "demo"} and not arguments[0].startswith("-"):
            whole += ["--home", str(self.path)]
        return Running(whole, environment=self.environment(), files_bytes=files_bytes)

    def run(self, *arguments: str, timeout_s: float = PATIENCE_S, files_bytes: int = 0) -> Ran:
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
        self, *urls: str, own: bool = True, flags: tuple[str, ...] = (), timeout_s: float = 300.0
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
        db = open_writer(self.database)  # with the sums of its pages
        db.execute(sql, values).fetchall()
        db.close()

    def copy(self, to: Path) -> "Rig":
        """Return a rig on a copy of the home."""
        shutil.copytree(self.path, to, ignore=shutil.ignore_patterns("k"))
        return Rig(to, **self.settings)

    def access_log(self) -> list[dict[str, Any]]:
        """Return the lines of the access log."""
        path = self.path / "log" / "access.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
