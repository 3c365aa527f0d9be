"""What do access rights cost a search? Evaluation of a viewer, the filter in the query, changes of ACLs.

usage: python benchmarks/access.py [--documents N] [--chains N] [--groups N] [--queries N]

Makes an index of N synthetic documents with ACLs of Zipf sizes in a temporary folder (100,000: a minute and a half), a user in
that many of 10,000 groups, and asks queries of three words. Times are CPU milliseconds of the calling thread.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import accumulate
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from unittest.mock import patch

from ingather.access import ANONYMOUS, Rights, Visible
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.index import PLAIN_BM25, RANKING, IndexFolder, Snapshot, TantivyReader, Weights
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.ports.index import IndexDocument
from ingather.search import Facets, SearchRequest, SearchService

GROUPS = 10_000
FOLDERS = 500
WORDS = 30_000
_ENGLISH: tuple[dict[str, dict[str, int]], list[int]] = ({"kind": {}, "site": {}, "slot": {"en": 1}}, [])
JOE = Principal(PrincipalScope.USER, "joe", "corp")
dice = random.Random(7)  # noqa: S311 - the same documents every time


class _Stopped:
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 0.0

    def wall(self) -> float:
        return 1.8e9


def group(number: int) -> Principal:
    return Principal(PrincipalScope.GROUP, f"g{number}", "corp")


def entries(permits: int) -> tuple[AclEntry, ...]:
    made = [AclEntry(Right.PERMIT, group(dice.randrange(GROUPS))) for _ in range(permits)]
    if dice.random() < 0.1:
        made.append(AclEntry(Right.DENY, group(dice.randrange(GROUPS))))
    return tuple(made)


def folder(number: int) -> Acl:
    kind = dice.choice(
        [Inheritance.CHILD_OVERRIDES, Inheritance.CHILD_OVERRIDES, Inheritance.PARENT_OVERRIDES]
    )
    parent = f"http://h.test/f{(number - 1) // 4}" if number else ""
    return Acl(f"http://h.test/f{number}", entries(1), parent, kind)


def leaf(number: int) -> Acl:
    parent = f"http://h.test/f{dice.randrange(FOLDERS)}" if dice.random() < 0.5 else ""
    return Acl(f"http://h.test/d{number}", entries(dice.randint(1, 8)), parent)


def cpu_ms(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return (time.thread_time() - begin) * 1000


def line(label: str, times: Sequence[float], more: str = "") -> None:
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    mean = sum(ordered) / len(ordered)
    print(f"{label:<52} {ordered[len(ordered) // 2]:8.1f} {mean:8.1f} {p99:8.1f}  {more}", flush=True)


def fill_index(index: IndexFolder, documents: int, chains: Sequence[int], *, own: bool) -> TantivyReader:
    vocabulary = [f"w{number}" for number in range(WORDS)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))
    sizes = [1 / (rank + 1) for rank in range(len(chains))]
    writer = index.writer(heap_bytes=64 << 20)
    batch: list[IndexDocument] = []
    owners = chains[:documents] if own else dice.choices(chains, sizes, k=documents)
    for number, chain in enumerate(owners, start=1):
        words = dice.choices(vocabulary, cum_weights=weights, k=120)
        url = f"http://h.test/{number}"
        title = " ".join(words[:4])
        batch.append(
            IndexDocument(
                number,
                url,
                chain,
                title=title,
                body=" ".join(words),
                site="h.test",
                kind="html",
                language="en",
            )
        )
        if len(batch) == 5_000:
            writer.put(batch)
            batch.clear()
    writer.put(batch)
    writer.commit(1)
    writer.close()
    return index.reader()


def queries(number: int) -> list[str]:
    return [
        " OR ".join(f"w{int(dice.paretovariate(0.6)) * 3 % WORDS}" for _ in range(3)) for _ in range(number)
    ]


def ask(  # noqa: PLR0913, PLR0917 - what is measured
    reader: TantivyReader,
    rights: Rights,
    weights: Weights,
    view: Visible,
    asked: Sequence[str],
    label: str,
    *,
    strict: bool = False,
    facets: bool = True,
) -> None:
    service = SearchService(
        reader, lambda _rows: {}, _Stopped(), weights=weights, rights=rights, strict=lambda: strict
    )
    totals: list[int] = []

    def ask(query: str) -> None:
        totals.append(service.search(SearchRequest(query, viewer=view)).total)

    counted = nullcontext() if facets else patch.object(SearchService, "_facets", return_value=Facets())
    # Counting comes before ranking, and tells its languages: here all documents are English.
    before = nullcontext() if facets else patch.object(Snapshot, "facets", return_value=_ENGLISH)
    with counted, before:
        first = cpu_ms(lambda: service.search(SearchRequest(asked[0], viewer=view)))
        times = [cpu_ms(partial(ask, query)) for query in asked]
    line(label, times, f"first {first:.1f}, {sum(totals) // len(totals):,} hits a query")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--chains", type=int, default=10_000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument(
        "--own", action="store_true", help="each document has an ACL of its own (instead of --chains, Zipf)"
    )
    parser.add_argument("--folder", default=None, help="where the temporary folder is made")
    given = parser.parse_args()
    if given.own:
        given.chains = given.documents
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run(Path(name), given)


def run(place: Path, given: argparse.Namespace) -> None:
    writer = CatalogWriter(place / "catalog.db")
    acls = [folder(number) for number in range(FOLDERS)] + [leaf(number) for number in range(given.chains)]

    def put(some: Sequence[Acl]) -> None:
        writer.transaction(lambda w: [w.access.put_acl(acl, Applied()) for acl in some])

    def put_all() -> None:
        for start in range(0, len(acls), 500):
            put(acls[start : start + 500])

    taken = cpu_ms(put_all)
    print(f"{len(acls):,} ACLs written: {taken / len(acls) * 1000:.0f} us each")
    source = AccessReader(place / "catalog.db")
    rights = Rights(source)
    groups = [group(number) for number in dice.sample(range(GROUPS), given.groups)]
    print(f"ACLs read, nobody evaluated: {cpu_ms(lambda: rights.visible(())):.0f} ms")
    views: list[Visible] = []
    first = cpu_ms(lambda: views.append(rights.visible((JOE,), groups)))
    view = views[0]
    again = [cpu_ms(lambda: rights.visible((JOE,), groups)) for _ in range(50)]
    print(
        f"a user in {given.groups} groups evaluated: {first:.1f} ms; {len(view.allowed):,} of {view.last_evaluated:,} chains"
    )
    print(f"{'':<52} {'p50':>8} {'mean':>8} {'p99':>8}")
    line("the same user again", again)
    changes: list[float] = []
    for acl in [folder(dice.randrange(FOLDERS)) for _ in range(20)] + [
        leaf(dice.randrange(given.chains)) for _ in range(80)
    ]:
        put([acl])
        changes.append(cpu_ms(lambda: rights.visible((JOE,), groups)))
    line("the same user after one ACL changed (20 of folders)", changes)
    view = rights.visible((JOE,), groups)
    own = [number for _, url, number, _ in source.acls(0) if number is not None and "/d" in url]
    begin = time.process_time()
    reader = fill_index(IndexFolder(place / "index"), given.documents, own, own=given.own)
    print(f"{given.documents:,} documents indexed in {time.process_time() - begin:.0f} CPU-s")
    asked = queries(given.queries)
    everybody = Visible(everything=True)
    ask(reader, rights, RANKING, everybody, asked, "full ranking, everything")
    ask(reader, rights, RANKING, view, asked, "full ranking, this user")
    ask(reader, rights, RANKING, view, asked, "full ranking, this user, strict", strict=True)
    ask(reader, rights, PLAIN_BM25, everybody, asked, "plain BM25, everything")
    ask(reader, rights, PLAIN_BM25, view, asked, "plain BM25, this user")
    ask(reader, rights, PLAIN_BM25, ANONYMOUS, asked, "plain BM25, anonymous")
    ask(reader, rights, RANKING, view, asked, "full ranking, this user, no facets", facets=False)
    ask(reader, rights, PLAIN_BM25, everybody, asked, "plain BM25, everything, no facets", facets=False)
    ask(reader, rights, PLAIN_BM25, view, asked, "plain BM25, this user, no facets", facets=False)

    service = SearchService(reader, lambda _rows: {}, _Stopped(), weights=RANKING, rights=rights)

    def look(query: str) -> None:
        service.search(SearchRequest(query, viewer=rights.visible((JOE,), groups)))

    slow: list[float] = []
    for query in asked:  # what a search that takes 0.1 s meets at 100 changes a second
        put([leaf(dice.randrange(given.chains)) for _ in range(9)] + [folder(dice.randrange(FOLDERS))])
        slow.append(cpu_ms(partial(look, query)))
    line("full ranking, this user, 10 ACLs changed before each", slow)
    print(f"memory at most: {getrusage(RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    source.close()
    writer.close()


if __name__ == "__main__":
    main()
