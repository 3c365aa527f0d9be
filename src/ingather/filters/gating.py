"""The URL patterns of follow.txt and donotfollow.txt, which come before all directives."""

from collections.abc import Callable

from ingather.conf.loading import Loaded
from ingather.conf.sites.rules import Rules
from ingather.conf.urlpatterns import Crawled
from ingather.filters.evaluation import Evaluation
from ingather.filters.sites import SiteTable
from ingather.filters.trace import TraceStep
from ingather.model.candidate import Candidate, Pushed
from ingather.model.phase import Phase
from ingather.model.verdict import Exclusion, Verdict

__all__ = ["Gatekeeper"]


class Gatekeeper:
    """Judges by the lists of a configuration; *table* gives the compiled sites of its rules."""

    def __init__(self, configuration: Loaded, table: Callable[[Rules], SiteTable]) -> None:
        self._gates, self._rules, self._table = configuration.gates, configuration.rules, table

    def refusal(self, candidate: Candidate) -> Crawled | None:
        """Return why the lists refuse *candidate*, ``None`` if they let it pass."""
        content = candidate.pushed is Pushed.CONTENT
        return self._gates.refusal(candidate.url, self._source_of(candidate), content=content)

    def _source_of(self, candidate: Candidate) -> str:
        """Return the source whose lists concern *candidate*: that of its site, if it belongs to one."""
        if not self._gates.of_source or candidate.pushed is Pushed.CONTENT or not self._rules.sites:
            return candidate.source
        authority = candidate.url.partition("://")[2].partition("/")[0]
        host, colon, port = authority.rpartition(":")
        compiled = self._table(self._rules).site_of(host if colon and port.isdigit() else authority)
        return (compiled.site.source if compiled is not None else "") or candidate.source

    def passes(self, ev: Evaluation) -> bool:
        """Write the verdict into both filters' states; tell whether the URL passes."""
        candidate = ev.candidate
        content = candidate.pushed is Pushed.CONTENT
        found = self._gates.verdicts(candidate.url, self._source_of(candidate), content=content)
        for state in (ev.enumerating, ev.generating):
            for said in found:
                if state.trace is not None and said.where:
                    verdict = "continue" if said.passed else "deny"
                    text = said.hit.text if said.hit is not None else said.file
                    state.trace.append(
                        TraceStep(state.role, Phase.METADATA, text, said.where, "url", ev.url, verdict, said.reason)
                    )  # fmt: skip
            if not found[-1].passed:
                state.verdict = Verdict(
                    allowed=False, reason=found[-1].reason, category=Exclusion.FILTER_RULES,
                    where=found[-1].where, phase=Phase.METADATA,
                )  # fmt: skip
        return found[-1].passed
