"""A URL becomes a discovery: judged by the MetaData filters before anybody stores or fetches it."""

from collections import Counter
from dataclasses import dataclass

from ingather.filters import Engine, Evaluation
from ingather.model.candidate import Candidate, Pushed
from ingather.model.report import Denial, Discovery
from ingather.model.urlparts import key, split
from ingather.model.verdict import Exclusion

__all__ = ["Discoverer", "UrlLimits", "denial_of"]


def denial_of(evaluation: Evaluation, version: int) -> Denial:
    """Return why both filters said no: the generation filter speaks, it is the one that users miss."""
    verdict = evaluation.generation if not evaluation.generation.allowed else evaluation.enumeration
    return Denial(str(verdict.category or Exclusion.FILTER_RULES), verdict.where, verdict.reason, version)


@dataclass(frozen=True, slots=True)
class UrlLimits:
    """What a URL may look like: traps (endless folders, endless parameters) end here, before any filter."""

    chars: int = 4096
    segments: int = 20
    repeats: int = 3


class Discoverer:
    """Judges URLs under one configuration version; keys are made with the installation's *seed*."""

    def __init__(self, engine: Engine, *, version: int, seed: int, limits: UrlLimits | None = None) -> None:
        self._limits = limits or UrlLimits()
        self.engine = engine
        self.version = version
        self.seed = seed

    def discover(  # noqa: PLR0913 - the circumstances of a URL
        self,
        url: str,
        *,
        depth: int,
        max_depth: int | None,
        source: str,
        hops: int = 0,
        priority: int = 5,
        number: int | None = None,
        pushed: Pushed = Pushed.NO,
    ) -> Discovery:
        """Return canonical *url* as a discovery; *number* is its key if the caller has it already."""
        evaluation = self.engine.evaluation(
            Candidate(url=url, depth=depth, max_depth=max_depth, source=source, hops=hops, pushed=pushed)
        )
        denial = self.shape(url)
        if denial is None and not self.engine.metadata(evaluation):
            denial = denial_of(evaluation, self.version)
        evaluation.end()
        parts = split(url)
        return Discovery(
            key=key(url, self.seed) if number is None else number, origin=parts.origin, path=parts.path, depth=depth,
            max_depth=max_depth, source=evaluation.source or source, denial=denial, hops=hops, priority=priority,
        )  # fmt: skip

    def shape(self, url: str) -> Denial | None:
        """Return why the URL's shape alone refuses it."""
        limits = self._limits
        reason = ""
        if len(url) > limits.chars:
            reason = f"longer than {limits.chars} characters (limits.url-length)"
        elif (slashes := url.count("/") - 2) > limits.repeats:
            path = url.partition("?")[0]
            if slashes > limits.segments and path.count("/") - 2 > limits.segments:
                reason = f"more than {limits.segments} segments (limits.url-segments)"
            else:
                segments = path.split("/")[3:]
                if len(set(segments)) < len(segments) and any(
                    n > limits.repeats for s, n in Counter(segments).items() if s
                ):
                    reason = f"a segment more than {limits.repeats} times (limits.url-repeats)"
        return Denial(str(Exclusion.BUDGET), "", reason, self.version) if reason else None
