"""What is measured beside ours: Scrapy and Wget, on the same site, following links and nothing else."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _watch import Cost, Tail, watch

__all__ = ["RUNNERS", "available"]

_WAYS = {"scrapy": "scrapy", "scrapy-lean": "lean", "scrapy-bare": "bare"}


def available() -> dict[str, str]:
    """Return program paths of the opponents that this machine has."""
    found: dict[str, str] = {}
    folder = os.environ.get("INGATHER_OPPONENTS")
    if folder and (Path(folder) / "scrapy").exists():
        found |= dict.fromkeys(_WAYS, str(Path(folder) / "python"))
    for name in ("wget", "wget2"):
        program = shutil.which(name)
        if program:
            found[name] = program
    return found


def _spider(way: str, python: str, url: str, pages: int, work: Path) -> Cost:
    """Run our spider (``_spider.py``), which says what the ways are."""
    counts = work / "scrapy.pages"
    counts.unlink(missing_ok=True)
    program = str(Path(__file__).with_name("_spider.py"))
    command = [python, program, url, str(pages), str(counts), way]
    return watch(command, pages=Tail(counts, b"200"), environment={"PYTHONPATH": ""})


def _wget(program: str, url: str, pages: int, work: Path) -> Cost:
    """Run ``wget -r``: links of <a> only; files are written, for it cannot read links otherwise."""
    log, files = work / "wget.log", work / "wget"
    shutil.rmtree(files, ignore_errors=True)
    command = [
        program, "--recursive", "--level=inf", "--no-parent", "--follow-tags=a,area", "--no-verbose", "--no-host-directories",
        f"--reject={_SKIPPED}", f"--directory-prefix={files}", f"--output-file={log}", url,
    ]  # fmt: skip
    try:
        return watch(command, pages=Tail(log, b" -> "), stop_at=pages)
    finally:
        shutil.rmtree(files, ignore_errors=True)


def _wget2(program: str, url: str, pages: int, work: Path) -> Cost:
    """Run Wget2 with its threads, as Wget."""
    log, files = work / "wget2.log", work / "wget2"
    shutil.rmtree(files, ignore_errors=True)
    command = [
        program, "--recursive", "--level=inf", "--no-parent", "--follow-tags=a,area", "--no-verbose", "--no-host-directories",
        "--max-threads=2", f"--reject={_SKIPPED}", f"--directory-prefix={files}", f"--output-file={log}", url,
    ]  # fmt: skip
    try:
        return watch(command, pages=Tail(log, b" 200"), stop_at=pages)
    finally:
        shutil.rmtree(files, ignore_errors=True)


_SKIPPED = "png,gif,jpg,jpeg,svg,svgz,ico,css,js,zip,gz,tgz,bz2,xz,c,cc,cpp,h,py,java,sql,log"

Runner = Callable[[str, str, int, Path], Cost]
"""Program, entry page, pages after which it ends, folder to work in."""

RUNNERS: dict[str, Runner] = {
    **{name: partial(_spider, way) for name, way in _WAYS.items()},
    "wget": _wget,
    "wget2": _wget2,
}
