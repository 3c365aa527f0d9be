"""A feed against the DTD, in a process of its own that can do nothing but read it: dry runs and ``ingather feed check``."""

import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import msgspec

from ingather.app.confined.confinement import confine, limit_cpu
from ingather.errors import FeedError, IngatherError
from ingather.feeds.checking import check
from ingather.feeds.desk import FeedFields, FeedFormat, FeedKind, feed_type
from ingather.feeds.encoding import HEAD_BYTES, detect

__all__ = ["check_feed", "check_file", "kind_of", "main"]

_MEMORY: Final = 512 << 20
_OUTPUT: Final = 64 << 20
_ROOT: Final = re.compile(r"<(?:[^\s<>/:?!]+:)?(gsafeed|xmlgroups)[\s/>]", re.IGNORECASE)
_DOCUMENTS, _GROUPS, _LINES = "documents", "groups", "jsonl"


def check_feed(path: Path, fields: FeedFields, *, timeout_s: float) -> dict[str, Any]:
    """Return the report on the feed at *path*, as a dry run answers it: that of :func:`check_file` and what its form said.

    Raises:
        IngatherError: the feed brought its reader down, or took too long.
    """
    documents = fields.kind is FeedKind.DOCUMENTS
    kind = _LINES if fields.format is FeedFormat.JSON_LINES else _DOCUMENTS if documents else _GROUPS
    feedtype = str(feed_type(fields.feedtype)) if documents else ""
    report = check_file(path, kind, feedtype=feedtype, timeout_s=timeout_s)
    report["dryrun"] = True
    report["datasource"], report["warnings"] = fields.datasource, list(fields.warnings)
    return report


def check_file(path: Path, kind: str, *, feedtype: str = "", timeout_s: float) -> dict[str, Any]:
    """Return the report on the feed at *path* as a JSON object: ``valid``, counts, findings with line and column.

    Args:
        path: of the feed.
        kind: ``documents``, ``groups`` or ``jsonl``; see :func:`kind_of`.
        feedtype: what a form would say; ``""`` = what the feed says.
        timeout_s: of the check.

    Raises:
        IngatherError: the feed brought its reader down, or took too long.
        OSError: it cannot be read.
    """
    command = [
        sys.executable, "-m", "ingather.app.feeds.checking", kind, feedtype, str(os.getpid()), str(timeout_s),
    ]  # fmt: skip
    try:
        with path.open("rb") as feed:
            done = subprocess.run(command, stdin=feed, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise IngatherError("checking the feed took too long") from None
    if done.returncode != 0 or len(done.stdout) > _OUTPUT:
        raise IngatherError(f"checking the feed failed (status {done.returncode})")
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    return report


def kind_of(path: Path) -> str:
    """Return what the file at *path* looks like: ``documents``, ``groups`` or ``jsonl``.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    try:
        encoding = detect(head)
    except FeedError:  # the check says so
        return _DOCUMENTS
    text = head[encoding.skip :].decode(encoding.codec, "replace").lstrip()
    if text.startswith("{"):
        return _LINES
    root = _ROOT.search(text)
    return _GROUPS if root and root[1].lower() == "xmlgroups" else _DOCUMENTS


def main(kind: str, feedtype: str, parent: str, timeout_s: str) -> None:
    """Check the feed on standard input and print the report."""
    confine(memory_bytes=_MEMORY, file_bytes=0, parent=int(parent))
    limit_cpu(float(timeout_s))
    stream = sys.stdin.buffer
    found = check(
        stream, groups=kind == _GROUPS, json_lines=kind == _LINES,
        feedtype=feed_type(feedtype) if feedtype else None, again=stream if stream.seekable() else None,
    )  # fmt: skip
    report = {"kind": kind, "valid": found.valid, **asdict(found)}
    sys.stdout.buffer.write(msgspec.json.encode(report))


if __name__ == "__main__":
    main(*sys.argv[1:5])
