"""filterrules-process: the sites and rules of filterrules.conf (section 9, order DEC-32)."""

from collections.abc import Callable

from ingather.conf.filters.directives import Directive
from ingather.conf.patterns.dialects import FOLDED_SOURCES
from ingather.conf.sites.rules import Match
from ingather.filters.evaluation import State
from ingather.filters.matching import NONE
from ingather.filters.sites import CompiledSite, SiteTable
from ingather.filters.sources import Read, comparer, first, reader
from ingather.model.candidate import Pushed
from ingather.model.phase import Phase
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Run, builds

__all__ = ["filterrules_process"]

_READ_HOST = reader("host")
_READ_PROTOCOL = reader("protocol")
_READ_DEPTH = reader("depth")
_COMPARED: dict[str, Read] = {name: comparer(name) for name in ("url", "protocol", "host", "path")}


@builds("filterrules-process")
def filterrules_process(binding: Binding) -> Run:
    """Find the site, check protocol, port and depth, try its rules in order."""
    noted = binding.engine.judgements
    kind = _Plainly if noted is not None and noted.verbose(binding.role) else _Process
    return kind(binding.engine.table(binding.filter.rules), binding.directive).run


class _Process:
    """Verdicts are made once for each site, rule and limit, and shared."""

    def __init__(self, table: SiteTable, directive: Directive) -> None:
        self.table = table
        self.phase = directive.phase
        self.late = directive.phase is not Phase.METADATA
        self.no_site = self._deny("site not allowed", Exclusion.SITE_NOT_ALLOWED, directive.where)
        self.verdicts: dict[tuple[int, object], Verdict] = {}
        """By site, and by what denies: a word, a depth limit, the name of a rule after ``rule ``."""

    def _deny(self, reason: str, category: Exclusion, where: str) -> Verdict:
        return Verdict(allowed=False, reason=reason, category=category, where=where, phase=self.phase)

    def _of_site(self, compiled: CompiledSite, what: object, reason: str, category: Exclusion) -> Verdict:
        key = (id(compiled), what)
        verdict = self.verdicts.get(key)
        if verdict is None:
            verdict = self.verdicts[key] = self._deny(
                reason, category, compiled.site.where or self.no_site.where
            )
        return verdict

    def run(self, state: State) -> Verdict | None:
        ev = state.evaluation
        if state.touched:
            scheme, host, depth = (
                first(_READ_PROTOCOL(state)),
                first(_READ_HOST(state)),
                first(_READ_DEPTH(state)),
            )
            scheme, host, level = scheme or "", host or "", int(depth or ev.depth)
        else:
            scheme, host, level = ev.scheme, ev.host, ev.depth
        pushed = ev.candidate.pushed
        if pushed is Pushed.CONTENT:  # nobody fetches it: rules about where to go do not concern it
            ev.site = self.table.pushed.site
            return None
        compiled = self.table.site_of(host) or self.table.named.get(pushed)
        if compiled is None:
            return self.no_site
        return self._at(state, compiled, scheme, level)

    def _at(self, state: State, compiled: CompiledSite, scheme: str, level: int) -> Verdict | None:
        ev = state.evaluation
        ev.site = compiled.site
        if not compiled.site.enabled:
            return self._of_site(compiled, "disabled", "site disabled", Exclusion.SITE_NOT_ALLOWED)
        if scheme not in compiled.protocols:
            return self._of_site(compiled, "protocol", "protocol not allowed", Exclusion.PROTOCOL_NOT_ALLOWED)
        if compiled.ports and ev.port and ev.port not in compiled.ports:
            return self._of_site(compiled, "port", "port not allowed", Exclusion.PROTOCOL_NOT_ALLOWED)
        limit = ev.candidate.max_depth
        if limit is None:
            limit = compiled.depth
        if level > limit >= 0:
            return self._of_site(compiled, limit, f"depth over {limit}", Exclusion.DEPTH)
        return self._rules(state, compiled) if compiled.rules else None

    def _rules(self, state: State, compiled: CompiledSite) -> Verdict | None:
        effective, taken = state.kinds()
        number = self._first(state, compiled, effective, taken)
        if number == NONE:
            if compiled.url_includes or (compiled.type_includes and effective):
                return self._of_site(compiled, "include", "no include rule matched", Exclusion.FILTER_RULES)
            return None
        rule = compiled.rules[number]
        if rule.include:
            return None
        key = (id(compiled), f"rule {rule.name}")
        verdict = self.verdicts.get(key)
        if verdict is None:
            where = f"{rule.place.file}:{rule.place.line}"
            verdict = self.verdicts[key] = self._deny(
                f"filter rule {rule.name}", Exclusion.FILTER_RULES, where
            )
        return verdict

    def _first(self, state: State, compiled: CompiledSite, effective: str, taken: str) -> int:
        """Return the first rule that matches, :data:`NONE` if none does; by the tables."""
        number = self._by_url(state, compiled)
        if effective:
            number = min(number, compiled.type_rule(effective))
            if taken != effective:
                number = min(number, compiled.type_rule(taken))
        return number

    @staticmethod
    def _by_url(state: State, compiled: CompiledSite) -> int:
        """Return the first rule that matches by what the URL says; the same in all phases, so kept."""
        ev = state.evaluation
        memo = ev.rule_memo
        if not state.touched and memo is not None and memo[0] is compiled:
            return int(memo[1])
        number = NONE
        for source, table in compiled.url_sources:
            value = _COMPARED[source](state)
            if value:
                number = min(number, table.first_of((value,) if isinstance(value, str) else value))
        if not state.touched:
            ev.rule_memo = (compiled, number)
        return number


class _Plainly(_Process):
    """Tries rule by rule, and writes down which: slower, and the same verdicts."""

    def _first(self, state: State, compiled: CompiledSite, effective: str, taken: str) -> int:
        kinds = dict.fromkeys((effective, taken)) if effective else {}
        subjects: dict[str, list[tuple[str, ...]]] = {"type": [(kind,) for kind in kinds]}
        for source, _ in compiled.url_sources:
            value = _COMPARED[source](state)
            forms = (value,) if isinstance(value, str) else value
            subjects[source] = [forms] if forms and value else []
        for number, rule in enumerate(compiled.rules):
            known = [match for match in rule.matches if subjects[match.source]]
            if known:
                state.tested.append(rule.name)
            if any(_holds(match, forms) for match in known for forms in subjects[match.source]):
                return number
        return NONE


def _holds(match: Match, forms: tuple[str, ...]) -> bool:
    """Tell whether one test holds for one of *forms*."""
    if match.pattern is not None:
        return match.pattern.any(forms)
    text = match.value
    if match.ignore_case or match.source in FOLDED_SOURCES:
        text, forms = text.lower(), tuple(form.lower() for form in forms)
    return any(_METHODS[match.method](form, text) for form in forms)


_METHODS: dict[str, Callable[[str, str], bool]] = {
    "is": str.__eq__,
    "contains": str.__contains__,
    "begins-with": str.startswith,
    "ends-with": str.endswith,
}
