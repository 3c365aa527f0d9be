"""One line of filter.log on its way from the gatherer that judged to the keeper that writes."""

import msgspec

__all__ = ["Judgement"]


class Judgement(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What a filter said of a URL in a phase.

    ``where`` is ``file:line`` of the rule or directive, ``""`` when no line decided or the log is terse.
    ``tested``: names of the rules that were tried, in order (``logtype=verbose``).
    """

    filter: str
    phase: str
    allowed: bool
    reason: str
    where: str
    url: str
    tested: tuple[str, ...] = ()
