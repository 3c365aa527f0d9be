"""The table of robot.conf's reference, made from the parameters, the shipped file and where each acts.

``python -m ingather.conf.robot.robotpage docs/reference/robot-conf.md`` renews it; a test compares.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ingather.conf.report import Report
from ingather.conf.robot.robotconf import parse_robot_document, read_robot
from ingather.conf.robot.robotparameters import PARAMETERS, RobotParameter
from ingather.conf.shipped import shipped

__all__ = ["VENDOR", "WHERE", "parameter_table", "renewed"]

_BEGIN = "<!-- parameters: made from ingather.conf.robot.robotpage -->\n"
_END = "<!-- end of parameters -->"

VENDOR: Mapping[str, str] = MappingProxyType(
    {
        "command-port": "none",
        "email": "user@domain, sent",
        "index-after-ngenerated": "256 minutes",
        "max-working": "none",
        "server-delay": "none",
        "robot-state-dir": "instance folder",
        "tmpdir": "the system's",
        "user-agent": "none",
        "csid": "of the instance",
        "undefined-source": "ours",
        "regex-dialect": "ours",
        "strict": "ours",
    }
)
"""What the vendor's documents say where it is not what a value of the table says."""

WHERE: Mapping[str, str] = MappingProxyType(
    {
        "auto-proxy": "every fetch (`app/reaching/proxies.py`); see [proxies](../how-to/crawl-through-a-proxy.md)",
        "bindir": "PATH of summarizers (`app/confined/summarizing.py`) and of `cmd-hook`",
        "cmd-hook": "a run's end (`app/robot/hook.py`)",
        "command-port": "[commands](robot-commands.md) (`app/robot/port.py`)",
        "connect-timeout": "each request (`fetch/http.py`)",
        "convert-timeout": "converters and summarizers (`app/confined/pool.py`)",
        "depth": "starting points, sites (`conf/loading.py`)",
        "email": "`From` and user agent (`fetch/http.py`)",
        "enable-ip": "attribute `ip` (`filters/engine.py`)",
        "enable-robots-txt": "robots.txt (`robot/politeness/hostbook.py`), page rules (`filters/engine.py`)",
        "engine-concurrent": "visits under way (`app/wiring.py`)",
        "enumeration-filter": "filters (`conf/loading.py`)",
        "generation-filter": "filters (`conf/loading.py`)",
        "index-after-ngenerated": "commits of the index (`robot/indexing/following.py`)",
        "loglevel": "`log/robot.log`, `log/robot.jsonl` (`robot/logs/robotlog.py`)",
        "max-connections": "visits under way (`robot/gatherer.py`)",
        "max-filesize-kb": "transfers (`fetch/http.py`)",
        "max-memory-per-url": "the index's queue (`robot/indexing/following.py`)",
        "max-working": "claims in hand (`robot/gatherer.py`)",
        "oncompletion": "a run's end under `serve` (`app/robot/completing.py`)",
        "password": "hosts of sites that ask for Basic (`app/reaching/logins.py`); see [logins](../how-to/crawl-with-a-password.md)",
        "referer": "every request (`robot/gatherer.py`)",
        "remote-access": "the command port (`app/robot/port.py`)",
        "robot-state-dir": "`robot-state.json` (`app/robot/statefile.py`)",
        "server-delay": "schedule of a host (`robot/politeness/hosts.py`)",
        "smart-host-heuristics": "keys of links (`robot/visit/hostnames.py`); see [two names of a host](../how-to/merge-two-names-of-a-host.md)",
        "site-max-connections": "schedule of a host (`robot/politeness/hosts.py`)",
        "tmpdir": "converters and summarizers (`app/gatherer.py`), `cmd-hook`",
        "user-agent": "every request, robots.txt token (`app/wiring.py`)",
        "username": "with `password` (`app/reaching/logins.py`)",
        "csid": "source `csid` (`filters/engine.py`)",
        "undefined-source": "comparisons in MetaData (`filters/rafs/comparing.py`)",
        "regex-dialect": "patterns (`conf/patterns/dialects.py`)",
        "strict": "reading (`conf/text/lexer.py`)",
        "max-categories": "classification (`conf/rd/classification.py`)",
    }
)
"""Where a parameter that acts does so."""


def parameter_table() -> str:
    """Return the table as Markdown: one row a parameter."""
    text = shipped()["robot.conf"]
    report = Report()
    ours = read_robot(parse_robot_document(text, "robot.conf", report), report)
    lines = [
        "| parameter | value | vendor's default | when absent | ours | effect | where it acts |",
        "|---|---|---|---|---|---|---|",
    ]
    for parameter in PARAMETERS.values():
        absent = _shown(parameter.default)
        vendor = VENDOR.get(parameter.name) or absent or "none"
        here = _shown(ours.values[parameter.name])
        where = WHERE.get(parameter.name, "")
        cells = (
            f"`{parameter.name}`",
            _kind(parameter),
            vendor,
            _code(absent),
            _code(here),
            _effect(parameter),
            where,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """Return the reference page with its table made anew."""
    head, begin, rest = page.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        msg = "the page lacks the two marks of its table"
        raise ValueError(msg)
    return f"{head}{begin}\n{parameter_table()}\n{end}{tail}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _kind(parameter: RobotParameter) -> str:
    kind = {"seconds": "seconds", "text": "text", "path": "path"}.get(parameter.kind, "")
    return ", ".join(part for part in (kind, parameter.range) if part)


def _effect(parameter: RobotParameter) -> str:
    aliases = ", ".join(f"`{alias}`" for alias in parameter.aliases)
    said = parameter.help + (f" Also written {aliases}." if aliases else "")
    return said if parameter.acts else f"{said} *No effect yet.*"


if __name__ == "__main__":
    _path = Path(sys.argv[1])
    _path.write_text(renewed(_path.read_text("utf-8")), "utf-8")
