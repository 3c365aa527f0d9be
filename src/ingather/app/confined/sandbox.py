"""How far strangers' documents are confined on this machine: what the kernel gave the converters, told at start and in the status."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingather.app.confined.confinement import MEASURES
from ingather.app.confined.pool import ConverterLimits, ConverterPool
from ingather.errors import IsolationError
from ingather.log import get
from ingather.ports.clock import Clock

__all__ = ["Sandbox", "probe"]

_log = get("sandbox")
_WHOLE, _PART, _NONE, _UNKNOWN = "whole", "part", "unavailable", "not measured yet"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What confines converters: names of ``confinement.MEASURES``; *trouble*: why no converter can be started."""

    level: str = _UNKNOWN
    measures: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    trouble: str = ""

    def form(self) -> dict[str, Any]:
        """Return it as the status document has it."""
        found: dict[str, Any] = {
            "level": self.level, "measures": list(self.measures), "missing": list(self.missing),
        }  # fmt: skip
        return {**found, "trouble": self.trouble} if self.trouble else found


async def probe(limits: ConverterLimits, clock: Clock, folder: Path) -> Sandbox:
    """Start one converter in *folder* (ours alone), ask it how it is confined, end it, and log the answer."""
    async with ConverterPool(count=1, clock=clock, limits=limits, folder=folder) as pool:
        try:
            measures = await pool.ready()
        except IsolationError as error:
            _log.error("no converter can be started", error=error.text)
            return Sandbox(_NONE, missing=MEASURES, trouble=error.text)
    missing = tuple(name for name in MEASURES if name not in measures)
    if missing:
        _log.warning("converters are confined in part", measures=measures, missing=missing)
        return Sandbox(_PART, measures, missing)
    _log.info("converters are confined", measures=measures)
    return Sandbox(_WHOLE, measures)
