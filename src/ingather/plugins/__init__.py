"""Functions by name: what the product brings and what users add enter by the same door.

A module's functions are marked (``marking``), a ``registry`` collects marked modules and knows for
every name its specification, its function and where it came from. Binding a directive to its
function is then one call; the filter engine does it once, at load. ``installed`` finds the plug-ins of an
installation: files of the plug-in folder and packages with an entry point. A function of one's own is
``handed`` a filter and a resource and gives one of the ``answers``; ``calling`` makes a verdict of it, also when
it fails. ``readers`` finds the installed page reader.
"""

from ingather.conf.filters.vocabulary import Kind, ParameterSpec
from ingather.model.phase import Phase
from ingather.plugins.answers import ABORTED, DENY, EXIT, NOACTION, PROCEED, RESTART, Answer
from ingather.plugins.calling import AGAIN
from ingather.plugins.handed import FilterView, Record, Resource
from ingather.plugins.installed import PlugIn, PlugIns
from ingather.plugins.marking import Binding, Build, Outcome, Run, builds, converter, extractor, fetcher, raf
from ingather.plugins.readers import installed_page_reader
from ingather.plugins.registry import Function, Registry

__all__ = [
    "ABORTED",
    "AGAIN",
    "DENY",
    "EXIT",
    "NOACTION",
    "PROCEED",
    "RESTART",
    "Answer",
    "Binding",
    "Build",
    "FilterView",
    "Function",
    "Kind",
    "Outcome",
    "ParameterSpec",
    "Phase",
    "PlugIn",
    "PlugIns",
    "Record",
    "Registry",
    "Resource",
    "Run",
    "builds",
    "converter",
    "extractor",
    "fetcher",
    "installed_page_reader",
    "raf",
]
