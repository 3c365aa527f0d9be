"""Setup and Shutdown functions: what they load was loaded with the configuration; they are accepted here."""

from ingather.plugins import Binding, Run, builds

__all__ = ["filterrules_setup", "filterrules_shutdown", "setup_regex_cache", "setup_type_by_extension"]


def _nothing(_: object) -> None:
    """Do nothing per resource."""


@builds("filterrules-setup")
def filterrules_setup(_: Binding) -> Run:
    """Rules are compiled by the engine (``filters.sites``)."""
    return _nothing


@builds("setup-regex-cache")
def setup_regex_cache(_: Binding) -> Run:
    """Patterns are compiled once each; the size never changes a result."""
    return _nothing


@builds("setup-type-by-extension")
def setup_type_by_extension(_: Binding) -> Run:
    """MIME maps are merged when the filter is read."""
    return _nothing


@builds("filterrules-shutdown")
def filterrules_shutdown(_: Binding) -> Run:
    """Rules are freed with the engine."""
    return _nothing
