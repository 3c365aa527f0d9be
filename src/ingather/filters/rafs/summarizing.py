"""harvest-summarizer: what a Harvest program printed about the body (section 14.2).

The program does not run here: ``Engine.programs`` says which are wanted, whoever drives the engine runs them
where they may hang or die, and gives back what they printed.
"""

from ingather.filters.evaluation import State
from ingather.filters.rafs.extracting import RESERVED
from ingather.plugins import Binding, Run, builds

__all__ = ["harvest_summarizer"]


@builds("harvest-summarizer")
def harvest_summarizer(binding: Binding) -> Run:
    """Add attributes that are not there yet; without any output nothing happens."""
    name: str = binding.parameters["summarizer"]

    def run(state: State) -> None:
        attributes = state.attributes
        for found, values in state.evaluation.summaries.get(name, {}).items():
            if values and found not in attributes and found not in RESERVED:
                attributes[found] = values

    return run
