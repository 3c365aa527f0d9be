"""What a child process needs to build its parts: plain values, made once by the keeper."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingather.conf import Site
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf

__all__ = ["Blueprint"]


@dataclass(frozen=True)
class Blueprint:
    """The picture of one run; picklable, the same for all gatherers.

    Attributes:
        home: the home folder.
        socket: the keeper's Unix socket.
        seed: of URL keys.
        version: configuration version of *files*.
        files: configuration files by name, as published: a gatherer reads these and not the folder,
            so that an edit in mid-run changes nothing.
        sites: sites that the command line added for this run.
        settings, sources: of ``ingather.toml``, flags and run included.
        own_ports: (address, port) of our listeners, which are never fetched from.
        overrides: robot.conf values that flags of the run set.
        aliases: hosts with another name, to the host whose keys their URLs get.
    """

    home: str
    socket: str
    seed: int
    version: int
    files: Mapping[str, bytes]
    sites: tuple[Site, ...]
    settings: Settings
    sources: Mapping[str, SourceConf]
    own_ports: tuple[tuple[str, int], ...]
    overrides: Mapping[str, object]
    aliases: Mapping[str, str] = field(default_factory=dict)
