"""Commands on the external metadata of a home: done directly when nobody owns it, asked of its owner when somebody does."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ingather.app.access.policing import use_policy_of
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.operating import follow_directly
from ingather.app.overlay.desk import Edit, OverlayDesk
from ingather.app.overlay.laying import Overlays
from ingather.app.owner import ask_owner
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.file import SettingsFile
from ingather.errors import HomeLockedError

__all__ = ["OverlayOffice"]


class OverlayOffice:
    """``ingather overlay`` on a home that somebody may own; ``desk`` answers what needs nobody's leave."""

    def __init__(self, home: Home, read: SettingsFile) -> None:
        self._home, self._read, self._clock = home, read, SystemClock()
        self.desk = OverlayDesk(home, read, self._apply, self._clock.wall)

    def put(self, prefix: str, classes: Mapping[str, Iterable[str]], author: str) -> dict[str, Any]:
        """Set the record of *prefix*."""
        form = {
            "prefix": prefix,
            "classes": json.dumps({n: list(v) for n, v in classes.items()}),
            "author": author,
        }
        return self._do("put", form, lambda: self.desk.put(prefix, classes, author))

    def delete(self, prefix: str, author: str) -> dict[str, Any]:
        """Take the record of *prefix* away."""
        form = {"prefix": prefix, "author": author}
        return self._do("delete", form, lambda: self.desk.delete(prefix, author))

    def replace(self, body: str, kind: str, author: str) -> dict[str, Any]:
        """Let the records be exactly those of *body*."""
        form = {"body": body, "format": kind, "author": author}
        return self._do("replace", form, lambda: self.desk.replace(body, kind, author))

    def set_hidden(self, url: str, author: str, *, hidden: bool) -> dict[str, Any]:
        """Let a document be found although its last day is over, or no more."""
        form = {"url": url, "hidden": "true" if hidden else "false", "author": author}
        return self._do("hidden", form, lambda: self.desk.set_hidden(url, author, hidden=hidden))

    def publish(self, author: str, note: str = "") -> dict[str, Any]:
        """Put what stands in the files in force now."""
        form = {"author": author, "note": note}
        return self._do("publish", form, lambda: self.desk.publish(author, note))

    def rollback(self, version: int, author: str) -> dict[str, Any]:
        """Put an old version in force again."""
        form = {"version": str(version), "author": author}
        return self._do("rollback", form, lambda: self.desk.rollback(version, author))

    def _do(self, verb: str, form: Mapping[str, str], work: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = work()
        except HomeLockedError as locked:
            answer = ask_owner(self._home, self._read.settings, f"overlay/{verb}", form, locked)
        return answer

    def _apply(self, edit: Edit, author: str, note: str) -> bool:
        """Do *edit* while nobody else has the home.

        Raises:
            HomeLockedError: somebody has it; nothing was changed.
            ConfigurationError: a file has an error and its ``on-error`` is ``fail``.
        """
        home, read = self._home, self._read
        with home.lock("ingather overlay"):
            home.prepare()
            writer = CatalogWriter(database_of(home), budgets=budget_limits(read.settings))
            overlays = Overlays(home, read.settings, read.sources, read.classes, self._clock.wall)
            try:
                use_policy_of(writer, home)
                before = writer.overlays.in_force()
                writer.transaction(lambda w: edit(w, self._clock.wall()))
                overlays.begin(writer, author=author, note=note)
                changed = writer.overlays.in_force() != before
                sequence = writer.applier.sequence
            finally:
                writer.close()
            if changed:
                follow_directly(follower_of(home, read.settings, self._clock, lay=overlays), sequence)
        return changed
