"""The demo as a newcomer runs it: real content, three searches, nothing left behind."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

import ingather
from ingather.app.demo import Resource, StaticServer

PATIENCE_S = 100


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the demo may put its home: short, because the path of a socket may have 107 bytes only."""
    made = Path(tempfile.mkdtemp(prefix="d-", dir="/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def demo(folder: Path, *arguments: str, package: Path | None = None) -> "subprocess.Popen[str]":
    environment = {**os.environ, "TMPDIR": str(folder)}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    return subprocess.Popen(
        [sys.executable, "-m", "ingather", "demo", *arguments],
        env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def children_of(pid: int) -> list[int]:
    """Processes that name *pid* as their parent."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text("utf-8").rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except (OSError, ValueError):
            continue
    return found


def test_it_gathers_searches_three_times_and_stays_up_until_ctrl_c(folder: Path) -> None:
    process = demo(folder)
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            break
    said = "".join(lines)
    helpers: list[int] = []
    try:
        (address,) = set(re.findall(r"^search page  http://(127\.0\.0\.1:\d+)/$", said, re.MULTILINE))
        connection = HTTPConnection(address, timeout=30)
        connection.request("GET", "/api/v1/search?q=quarantine")
        answer = json.loads(connection.getresponse().read())
        connection.request("GET", "/?q=quarantine")
        page = connection.getresponse().read()
        connection.close()
        assert answer["total"] > 1
        assert b"quarantine" in page
        assert process.poll() is None
        helpers = [os.pidfd_open(pid) for pid in children_of(process.pid)]
        assert helpers
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, (said, errors)
    for helper in helpers:
        assert select.select([helper], [], [], PATIENCE_S)[0], "a process outlived the demo"
        os.close(helper)
    assert list(folder.iterdir()) == []
    searches = re.findall(r"^search: .*  \((\d+) documents?, \d+ ms\)$", said, re.MULTILINE)
    assert len(searches) == 3
    assert all(int(count) >= 1 for count in searches)
    seen = re.findall(r"^  (anna|bert|nobody) finds \d: (.*)$", said, re.MULTILINE)
    assert seen == [("anna", "fish, salaries, summary"), ("bert", "fish, summary"), ("nobody", "summary")]
    assert "/files/glossary.pdf" in said
    assert "/files/settings.docx" in said
    assert re.search(r"/how-to/\S+\.html", said)
    assert "Not in search: robots.txt forbids it" in said
    assert re.search(r"^  pangolin scales is found$", said, re.MULTILINE)
    assert re.search(
        r"^  In search: indexed at \S+ because feed \S+/feed\.xml listed it on ", said, re.MULTILINE
    )
    assert "visited" in errors


def test_it_gathers_the_given_site_instead(folder: Path) -> None:
    site = {
        "": Resource("text/html", b"<title>Observatory</title><p>Stars. <a href=/dome.html>Dome</a>"),
        "dome.html": Resource("text/html", b"<title>Dome opening hours</title><p>At night."),
    }
    with StaticServer(site) as server:
        process = demo(folder, "--once", server.url)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, (said, errors)
    assert list(folder.iterdir()) == []
    assert len(re.findall(r"^search: ", said, re.MULTILINE)) == 3
    assert "/dome.html" in said
    assert "Observatory" in said
    assert "glossary" not in said


def test_a_site_with_nothing_to_index_says_why(folder: Path) -> None:
    with StaticServer({"robots.txt": Resource("text/plain", b"User-agent: *\nDisallow: /\n")}) as server:
        process = demo(folder, "--once", server.url)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, (said, errors)
    assert "nothing was indexed" in errors
    assert "robots.txt forbids it" in errors
    assert list(folder.iterdir()) == []


def test_an_installed_package_says_that_the_documents_are_not_with_it(folder: Path) -> None:
    package = folder / "site"
    shutil.copytree(
        Path(ingather.__file__).parent, package / "ingather", ignore=shutil.ignore_patterns("__pycache__")
    )
    process = demo(folder, "--once", package=package)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert len(errors.splitlines()) == 1
    assert "ingather demo https://" in errors


def test_a_wrong_url_is_one_line(folder: Path) -> None:
    process = demo(folder, "--once", "gopher://example.org/")
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert len(errors.splitlines()) == 1
