"""Functions by name: what the product brings and what users add enter by the same door.

A module's functions are marked (``marking``), a ``registry`` collects marked modules and knows for
every name its specification, its function and where it came from. Binding a directive to its
function is then one call; the filter engine does it once, at load. ``readers`` finds the installed
page reader.
"""

from ingather.plugins.marking import Binding, Build, Context, Outcome, Run, builds, raf
from ingather.plugins.readers import installed_page_reader
from ingather.plugins.registry import Function, Registry

__all__ = [
    "Binding",
    "Build",
    "Context",
    "Function",
    "Outcome",
    "Registry",
    "Run",
    "builds",
    "installed_page_reader",
    "raf",
]
