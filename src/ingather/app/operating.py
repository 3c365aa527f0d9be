"""Operators' commands on a home: done directly when nobody owns it, asked of its owner when somebody does."""

from collections.abc import Callable, Mapping
from typing import Any

from ingather.app.access.policing import use_policy_of
from ingather.app.clock import SystemClock
from ingather.app.deletions import undo_of
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.jobs import Job
from ingather.app.owner import ask_owner
from ingather.app.sourcerules import policies_of
from ingather.app.wiring import budget_limits, source_budgets
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import (
    ConsentError,
    HomeLockedError,
    IngatherError,
    UnknownNameError,
    UrlError,
    UsageError,
)
from ingather.model.decided import NOBODY, By, Undo
from ingather.model.url import fed_url
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.units import counted

__all__ = [
    "Operations",
    "close_hold_job",
    "follow_directly",
    "hold_form",
    "removal_job",
    "undelete_job",
    "undo_all",
    "wanted_of",
]

_PIECE = 500
_SAMPLE = 5


class Operations:
    """Removing, undoing, holds; every answer is a JSON-ready dictionary."""

    def __init__(self, home: Home, settings: Settings, sources: Mapping[str, SourceConf]) -> None:
        self._home, self._settings, self._clock = home, settings, SystemClock()
        self._sources = sources

    def remove(
        self, target: str, by: By = NOBODY, *, yes: bool = False, dry_run: bool = False
    ) -> dict[str, Any]:
        """Remove a URL, or everything below a prefix that ends in ``/`` or ``*``.

        Raises:
            ConsentError: more would go than a source's threshold allows, and *yes* was not said.
        """
        form = {"url": target, **_said(by)}
        form |= {name: "yes" for name, on in (("yes", yes), ("dry-run", dry_run)) if on}
        # Of the policies thresholds alone are asked for here, which are the same for what is crawled and what is pushed.
        policies = policies_of(self._settings, self._sources, frozenset())
        job = removal_job(target, by, policies, yes=yes, dry_run=dry_run)
        answer: dict[str, Any] = self._do("remove", form, job)
        return answer

    def undelete(self, target: str, by: By = NOBODY) -> dict[str, Any]:
        """Undo deletions at a URL or below a prefix."""
        form = {"url": target, **_said(by)}
        answer: dict[str, Any] = self._do("undelete", form, undelete_job(target, by))
        return answer

    def undo(self, form: Mapping[str, str], by: By = NOBODY) -> dict[str, Any]:
        """Undo the deletions that *form* means (``run``, ``reason``, ``hold``, ``source``).

        Raises:
            UsageError: it means nothing, or a number is none.
        """
        wanted = wanted_of(form)
        sent = {name: value for name, value in form.items() if value} | _said(by)
        answer: dict[str, Any] = self._do_all("undelete", sent, lambda run: undo_all(run, wanted, by))
        return answer

    def holds(self) -> list[dict[str, Any]]:
        """Return the open holds."""
        answer: Any = self._do(
            "holds", None, lambda w, _a, _now: [hold_form(hold) for hold in w.deletions.holds()]
        )
        return list(answer["holds"] if isinstance(answer, dict) else answer)

    def close_hold(self, number: int, *, release: bool, by: By = NOBODY) -> dict[str, Any]:
        """Carry out (*release*) or discard the deletions of a hold.

        Raises:
            UsageError: there is no such open hold.
        """
        verb = "release" if release else "discard"
        answer: dict[str, Any] = self._do(
            f"holds/{number}/{verb}", _said(by), close_hold_job(number, release=release, by=by)
        )
        if answer.get("documents") is None:
            hint = "list them with: ingather holds list"
            raise UnknownNameError(
                f"there is no open hold {number}", kind="hold", name=str(number), hint=hint
            )
        return answer

    def classify(self, *, tell: Callable[[str], None] | None = None) -> dict[str, Any]:
        """Ask the queries of all categories and tag what they find; ``queries``, ``documents``, ``changed``.

        Raises:
            UsageError: a query cannot be asked; nothing is changed.
        """
        try:
            lock = self._home.lock("ingather classify")
        except HomeLockedError as locked:
            answer: dict[str, Any] = self._ask("classify", {}, locked)
            return answer
        from ingather.app.descriptions.classifying import autoclassify
        from ingather.app.homeparts import load_checked

        with lock:
            writer = CatalogWriter(
                database_of(self._home),
                budgets=budget_limits(self._settings),
                by_source=source_budgets(self._settings, self._sources),
            )
            try:
                use_policy_of(writer, self._home)
                applied = Applied()
                now_s = writer.applier.now_s = self._clock.wall()
                done = autoclassify(
                    self._home,
                    load_checked(self._home),
                    lambda job: writer.transaction(lambda w: job(w, applied, now_s)),
                    tell=tell,
                )
                sequence = writer.applier.sequence
            finally:
                writer.close()
            if applied.changes:
                follow_directly(follower_of(self._home, self._settings, self._clock), sequence)
        return done.form()

    def do(self, path: str, form: Mapping[str, str], job: Job) -> Any:
        """Run a job here when nobody owns the home, else ask its owner: POST *path* with *form*."""
        return self._do(path, form, job)

    def _do(self, path: str, form: Mapping[str, str] | None, job: Job) -> Any:
        return self._do_all(path, form, lambda run: run(job))

    def _do_all(
        self, path: str, form: Mapping[str, str] | None, work: Callable[[Callable[[Job], Any]], Any]
    ) -> Any:
        try:
            lock = self._home.lock("ingather " + path.partition("/")[0])
        except HomeLockedError as locked:
            return self._ask(path, form, locked)
        with lock:
            writer = CatalogWriter(
                database_of(self._home),
                budgets=budget_limits(self._settings),
                by_source=source_budgets(self._settings, self._sources),
            )
            try:
                use_policy_of(writer, self._home)
                applied = Applied()
                now_s = writer.applier.now_s = self._clock.wall()
                answer = work(lambda job: writer.transaction(lambda w: job(w, applied, now_s)))
                sequence = writer.applier.sequence
            finally:
                writer.close()
            if applied.changes:
                follow_directly(follower_of(self._home, self._settings, self._clock), sequence)
        return answer

    def _ask(self, path: str, form: Mapping[str, str] | None, locked: HomeLockedError) -> Any:
        """Ask the process that owns the home, wherever its admin listener is."""
        return ask_owner(self._home, self._settings, path, form, locked)


def removal_job(
    target: str, by: By, policies: Callable[[str], DeletionPolicy], *, yes: bool, dry_run: bool = False
) -> Job:
    """Return the removal of a URL or prefix.

    Its answer: ``removed`` (documents), ``target``, ``sample`` (URLs of some), ``decision`` (its number, by which exactly this can be undone;
    ``None``: nothing was done) and ``too_much`` (why it is more than goes at once).

    Args:
        target: what.
        by: who wants it.
        policies: source to its deletion policy, whose thresholds count.
        yes: also above a threshold; without it the job raises ``ConsentError`` then.
        dry_run: say what would go, and do nothing.
    """
    typed, exact = _target(target)

    def job(writer: CatalogWriter, applied: Applied, now_s: float) -> dict[str, Any]:
        prefix = writer.meant(target) if exact else typed
        found, sample = writer.deletions.meant(prefix, exact=exact, sample=_SAMPLE)
        total = sum(found.values())
        names = writer.applier.names
        braked = (policies(name).brake(n, names.documents_of(name)) for name, n in found.items())
        said = {
            "removed": total,
            "target": prefix,
            "sample": sample,
            "too_much": next(filter(None, braked), ""),
        }
        if dry_run:
            return {**said, "decision": None}
        if said["too_much"] and not yes:
            raise ConsentError(
                f"{target} means {counted(total, 'document')}, for example {', '.join(sample)}: {said['too_much']}",
                hint="remove them all the same with --yes (over HTTP: yes); it can be undone",
            )
        gone, decision = writer.deletions.remove(prefix, now_s, applied, exact=exact, by=by)
        return {**said, "removed": gone, "decision": decision}

    return job


def undelete_job(target: str, by: By = NOBODY) -> Job:
    """Return the undoing of deletions at a URL or below a prefix."""
    typed, exact = _target(target)

    def job(writer: Any, applied: Any, now_s: float) -> dict[str, Any]:
        prefix = writer.meant(target) if exact else typed
        return {
            "restored": writer.deletions.undelete(prefix, now_s, applied, exact=exact, by=by),
            "target": prefix,
        }

    return job


def undo_all(run: Callable[[Job], Any], wanted: Undo, by: By) -> dict[str, Any]:
    """Undo all deletions that *wanted* means, in transactions that let others commit in between.

    Args:
        run: runs a job in a durable transaction.
        wanted: which.
        by: who wants it; all pieces are one decision.
    """
    began, restored, after = run(lambda _w, _a, now: now), 0, 0
    while True:

        def piece(
            writer: CatalogWriter, applied: Applied, _now: float, after: int = after
        ) -> tuple[int, int]:
            return writer.deletions.undo(wanted, after, _PIECE, applied, by=by, at_s=began)

        back, after = run(piece)
        restored += back
        if not after:
            return {"restored": restored, "target": str(wanted)}


def close_hold_job(number: int, *, release: bool, by: By = NOBODY) -> Job:
    """Return the end of a hold; ``documents`` of its answer is ``None`` when there is no such open hold."""

    def job(writer: CatalogWriter, applied: Applied, now_s: float) -> dict[str, Any]:
        count = writer.deletions.close_hold(number, release=release, now_s=now_s, applied=applied, by=by)
        return {"hold": number, "documents": count}

    return job


def follow_directly(follower: IndexFollower, sequence: int) -> None:
    """Let the index catch up with the log up to *sequence*, however long it takes while it gets on, then stop it.

    Raises:
        IngatherError: the index is broken; the catalog has the change all the same.
    """
    follower.start()
    try:
        before = -1
        while not follower.flush(sequence):
            if follower.broken or follower.applied <= before:
                why = follower.broken or "it does not get on"
                raise IngatherError(
                    f"the catalog is changed, but the index stopped: {why}",
                    hint="run: ingather index rebuild",
                )
            before = follower.applied
    finally:
        follower.stop()


def hold_form(hold: Any) -> dict[str, Any]:
    """Return a hold as JSON shows it."""
    return {
        "id": hold.id, "source": hold.source, "reason": hold.reason, "opened": hold.opened_s, "documents": hold.urls,
        "sample": list(hold.sample), "why": hold.why,
    }  # fmt: skip


def _said(by: By) -> dict[str, str]:
    return {name: value for name, value in (("author", by.author), ("note", by.note)) if value}


def wanted_of(form: Mapping[str, str]) -> Undo:
    """Read which deletions are to be undone.

    Raises:
        UsageError: nothing says so, or a number is none.
    """
    wanted = undo_of(form)
    if wanted.empty:
        raise UsageError(
            "nothing says which deletions", hint="give a URL, a run, a reason, a hold, a source or a decision"
        )
    return wanted


def _target(text: str) -> tuple[str, bool]:
    exact = not text.endswith(("*", "/"))
    try:
        url = fed_url(text.rstrip("*"))  # with all parameters: without, a prefix would mean more than it says
    except UrlError as error:
        raise UsageError(
            f"{text!r} is not a URL: {error.text}", hint="write a whole URL, or a prefix that ends in / or *"
        ) from error
    return url, exact
