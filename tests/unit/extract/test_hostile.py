"""Pages that would stall a parser are told before they are parsed; ordinary ones pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import suspect_reason
from ingather.extract.hostile import SuspectLimits

SMALL = SuspectLimits(attributes=100, open_elements=200)


def attributes(count: int, value: str = "=1") -> bytes:
    return ("<p " + " ".join(f"a{n}{value}" for n in range(count)) + ">x").encode()


@pytest.mark.parametrize(
    "html",
    [
        attributes(80_000),
        attributes(80_000, ""),
        attributes(80_000, "='x'"),
        b"<p>text</p>" * 3000 + attributes(3000) + b"<p>text</p>" * 3000,
        attributes(400_000, '=">"'),
        b"<!-- " + b"x" * 5000 + b" -->" + attributes(9000),
        attributes(9000)[:-2],
    ],
)
def test_crowded_tags_are_suspect(html: bytes) -> None:
    assert suspect_reason(html) == "attributes"


@pytest.mark.parametrize(
    "html",
    [
        b"<div>" * 100_000,
        b"<div>" * 100_000 + b"</div>" * 100_000,
        b"<ul><li>" * 50_000,
        b"<font size=1>" * 50_000,
        b"<br>" * 50_000 + b"<div>x" * 20_000,
        ("<div>" * 100_000).encode("utf-16"),
        b"<div>x</div>" * 20_000 + b"<SPAN>" * 20_000 + b"</SPAN>" * 20_000,
    ],
)
def test_deep_nesting_is_suspect(html: bytes) -> None:
    assert suspect_reason(html) == "nesting"


@pytest.mark.parametrize(
    "html",
    [
        b"",
        b"<p>x</p>\n" * 100_000,
        b"<li>x\n" * 100_000,
        b"x<br>\n" * 100_000,
        b"<td>1<td>2<tr>" * 50_000,
        b"<div>" * 5000 + b"<a href=x>y</a>" + b"</div>" * 5000,
        b"word " * 200_000,
        b"1 < 2 " * 100_000,
        b"<!--" * 100_000,
        b"<p title='" + b"a b c " * 20_000 + b"'>x",
        b'<img src="data:image/png;base64,' + b"QUJD" * 50_000 + b'">',
        b"<pre>" + b"a line of the log without any markup\n" * 20_000 + b"</pre>",
    ],
)
def test_large_but_honest_pages_pass(html: bytes) -> None:
    assert suspect_reason(html) is None


def test_the_limits_are_arguments() -> None:
    filler = b"<p>x</p>" * 13_000
    assert suspect_reason(filler + attributes(2000, "=" + "1" * 10), SMALL) == "attributes"
    assert suspect_reason(filler + b"<div>" * 300, SMALL) == "nesting"
    assert suspect_reason(filler + b"<div>" * 150, SMALL) is None


@given(st.binary(max_size=200), st.integers(0, 3000))
def test_any_bytes_get_an_answer(body: bytes, times: int) -> None:
    assert suspect_reason(body * times) in {None, "attributes", "nesting"}
