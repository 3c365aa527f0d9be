"""Dates as people and programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract.dates import date_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024-01-01T00:00:00Z"),
        ("2024-05", "2024-05-01T00:00:00Z"),
        ("2024-05-01", "2024-05-01T00:00:00Z"),
        ("2024/5/1", "2024-05-01T00:00:00Z"),
        ("20240501", "2024-05-01T00:00:00Z"),
        ("20240501T101112Z", "2024-05-01T10:11:12Z"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00.123+02:00", "2024-05-01T08:00:00Z"),
        ("2024-05-01T10:00+0200", "2024-05-01T08:00:00Z"),
        ("2024-05-01T23:30-0130", "2024-05-02T01:00:00Z"),
        ("2024-05-01 10:00", "2024-05-01T10:00:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Thu, 05 Jan 2017 13:34:51 +0100", "2017-01-05T12:34:51Z"),
        ("1 May 2024", "2024-05-01T00:00:00Z"),
        ("Wednesday, May 1st, 2024", "2024-05-01T00:00:00Z"),
        ("Sept. 9, 2024", "2024-09-09T00:00:00Z"),
    ],
)
def test_a_date_is_read(text: str, expected: str) -> None:
    assert date_value(f" {text} ") == expected


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "now", "yesterday", "2024-13-01", "2024-02-30", "2024-05-01T25:00", "05/06/2024", "99999", "0000-00-00",
     "0001-01-01", "32 May 2024", "1 Foo 2024", "Sun, 31 Feb 2024 00:00:00 GMT", "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert date_value(text) == ""


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    value = date_value(text)
    assert value == "" or date_value(value) == value
