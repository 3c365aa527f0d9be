from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import State
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SITE = "http://a.test"


def _clear(catalog: SqliteUnderTest, now_s: float, *, piece: int = 2) -> tuple[int, int]:
    """Clear in pieces; return how many URLs were forgotten, and how many are to be visited anew."""
    counts = []
    for step in ("forget", "renew"):
        after = total = 0
        while True:

            def job(writer: CatalogWriter, step: str = step, after: int = after) -> tuple[int, int]:
                rest = (now_s,) if step == "renew" else ()
                found: tuple[int, int] = getattr(writer.clearing, step)(after, piece, *rest)
                return found

            after, count = catalog.writer.transaction(job)
            total += count
            if not count:
                break
        counts.append(total)
    catalog.writer.transaction(lambda w: w.clearing.end(now_s))
    return counts[0], counts[1]


def test_pool_and_states_go_descriptions_and_index_stay(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    for name in ("kept", "missing", "waiting", "last"):
        visitor.start(f"{SITE}/{name}")
    visitor.visit(f"{SITE}/kept", "body")
    sequence = catalog.writer.applier.sequence
    assert _clear(catalog, visitor.now_s) == (2, 2)
    assert catalog.writer.applier.sequence == sequence  # readers of the change log have nothing to do
    reader = catalog.reader()
    try:
        kept = reader.find(f"{SITE}/kept")
        assert kept is not None
        assert (kept.state, kept.etag, kept.due_s) == (State.DONE, "", visitor.now_s)
        assert reader.find(f"{SITE}/missing") is None
        assert reader.find(f"{SITE}/waiting") is None
        assert reader.find(f"{SITE}/last") is not None  # its number must not be given twice
        assert sum(reader.stats().sources.values()) == 1
    finally:
        reader.close()
    assert catalog.writer.transaction(lambda w: w.registry.promote_due(visitor.now_s, 10)) != {}


def test_after_it_urls_are_found_and_counted_as_at_the_first_time(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for name in ("a", "b", "c"):
        visitor.start(f"{SITE}/{name}")
    _clear(catalog, visitor.now_s)
    visitor.start(f"{SITE}/a")
    counted = catalog.writer.transaction(lambda w: dict(w.frontier.waiting_hosts()))
    assert sum(counted.values()) == 1
    assert catalog.writer.transaction(lambda w: w.counts.all()) == []
