"""copy-attribute, rename-attribute, extract-source: attributes from attributes and sources."""

from ingather.filters.evaluation import State
from ingather.filters.rafs.generating import SEVERAL
from ingather.filters.rafs.texts import cut_characters
from ingather.filters.sources import reader
from ingather.plugins import Binding, Run, builds

__all__ = ["copy_attribute", "extract_source", "rename_attribute"]


@builds("copy-attribute")
def copy_attribute(binding: Binding) -> Run:
    """Copy, cut to so many characters; with *clean* no partial word is left."""
    get = binding.parameters.get
    src, dst = binding.parameters["src"], binding.parameters["dst"]
    truncate, clean, if_missing = get("truncate"), bool(get("clean")), bool(get("if-missing"))

    def run(state: State) -> None:
        values = state.attributes.get(src)
        if not values or (if_missing and any(state.attributes.get(dst, ()))):
            return
        if truncate is not None:
            values = tuple([cut_characters(value, truncate, clean=clean) for value in values])
        state.attributes[dst] = values

    return run


@builds("rename-attribute")
def rename_attribute(binding: Binding) -> Run:
    """Rename; an existing target is replaced, one of several values (or that may have them) is merged with."""
    pairs: tuple[tuple[str, str], ...] = binding.parameters["src"]

    def run(state: State) -> None:
        attributes = state.attributes
        for old, new in pairs:
            values = attributes.pop(old, None) if old != new else None
            if values is None:
                continue
            there = attributes.get(new, ())
            if len(there) > 1 or new in SEVERAL:
                values = there + tuple(v for v in values if v not in there)
            attributes[new] = values

    return run


@builds("extract-source")
def extract_source(binding: Binding) -> Run:
    """Copy sources into attributes; undefined ones are skipped."""
    pairs = tuple((reader(src), dst) for src, dst in binding.parameters["src"])

    def run(state: State) -> None:
        attributes = state.attributes
        for read, dst in pairs:
            value = read(state)
            if value is not None:
                attributes[dst] = (value,) if isinstance(value, str) else value

    return run
