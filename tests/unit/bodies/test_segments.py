"""Appending bodies and texts, and reading them back."""

import gzip
import hashlib
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingather.catalog.bodies import SegmentNumbers, SegmentReader, SegmentWriter, segment_name
from ingather.errors import CatalogDamagedError, CatalogError, DiskFullError
from ingather.model.report import Stored

HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("ETag", 'W/"a"'),
    ("Set-Cookie", "a=1"),
    ("Set-Cookie", "b"),
)
URL = "https://a.example/deep/page?x=1"
AT = 1_790_000_000.25


def md5(body: bytes) -> bytes:
    return hashlib.md5(body, usedforsecurity=False).digest()


def append(
    writer: SegmentWriter, body: bytes = b"<p>hello</p>", text: str = "hello", url: str = URL
) -> Stored:
    return writer.append(url, 200, HEADERS, body, text, at_s=AT, digest=md5(body))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_response_and_its_text_come_back_as_they_were_kept(tmp_path: Path) -> None:
    body, text = b"<p>" + os.urandom(40_000), "Straße 東京 \x00 end\r\n\r\n"
    with SegmentWriter(tmp_path, "g1") as writer:
        place = append(writer, body, text)
    with SegmentReader(tmp_path) as reader:
        record = reader.body(place.segment, place.offset, place.length, md5(body))
        assert (record.status, record.headers, record.body, record.url, record.at_s) == (
            200,
            HEADERS,
            body,
            URL,
            AT,
        )
        assert reader.text(place.segment, place.text_offset, place.text_length) == text


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    body=st.binary(max_size=300),
    text=st.text(max_size=60),
    status_and_ms=st.tuples(st.integers(100, 999), st.integers(0, 4_000_000_000_000)),
    values=st.lists(
        st.tuples(
            st.sampled_from(["Server", "content-encoding", "Content-Length", "X-Odd"]),
            st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20),
        ),
        max_size=5,
    ),
)
def test_whatever_is_kept_reads_back(
    tmp_path: Path, body: bytes, text: str, status_and_ms: tuple[int, int], values: list[tuple[str, str]]
) -> None:
    status, at_ms = status_and_ms
    with SegmentWriter(tmp_path, "g1") as writer:
        place = writer.append(URL, status, values, body, text, at_s=at_ms / 1000, digest=md5(body))
    with SegmentReader(tmp_path) as reader:
        record = reader.body(place.segment, place.offset, place.length, md5(body))
        assert (record.status, record.headers, record.body) == (status, tuple(values), body)
        assert record.at_s == pytest.approx(at_ms / 1000, abs=1e-6)
        assert reader.text(place.segment, place.text_offset, place.text_length) == text
        assert not reader.verify(place.segment).damaged


def test_a_text_with_lone_surrogates_is_kept_with_replacement_characters(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1") as writer:
        place = append(writer, text="a\ud800b")
    with SegmentReader(tmp_path) as reader:
        text = reader.text(place.segment, place.text_offset, place.text_length)
        assert text.startswith("a\N{REPLACEMENT CHARACTER}")
        assert text.endswith("b")


def test_header_lines_cannot_be_smuggled_into_the_record(tmp_path: Path) -> None:
    odd = [("X-A", "1\r\nX-Forged: yes"), ("X-B", "2\rWARC-Type: request"), ("X-C\n\nbody", "3")]
    with SegmentWriter(tmp_path, "g1") as writer:
        place = writer.append(URL, 200, odd, b"true body", "", at_s=AT, digest=md5(b"true body"))
    with SegmentReader(tmp_path) as reader:
        record = reader.body(place.segment, place.offset, place.length, md5(b"true body"))
        assert record.body == b"true body"
        assert len(record.headers) == 3
        assert "X-Forged" not in dict(record.headers)


def test_every_record_is_a_gzip_member_of_its_own_and_the_file_one_valid_gzip(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "gatherer-7") as writer:
        places = [append(writer, b"%d" % n, f"text {n}") for n in range(3)]
    raw = (tmp_path / segment_name(places[0].segment)).read_bytes()
    whole = gzip.decompress(raw)
    assert whole.startswith(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n")
    assert b"appended by gatherer-7" in whole
    assert whole.count(b"WARC-Type: response\r\n") == whole.count(b"WARC-Type: conversion\r\n") == 3
    for place in places:
        member = gzip.decompress(raw[place.offset : place.offset + place.length])
        assert member.startswith(b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: " + URL.encode())
        assert place.text_offset == place.offset + place.length


def test_the_wire_form_of_a_decoded_body_is_set_aside_in_the_archive(tmp_path: Path) -> None:
    wire = (("Content-Encoding", "gzip"), ("content-length", "9"), ("Transfer-Encoding", "chunked"))
    with SegmentWriter(tmp_path, "g1") as writer:
        place = writer.append(
            URL, 200, wire, b"decoded", "", at_s=AT, digest=md5(b"decoded"), http_version="2"
        )
    whole = gzip.decompress((tmp_path / segment_name(place.segment)).read_bytes())
    assert b"HTTP/1.1 200 OK\r\nX-Crawl-Content-Encoding: gzip\r\nX-Crawl-content-length: 9\r\n" in whole
    assert b"\r\nContent-Length: 7\r\n\r\ndecoded" in whole
    assert b"WARC-Protocol: h2\r\n" in whole
    with SegmentReader(tmp_path) as reader:
        assert reader.body(place.segment, place.offset, place.length).headers == wire


def test_without_bodies_only_the_text_is_kept(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1", keep_bodies=False) as writer:
        place = append(writer, text="only this")
        nothing = append(writer, text="")
    assert place.length == 0
    assert nothing.length == nothing.text_length == 0
    with SegmentReader(tmp_path) as reader:
        assert reader.text(place.segment, place.text_offset, place.text_length) == "only this"
        assert not reader.text(nothing.segment, nothing.text_offset, nothing.text_length)


def test_two_writers_never_share_a_segment_and_a_dropped_number_does_not_come_back(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1") as one, SegmentWriter(tmp_path, "g2") as two:
        first, second = append(one), append(two)
    assert first.segment != second.segment
    highest = max(first.segment, second.segment)
    (tmp_path / segment_name(highest)).unlink()
    assert SegmentNumbers(tmp_path)() == highest + 1


def test_numbers_stay_unique_when_many_ask_at_once_or_the_counter_is_torn(tmp_path: Path) -> None:
    given_out: list[int] = []
    threads = [
        threading.Thread(target=lambda: given_out.extend(SegmentNumbers(tmp_path)() for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given_out) == list(range(1, 81))
    (tmp_path / segment_name(99)).touch()
    (tmp_path / "last-segment").write_bytes(b"\x00\x00")
    assert SegmentNumbers(tmp_path)() == 100


def test_a_full_segment_is_left_for_a_new_one_and_both_are_made_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fdatasync
    writer = SegmentWriter(tmp_path, "g1", next_segment=iter(range(5, 99)).__next__, max_bytes=2_000)
    places = [append(writer, os.urandom(900)) for _ in range(4)]

    def noted(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)
        real(fd)

    monkeypatch.setattr(os, "fdatasync", noted)
    writer.sync()
    assert len({place.segment for place in places}) > 1
    assert {place.segment for place in places} <= set(range(5, 99))
    files = {path.stat().st_ino for path in tmp_path.glob("body-*.warc.gz")}
    assert set(synced) == files
    synced.clear()
    writer.sync()
    assert not synced
    writer.close()


def test_a_writer_never_appends_to_a_file_that_was_there_before(tmp_path: Path) -> None:
    (tmp_path / segment_name(3)).write_bytes(b"somebody's")
    writer = SegmentWriter(tmp_path, "g1", next_segment=lambda: 3)
    with pytest.raises(CatalogError, match=r"body-00000003\.warc\.gz cannot be created"):
        append(writer)
    assert (tmp_path / segment_name(3)).read_bytes() == b"somebody's"


def test_an_append_that_does_not_fit_leaves_the_records_before_it_whole(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "g1")
    first = append(writer, b"small")
    size = (tmp_path / segment_name(first.segment)).stat().st_size
    with largest_file(size + 1_000), pytest.raises(DiskFullError):
        append(writer, os.urandom(50_000))
    assert (tmp_path / segment_name(first.segment)).stat().st_size == size
    second = append(writer, b"again")
    writer.close()
    with SegmentReader(tmp_path) as reader:
        assert reader.body(first.segment, first.offset, first.length, md5(b"small")).body == b"small"
        assert reader.body(second.segment, second.offset, second.length, md5(b"again")).body == b"again"
        assert not reader.verify(first.segment).damaged


def test_a_disk_that_is_full_from_the_start_leaves_no_half_opened_segment(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "g1", next_segment=iter((1, 2)).__next__)
    with largest_file(100), pytest.raises(DiskFullError):
        append(writer)
    place = append(writer)
    writer.close()
    assert place.segment == 2
    with SegmentReader(tmp_path) as reader:
        assert reader.verify(2).records == 3


def test_after_a_failed_sync_the_segment_is_left_and_nothing_is_synced_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_fd: int) -> None:
        raise OSError(5, "Input/output error")

    writer = SegmentWriter(tmp_path, "g1")
    lost = append(writer)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        with pytest.raises(CatalogError, match="cannot be made durable"):
            writer.sync()
    later = append(writer)
    writer.close()
    assert later.segment != lost.segment


def test_sync_may_run_in_another_thread(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "g1")
    append(writer)
    thread = threading.Thread(target=writer.sync)
    thread.start()
    thread.join()
    append(writer)
    writer.close()


@pytest.mark.parametrize("where", ["head", "middle", "end", "crc"])
def test_a_flipped_bit_is_named_with_file_and_offset(tmp_path: Path, where: str) -> None:
    body = os.urandom(5_000)
    with SegmentWriter(tmp_path, "g1") as writer:
        place = append(writer, body)
    path = tmp_path / segment_name(place.segment)
    raw = bytearray(path.read_bytes())
    at = {"head": 3, "middle": place.length // 2, "end": place.length - 1, "crc": place.length - 6}[where]
    raw[place.offset + at] ^= 0x10
    path.write_bytes(raw)
    with SegmentReader(tmp_path) as reader, pytest.raises(CatalogDamagedError) as caught:
        reader.body(place.segment, place.offset, place.length, md5(body))
    assert caught.value.place == f"{segment_name(place.segment)}:{place.offset}"


def test_a_place_that_names_other_bytes_is_damage(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1") as writer:
        one, two = append(writer, b"one", "text one"), append(writer, b"two", "text two")
    with SegmentReader(tmp_path) as reader:
        for segment, offset, length in (
            (one.segment, two.offset, two.length),
            (one.segment, one.text_offset, one.text_length),
            (one.segment, one.offset + 1, one.length),
            (one.segment, one.offset, one.length - 1),
            (one.segment, one.offset, one.length + one.text_length),
            (one.segment, 10_000_000, 10),
            (one.segment, -5, 10),
            (one.segment, one.offset, 0),
            (77, 0, 10),
        ):
            with pytest.raises(CatalogDamagedError):
                reader.body(segment, offset, length, md5(b"one"))
        with pytest.raises(CatalogDamagedError, match="a response record where a text was kept"):
            reader.text(one.segment, one.offset, one.length)


def test_verify_names_the_damaged_record_and_still_finds_those_behind_it(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1") as writer:
        places = [append(writer, os.urandom(2_000), f"text {n}") for n in range(5)]
    path = tmp_path / segment_name(places[0].segment)
    raw = bytearray(path.read_bytes())
    raw[places[1].offset + 900] ^= 0xFF
    path.write_bytes(raw)
    with SegmentReader(tmp_path) as reader:
        report = reader.verify(places[0].segment)
    assert places[1].offset in [offset for offset, _ in report.damaged]
    assert report.records == 1 + 5 * 2 - 1
    assert report.size == len(raw)


def test_few_files_stay_open_however_many_are_read(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1", max_bytes=1) as writer:
        places = [append(writer, text=f"t{n}") for n in range(9)]
    with SegmentReader(tmp_path, max_open=2) as reader:
        before = open_files()
        for n, place in enumerate(places):
            assert reader.text(place.segment, place.text_offset, place.text_length) == f"t{n}"
        assert open_files() <= before + 2


def test_a_killed_writer_loses_nothing_that_it_synced(tmp_path: Path) -> None:
    program = (
        "import hashlib, pathlib, sys\n"
        "from ingather.catalog.bodies import SegmentWriter\n"
        "from msgspec.structs import astuple\n"
        "writer = SegmentWriter(pathlib.Path(sys.argv[1]), 'g1')\n"
        "for n in range(10**6):\n"
        "    body = b'%d' % n * 100\n"
        "    place = writer.append('http://a.example/', 200, (), body, str(n), at_s=1.0,"
        " digest=hashlib.md5(body).digest())\n"
        "    writer.sync()\n"
        "    print(*astuple(place), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        places = [Stored(*map(int, child.stdout.readline().split())) for _ in range(20)]
        child.kill()
    with SegmentReader(tmp_path) as reader:
        for n, place in enumerate(places):
            assert reader.body(place.segment, place.offset, place.length).body == b"%d" % n * 100
            assert reader.text(place.segment, place.text_offset, place.text_length) == str(n)


def test_the_beginning_of_a_long_text_comes_without_the_rest(tmp_path: Path) -> None:
    long, short = "Straße 東京 " * 40_000, "Straße 東京"
    with SegmentWriter(tmp_path, "g1") as writer:
        places = [append(writer, text=text) for text in (long, short, "")]
    with SegmentReader(tmp_path) as reader:
        found = [reader.opening(p.segment, p.text_offset, p.text_length, 10_000) for p in places]
    assert found[1:] == [(short, True), ("", True)]
    text, whole = found[0]
    assert not whole
    assert long.startswith(text)
    assert 5_000 < len(text) < 10_000


def test_a_beginning_that_is_damaged_is_named(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1") as writer:
        place = append(writer, text="words " * 40_000)
    path = tmp_path / segment_name(place.segment)
    data = bytearray(path.read_bytes())
    data[place.text_offset + 30 : place.text_offset + 60] = bytes(30)
    path.write_bytes(data)
    with SegmentReader(tmp_path) as reader, pytest.raises(CatalogDamagedError) as caught:
        reader.opening(place.segment, place.text_offset, place.text_length, 10_000)
    assert str(place.text_offset) in caught.value.place
