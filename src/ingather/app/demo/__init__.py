"""The demonstration: Ingather in a temporary home, on real content, gathered over HTTP on loopback.

``site`` turns the documents of this project into pages (``markdown``), a PDF file (``paper``) and a Word
file (``wordfile``); ``hosting`` serves them. ``playing`` makes the home, starts the product in it, plays
the ``scenes`` one by one and takes everything away.
"""

from ingather.app.demo.hosting import StaticServer
from ingather.app.demo.playing import play
from ingather.app.demo.scenes import SCENES, Player, Scene, Stage
from ingather.app.demo.site import Resource, documentation_folder, documentation_site

__all__ = [
    "SCENES",
    "Player",
    "Resource",
    "Scene",
    "Stage",
    "StaticServer",
    "documentation_folder",
    "documentation_site",
    "play",
]
