"""assign-source, clear-source, assign-type-by-extension (section 7.7)."""

from ingather.filters.evaluation import State
from ingather.filters.sources import first, reader
from ingather.plugins import Binding, Run, builds

__all__ = ["assign_source", "assign_type_by_extension", "clear_source"]


@builds("assign-source")
def assign_source(binding: Binding) -> Run:
    """Set a source to a text, or to a copy of another: undefined stays undefined."""
    dst = binding.parameters["dst"]
    value = binding.parameters.get("value")
    if value is not None:
        return lambda state: state.set(dst, value)
    read = reader(binding.parameters["src"])

    def run(state: State) -> None:
        state.set(dst, read(state))

    return run


@builds("clear-source")
def clear_source(binding: Binding) -> Run:
    """Make a source undefined."""
    src = binding.parameters["src"]
    return lambda state: state.set(src, None)


@builds("assign-type-by-extension")
def assign_type_by_extension(binding: Binding) -> Run:
    """Set type from the last extension; an unknown one leaves it as it is."""
    read = reader(binding.parameters["src"])
    type_of = binding.filter.mime.type_of

    def run(state: State) -> None:
        name = first(read(state))
        found = type_of(name) if name else None
        if found is not None:
            state.set("type", found)

    return run
