"""Limits of section 15: what is beyond them costs a record, and never more memory than allowed."""

import base64
import gzip
import random
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.feeds.content import ContentError, decode_base64, decode_content, inflate
from ingather.feeds.dates import parse_feed_date
from ingather.feeds.limits import FeedLimits
from ingather.testing.feedtext import acls, feed, read, records, rejections

SMALL = FeedLimits(
    content_bytes=1000, url_chars=100, metas=3, metadata_bytes=500, acl_entries=3, tags=100, warnings=2
)
GOOD = '<record url="http://x/good"/>'


def _metas(count: int, size: int = 1) -> str:
    return "".join(f'<meta name="n{number}" content="{"c" * size}"/>' for number in range(count))


def _compressed(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f'<record url="http://x/1"><content encoding="base64compressed">{text}</content></record>'


@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        (f'<record url="http://x/{"u" * 100}"/>', "longer than 100 characters"),
        (f'<record url="http://x/1"><metadata>{_metas(4)}</metadata></record>', "more than 3 metas"),
        (f'<record url="http://x/1"><metadata>{_metas(2, 300)}</metadata></record>', "larger than 500 bytes"),
        (f'<record url="http://x/1"><content>{"c" * 1001}</content></record>', "larger than 1000 bytes"),
        (
            _compressed(zlib.compress(bytes(5_000_000))),
            "larger than 1000 bytes",
        ),
        (
            _compressed(gzip.compress(bytes(5_000_000))),
            "larger than 1000 bytes",
        ),
        ('<record url="http://x/1"><content encoding="base64compressed">eJw=</content></record>', "is cut"),
        ('<record url="http://x/1"><content encoding="rot13">a</content></record>', "encoding is 'rot13'"),
        ('<record url="http://x/1"><content encoding="base64binary">a</content></record>', "not base64"),
        (f'<record url="http://x/1"><x a="{"a" * 1_100_000}"/>{"<y/>" * 200}</record>', "too many tags"),
        ('<record url="http://x/1" action="destroy"/>', "'destroy' is neither add nor delete"),
    ],
)
def test_a_record_beyond_a_limit_costs_itself(piece: str, reason: str) -> None:
    items = read(feed(piece, GOOD), limits=SMALL)
    (rejected,) = rejections(items)
    assert reason in rejected.reason
    assert not rejected.denies
    assert [item.url for item in records(items)] == ["http://x/good"]


def test_an_acl_beyond_its_limit_permits_nobody() -> None:
    entries = '<principal scope="user" access="permit">a</principal>' * 4
    (item,) = acls(read(feed(f'<acl url="http://x/">{entries}</acl>'), limits=SMALL))
    assert item.acl.problem == "it has more than 3 entries"
    assert len(item.acl.entries) == 3


def test_warnings_are_bounded() -> None:
    attributes = " ".join(f"a{number}=''" for number in range(30))
    (item,) = records(read(feed(f'<record url="http://x/1" {attributes}/>'), limits=SMALL))
    assert len(item.warnings) == 3
    assert item.warnings[-1] == "and 28 more"


def test_a_feed_of_unknown_names_ends() -> None:
    pieces = [f'<record url="http://x/{n}" a{n}=""/>' for n in range(30)]
    *items, last = read(feed(*pieces), limits=FeedLimits(names=10))
    assert len(items) == 12
    assert getattr(last, "complete", True) is False


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 06 Nov 2007 12:45:26 GMT",
        "Tue, 06 Nov 2007 12:45:26 +0000",
        "Tue, 6 Nov 2007 12:45:26 GMT",
        "6 Nov 2007 12:45:26 GMT",
        "2007-11-06T12:45:26+00:00",
        "2007-11-06T13:45:26+01:00",
        "2007-11-06T12:45:26Z",
        "2007-11-06 12:45:26",
    ],
)
def test_dates_in_every_format_that_was_seen(text: str) -> None:
    moment = parse_feed_date(text)
    assert moment is not None
    assert moment.isoformat() == "2007-11-06T12:45:26+00:00"


@pytest.mark.parametrize("text", ["", " ", "yesterday", "06/11/2007"])
def test_what_is_no_date_is_a_warning(text: str) -> None:
    assert parse_feed_date(text) is None
    (item,) = records(read(feed(f'<record url="http://x/1" last-modified="{text}"/>')))
    assert len(item.warnings) == (1 if text.strip() else 0)


@given(
    st.binary(max_size=200),
    st.sampled_from([zlib.compress, gzip.compress, lambda data: zlib.compress(data)[2:-4]]),
)
def test_compressed_content_comes_back(data: bytes, compress: object) -> None:
    packed = compress(data)  # type: ignore[operator]
    assert inflate(packed, 200) == data


@given(st.text(max_size=60), st.sampled_from(["base64binary", "base64compressed"]))
def test_any_text_as_content(text: str, encoding: str) -> None:
    with suppress(ContentError):
        assert len(decode_content(text, encoding, 1000)) <= 1000


@given(st.binary(max_size=100), st.integers(1, 30))
def test_base64_in_lines_without_padding(data: bytes, width: int) -> None:
    text = base64.b64encode(data).decode().rstrip("=")
    assert decode_base64("\r\n".join(text[at : at + width] for at in range(0, len(text), width))) == data


@pytest.mark.parametrize("other", ["", "<content/>", "<!-- <content> -->"])
@pytest.mark.parametrize("encoding", ["base64binary", "base64compressed"])
def test_large_base64_is_read_like_small(other: str, encoding: str) -> None:
    body = random.Random(1).randbytes(1_500_000)  # noqa: S311
    data = base64.encodebytes(zlib.compress(body) if encoding == "base64compressed" else body).decode()
    piece = (
        f'<record url="http://x/1">{other}<content encoding="{encoding}">{data}</content>'
        '<!-- & --><metadata><meta name="a" content="b"/></metadata></record>'
    )
    (item, good) = records(read(feed(piece, GOOD)))
    assert item.content is not None
    assert item.content.body == body
    assert item.metadata == (("a", "b"),)
    assert good.url == "http://x/good"


@pytest.mark.parametrize("slip", ["!", "&amp;", "<b/>", "&foo;", "]]>"])
def test_large_base64_with_a_slip_costs_its_record(slip: str) -> None:
    data = base64.b64encode(bytes(900_000)).decode()
    piece = f'<record url="http://x/1"><content encoding="base64binary">{data}{slip}{data}</content></record>'
    items = read(feed(piece, GOOD))
    assert [item.url for item in rejections(items)] == ["http://x/1"]
    assert [item.url for item in records(items)] == ["http://x/good"]
