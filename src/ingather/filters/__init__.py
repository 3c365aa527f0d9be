"""The filter engine: which links are followed, what gets a description, and why.

A URL's way through this room: ``engine`` makes an ``evaluation`` of it (facts of the URL split once,
everything else on demand) with a view for each of the two filters. Each filter is a ``plan`` of steps,
a step is a directive bound to its function at load; the functions are in ``rafs``, one family a file.
``running`` runs them, ``gating`` asks the lists of URL patterns before all of them.
Steps read ``sources``, compare ``types``, look hosts up in ``sites`` and rules in ``matching``. After the
response, ``page_rules`` says what the page itself forbids. ``trace`` is what all this looks like to
people who ask why. ``dates`` reads and writes dates. ``judgements`` notes what filter.log is to say.

Filters fail closed: a function that fails denies, with its line.
"""

from ingather.filters.engine import Engine
from ingather.filters.evaluation import Convert, Evaluation
from ingather.filters.rafs import builtin_registry
from ingather.filters.trace import Decision, TraceStep
from ingather.model.candidate import Candidate
from ingather.model.resource import Response

__all__ = [
    "Candidate",
    "Convert",
    "Decision",
    "Engine",
    "Evaluation",
    "Response",
    "TraceStep",
    "builtin_registry",
]
