"""What happened to a URL, step by step, for people who ask why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingather.model.page import Link
from ingather.model.phase import Phase, Role
from ingather.model.verdict import Verdict

__all__ = ["Decision", "TraceStep"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One directive that ran.

    Attributes:
        role: whose filter it stands in.
        phase: when it ran.
        directive: the line as written.
        where: its ``file:line``.
        source, value: the source that it looks at and what that held (``None`` = undefined).
        verdict: ``continue``, ``deny``, ``convert`` (a conversion is wanted), ``restart`` or ``error``.
        reason: why it denied; otherwise what it changed or found, may be ``""``.
        rule: ``file:line`` of the rule or site that decided, when that is not the directive.
    """

    role: Role
    phase: Phase
    directive: str
    where: str
    source: str
    value: str | None
    verdict: str
    reason: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """Both verdicts about a URL, and how they came about.

    ``links`` and ``attributes`` are there when a response was given and the filters let it pass;
    ``attributes`` only when the time was given too. ``flags`` are remarks such as
    ``conversion-failed:REASON``.
    """

    url: str
    enumeration: Verdict
    generation: Verdict
    site: str = ""
    source: str = ""
    trace: tuple[TraceStep, ...] = ()
    links: tuple[Link, ...] = ()
    over_max: int = 0
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether at least one filter lets the URL pass."""
        return self.enumeration.allowed or self.generation.allowed
