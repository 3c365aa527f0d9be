"""Any bytes: our own error or items, in time; and what a cut, a mutation or a restart may change."""

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import FeedError
from ingather.feeds.checking import check
from ingather.feeds.groups_reading import read_group_items
from ingather.feeds.jsonlines import read_json_lines
from ingather.feeds.limits import FeedLimits
from ingather.feeds.reading import FeedReader, read_items
from ingather.model.feed import FeedEnd, FeedHeader
from ingather.testing.feedtext import SEED, end, feed, read

RICH = feed(
    "<!-- <record url='http://x/no'/> -->",
    '<acl url="http://x/f/" inherit-from="http://x/"><principal scope="user" access="deny">M&uuml;ller</principal></acl>',
    '<record url="http://x/1" displayurl="http://d/&amp;1"><acl/><metadata><meta name="ä" content="b"/></metadata>'
    "<content><![CDATA[<record>&foo; ]]></content></record>",
    '<record url="http://x/2" action="delete"/>',
    '</group><group action="delete" pagerank="97"><record url="http://x/3">',
    '<content encoding="base64binary">Zm9vIGJhcgo</content></record>',
    '<record url="http://x/&unknown;"/><record url="http://x/4"><content>a & b</content></record>',
    "<record url='http://x/5'><metadata><meta name='a' content='b'></metadata></record>",
    feedtype="full",
)
PARTS = [
    "<", ">", "</record>", "<record url='http://x/1'>", "<acl url='http://x/'>", "</acl>", "<![CDATA[", "]]>", "<!--", "-->",
    "&amp;", "&foo;", "&#0;", '"', "'", "<group>", "</group>", "</gsafeed>", "<gsafeed>", "<?", "?>", "<!DOCTYPE", "[", "\x0b", "ä",
    "<meta name='a' content='b'>", "<metadata>", "</metadata>", "<content>", "</content>", "/", "=", " ", "\n", "\ue0f1", "\udc80",
]  # fmt: skip


def settled(data: bytes) -> None:
    """Hold every reader to its promises over *data*."""
    for reader in (read_items, read_group_items):
        try:
            items = list(reader(io.BytesIO(data)))
        except FeedError:
            continue
        assert isinstance(items[-1], FeedEnd)
        assert sum(isinstance(item, FeedEnd) for item in items) == 1
    assert isinstance(list(read_json_lines(io.BytesIO(data)))[-1], FeedEnd)
    check(io.BytesIO(data))


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    settled(data)


@given(st.lists(st.sampled_from(PARTS), max_size=40), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
def test_any_markup(parts: list[str], codec: str) -> None:
    settled(("<gsafeed><group>" + "".join(parts)).encode(codec, "replace"))


@given(st.data())
def test_mutated_feeds(data: st.DataObject) -> None:
    text = bytearray(data.draw(st.sampled_from([RICH, SEED])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        with_ = data.draw(st.sampled_from(PARTS)).encode("utf-8", "surrogatepass")
        text[at : at + data.draw(st.integers(0, 20))] = with_
    settled(bytes(text))


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_a_cut_anywhere_is_never_complete_and_changes_nothing_before_it(codec: str) -> None:
    whole = RICH.replace('encoding="UTF-8"', "") if codec != "utf-8" else RICH
    data = whole.encode(codec)
    items = read(data)
    assert end(items).complete
    stop = data.rindex("</gsafeed>".encode(codec)[2 if codec == "utf-16" else 0 :])
    for cut in [*range(0, stop, 7), stop + 5]:
        try:
            some = read(data[:cut])
        except FeedError:
            continue
        assert not end(some).complete
        # The last one may be the record that was cut.
        whole_ones = some[1:-2]
        assert whole_ones == items[1 : 1 + len(whole_ones)]


@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "latin-1", "utf-16"])
@pytest.mark.parametrize("text", [RICH, SEED], ids=["rich", "seed"])
def test_reading_goes_on_from_every_cursor(encoding: str, text: str) -> None:
    name = {"latin-1": "iso-8859-1"}.get(encoding, encoding)
    if text is SEED:
        text = f'<?xml version="1.0" encoding="{name}"?>\n{text}'
    data = text.replace("UTF-8", name).encode(encoding, "xmlcharrefreplace")
    reader = FeedReader(io.BytesIO(data))
    items, cursors = [], []
    for item in reader.items():
        items.append(item)
        cursors.append(reader.cursor)
    assert isinstance(items[0], FeedHeader)
    for at, cursor in enumerate(cursors[:-1]):
        again = list(FeedReader(io.BytesIO(data), start=cursor).items())
        assert [item for item in again if not isinstance(item, FeedHeader)] == items[at + 1 :]


def test_reading_in_small_steps_gives_the_same() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(random.Random(self.tell()).randint(1, 40))  # noqa: S311

    for text in (RICH, SEED):
        data = text.encode()
        assert list(FeedReader(Slow(data)).items()) == read(data)


class Endless(io.RawIOBase):
    """A feed of *size* bytes that is never held."""

    def __init__(self, head: bytes, body: bytes, size: int) -> None:
        self._head, self._body, self._left = head, body * (65536 // len(body) + 1), size

    def read(self, size: int = -1, /) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        made = self._body[: min(max(size, 0), self._left)]
        self._left -= len(made)
        return made


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"<gsafeed><group><record url='http://x/1'><content>", b"aaaa\n"),
        (b"<gsafeed><group><record url='http://x/1'><content><![CDATA[", b"a>]] "),
        (b"<gsafeed><!--", b"<record url='http://x/'/>- "),
        (b"<gsafeed>", b"text outside "),
        (b"<gsafeed>", b" \n"),
        (b"<gsafeed><group>", b"<x/>"),
        (b"<gsafeed><?", b"x ?"),
        (b"<gsafeed><group ", b"a "),
        (b"<gsafeed><group><record url='", b"x "),
        (b"<!DOCTYPE gsafeed [", b"<!ELEMENT a (b)>"),
        (b"\xff\xfe<\0g\0s\0a\0f\0e\0e\0d\0>\0<\0r\0e\0c\0o\0r\0d\0>\0", b"a\0"),
        (b"<gsafeed><group><record url='http://x/1'>", b"<record abcdefghijklmnopqrstuvwxyz "),
    ],
    ids=[
        "content",
        "cdata",
        "comment",
        "text",
        "white",
        "tags",
        "pi",
        "attribute",
        "url",
        "doctype",
        "utf-16",
        "records",
    ],
)
def test_memory_stays_bounded_whatever_never_ends(head: bytes, body: bytes) -> None:
    import tracemalloc

    limits = FeedLimits(record_bytes=1 << 20, outside_bytes=1 << 17)
    size = (1 << 20) if b"<" in body and body != b"<!ELEMENT a (b)>" and b"-" not in body else 40 << 20
    tracemalloc.start()
    try:
        for _ in FeedReader(Endless(head, body, size), limits=limits).items():
            pass
    except FeedError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 16 << 20


def test_an_oversize_record_is_passed_over_and_the_feed_goes_on() -> None:
    big = f'<record url="http://x/big"><acl/><content>{"a" * 3_000_000}</content></record>'
    data = feed('<record url="http://x/1"/>', big, '<record url="http://x/2"/>').encode()
    items = list(FeedReader(io.BytesIO(data), limits=FeedLimits(record_bytes=1 << 20)).items())
    assert [(type(item).__name__, getattr(item, "url", "")) for item in items] == [
        ("FeedHeader", ""),
        ("FeedRecord", "http://x/1"),
        ("FeedRejection", "http://x/big"),
        ("FeedRecord", "http://x/2"),
        ("FeedEnd", ""),
    ]
    assert "larger than the limit" in getattr(items[2], "reason", "")
    assert getattr(items[2], "denies", False)


def test_a_cursor_at_the_header_loses_no_record() -> None:
    data = b"<gsafeed><record url='http://x/1'/><record url='http://x/2'/></gsafeed>"
    reader = FeedReader(io.BytesIO(data))
    next(reader.items())
    again = list(FeedReader(io.BytesIO(data), start=reader.cursor).items())
    assert [getattr(item, "url", "") for item in again] == ["", "http://x/1", "http://x/2", ""]
