"""Traps that were found: shown with the rule that would stop each, published, dismissed."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ingather.app.jobs import Job
from ingather.app.sites.editing import Asked, Editing
from ingather.app.sites.fields import switch_of
from ingather.catalog.frontier.sqlite_traps import TrapReader, TrapRow
from ingather.conf import Loaded
from ingather.conf.sites.newrule import with_rule
from ingather.errors import ConsentError, HomeLockedError, UnknownNameError, UsageError
from ingather.log import get
from ingather.robot.traps.rules import rule_lines, rule_name

__all__ = ["STATES", "TrapDesk", "dismiss_job", "publish_job", "trap_form"]

_log = get("traps")
STATES: Final = ("open", "dismissed", "published")
_FILE: Final = "filterrules.conf"
_FEW: Final = 3
_SHARE: Final = 0.05

Do = Callable[[str, Mapping[str, str], Job], Any]
"""Does a job inside the writer's transaction: here, or (path, form) at the process that owns the home."""


def trap_form(trap: TrapRow) -> dict[str, Any]:
    """Return a trap as JSON shows it; ``rule`` has the lines that would stop it."""
    name = rule_name(trap.id, trap.kind, trap.origin)
    return {
        "id": trap.id, "kind": trap.kind, "place": trap.place, "origin": trap.origin, "state": trap.state, "first": _instant(trap.first_s),
        "last": _instant(trap.last_s), "urls": trap.urls, "visited": trap.visited, "contents": trap.contents, "why": trap.why,
        "examples": list(trap.examples), "rule_name": name if trap.pattern else "", "rule": _rule(trap), "excludes": trap.excluded,
        "good_documents": trap.good, "advice": trap.advice, "by": trap.by,
        "decided": None if trap.decided_s is None else _instant(trap.decided_s),
    }  # fmt: skip


def dismiss_job(number: int, by: str) -> Job:
    """Return the dismissal of a trap: it is looked for still, and not told of again."""
    return _decide_job(number, "dismissed", by)


def publish_job(number: int, by: str) -> Job:
    """Return the note that a trap's rule was published."""
    return _decide_job(number, "published", by)


class TrapDesk:
    """What ``ingather traps`` does; every answer is a JSON-ready dictionary. Called from several threads.

    Args:
        database: the catalog's file.
        do: does a job inside the writer's transaction.
        editing: edits the configuration.
    """

    def __init__(self, database: Path, do: Do, editing: Editing) -> None:
        self._database, self._do, self._editing = database, do, editing

    def listed(self, state: str = "") -> dict[str, Any]:
        """Return ``traps``, the open ones first; of one *state*, ``""`` = all.

        Raises:
            UsageError: there is no such state.
        """
        if state and state not in STATES:
            raise UsageError(f"a trap is never {state!r}", hint=f"one of: {', '.join(STATES)}")
        reader = TrapReader(self._database)
        try:
            return {"traps": [trap_form(trap) for trap in reader.traps(state)]}
        finally:
            reader.close()

    def shown(self, number: int) -> dict[str, Any]:
        """Return one trap.

        Raises:
            UsageError: there is none of that number.
        """
        return trap_form(self._trap(number))

    def dismiss(self, number: int, by: str = "") -> dict[str, Any]:
        """Note that something is no trap; it is not told of again.

        Raises:
            UsageError: there is none of that number.
        """
        self._trap(number)
        self._do(f"traps/{number}/dismiss", {"author": by}, dismiss_job(number, by))
        return self.shown(number)

    def note_published(self, number: int, by: str = "") -> dict[str, Any]:
        """Note that the rule of a trap was put into force by another process.

        Raises:
            UsageError: there is none of that number.
        """
        self._trap(number)
        self._do(f"traps/{number}/published", {"author": by}, publish_job(number, by))
        return self.shown(number)

    def publish_by(self, number: int, by: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """As :meth:`publish`, for who asks over HTTP: *fields* are ``note``, ``yes``, ``dry-run``.

        Raises:
            UsageError, ConsentError: as :meth:`publish`.
        """
        asked = Asked(
            author=by, note=fields.get("note", ""), yes=switch_of(fields, "yes"), dry_run=switch_of(fields, "dry-run"),
            tell=_log.info,
        )  # fmt: skip
        return self.publish(number, asked)

    def publish(self, number: int, asked: Asked) -> dict[str, Any]:
        """Put the rule that stops a trap into the rules file, first of all rules of the sites that it is about.

        Raises:
            UsageError: there is no such trap, or no rule can be given.
            ConsentError: it would hit documents with a content of their own, and *yes* was not said.
        """
        trap = self._trap(number)
        if not trap.pattern:
            raise UsageError(
                f"no rule is known that would stop trap {number}", hint=trap.advice or "write one by hand"
            )
        if trap.good > max(_FEW, _SHARE * trap.excluded) and not (asked.yes or asked.dry_run):
            raise ConsentError(
                f"the rule would exclude {trap.good} documents with a content of their own",
                hint=f"{trap.advice}; or publish it all the same with --yes"
                if trap.advice
                else "publish it all the same with --yes",
            )
        name = rule_name(trap.id, trap.kind, trap.origin)

        def change(loaded: Loaded) -> tuple[str, bytes]:
            file = loaded.rules.file or _FILE
            return file, with_rule(loaded.bodies.get(file, b""), name, _rule(trap), trap.origin, file=file)

        edited = self._editing.edit(
            change, replace(asked, note=asked.note or f"rule against trap {number}: {trap.place}")
        )
        if edited.published is not None:
            # While a crawl has the home the rule waits for its end, and the trap stays open.
            with suppress(HomeLockedError):
                self._do(
                    f"traps/{number}/published", {"author": asked.author}, publish_job(number, asked.author)
                )
        return {
            "trap": number,
            "rule": name,
            "good_documents": trap.good,
            "excludes": trap.excluded,
            **edited.form(),
        }

    def _trap(self, number: int) -> TrapRow:
        reader = TrapReader(self._database)
        try:
            trap = reader.trap(number)
        finally:
            reader.close()
        if trap is None:
            raise UnknownNameError(
                f"there is no trap {number}",
                kind="trap",
                name=str(number),
                hint="list them with: ingather traps list",
            )
        return trap


def _decide_job(number: int, state: str, by: str) -> Job:
    def job(writer: Any, _applied: Any, now_s: float) -> dict[str, Any]:
        return {"trap": number, "done": writer.traps.decide(number, state, by, now_s)}

    return job


def _rule(trap: TrapRow) -> str:
    if not trap.pattern:
        return ""
    return rule_lines(
        rule_name(trap.id, trap.kind, trap.origin), trap.pattern, f"Trap {trap.id}, {trap.kind}: {trap.why}"
    )


def _instant(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
