from pathlib import Path

import pytest

from ingather.catalog.bodies import SegmentWriter, compact
from ingather.catalog.bodies.folder import segment_name
from ingather.catalog.packing import pack_attributes
from ingather.catalog.sqlite_changes import Applied
from ingather.errors import CatalogDamagedError
from ingather.model.lifecycle import Outcome
from ingather.model.report import Stored
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

PAGE = "http://a.test/p"


def _kept(visitor: Visitor, folder: Path, body: str = "body", text: str = "text", url: str = PAGE) -> Stored:
    visitor.start(url)
    row = visitor.claim(url)
    report = visitor.report(row, url, body)
    report.attributes = pack_attributes({"title": ("T",), "partial-text": (text * 200,)}, text * 200)
    report.flags = ("text-truncated",)
    with SegmentWriter(folder / "bodies", "test") as segment:
        report.stored = segment.append(
            url,
            200,
            [("Content-Type", "text/html")],
            body.encode(),
            text * 200,
            at_s=visitor.now_s,
            digest=report.digest,
        )
    visitor.settle(report, row)
    return report.stored


def _spoil(folder: Path, place: Stored, offset: int) -> None:
    path = folder / "bodies" / segment_name(place.segment)
    data = bytearray(path.read_bytes())
    data[offset + 30] ^= 0xFF
    path.write_bytes(data)


def test_bodies_and_texts_are_read_back(visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path) -> None:
    _kept(visitor, tmp_path)
    url_id = visitor.id(PAGE)
    reader = catalog.reader()
    assert reader.body(url_id) == b"body"
    response = reader.stored_response(url_id)
    assert response is not None
    assert (response.url, response.status, response.header("content-type")) == (PAGE, 200, "text/html")
    assert reader.texts([url_id, 99]) == {url_id: "text" * 200}
    description = reader.description(url_id)
    assert description is not None
    assert description.effective()["partial-text"] == ("text" * 200,)
    reader.close()
    assert visitor.record(PAGE).flags == ("text-truncated",)


def test_what_is_not_kept_is_none(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    visitor.visit(PAGE, "one")
    url_id = visitor.id(PAGE)
    reader = catalog.reader()
    assert reader.body(url_id) is None
    assert reader.body(99) is None
    assert reader.stored_response(99) is None
    assert reader.texts([url_id]) == {url_id: ""}
    reader.close()


def test_a_damaged_body_is_named_and_a_damaged_text_is_left_out(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    place = _kept(visitor, tmp_path)
    _spoil(tmp_path, place, place.offset)
    _spoil(tmp_path, place, place.text_offset)
    url_id = visitor.id(PAGE)
    reader = catalog.reader()
    with pytest.raises(CatalogDamagedError) as caught:
        reader.body(url_id)
    assert caught.value.place == f"{segment_name(place.segment)}:{place.offset}"
    assert reader.texts([url_id]) == {}
    description = reader.description(url_id)
    assert description is not None
    assert description.effective() == {"title": ("T",)}
    reader.close()


def test_bytes_that_were_moved_meanwhile_are_found_at_their_new_place(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    place = _kept(visitor, tmp_path)
    url_id = visitor.id(PAGE)
    bodies = tmp_path / "bodies"
    reader = catalog.reader()
    look = reader._bodies.member

    def moved_first(segment: int, offset: int, length: int) -> bytes:
        if segment == place.segment and (bodies / segment_name(segment)).exists():
            with SegmentWriter(bodies, "keeper") as keeper:
                done = compact(bodies, segment, [place], keeper)
            catalog.writer.transaction(
                lambda w: w.registry.move_places((url_id, old, new) for old, new in done.moved.items())
            )
            (bodies / segment_name(segment)).unlink()
        return look(segment, offset, length)

    reader._bodies.member = moved_first  # type: ignore[method-assign]
    assert reader.body(url_id) == b"body"
    assert reader.texts([url_id]) == {url_id: "text" * 200}
    reader.close()


def test_forgotten_bodies_are_fetched_again_as_a_whole(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    _kept(visitor, tmp_path)
    url_id = visitor.id(PAGE)
    applied = Applied()
    assert (
        catalog.writer.transaction(lambda w: w.registry.forget_bodies([url_id, 99], visitor.now_s, applied))
        == 1
    )
    assert applied.waiting == {1: 1}
    row = visitor.claim(PAGE)
    assert (row.etag, row.digest) == ("", b"")
    reader = catalog.reader()
    assert reader.body(url_id) is None
    assert list(reader.places()) == []
    reader.close()
    assert visitor.record(PAGE).described


def _put_layer(catalog: SqliteUnderTest, url_id: int, layer: str, packed: bytes) -> None:
    catalog.writer.transaction(lambda w: w.registry.put_layer(url_id, layer, packed, 1.0, Applied()))


def test_layers_are_kept_apart_and_a_recrawl_replaces_its_own(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start(PAGE)
    visitor.visit(PAGE, "one")
    url_id = visitor.id(PAGE)
    for layer, title in (("feed", "From the feed"), ("editor", "From the editor")):
        _put_layer(catalog, url_id, layer, pack_attributes({"title": (title,)}, ""))
    visitor.visit(PAGE, "two")
    reader = catalog.reader()
    description = reader.description(url_id)
    assert description is not None
    assert {name: layer["title"] for name, layer in description.layers.items()} == {
        "page": (f"Title of {PAGE}",), "feed": ("From the feed",), "editor": ("From the editor",),
    }  # fmt: skip
    assert description.effective()["title"] == ("From the editor",)
    assert reader.upper_layers([url_id]) == {url_id: {"title": ("From the editor",)}}
    assert reader.page_layers([url_id])[url_id][1]["title"] == ("From the editor",)
    reader.close()
    _put_layer(catalog, url_id, "editor", b"")
    reader = catalog.reader()
    assert reader.upper_layers([url_id]) == {url_id: {"title": ("From the feed",)}}
    reader.close()


def test_many_rows_are_read_at_once(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    found = [visitor.discovery(f"http://a.test/{n}") for n in range(1200)]
    rows, _ = catalog.discover(found, None, visitor.now_s)
    ids = [row for row in rows if row is not None]
    reader = catalog.reader()
    assert set(reader.get(ids)) == set(ids)
    assert reader.get([]) == {}
    assert len(reader.texts(ids)) == 1200
    assert reader.stats().states == {"waiting": 1200}
    reader.close()


def test_incoming_links_reach_the_index(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    visitor.visit(PAGE, "one")
    url_id = visitor.id(PAGE)
    applied = Applied()
    catalog.writer.transaction(lambda w: w.registry.put_inlinks({url_id: (3, b"\x92\xa1a\xa1b")}, applied))
    assert [change[1] for change in applied.changes] == [url_id]
    reader = catalog.reader()
    assert reader.inlink(url_id) == (3, ["a", "b"])
    assert reader.inlink(99) == (0, [])
    assert reader.inlinks() == {url_id: b"\x92\xa1a\xa1b"}
    assert reader.shown_rows([url_id])[url_id].anchors == ["a", "b"]
    assert reader.titles([url_id]) == {url_id: (f"Title of {PAGE}", "/p")}
    assert [row for _, row in list(reader.keys())] == [url_id]
    reader.close()


def test_referrers_end_although_links_go_round(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    a, b = "http://a.test/a", "http://a.test/b"
    visitor.start(a)
    visitor.visit(a, "a", [b])
    visitor.visit(b, "b", [a])
    catalog.writer.transaction(
        lambda w: w.applier._cursor.execute("update url set parent = 2 where id = 1").fetchall()
    )
    reader = catalog.reader()
    assert len(reader.referrers(1)) <= 1000
    assert reader.referrers(99) == []
    reader.close()


def test_what_is_kept_of_a_host(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    reader = catalog.reader()
    host = reader.origin_host("http://a.test")
    assert host is not None
    assert host[0] == 1
    assert reader.origin_host("http://b.test") is None
    reader.close()


def test_events_are_pruned_by_age(catalog: SqliteUnderTest) -> None:
    def note(at_s: float) -> None:
        catalog.writer.applier.now_s = at_s
        catalog.writer.transaction(lambda w: w.applier.event("test", "s", "d"))

    note(1.0)
    note(5.0)
    assert catalog.writer.transaction(lambda w: w.pruning.events(3.0, limit=100)) == 1
    reader = catalog.reader()
    assert [event[0] for event in reader.events()] == [5.0]
    assert reader.integrity() == []
    reader.close()


def test_outcomes_are_counted_by_name(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    visitor.answer(PAGE, Outcome.NOT_FOUND, status=404)
    reader = catalog.reader()
    stats = reader.stats()
    reader.close()
    assert stats.outcomes == {"not_found": 1}
    assert stats.catalog_bytes > 0
    assert stats.body_bytes == 0
