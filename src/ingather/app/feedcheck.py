"""A dry run: a feed against the DTD, in a process of its own that can do nothing but read it."""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import msgspec

from ingather.app.confinement import confine, limit_cpu
from ingather.errors import IngatherError
from ingather.feeds.checking import check
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind, feed_type

__all__ = ["check_feed", "main"]

_MEMORY: Final = 512 << 20
_OUTPUT: Final = 64 << 20


def check_feed(path: Path, fields: FeedFields, *, timeout_s: float) -> dict[str, Any]:
    """Return the report on the feed at *path* as a JSON object: ``valid``, counts, findings with their lines.

    Raises:
        IngatherError: the feed brought its reader down, or took too long.
    """
    documents = fields.kind is FeedKind.DOCUMENTS
    if fields.format is FeedFormat.JSON_LINES:
        return {"checked": False, "valid": None, "reason": "there is no DTD for feeds of JSON lines"}
    order = ["documents", str(feed_type(fields.feedtype))] if documents else ["groups", ""]
    command = [sys.executable, "-m", "ingather.app.feedcheck", *order, str(os.getpid()), str(timeout_s)]
    try:
        with path.open("rb") as feed:
            done = subprocess.run(command, stdin=feed, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise IngatherError("checking the feed took too long") from None
    if done.returncode != 0 or len(done.stdout) > _OUTPUT:
        raise IngatherError(f"checking the feed failed (status {done.returncode})")
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    report["datasource"], report["warnings"] = fields.datasource, list(fields.warnings)
    return report


def main(kind: str, feedtype: str, parent: str, timeout_s: str) -> None:
    """Check the feed on standard input and print the report."""
    confine(memory_bytes=_MEMORY, file_bytes=0, parent=int(parent))
    limit_cpu(float(timeout_s))
    found = check(
        sys.stdin.buffer, groups=kind == "groups", feedtype=feed_type(feedtype) if feedtype else None
    )
    report = {"dryrun": True, "valid": found.valid, **asdict(found)}
    sys.stdout.buffer.write(msgspec.json.encode(report))


if __name__ == "__main__":
    main(*sys.argv[1:5])
