"""The languages of configuration: text to tree to checked values, with every finding at once.

A configuration file's way through this room: its bytes become text (``text/physical``), physical lines become logical
ones (``lexer``), those become parameters (``parameters``) in blocks (``blocks``) of a tree (``tree``) that ``writer`` can print
again, and that ``textedit`` changes in place. What the tree means is read by one folder a language:

* ``robot/``: robot.conf, its parameters and their table;
* ``filters/``: filter.conf, with ``directives`` for one line, ``sequence`` for what holds between lines, ``vocabulary`` for the
  functions there are;
* ``sites/``: filterrules.conf, its sites and rules, and their editing;
* ``patterns/``: patterns of all of these in their dialects; ``urlpatterns/`` those of pushed feeds;
* ``rd/``: the forms in which resource descriptions, their schema and the taxonomy travel;
* ``settings/`` and ``sources/``: the product's own ``ingather.toml``.

``report`` collects findings, ``names`` guesses what was meant. ``loading`` reads a whole folder through ``files``; ``shipped`` has
the files that a new home gets.
"""

from ingather.conf.filters.builtins import BUILTIN
from ingather.conf.filters.filterconf import Filter
from ingather.conf.filters.vocabulary import FunctionSpec, ParameterSpec, Vocabulary
from ingather.conf.loading import Loaded, StartingPoint, load, load_bodies
from ingather.conf.mime import MimeMap
from ingather.conf.robot.robotconf import RobotConf
from ingather.conf.robot.robotparameters import PARAMETERS, RobotParameter
from ingather.conf.shipped import shipped
from ingather.conf.sites.rules import Rule, Rules, Site, Start

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
