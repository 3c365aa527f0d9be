"""The tutorial of web feeds, followed line by line: a site served from a folder, and a running serve."""

import io
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ingather.cli import run
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, wait_until

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "follow-your-first-feed.md").read_text(
    "utf-8"
)
STEP = re.compile(
    r"^(?:Write this as `(?P<name>[^`]+)`:\n\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL
)
SITE = "127.0.0.1:8000"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library names it
        """Say nothing."""


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """Serve *folder* as the tutorial's second terminal does, on a free port; give host and port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(PATIENCE_S)
        server.server_close()


@pytest.mark.timeout(300)  # a dozen commands, one after the other
def test_every_line_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    for name, value in rig.given().items():
        monkeypatch.setenv(name, value)

    def spoken(line: str) -> tuple[int, str]:
        """Return status and output of a line; the command runs in this process, because it would take a second to start."""
        words = shlex.split(line)
        if words[0] != "ingather":
            subprocess.run(words, check=True, timeout=PATIENCE_S)
            return 0, ""
        out = io.StringIO()
        with redirect_stdout(out):
            status = run(words[1:])
        return status, out.getvalue()

    steps = [
        (found["name"] or "", line)
        for found in STEP.finditer(TEXT)
        for line in ([found["body"]] if found["name"] else [line[2:] for line in found["body"].splitlines()])
    ]
    serve = steps.index(("", "ingather serve --home ./home"))
    assert steps[:2] == [("", "ingather init ./home"), ("", "mkdir ./site")]
    with served_folder(tmp_path / "site") as here:
        told: dict[str, str] = {}

        def follow(name: str, text: str) -> None:
            text = text.replace(SITE, here)
            if name:
                (tmp_path / name).write_text(text, "utf-8")
            elif text.startswith("ingather search"):
                wait_until(lambda: spoken(text)[0] == 0, pause_s=0.2)  # the poll, the visit, the index
            elif not text.startswith("python3 -m http.server"):
                status, told[text] = spoken(text)
                assert status == 0, (text, told[text])

        for step in steps[:serve]:
            follow(*step)
        shown, written = [out for line, out in told.items() if line.startswith("ingather rss add")]
        assert f"http://{here}/walrus.html" in shown
        assert shown.endswith("nothing is written; write it with --yes\n")
        assert "home/ingather.toml has it" in written
        with rig.serving():
            for step in steps[serve + 1 :]:
                follow(*step)
        seal = told[f"ingather rss explain http://{here}/seal.html --home ./home"]
        walrus = told[f"ingather rss explain http://{here}/walrus.html --home ./home"]
    assert f"because feed http://{here}/feed.xml listed it" in seal
    assert "no feed lists it any more" in walrus
