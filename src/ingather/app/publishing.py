"""Publishing a configuration: checked whole, kept as a version, taken over by who gathers.

One way for all: the files are staged, read and checked where they are staged, kept in the catalog,
and put into ``config/``. When a process owns the home it does the last steps, and gathers on under
the new configuration; when nobody does, the next start takes it over.
"""

import getpass
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from ingather.app.configuration import Configuration, read_configuration
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.keeper import Gathering
from ingather.app.owner import ask_owner
from ingather.app.versions import (
    finish_publishing,
    overwritten,
    put_in_place,
    reading_versions,
    stage_at,
    staged,
)
from ingather.app.waiting import finish_waiting, keep_version, let_wait
from ingather.conf import load
from ingather.conf.redaction import redacted
from ingather.conf.report import Report
from ingather.conf.settings.values import Settings
from ingather.conf.text.physical import decode
from ingather.errors import ConflictError, HomeLockedError, UsageError

__all__ = ["Published", "Publishing", "author_here", "differences", "is_crawl", "require_base", "take_over"]


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a publication.

    Attributes:
        version: the number that verdicts will name.
        changed: ``False`` = this was in force already.
        running: a running process works by it now; otherwise the next start does.
        warnings: findings that do not refuse it.
        waiting: a crawl has the home and goes on with its own; it is kept and put into force when that has
            ended, and has no number before (0).
    """

    version: int
    changed: bool
    running: bool
    warnings: tuple[str, ...] = field(default=())
    waiting: bool = False

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {
            "version": self.version, "changed": self.changed, "running": self.running, "warnings": list(self.warnings),
        }  # fmt: skip


def author_here() -> str:
    """Return who runs this process, ``""`` if the system does not know."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


class Publishing:
    """The verbs of ``ingather conf`` that know versions, on a home that somebody may own."""

    def __init__(
        self, home: Home, settings: Settings, *, environment: Mapping[str, str] | None = None
    ) -> None:
        self.home = self._home = home
        self._settings, self._environment = settings, environment

    # -- reading ------------------------------------------------------------------------------

    def history(self) -> list[dict[str, Any]]:
        """Return what was in force when, newest first, then versions that never were; the first is in force."""
        if not database_of(self._home).exists():
            return []
        with reading_versions(self._home) as versions:
            kept = {version.number: version for version in versions.all()}
            published = versions.publications()
        rows = [
            {
                "version": p.version, "at": p.at_s, "author": p.author, "note": p.note, "in_force": place == 0,
                "digest": kept[p.version].digest, "files": list(kept[p.version].names),
            }
            for place, p in enumerate(published)
        ]  # fmt: skip
        seen = {p.version for p in published}
        rows += [
            {
                "version": v.number, "at": v.at_s, "author": "", "note": "never in force", "in_force": False,
                "digest": v.digest, "files": list(v.names),
            }
            for v in kept.values() if v.number not in seen
        ]  # fmt: skip
        return rows

    def files(self, which: str) -> dict[str, bytes]:
        """Return the files of a version: its number, ``current`` (in force), or ``config`` (what stands in config/ now).

        Raises:
            UsageError: there is no such version.
        """
        if which == "config":
            return dict(load(self._home.config).bodies)
        if not database_of(self._home).exists():
            raise UsageError(
                "no configuration has been kept yet", hint="ingather crawl or serve keeps the first"
            )
        with reading_versions(self._home) as versions:
            number = versions.in_force() if which == "current" else int(which) if which.isdecimal() else 0
            found = versions.files(number)
        if found is None:
            raise UsageError(f"there is no version {which}", hint="list them with: ingather conf history")
        return found

    # -- writing ------------------------------------------------------------------------------

    def publish(
        self,
        files: Mapping[str, bytes],
        *,
        note: str = "",
        author: str = "",
        confirm: Callable[[Path], None] = lambda _: None,
        base: str = "",
    ) -> Published:
        """Check *files*, keep them as a version, put them into ``config/``, have them taken over.

        Args:
            files: name -> body of a whole configuration.
            note: why, for the history.
            author: who, for the history.
            confirm: called with the checked folder before anything is changed; raises to stop.
            base: digest of the configuration that *files* were made of: it must stand in ``config/``, and be what a
                running process works by.

        Raises:
            ConfigurationError: they have errors; nothing was changed.
            ConflictError: *base* is not what there is any more; nothing was changed.
            HomeLockedError: a process owns the home that neither takes it over nor ends by itself.
        """
        with staged(self._home, files) as stage:
            read = self._read(stage / "config").require()
            confirm(stage / "config")
            warnings = tuple(str(d) for d in read.diagnostics)
            try:
                lock = self._home.lock("ingather conf")
            except HomeLockedError as locked:
                if is_crawl(locked):
                    let_wait(self._home, stage, author=author, note=note)
                    return Published(0, changed=True, running=False, warnings=warnings, waiting=True)
                answer = ask_owner(
                    self._home, self._settings, "config/publish",
                    {"stage": stage.name, "author": author, "note": note, "base": base}, locked,
                )  # fmt: skip
                return Published(
                    int(answer["version"]), bool(answer["changed"]), running=True, warnings=warnings
                )
            with lock:
                finish_publishing(self._home)
                finish_waiting(self._home, self._settings, environment=self._environment)
                require_base(self._home, base)
                return self._publish_alone(read, stage, author=author, note=note, warnings=warnings)

    def reload(self, *, note: str = "", author: str = "") -> Published:
        """Take over what stands in ``config/``: hand it to the process that gathers, or keep it for the next start.

        Raises:
            ConfigurationError: it has errors; nothing was changed.
        """
        read = self._read(self._home.config).require()
        warnings = tuple(str(d) for d in read.diagnostics)
        try:
            lock = self._home.lock("ingather conf")
        except HomeLockedError as locked:
            if is_crawl(locked):
                with staged(self._home, read.loaded.bodies) as stage:
                    let_wait(self._home, stage, author=author, note=note)
                return Published(0, changed=True, running=False, warnings=warnings, waiting=True)
            form = {"author": author, "note": note}
            answer = ask_owner(self._home, self._settings, "config/reload", form, locked)
            return Published(int(answer["version"]), bool(answer["changed"]), running=True, warnings=warnings)
        with lock:
            finish_publishing(self._home)
            if finish_waiting(self._home, self._settings, environment=self._environment):
                read = self._read(self._home.config).require()
            return self._publish_alone(read, None, author=author, note=note, warnings=warnings)

    def _read(self, config: Path) -> Configuration:
        return read_configuration(self._home, environment=self._environment, config=config)

    def _publish_alone(
        self, read: Configuration, stage: Path | None, *, author: str, note: str, warnings: tuple[str, ...]
    ) -> Published:
        """Keep and put in place while nobody else has the home."""
        done = keep_version(self._home, self._settings, read, stage, author=author, note=note)
        return Published(done.version, done.changed, running=False, warnings=warnings)


def is_crawl(locked: HomeLockedError) -> bool:
    """Whether a crawl has the home: it takes nothing over, and ends by itself."""
    return "(ingather crawl," in locked.owner or "(ingather crawl," in locked.text


def require_base(home: Home, base: str) -> None:
    """Refuse if something else than *base* (a digest, ``""`` = anything) stands in ``config/``.

    Raises:
        ConflictError: it does.
    """
    if base and load(home.config).digest != base:
        raise ConflictError("config/ was changed meanwhile", hint="look at it again, and try again")


async def take_over(
    gathering: Gathering, *, stage: str = "", author: str = "", note: str = "", base: str = ""
) -> Published:
    """Let a running process go on under what is staged under the name *stage*, or under what stands in ``config/``.

    *base*: digest of the configuration that the staged one was made of, ``""`` = of any.

    Raises:
        ConfigurationError: it has errors; the old configuration goes on.
        ConflictError: *base* does not stand in ``config/``, or it is not what is in force.
        UsageError: there is no such stage.
    """
    async with gathering.publishing:
        done = await _take_over(gathering, stage, author=author, note=note, base=base)
    if done.changed:
        await gathering.leaving.begin(gathering)
    return done


async def _take_over(gathering: Gathering, stage: str, *, author: str, note: str, base: str) -> Published:
    home = gathering.home
    folder = stage_at(home, stage) if stage else None
    require_base(home, base)
    if base and gathering.loaded.digest != base:
        raise ConflictError(
            "config/ has changes that are not in force",
            hint="ingather conf diff shows them, ingather conf publish puts them into force",
        )
    read = read_configuration(
        home, environment=os.environ, config=None if folder is None else folder / "config"
    ).require()
    kept = overwritten(home, read.loaded.bodies) if folder is not None else None
    changed = await gathering.reconfigure(read, author=author, note=note, kept=kept)
    if folder is not None and kept is not None:
        put_in_place(home, folder, kept)
    return Published(gathering.version, changed, running=True)


def differences(old: Mapping[str, bytes], new: Mapping[str, bytes], *, names: tuple[str, str]) -> list[str]:
    """Return the unified difference of two configurations, file by file, passwords hidden; empty when they say the same."""
    lines: list[str] = []
    for name in sorted({*old, *new}):
        before, after = (_lines(files.get(name), name) for files in (old, new))
        if before != after:
            one, two = (
                redacted(name, "\n".join(text)).split("\n") if text else [] for text in (before, after)
            )
            told = list(unified_diff(one, two, f"{names[0]}/{name}", f"{names[1]}/{name}", lineterm="", n=3))
            lines += told or [f"{name}: a password, which is not shown, is another one"]
    return lines


def _lines(body: bytes | None, name: str) -> list[str]:
    if body is None:
        return []
    text = decode(body, name, Report()).replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n")
