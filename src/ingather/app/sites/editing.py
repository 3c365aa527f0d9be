"""One file of the configuration changed and published: checked before, one edit at a time, never over another's change."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ingather.app.configuration import Configuration, read_configuration
from ingather.app.home import Home
from ingather.app.publishing import Published, differences
from ingather.app.rehearsal.consent import require_consent
from ingather.app.versions import staged
from ingather.app.waiting import waiting_config
from ingather.conf import Loaded
from ingather.errors import ConflictError, ConsentError, HomeError, UsageError

__all__ = ["Asked", "Edited", "Editing", "Publisher", "etag_of", "mistakes_of"]

_LOCK = "editing.lock"
_PATIENCE_S = 60.0
_PAUSE_S = 0.05
_DIGITS = 16
_MISTAKES = 20


class Publisher(Protocol):
    """Puts a configuration into force; :meth:`ingather.app.publishing.Publishing.publish` does."""

    def __call__(
        self,
        files: Mapping[str, bytes],
        *,
        note: str,
        author: str,
        confirm: Callable[[Path], None],
        base: str,
    ) -> Published:
        """Publish *files*, which were made of the configuration with digest *base*."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How an edit is wanted.

    Attributes:
        author, note: for the history.
        match: etag of what the editor saw, ``""`` = whatever there is.
        yes: also if it would delete many documents, or leave the robot without starting points.
        dry_run: say what it would do, change nothing.
        tell: takes what a person should see before deciding.
        harmless: no URL is judged another way: what would be deleted need not be looked for.
    """

    author: str = ""
    note: str = ""
    match: str = ""
    yes: bool = False
    dry_run: bool = False
    tell: Callable[[str], Any] = print
    harmless: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit.

    Attributes:
        before, after: the configuration as it was and as it is, or would be.
        published: ``None`` for a dry run, and when nothing is another way.
        difference: lines of a unified diff.
    """

    before: Loaded
    after: Loaded
    published: Published | None
    difference: tuple[str, ...]

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        done = self.published
        return {
            "changed": bool(self.difference) and done is not None,
            "etag": etag_of(self.before if done is None else self.after),
            "version": None if done is None or done.waiting else done.version,
            "running": done is not None and done.running,
            "waiting": done is not None and done.waiting,
            "warnings": [] if done is None else list(done.warnings),
            "starting_points": len(self.after.starting_points),
            "difference": list(self.difference),
        }


def etag_of(loaded: Loaded) -> str:
    """Return what names the state of a configuration's files."""
    return loaded.digest[:_DIGITS]


def mistakes_of(read: Configuration) -> list[str]:
    """Return the first errors of a configuration: what is listed of files that have some is not the whole truth."""
    return [str(found) for found in read.diagnostics if found.is_error][:_MISTAKES]


class Editing:
    """Edits of one home's configuration.

    Args:
        home: an open home.
        publish: how a configuration comes into force.
        environment: variables of the process, for settings.
    """

    def __init__(
        self, home: Home, publish: Publisher, *, environment: Mapping[str, str] | None = None
    ) -> None:
        self.home = home
        self._publish, self._environment = publish, environment

    def read(self) -> Configuration:
        """Return what an edit begins with: what waits for the end of a crawl, else what stands in ``config/``; mistakes and all."""
        return read_configuration(self.home, environment=self._environment, config=waiting_config(self.home))

    def edit(self, change: Callable[[Loaded], tuple[str, bytes]], asked: Asked) -> Edited:
        """Publish the configuration with one file changed: *change* returns its name and new body.

        Raises:
            UsageError: *change* cannot be.
            ConfigurationError: there are mistakes before or after; nothing was changed.
            ConflictError: it is not what the editor saw; nothing was changed.
            ConsentError: a person has to say yes; nothing was changed.
        """
        with self._alone():
            before = self.read().require().loaded
            if asked.match not in ("", "*", etag_of(before)):
                raise ConflictError(
                    "the configuration was changed since you looked at it",
                    hint=f"look again; it is {etag_of(before)} now",
                )
            name, body = change(before)
            _require_inside(name)
            files = {**before.bodies, name: body}
            with staged(self.home, files) as stage:
                after = read_configuration(
                    self.home, environment=self._environment, config=stage / "config"
                ).require()
                difference = tuple(differences(before.bodies, files, names=("now", "then")))
                if asked.dry_run or not difference:
                    return Edited(before, after.loaded, None, difference)
                _require_starts(before, after.loaded, yes=asked.yes)

            def confirm(config: Path) -> None:
                if not asked.harmless:
                    require_consent(
                        self.home, config, yes=asked.yes, tell=asked.tell, environment=self._environment
                    )

            done = self._publish(
                files, note=asked.note, author=asked.author, confirm=confirm, base=before.digest
            )
            return Edited(before, after.loaded, done, difference)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let nobody else edit meanwhile."""
        try:
            self.home.run.mkdir(mode=0o700, exist_ok=True)
            fd = os.open(self.home.run / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HomeError(f"{self.home.run} cannot be written: {error.strerror}") from error
        try:
            end = time.monotonic() + _PATIENCE_S
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise ConflictError(
                            "somebody else is changing the configuration", hint="try again"
                        ) from None
                    time.sleep(_PAUSE_S)
            yield
        finally:
            os.close(fd)


def _require_inside(name: str) -> None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise UsageError(
            f"{name} does not lie in config/", hint="change it by hand, then: ingather conf publish"
        )


def _require_starts(before: Loaded, after: Loaded, *, yes: bool) -> None:
    if before.starting_points and not after.starting_points and not yes:
        raise ConsentError(
            "the robot would have 0 starting points, and no run could begin",
            hint="give another site a starting point first, or do it all the same with --yes",
        )
