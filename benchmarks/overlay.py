"""What does external metadata cost? Load, memory and lookups of one file.

usage: python benchmarks/overlay.py [--records N] [--shuffled] [--nested LEVELS CLASSES] [--rounds N]
       python benchmarks/overlay.py --indexing DOCUMENTS [--records N] [--words N] [--rounds N]
       python benchmarks/overlay.py --changing DOCUMENTS [--records N] [--words N] [--rounds N]

Makes a file of N records with a title of its own each, under 31 hosts that have a class of their own, in a temporary folder;
reads it in this process, and looks its documents up in the order of the catalog and at random. With --shuffled the
file's lines stand in no order. With --nested the file has LEVELS prefixes within one another, with CLASSES classes each.
With --indexing the catalog of a new home gets DOCUMENTS documents, which a follower puts into a new index, with the file of
N records laid over them and without: the share of finding and merging values in the follower's processor time.
With --changing all of them are in the index; then a line is written behind the file, and looked for until it is found.
Times are CPU seconds of the whole process, memory is resident, peak, with the interpreter and the file's bytes.
"""

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.operating import follow_directly
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.texts import COMMON, Reader
from ingather.catalog.descriptions.sqlite_descriptions import NewDescription
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.classes import ClassTable
from ingather.index import IndexFolder
from ingather.model.description import AttributesView
from ingather.overlay import Overlay, read
from ingather.ports.index import IndexDocument
from ingather.robot.indexing.documents import Lay
from ingather.robot.indexing.laying import Laying
from ingather.search import SearchRequest, SearchService

HOSTS = 31
CONSONANTS = "bcdfghklmnprstvwz"
CALIBRATION = 300_000


def url(number: int) -> str:
    folder = number // HOSTS % 97
    return f"http://www.example{number % HOSTS}.org/department{folder}/documents/report-{number}.pdf"


def write(file: Path, records: int, *, shuffled: bool) -> None:
    """Write the file in a process of its own: what making it takes is not measured."""
    child = os.fork()
    if not child:
        numbers = sorted(range(records), key=url)
        if shuffled:
            random.Random(1).shuffle(numbers)  # noqa: S311
        with file.open("w") as out:
            out.writelines(f"www.example{host}.org c:partner\n" for host in range(HOSTS))
            out.writelines(f'{url(number)} t:"Annual report number {number}"\n' for number in numbers)
        os._exit(0)
    os.waitpid(child, 0)


def memory(what: str) -> float:
    """Return ``VmRSS`` or ``VmHWM`` in MB (10^6)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(what))


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def calibration() -> float:
    """Return million bisections a second in a list of 30,000 texts: how fast memory is just now."""
    from bisect import bisect_right

    keys = sorted(url(number) for number in range(30_000))
    asked = [random.Random(2).choice(keys) for _ in range(1000)] * (CALIBRATION // 1000)  # noqa: S311
    return CALIBRATION / seconds(lambda: [bisect_right(keys, key) for key in asked]) / 1e6


def looked_up(overlay: Overlay, urls: Sequence[str]) -> float:
    """Return million lookups a CPU second."""
    lookup = overlay.lookup_key

    def work() -> None:
        for each in urls:
            lookup(each)

    return len(urls) / seconds(work) / 1e6


def flat(records: int, rounds: int, *, shuffled: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "external_metadata.cfg"
        write(file, records, shuffled=shuffled)
        body = file.read_bytes()
    print(f"file {len(body) / 1e6:.1f} MB; with it {memory('VmRSS'):.0f} MB")
    made: list[Overlay] = []
    took = seconds(lambda: made.append(read(body)))
    overlay = made[0]
    print(
        f"{len(overlay):,} records: load {took:.2f} s; peak {memory('VmHWM'):.0f} MB, then {memory('VmRSS'):.0f} MB"
    )
    urls = sorted(map(url, range(records)))
    while len(urls) < 200_000:  # as documents do, some stand beside those that have a line
        urls = sorted([*urls, *(f"{each}x" for each in urls)])
    urls = "\n".join(urls).split("\n")  # side by side in memory, as the catalog's come one after another
    ordered = [round(looked_up(overlay, urls), 2) for _ in range(rounds)]
    print(f"catalog order, million lookups a CPU second: {ordered}")
    random.Random(3).shuffle(urls)  # noqa: S311
    print(f"random order: {[round(looked_up(overlay, urls), 2) for _ in range(rounds)]}")
    print(f"memory after {memory('VmRSS'):.0f} MB")


def nested(levels: int, classes: int) -> None:
    own = " ".join(f"c{number}:v" for number in range(classes))
    body = "".join(f"s.com/{'a' * level} {own}\n" for level in range(levels)).encode()
    before = memory("VmRSS")
    overlay = read(body)
    keys = [f"http://s.com/{'a' * level}/x" for level in range(levels)]
    first = seconds(lambda: overlay.lookup_key(keys[-1]))
    down = seconds(lambda: [overlay.lookup_key(key) for key in keys])
    print(
        f"{levels} levels of {classes} classes, file {len(body) / 1e6:.0f} MB: {overlay.counts.errors} errors; the deepest "
        f"{first:.2f} s, all levels {down:.2f} s; peak {memory('VmHWM') - before:.0f} MB above the file"
    )


BATCH = 20_000


def described(home: Home, records: int, documents: int, length: int) -> int:
    """Describe *documents* of the file's URLs, in no order, as a crawl finds them; return the last change.

    Each has *length* words, out of 20,000 that are as frequent as in a language.
    """
    draw = random.Random(4)  # noqa: S311
    vocabulary = [f"{a}{b}{c}" for a in CONSONANTS for b in "aeiou" for c in CONSONANTS for _ in range(12)]
    words = [f"{word}{place}" for place, word in enumerate(vocabulary)]
    numbers = [number * max(records // documents, 1) for number in range(documents)]
    draw.shuffle(numbers)
    writer = CatalogWriter(database_of(home))

    def job(writer: CatalogWriter, begin: int) -> None:
        for number in numbers[begin : begin + BATCH]:
            text = " ".join(words[int(len(words) * draw.random() ** 3)] for _ in range(length))
            attributes = {
                "title": (f"Report {number}",),
                "content-type": ("application/pdf",),
                "partial-text": (text,),
            }
            new = NewDescription(url(number), "page", attributes, access="public")
            writer.descriptions.put(new, 1.0, Applied())

    try:
        for begin in range(0, documents, BATCH):
            writer.transaction(partial(job, begin=begin))
        return writer.applier.sequence
    finally:
        writer.close()


def followed(home: Home, last: int, lay: Lay) -> tuple[float, float]:
    """Make the index anew; return CPU seconds of the whole process, and those of *lay* alone."""
    shutil.rmtree(home.index, ignore_errors=True)
    spent = 0.0

    def timed(document: IndexDocument, found: AttributesView) -> None:
        nonlocal spent
        begun = time.thread_time()
        lay(document, found)
        spent += time.thread_time() - begun

    settings = home.settings().settings
    follower = follower_of(home, settings, SystemClock(), lay=timed, alone=True)
    whole = seconds(lambda: follow_directly(follower, last))
    return whole, spent


def indexing(records: int, documents: int, length: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home.create(Path(folder) / "home")
        home.prepare()
        file = Path(folder) / "external_metadata.cfg"
        write(file, records, shuffled=False)
        last = described(home, records, documents, length)
        table = ClassTable()
        laying, _ = Reader().laying({COMMON: file.read_bytes()}, table, 1)
        timer = seconds(lambda: [time.thread_time() for _ in range(100_000)]) / 100_000
        for _ in range(rounds):
            bare, classes = followed(home, last, Laying(table))
            whole, own = followed(home, last, laying)
            net = (own - classes) / whole
            print(
                f"{documents:,} documents of {length} words: {1e6 * bare / documents:.0f} us a document without, "
                f"{1e6 * whole / documents:.0f} with {records:,} records; finding and merging values {1e6 * own / documents:.1f} us "
                f"(classes alone {1e6 * classes / documents:.1f}), {own / whole:.2%} of it, {net:.2%} by the overlay; "
                f"a look at the clock {1e6 * timer:.2f} us"
            )


def changing(records: int, documents: int, length: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home.create(Path(folder) / "home")
        home.prepare()
        write(home.path / COMMON, records, shuffled=False)
        read = home.settings()
        clock = SystemClock()
        overlays = Overlays(home, read.settings, read.sources, read.classes, clock.wall)
        writer = CatalogWriter(database_of(home))
        overlays.begin(writer)  # before there are documents: each is put into the index once
        writer.close()
        described(home, records, documents, length)
        writer = CatalogWriter(database_of(home))

        def follow() -> None:
            follow_directly(follower_of(home, read.settings, clock, lay=overlays), writer.applier.sequence)

        try:
            took = seconds(follow)
            print(
                f"{documents:,} documents of {length} words in the index: {1e6 * took / documents:.0f} us each"
            )
            for number in range(rounds):
                with (home.path / COMMON).open("a") as file:
                    file.write(f"www.example7.org/department{number}/ z:changed{number}\n")
                begun, spent = time.monotonic(), time.process_time()
                overlays.begin(writer)
                put = time.monotonic() - begun
                follow()
                service = SearchService(
                    IndexFolder(home.index).reader(), lambda _: {}, clock, classes=read.classes.kind
                )
                found = service.search(SearchRequest(f"z:changed{number}")).total
                print(
                    f"a line of {records:,} changed: in force and all documents told after {put:.2f} s, {found} found after "
                    f"{time.monotonic() - begun:.2f} s ({time.process_time() - spent:.2f} s of the processor)"
                )
        finally:
            writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--nested", nargs=2, type=int, metavar=("LEVELS", "CLASSES"))
    parser.add_argument("--indexing", type=int, metavar="DOCUMENTS")
    parser.add_argument("--changing", type=int, metavar="DOCUMENTS")
    parser.add_argument("--words", type=int, default=600, help="of a document; 600 = a short page")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; calibration {calibration():.2f} million bisections/s")
    if chosen.indexing:
        indexing(chosen.records, chosen.indexing, chosen.words, chosen.rounds)
    elif chosen.changing:
        changing(chosen.records, chosen.changing, chosen.words, chosen.rounds)
    elif chosen.nested:
        nested(*chosen.nested)
    else:
        flat(chosen.records, chosen.rounds, shuffled=chosen.shuffled)
    print(f"load {os.getloadavg()[0]:.1f}; calibration {calibration():.2f}")


if __name__ == "__main__":
    main()
