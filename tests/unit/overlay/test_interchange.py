"""JSON and CSV read back to the same records; foreign tables become records."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import UsageError
from ingather.overlay import Options, Overlay, print_records, read
from ingather.overlay.expiry import expires_at, published_at
from ingather.overlay.interchange import from_csv, from_json, import_csv, record_of, to_csv, to_json
from ingather.overlay.options import DATES

texts = st.text(st.characters(exclude_characters="\n|", exclude_categories=["Cs"]), max_size=12)
classes = st.dictionaries(
    st.sampled_from(["x", "y", "t", "genre", "X"]), st.lists(texts, max_size=3), min_size=1, max_size=3
)
sets = st.lists(
    st.tuples(st.sampled_from(["s.com/", "s.com/a b", "t.com/index.html", "https://s.com/é"]), classes),
    max_size=5,
)


def plain(overlay: Overlay) -> list[tuple[str, bool, dict[str, tuple[str, ...]]]]:
    return [(each.prefix, each.exact, dict(each.classes)) for each in overlay.records()]


@given(sets)
def test_each_form_reads_back_to_the_same_records(rows: list[tuple[str, dict[str, list[str]]]]) -> None:
    records = []
    for prefix, multimap in rows:
        dated = {name: ["2004-02-29"] if name in DATES else values for name, values in multimap.items()}
        records.append(record_of(prefix, dated, Options()))
    first = read(print_records(records))
    assert not first.counts.errors
    assert plain(from_json("".join(to_json(first.records())))) == plain(first)
    assert plain(from_csv("".join(to_csv(first.records())))) == plain(first)
    assert plain(read(print_records(first.records()))) == plain(first)


def test_a_foreign_table() -> None:
    table = 'Link,Name,Day,Tags,Other\r\nhttp://s.com/a.pdf,"A ""b""\nc",2004-01-01,x|y,1\r\nhttp://s.com/b,,,,\r\n,n,,,\r\n'
    overlay = import_csv(table, url="Link", classes={"Name": "t", "Day": "d", "Tags": "s"})
    assert not overlay.counts.errors
    assert plain(overlay) == [
        ("http://s.com/a.pdf", False, {"t": ('A "b" c',), "d": ("2004-01-01",), "s": ("x", "y")})
    ]


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(UsageError, match="no column 'Url'; it has a, b"):
        import_csv("a,b\n", url="Url", classes={"a": "t"})
    with pytest.raises(UsageError, match="'my-class' is no class"):
        import_csv("a,b\n", url="a", classes={"b": "my-class"})


@pytest.mark.parametrize("prefix", ["", "#x", "/a", "ftp://s.com/", "s.com/#a"])
def test_a_record_that_cannot_be_is_refused(prefix: str) -> None:
    with pytest.raises(UsageError):
        record_of(prefix, {"x": ["1"]}, Options())
    with pytest.raises(UsageError):
        record_of("s.com/", {}, Options())


@pytest.mark.parametrize("text", ["", "[]", '{"records": 1}', '{"records": [{"prefix": "s.com/"}]}'])
def test_json_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        from_json(text)


def test_days_end_at_midnight_of_the_zone() -> None:
    assert expires_at("2004-12-31") == datetime(2005, 1, 1, tzinfo=UTC).timestamp()
    sydney = ZoneInfo("Australia/Sydney")
    assert expires_at("20041231", sydney) == datetime(2004, 12, 31, 13, tzinfo=UTC).timestamp()
    assert published_at("2004-01-01") == datetime(2004, 1, 1, tzinfo=UTC).timestamp()
    assert expires_at("9999-12-31") is None
    assert expires_at("20040230") is None
