"""The parameters of robot.conf, once: name, type, range, default, help, whether it acts.

The reference page is made from this table (section 5.2 of the robot specification).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["PARAMETERS", "RobotParameter", "parameter_name"]


@dataclass(frozen=True, slots=True)
class RobotParameter:
    """One parameter.

    Attributes:
        name: canonical spelling, lower case with hyphens.
        kind: ``int``, ``seconds``, ``bool``, ``text``, ``path``, ``choice``.
        default: value when it is absent.
        help: one sentence, for the reference and for ``config show``.
        low, high: range of numbers.
        choices: of a choice.
        aliases: other names; those in *documented* spelling are read silently, others warn.
        acts: ``False`` = read and checked, but nothing follows from it yet.
        secret: never shown.
        live: may change while running.
    """

    name: str
    kind: str
    default: object
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    acts: bool = True
    secret: bool = False
    live: bool = False

    @property
    def field(self) -> str:
        """Name of the attribute of ``RobotConf``."""
        return self.name.replace("-", "_")

    @property
    def range(self) -> str:
        """The range for people."""
        if self.choices:
            return ", ".join(self.choices)
        if self.kind == "bool":
            return "true, false"
        if self.low is None:
            return ""
        high = "" if self.high is None else f"{self.high:g}"
        return f"{self.low:g}..{high}" if high else f"{self.low:g} or more"


def parameter_name(written: str) -> str:
    """Return the canonical form of a parameter name: lower case, hyphens."""
    return written.lower().replace("_", "-")


_TABLE = (
    RobotParameter(
        "auto-proxy",
        "text",
        "",
        "Proxy of the robot, or a PAC file: its path ends in .pac or .dat, or its content type says so.",
    ),
    RobotParameter("bindir", "path", "", "Folder put before PATH for external programs."),
    RobotParameter(
        "cmd-hook",
        "text",
        "",
        "Program (full path, arguments behind it) called after each completed run in which a description was made.",
        aliases=("cmdhook",),
        live=True,
    ),
    RobotParameter(
        "command-port",
        "int",
        0,
        "Port for commands of other programs; 0 = none.",
        low=0,
        high=65535,
        live=True,
    ),
    RobotParameter(
        "connect-timeout",
        "seconds",
        120.0,
        "Longest wait for a connection.",
        low=1,
        aliases=("command-timeout",),
        live=True,
    ),
    RobotParameter(
        "convert-timeout", "seconds", 600.0, "Longest conversion of one document.", low=1, live=True
    ),
    RobotParameter(
        "depth",
        "int",
        10,
        "Links followed from a starting point that names no depth of its own; -1 = no limit.",
        low=-1,
        live=True,
    ),
    RobotParameter(
        "email",
        "text",
        "",
        "Address of the operator, sent with every request so that web masters can write.",
        live=True,
    ),
    RobotParameter(
        "enable-ip", "bool", default=True, help="Put the address of the host into each description."
    ),
    RobotParameter(
        "enable-rdm-probe", "bool", default=False, help="Ask servers for RDM (dead protocol).", acts=False
    ),
    RobotParameter(
        "enable-robots-txt", "bool", default=True, help="Obey robots.txt and page-level robots rules."
    ),
    RobotParameter(
        "engine-concurrent",
        "int",
        10,
        "Workers made in advance: at most so many visits at a time, never more than max-connections; not stated = as many.",
        low=1,
        high=100,
    ),
    RobotParameter(
        "enumeration-filter", "text", "enumeration-default", "Filter that decides which links are followed."
    ),
    RobotParameter(
        "generation-filter",
        "text",
        "generation-default",
        "Filter that decides what gets a resource description.",
    ),
    RobotParameter(
        "index-after-ngenerated",
        "int",
        256,
        "Minutes of collecting before descriptions are indexed, at most 1000 of them; 0 = at once. A run's end ends it.",
        low=0,
        live=True,
    ),
    RobotParameter(
        "loglevel",
        "int",
        1,
        "How much robot.log tells: 0 serious errors, 1 descriptions made, 2 retrieval, 3 filtering, 4 spawning, "
        "5 progress.",
        low=0,
        high=100,
        live=True,
    ),
    RobotParameter(
        "max-connections",
        "int",
        8,
        "Most concurrent retrievals.",
        low=1,
        high=100,
        aliases=("max-concurrent",),
        live=True,
    ),
    RobotParameter(
        "max-filesize-kb", "int", 10240, "Largest file retrieved, in kilobytes.", low=1, live=True
    ),
    RobotParameter(
        "max-memory-per-url",
        "int",
        64000,
        "Characters of a description's text that wait in memory for the index; above it they are read from disk again.",
        low=1,
        live=True,
        aliases=("max-memory",),
    ),
    RobotParameter("max-working", "int", 1024, "URLs in work at once; the rest waits in the catalog.", low=1),
    RobotParameter(
        "oncompletion",
        "choice",
        "idle",
        "What the robot does after a run.",
        choices=("idle", "loop", "quit"),
        aliases=("on-completion",),
        live=True,
    ),
    RobotParameter(
        "password",
        "text",
        "",
        "For hosts of defined sites that ask for HTTP Basic, and their FTP.",
        secret=True,
    ),
    RobotParameter("referer", "text", "", "Constant Referer header, if set.", live=True),
    RobotParameter(
        "remote-access", "bool", default=False, help="Take commands of remote hosts, over TLS.", live=True
    ),
    RobotParameter(
        "robot-state-dir",
        "path",
        "",
        "Folder of the file that keeps what commands set (off, paused, slowed and blocked hosts); not stated: the home.",
        live=True,
    ),
    RobotParameter(
        "server-delay",
        "seconds",
        1.0,
        "Pause between the starts of two visits to one host; 0 holds only for own hosts; robots.txt can raise it.",
        low=0,
        live=True,
    ),
    RobotParameter(
        "site-max-connections",
        "int",
        2,
        "Most concurrent connections to one host; 0 = no limit.",
        low=0,
        high=100,
        aliases=("site-max-concurrent",),
        live=True,
    ),
    RobotParameter(
        "smart-host-heuristics",
        "bool",
        default=False,
        help="Fold www123.host into www.host, if both have an address in common.",
    ),
    RobotParameter("tmpdir", "path", "", "Folder for temporary files; default: the system's."),
    RobotParameter(
        "user-agent",
        "text",
        "",
        "Product name and version sent to hosts; default: Ingather and its version.",
        live=True,
    ),
    RobotParameter("username", "text", "anonymous", "Goes with password."),
    RobotParameter(
        "csid", "text", "", "Name of the search instance (x-catalog://host:port/name); informational."
    ),
    RobotParameter("auto-serv", "text", "", "Book-keeping of the old console.", acts=False),
    RobotParameter("proxy-type", "text", "", "Book-keeping of the old console.", acts=False),
    RobotParameter("proxy-loc", "text", "", "Book-keeping of the old console.", acts=False),
    RobotParameter(
        "undefined-source",
        "choice",
        "noaction",
        "What a test of an undefined source does in MetaData: nothing, or as if it were empty.",
        choices=("noaction", "empty"),
    ),
    RobotParameter(
        "regex-dialect",
        "choice",
        "auto",
        "How patterns are read.",
        choices=("auto", "posix", "shexp", "python"),
    ),
    RobotParameter(
        "max-categories",
        "int",
        5,
        "Categories that classification.conf leaves a description at most.",
        low=1,
        high=10_000,
    ),
    RobotParameter(
        "strict", "bool", default=False, help="Count leniencies in reading configuration as errors."
    ),
)

PARAMETERS: Mapping[str, RobotParameter] = MappingProxyType({p.name: p for p in _TABLE})
