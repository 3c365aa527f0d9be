"""How much one question may ask of the index."""

from dataclasses import dataclass

__all__ = ["QueryLimits"]


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Bounds that are checked before a query runs, so that none holds a thread for more than ``time_s``.

    Attributes:
        chars: length of the query as written.
        clauses: words, words of phrases and operators with a value.
        expansions: elementary queries after every word was spread over languages and fields.
        window: last hit that can be asked for (offset + limit).
        page: hits a page.
        work: postings that may be read (a common word in a million documents is a million of them;
            20 million take half a second to a second).
        time_s: what a question may take in all; optional parts (facets, snippets, help) are left
            out when it is spent.
        first_s: what a question takes at least that is the first, in a state of the index, to name what a viewer sees nowhere: looking
            for it takes longer if hidden documents have it, some 0.1 ms for a thousand of them. Strict ranking only.
    """

    chars: int = 2048
    clauses: int = 256
    expansions: int = 1000
    window: int = 10_000
    page: int = 100
    work: int = 20_000_000
    time_s: float = 2.0
    first_s: float = 0.01
