"""Ingather as the benchmarks run it: a fresh home a run, the newcomer's command, nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _watch import Cost, Tail, watch

__all__ = ["MODES", "PYTHON", "CrawlFailedError", "Mode", "crawl", "prepare", "product"]

PYTHON = os.environ.get("INGATHER_PYTHON") or sys.executable
"""Runs the product. ``./run bench`` names the environment that has what users install and nothing else: a package for
developers that a library of ours imports when it finds it would be charged to every process."""

_DENIED = """
<Filter name="links-only">
MetaData fn=filter-by-prefix src=protocol deny=all
</Filter>
"""


class CrawlFailedError(Exception):
    """The command ended badly; the text has the end of what it wrote."""


@dataclass(frozen=True)
class Mode:
    """A set of duties: *what* it does; *links_only*, *indexed*: how; *settings*: variables of the environment."""

    name: str
    what: str
    links_only: bool = False
    indexed: bool = True
    settings: dict[str, str] = field(default_factory=dict)


_NO_BODIES = {"INGATHER_GATHER_KEEP_BODIES": "none"}
MODES = {
    mode.name: mode
    for mode in (
        Mode("links", "fetch, politeness, robots, filters, links, frontier in the catalog; generation filter denies all",
             links_only=True, indexed=False),
        Mode("catalog", "+ resource descriptions, texts kept; no index, no bodies", indexed=False, settings=_NO_BODIES),
        Mode("index", "+ stemmed index, anchors; no bodies", settings=_NO_BODIES),
        Mode("all", "+ bodies: what `ingather crawl` does"),
        Mode("unindexed", "everything but the index", indexed=False),
    )
}  # fmt: skip


_TELL = """
import sys, ingather
from ingather.extract.html import walk_in_use
from ingather.filters import engine
modules = "interpreted" if engine.__file__.endswith(".py") else "compiled"
print(f"{ingather.__version__} in {ingather.__path__[0]}, Python {sys.version.split()[0]}, walk over pages: {walk_in_use()}, modules: {modules}")
"""


def product() -> str:
    """Return which Ingather runs, on which Python, and what of it is compiled."""
    done = subprocess.run([PYTHON, "-c", _TELL], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def prepare(home: Path, mode: Mode) -> None:
    """Make a fresh home for *mode*, 64 connections."""
    subprocess.run([PYTHON, "-m", "ingather", "init", str(home)], check=True, stdout=subprocess.DEVNULL)
    robot = home / "config" / "robot.conf"
    replaced = {"max-connections": "64"}
    if mode.links_only:
        replaced["generation-filter"] = "links-only"
        with (home / "config" / "filter.conf").open("a") as file:
            file.write(_DENIED)
    lines = []
    for line in robot.read_text().splitlines():
        name, equals, _ = line.partition("=")
        lines.append(f"{name}={replaced[name]}" if equals and name in replaced else line)
    robot.write_text("\n".join(lines) + "\n")


def crawl(  # noqa: PLR0913 - what a run consists of
    home: Path,
    mode: Mode,
    url: str,
    host: str,
    *,
    pages: int = 0,
    on_page: Any = None,
    configure: Callable[[Path], None] | None = None,
) -> tuple[Cost, dict[str, Any]]:
    """Crawl *url* once into a fresh home, *configure*d further if so wished; return the cost and the summary that the command printed.

    Raises:
        CrawlFailedError: it did not end well, or came to a standstill.
    """
    prepare(home, mode)
    if configure is not None:
        configure(home)
    front = (
        [PYTHON, "-m", "ingather"]
        if mode.indexed
        else [PYTHON, str(Path(__file__).with_name("_unindexed.py"))]
    )
    command = [*front, "crawl", "--home", str(home), "--own-host", host, "--quiet", "--json"]
    if pages:
        command += ["--max-pages", str(pages)]
    output = home / "summary.json"
    fetched = Tail(home / "log" / "access.log", b'"status":200')
    cost = watch([*command, url], pages=fetched, environment=mode.settings, output=output, on_page=on_page)
    text = output.read_text()
    nothing_kept = mode.links_only and cost.status == 1  # "nothing was indexed": that is the mode
    if cost.stalled or (cost.status != 0 and not nothing_kept):
        raise CrawlFailedError(
            f"ingather crawl {'stalled' if cost.stalled else 'ended'} with {cost.status}:\n{text[-2000:]}"
        )
    if not cost.curve or fetched() > cost.curve[-1][0]:
        cost.curve.append((fetched(), cost.curve[-1][1] if cost.curve else cost.cpu_s, cost.wall_s))
    summary: dict[str, Any] = json.loads(text[text.index("{\n") :])
    return cost, summary
