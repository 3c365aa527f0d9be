"""What does it cost to read and apply a content feed? Megabytes of the feed's file for a CPU-second of all processes.

    python benchmarks/feeds.py [--megabytes 100] [--mode all,text] [--record-kb 5] [--folder /var/tmp] [--profile PREFIX]

Makes a feed of HTML pages, every second one as base64compressed, and applies it in a fresh home, without gate and without index: scanning,
parsing, extraction, filters, descriptions, links, WARC bodies, receipts and the catalog's transactions. ``all``: as installed. ``text``:
plain text and keep-bodies=none. The start of the worker process is not in the figure. --profile writes what cProfile saw of either process.
"""

import argparse
import base64
import os
import tempfile
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape

from ingather.app.feeds import process as feedprocess
from ingather.app.feeds.local import LocalFeeds
from ingather.app.home import Home
from ingather.app.memory import calm_collector
from ingather.feeds.authority import Sender
from ingather.feeds.desk import FeedFields
from ingather.log import configure
from ingather.testing.prose import WORDS, paragraph, topic

_TICK = os.sysconf("SC_CLK_TCK")
_PARAGRAPH = 60
_DAY = datetime(2007, 11, 6, 12, 45, 26, tzinfo=UTC)


def page(number: int, size: int) -> str:
    """Return an HTML page of about *size* bytes: a head, a menu, headings, paragraphs with links, a table."""
    seed = number * 2654435761 + 17
    title = f"{topic(seed)} {number}"
    head = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="description" content="{paragraph(seed, 12)}">\n<link rel="stylesheet" href="/style.css">\n</head>\n<body>\n'
    )
    parts = [head, '<ul class="menu">\n']
    parts += [f'<li><a href="/docs/{n * 37}">{topic(seed + n)}</a></li>\n' for n in range(8)]
    parts.append(f"</ul>\n<h1>{title}</h1>\n")
    length, at = sum(map(len, parts)), 0
    while length < size:
        at += 1
        text = paragraph(seed + at, _PARAGRAPH)
        word = WORDS[(seed + at) % len(WORDS)]
        made = f'<h2>{topic(seed * at)}</h2>\n<p>{text} See <a href="/docs/{number + at}">{word}</a> &amp; <b>more</b>.</p>\n'
        parts.append(made)
        length += len(made)
    parts.append("</body>\n</html>\n")
    return "".join(parts)


def text_of(number: int, size: int) -> str:
    """Return plain text of about *size* bytes."""
    return "\n\n".join(paragraph(number * 2654435761 + at, _PARAGRAPH) for at in range(size // 430 + 1))


def pieces(megabytes: float, size: int, mode: str) -> Iterator[bytes]:
    """Yield a feed."""
    yield (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "">\n<gsafeed>'
        b"<header><datasource>bench</datasource><feedtype>full</feedtype></header><group>\n"
    )
    left, number = megabytes * 1e6, 0
    while left > 0:
        number += 1
        compressed = number % 2 == 0
        made = text_of(number, size) if mode == "text" else page(number, size * 2 if compressed else size)
        if compressed:
            inner = base64.encodebytes(zlib.compress(made.encode(), 6)).decode()
            content = f'<content encoding="base64compressed">{inner}</content>'
        else:
            content = (
                f"<content>{escape(made)}</content>"
                if number % 4 == 1
                else f"<content><![CDATA[{made}]]></content>"
            )
        kind = "text/plain" if mode == "text" else "text/html"
        record = (
            f'<record url="http://docs.bench.example/docs/{number}" mimetype="{kind}" last-modified="{format_datetime(_DAY + timedelta(minutes=number), usegmt=True)}">'
            f'<metadata><meta name="author" content="{topic(number)}"/><meta name="department" content="{number % 50}"/></metadata>'
            f"{content}</record>\n"
        ).encode()
        left -= len(record)
        yield record
    yield b"</group></gsafeed>\n"


def used(pid: int) -> tuple[float, float]:
    """Return CPU seconds and the largest resident memory, in MiB, of a process and what ended below it."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return sum(map(int, words[11:15])) / _TICK, int(peak.split()[1]) / 1024


def run(place: Path, mode: str, given: argparse.Namespace) -> None:
    """Apply one feed in a fresh home; print the figures."""
    file = place / f"{mode}.xml"
    with file.open("wb") as out:
        out.writelines(pieces(given.megabytes, given.record_kb * 1000, mode))
    home = Home.create(place / mode, written={"gather.keep-bodies": '"none"'} if mode == "text" else None)
    read = home.settings(environment={})
    process = feedprocess.FeedProcess()
    with LocalFeeds(home, read.settings, read.sources, process=process) as local:
        small = place / "small.xml"
        small.write_bytes(b"".join(pieces(0.001, 300, mode)).replace(b"/docs/", b"/small/"))
        local.take(small, FeedFields("small", "incremental"), Sender("127.0.0.1"))
        local.apply()
        worker = process.pid
        assert worker is not None
        ticket = local.take(file, FeedFields("bench", "full"), Sender("127.0.0.1"))
        calm_collector()  # as serve does
        before = used(os.getpid())[0], used(worker)[0]
        begun = time.monotonic()
        local.apply()
        wall = time.monotonic() - begun
        (ours, our_peak), (theirs, their_peak) = used(os.getpid()), used(worker)
        found = local.office.feed(ticket.name)
    process.stop()
    keeper, reader = ours - before[0], theirs - before[1]
    size, count = file.stat().st_size / 1e6, found["applied"]
    print(
        f"{mode}: {size:.0f} MB, {count:,} records ({found['state']}, {found['rejected']} rejected): {size / (keeper + reader):.1f} MB a "
        f"CPU-second; keeper {keeper:.1f} s, {keeper / count * 1e6:.0f} us a record; worker {reader:.1f} s, {reader / count * 1e6:.0f} us; "
        f"wall {wall:.1f} s; peak keeper {our_peak:.0f}, worker {their_peak:.0f} MiB",
        flush=True,
    )


def profiled_worker(channel: object, blueprint: object) -> None:
    """Be the worker, under cProfile."""
    import cProfile

    from ingather.app.feeds.worker import main as worker_main

    profile = cProfile.Profile()
    try:
        profile.runcall(worker_main, channel, blueprint)  # type: ignore[arg-type]
    finally:
        profile.dump_stats(os.environ["BENCH_PROFILE"] + ".worker")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--mode", default="all,text")
    parser.add_argument("--record-kb", type=int, default=5)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--profile", default="", help="PREFIX.keeper and PREFIX.worker are written")
    given = parser.parse_args()
    configure(level="error")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for mode in given.mode.split(","):
            if not given.profile:
                run(Path(name), mode, given)
                continue
            import cProfile

            os.environ["BENCH_PROFILE"] = given.profile
            setattr(feedprocess, "feed_worker", profiled_worker)  # noqa: B010 - spawned in place of the real one
            profile = cProfile.Profile()
            profile.runcall(run, Path(name), mode, given)
            profile.dump_stats(given.profile + ".keeper")


if __name__ == "__main__":
    main()
