"""filter-by-max: depth, content length, objects and hosts of a run (section 7.4)."""

from ingather.filters.evaluation import State
from ingather.filters.sources import first, reader
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Run, builds

__all__ = ["Counters", "filter_by_max"]


class Counters:
    """What filter-by-max has let pass in this run, by role: URLs and hosts, never more than it allows.

    A URL is counted once however often it is judged. In memory of one process: with several
    gatherers each counts for itself.
    """

    def __init__(self) -> None:
        self._passed: dict[tuple[str, str], set[str]] = {}

    def admit(self, kind: str, role: str, name: str, limit: int, *, dry: bool) -> bool:
        """Tell whether *name* passes, and count it unless *dry*."""
        passed = self._passed.setdefault((kind, role), set())
        if name in passed:
            return True
        if len(passed) >= limit:
            return False
        if not dry:
            passed.add(name)
        return True

    def reset(self) -> None:
        """Forget everything: a new run begins."""
        self._passed.clear()


@builds("filter-by-max")
def filter_by_max(binding: Binding) -> Run:
    """Deny what exceeds a number."""
    directive = binding.directive
    source, limit = binding.parameters["src"], binding.parameters["value"]
    denied = Verdict(
        allowed=False,
        reason=f"filter-by-max: {source} over {limit}",
        category=Exclusion.DEPTH if source == "depth" else Exclusion.FILTER_RULES,
        where=directive.where,
        phase=directive.phase,
    )
    if source in {"depth", "content-length"}:
        read = reader(source)

        def by_number(state: State) -> Verdict | None:
            value = first(read(state))
            if value is None:  # cleared
                return None
            return None if int(value) <= limit else denied

        return by_number
    counters: Counters = binding.engine.counters
    role = binding.role.value

    def by_count(state: State) -> Verdict | None:
        ev = state.evaluation
        name = ev.url if source == "objects" else ev.host
        return None if counters.admit(source, role, name, limit, dry=state.dry) else denied

    return by_count
