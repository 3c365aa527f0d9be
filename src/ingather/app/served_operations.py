"""Operators' commands under ``ingather serve``: jobs that its keeper does, for the threads of the admin listener."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ingather.app.descriptions.classifying import autoclassify
from ingather.app.jobs import Job
from ingather.app.keeper import Gathering
from ingather.app.operating import close_hold_job, hold_form, removal_job, undelete_job, undo_all, wanted_of
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import UnknownNameError
from ingather.model.decided import NOBODY, By

__all__ = ["ServedOperations"]


class ServedOperations:
    """What the admin listener may ask of a running keeper; called from its threads.

    Args:
        gathering: whose keeper it is.
        ask: runs work on the keeper's loop and returns its answer.
    """

    def __init__(self, gathering: Gathering, ask: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._gathering = gathering
        self._ask = ask

    def remove(
        self, target: str, by: By = NOBODY, *, yes: bool = False, dry_run: bool = False
    ) -> dict[str, Any]:
        """Remove a URL or everything below a prefix, or say what would go."""
        answer: dict[str, Any] = self.do(
            removal_job(target, by, self._gathering.policies, yes=yes, dry_run=dry_run)
        )
        return answer

    def undelete(self, target: str, by: By = NOBODY) -> dict[str, Any]:
        """Undo deletions at a URL or below a prefix."""
        answer: dict[str, Any] = self.do(undelete_job(target, by))
        return answer

    def undo(self, form: Mapping[str, str], by: By = NOBODY) -> dict[str, Any]:
        """Undo the deletions of a run, reason, hold or source."""
        return undo_all(self.do, wanted_of(form), by)

    def classify(self) -> dict[str, Any]:
        """Tag documents by the queries of their categories."""
        return autoclassify(self._gathering.home, self._gathering.loaded, self.do).form()

    def holds(self) -> Sequence[dict[str, Any]]:
        """Return the open holds."""
        found: list[dict[str, Any]] = self.do(
            lambda w, _a, _now: [hold_form(hold) for hold in w.deletions.holds()]
        )
        return found

    def close_hold(self, number: int, *, release: bool, by: By = NOBODY) -> dict[str, Any]:
        """Carry out or drop the deletions of a hold."""
        answer: dict[str, Any] = self.do(close_hold_job(number, release=release, by=by))
        if answer.get("documents") is None:
            hint = "list them with: ingather holds list"
            raise UnknownNameError(
                f"there is no open hold {number}", kind="hold", name=str(number), hint=hint
            )
        return answer

    def do(self, job: Job) -> Any:
        """Run a job on the keeper and wait until it is durable."""
        keeper, clock = self._gathering.keeper, self._gathering.clock

        def work(writer: Any, applied: Applied) -> Any:
            return job(writer, applied, clock.wall())

        return self._ask(keeper.write(work))
