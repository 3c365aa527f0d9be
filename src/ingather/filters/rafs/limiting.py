"""filter-by-max: depth, content length, objects and hosts of a run (section 7.4).

Objects and hosts are counted where the whole run is known: a gatherer asks the keeper. Before the fetch
the question is noted (``Evaluation.asked``), the URL judged as if it passed, and judged again with the
answer; in Data the filter stops at the question until there is an answer. A URL that was only found
is not counted: it is when its turn has come. Elsewhere (simulate, explain, tests) an engine counts for itself.
"""

from ingather.filters.evaluation import State
from ingather.filters.sources import first, reader
from ingather.model.counted import Count
from ingather.model.phase import Phase
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Run, builds

__all__ = ["Counters", "filter_by_max"]


class Counters:
    """What filter-by-max has let pass in an engine that asks nobody, by role: URLs and hosts.

    A URL is counted once however often it is judged.
    """

    def __init__(self) -> None:
        self._passed: dict[tuple[str, str], set[str]] = {}

    def admit(self, count: Count, *, dry: bool) -> bool:
        """Tell whether what *count* names passes, and count it unless *dry*."""
        passed = self._passed.setdefault((count.kind, count.role), set())
        if count.name in passed:
            return True
        if len(passed) >= count.limit:
            return False
        if not dry:
            passed.add(count.name)
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
    before_fetch = directive.phase is Phase.METADATA

    def by_count(state: State) -> Verdict | Count | None:
        ev = state.evaluation
        count = Count(source, role, ev.url if source == "objects" else ev.host, limit)
        if ev.answers is None or state.dry:
            return None if counters.admit(count, dry=state.dry) else denied
        if not ev.asking:
            return None
        said = ev.answers.get(role)
        if said is None:
            if not before_fetch:
                return count
            ev.asked.append(count)
            return None
        return None if said else denied

    return by_count
