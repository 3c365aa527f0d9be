"""One call of the operating system that fails for the catalog: what was asked is refused or done a moment later, the keeper lives."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ingather.testing.feedcrash import feed_port, push_feed
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import Served, wait_until

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(shutil.which("strace") is None, reason="no strace"),
]


def inject(pid: int, call: str, what: str, paths: list[Path], said: Path) -> "subprocess.Popen[bytes]":
    """Have *call* of every thread of *pid* fail once; only where it is about *paths*, if there are any."""
    about = [part for path in paths for part in ("-P", str(path))]
    with said.open("wb") as sink:
        tracing = subprocess.Popen(
            [
                str(shutil.which("strace")),
                "-f",
                *about,
                "-e",
                f"trace={call}",
                "-e",
                f"inject={call}:{what}:when=1",
                "-o",
                "/dev/null",
                "-p",
                str(pid),
            ],
            stderr=sink,
        )
    wait_until(lambda: b"attached" in said.read_bytes() or tracing.poll() is not None)
    if tracing.poll() is not None:
        pytest.skip("strace may not attach here")
    return tracing


@pytest.mark.parametrize(
    ("call", "file", "what"),
    [
        ("pwrite64", "catalog.db-wal", "error=EIO"),
        ("pwrite64", "catalog.db-wal", "error=ENOSPC"),
        ("pread64", "catalog.db-wal", "error=EIO"),
        ("pread64", "catalog.db", "error=EIO"),
        ("fcntl", "catalog.db-shm", "error=ENOLCK"),
        ("statfs", "", "error=EIO"),
    ],
    ids=["write", "no-space", "read-log", "read", "lock", "statfs"],
)
def test_a_call_that_fails_once_ends_nobody(
    rig: Rig, tmp_path: Path, call: str, file: str, what: str
) -> None:
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0").tune("catalog.cache", "1MiB")
    with rig.start("serve") as running:
        served = Served(running, (rig.path / "admin-token").read_text().strip())
        paths = [rig.path / "catalog" / file] if file else [rig.path, rig.path / "feeds" / "spool"]
        tracing = inject(running.pid, call, what, paths, tmp_path / "strace.err")
        url, acknowledged = "http://call.test/", []

        def push(number: int) -> bool:
            body = feed_xml(record(f"{url}{number}", content(f"saltire {number} " * 9)), datasource="call")
            status, text, _ = push_feed(feed_port(served), body, "call")
            assert (status, text) in {(200, b"Success"), (500, b"Internal Error")} or status == 507
            if text == b"Success":
                acknowledged.append(f"{url}{number}")
            return text == b"Success"

        try:
            done = [push(number) for number in range(4)]
            wait_until(lambda: push(9), pause_s=0.5)
        finally:
            tracing.terminate()
            tracing.wait(20)
        assert sum(done) >= 1
        wait_until(lambda: set(served.found("saltire")) == set(acknowledged), pause_s=0.2)
        assert served.status["state"] == "running"
        running.signal(signal.SIGTERM)
        assert running.end().status == 0
    assert rig.complaints() == []
