"""The languages of configuration: text to tree to checked values, with every finding at once.

A configuration file's way through this room: its bytes become text (``physical``), physical lines
become logical ones (``lexer``), those become parameters (``parameters``) in blocks (``blocks``) of a
tree (``tree``) that ``writer`` can print again. What the tree means is read by one file a language:
``robotconf`` (with its table ``robotparameters``), ``filterconf`` (with ``directives`` for one line,
``sequence`` for what holds between lines, and ``vocabulary`` for the functions there are),
``rulesconf``, ``mime``. Patterns are compiled by ``patterns`` (``shexp`` and ``posix`` are its
dialects). ``report`` collects findings, ``names`` guesses what was meant. ``loading`` reads a whole
folder through ``files``; ``shipped`` has the files that a new home gets.

SOIF, the form in which resource descriptions and the taxonomy travel, is written by ``soif`` and read by
``soif_reader``.

The product's own settings (``ingather.toml``) are read beside it by ``settings`` and its files.
"""

from ingather.conf.builtins import BUILTIN
from ingather.conf.filterconf import Filter
from ingather.conf.loading import Loaded, StartingPoint, load, load_bodies
from ingather.conf.mime import MimeMap
from ingather.conf.robotconf import RobotConf
from ingather.conf.robotparameters import PARAMETERS, RobotParameter
from ingather.conf.rules import Rule, Rules, Site, Start
from ingather.conf.shipped import shipped
from ingather.conf.vocabulary import FunctionSpec, ParameterSpec, Vocabulary

__all__ = [
    "BUILTIN",
    "PARAMETERS",
    "Filter",
    "FunctionSpec",
    "Loaded",
    "MimeMap",
    "ParameterSpec",
    "RobotConf",
    "RobotParameter",
    "Rule",
    "Rules",
    "Site",
    "Start",
    "StartingPoint",
    "Vocabulary",
    "load",
    "load_bodies",
    "shipped",
]
