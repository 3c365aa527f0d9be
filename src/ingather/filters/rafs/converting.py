"""convert-to-html: documents become pages, in a process that may die (section 7.7)."""

from ingather.filters.evaluation import Convert, State
from ingather.filters.types import HTML_TYPES, media_type
from ingather.plugins import Binding, Run, builds

__all__ = ["convert_to_html"]

_HOPELESS = ("image/", "audio/", "video/", "font/")


@builds("convert-to-html")
def convert_to_html(binding: Binding) -> Run:
    """Ask for a conversion if the type is the wanted one; the next call finds its result.

    The type is the effective one, or what the bytes are taken for where the header still
    speaks. ``unknown`` takes what came without a type: pages and plain text among them are
    used as they are.
    """
    wanted = media_type(binding.parameters["type"])
    where = binding.directive.where

    def run(state: State) -> Convert | None:
        if wanted not in state.kinds() or state.tried:
            return None
        ev = state.evaluation
        if ev.conversion is not None:
            state.use(ev.conversion)
            return None
        if ev.conversion_reason:
            state.tried = True
            return None
        taken = state.kinds()[1]
        if wanted == "unknown":
            page = ev.page()
            if page is not None and (taken in HTML_TYPES or taken.startswith("text/")):
                state.tried = True
                state.set("type", taken)
                return None
            if taken.startswith(_HOPELESS):
                return None
        return Convert("" if taken == "unknown" else taken, where, state.role)

    return run
