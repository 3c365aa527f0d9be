"""Receipts that were written before visits were counted go on being true."""

from pathlib import Path

import apsw

from ingather.catalog.feeds.sqlite_feed_reader import FeedReceipts
from ingather.catalog.sqlite_open import open_writer
from ingather.feeds.receipts import Standing, Written, shown_state
from ingather.model.lifecycle import Outcome, State

SCHEMA_25 = Path(__file__).parent / "schemas" / "0025.sql"
URLS = [  # row, state, outcome, last visit, document
    (1, State.WAITING, None, None, None), (2, State.DONE, Outcome.INDEXED, 2000.0, 1), (3, State.DONE, Outcome.INDEXED, 500.0, 1),
]  # fmt: skip


def test_a_receipt_of_schema_25_goes_by_the_time_of_its_feed(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    db = apsw.Connection(str(path))
    db.execute(SCHEMA_25.read_text("utf-8")).fetchall()
    db.execute("pragma user_version=25").fetchall()
    db.execute("insert into meta (name, value) values ('seed', 7)")
    db.execute("insert into source (id, name, kind, access) values (1, 'src', 'gsa', 'public')")
    db.execute("insert into host (id, origin, hkey) values (1, 'http://old.test', 'old.test')")
    db.execute(
        "insert into feed (id, name, datasource, kind, feedtype, fields, sender, received, file, size, sha256, estimate) "
        "values (1, 'f', 'src', 'documents', 'metadata-and-url', x'80', '', 1000.0, '', 0, '', 3)"
    )
    for number, state, outcome, fetched, version in URLS:
        db.execute(
            "insert into url (id, key, host, path, source, depth, state, prio, hops, outcome, fetched, version) "
            "values (?1, ?1, 1, '/' || ?1, 1, 0, ?2, 5, 0, ?3, ?4, ?5)",
            (number, int(state), outcome, fetched, version),
        )
        db.execute(
            "insert into feed_record (feed, n, line, url, id, action, state) values (1, ?1, ?1, 'http://old.test/' || ?1, ?1, 'add', ?2)",
            (number, int(Written.WAITING)),
        )
    db.close()
    open_writer(path).close()
    receipts = FeedReceipts(path)
    rows = receipts.records(1, indexed=9)
    assert receipts.due_visits(1e12, 900) == 0  # who waited before waits as before
    receipts.close()
    shown = [
        shown_state(
            Standing(
                row["written"], in_index=bool(row["in_index"]), superseded=bool(row["superseded"]), asked=row["asked"],
                answered=row["answered"], waits=bool(row["waits"]), state=State(row["state"]),
                outcome=None if row["outcome"] is None else Outcome(row["outcome"]), fetched_s=row["fetched_s"],
                received_s=row["received_s"], described=bool(row["described"]),
            )
        ).state
        for row in rows
    ]  # fmt: skip
    assert shown == ["waiting for crawl", "indexed", "applied"]
