"""JSON lines: the same model as XML."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

from ingather.feeds.jsonlines import JsonLinesReader, read_json_lines
from ingather.feeds.limits import FeedLimits
from ingather.feeds.reading import FeedItem
from ingather.model.feed import FeedContent, FeedHeader, FeedType
from ingather.testing.feedtext import acls, end, feed, read, records, rejections

END = {"type": "end"}


def lines(*values: Any, **options: Any) -> list[FeedItem]:
    data = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode()
    return list(read_json_lines(io.BytesIO(data), **options))


def test_a_record_means_what_it_means_in_xml() -> None:
    xml = feed(
        '<record url="http://x/1" displayurl="http://d/" mimetype="text/html" last-modified="2020-01-01" lock="true"'
        ' authmethod="none" pagerank="97" crawl-immediately="true" crawl-once="true" scoring="web">'
        '<acl inherit-from="http://x/" inheritance-type="and-both-permit">'
        '<principal scope="user" access="deny" namespace="n" case-sensitivity-type="everything-case-insensitive"'
        ' principal-type="unqualified">a/b</principal></acl>'
        '<metadata overwrite-acls="false"><meta name="a" content="b"/><meta name="a" content="c"/></metadata>'
        "<content>ä</content></record>"
    )
    value = {
        "url": "http://x/1",
        "display_url": "http://d/",
        "mimetype": "text/html",
        "last_modified": "2020-01-01",
        "lock": True,
        "authmethod": "none",
        "pagerank": 97,
        "crawl_immediately": True,
        "crawl_once": True,
        "scoring": "web",
        "acl": {
            "inherit_from": "http://x/",
            "inheritance_type": "and-both-permit",
            "principals": [
                {
                    "scope": "user",
                    "access": "deny",
                    "namespace": "n",
                    "case_sensitivity_type": "everything-case-insensitive",
                    "principal_type": "unqualified",
                    "name": "a/b",
                }
            ],
        },
        "metadata": {"a": ["b", "c"]},
        "overwrite_acls": False,
        "content": "ä",
    }
    (of_xml,) = records(read(xml))
    (of_json,) = records(items := lines(value, END))
    for name in of_xml.__struct_fields__:
        if name not in {"line", "offset"}:
            assert getattr(of_json, name) == getattr(of_xml, name), name
    assert (of_json.line, of_json.offset) == (1, 0)
    assert end(items).may_delete


def test_the_documented_example_reads() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "feed-jsonl.md").read_text(encoding="utf-8")
    match = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert match is not None
    items = lines(match[1])
    assert items[0] == FeedHeader("intranet_hr", "full")
    assert (len(records(items)), len(acls(items)), len(rejections(items))) == (2, 1, 0)
    assert end(items).may_delete


def test_bytes_come_in_base64() -> None:
    value = {
        "url": "http://x/1",
        "content": base64.b64encode(b"\0\xff").decode(),
        "content_encoding": "base64binary",
    }
    (item,) = records(lines(value))
    assert item.content == FeedContent(b"\0\xff", text=False)


def test_control_characters_and_any_name_are_legal_in_metadata() -> None:
    (item,) = records(lines({"url": "http://x/1", "metadata": [["a\x0b", "\n\x00"], ["a b", 3]]}))
    assert item.metadata == (("a", "\n\x00"), ("a b", "3"))


def test_every_broken_line_costs_itself() -> None:
    items = lines(
        '{"url": "http://x/0", "acl":',
        "[]",
        {"url": "http://x/1", "acl": []},
        {"url": "http://x/2", "metadata": 3},
        {"url": "http://x/3", "content": {}},
        {"url": "http://x/4", "lock": []},
        {"url": "/relative"},
        {"type": "thing"},
        {"type": "acl", "url": "http://x/5", "principals": {}},
        "[" * 5000,
        {"url": "http://x/good", "nonsense": 1},
        END,
    )
    assert [(item.url, item.denies) for item in rejections(items)] == [
        ("http://x/0", True),
        ("", False),
        ("http://x/1", True),
        ("http://x/2", True),
        ("http://x/3", False),
        ("http://x/4", False),
        ("/relative", False),
        ("", True),
        ("http://x/5", True),
        ("", False),
    ]
    (good,) = records(items)
    assert good.line == 11
    assert good.warnings == ("the attribute record@nonsense is not known and ignored",)


def test_without_the_end_line_a_feed_is_not_complete() -> None:
    assert not end(lines({"url": "http://x/1"})).complete
    assert end(lines({"url": "http://x/1"}, END)).may_delete
    assert not end(lines(END, {"url": "http://x/1"})).may_delete


def test_a_line_beyond_the_limit_is_passed_over() -> None:
    big = {"url": "http://x/big", "content": "a" * 500_000}
    items = lines(
        {"url": "http://x/1"}, big, {"url": "http://x/2"}, END, limits=FeedLimits(record_bytes=1000)
    )
    assert [item.url for item in records(items)] == ["http://x/1", "http://x/2"]
    assert len(rejections(items)) == 1


def test_content_of_a_metadata_and_url_feed_is_ignored() -> None:
    (item,) = records(lines({"url": "http://x/1", "content": "a"}, feedtype=FeedType.METADATA_AND_URL))
    assert item.content is None


def test_reading_goes_on_from_every_cursor() -> None:
    data = "\n".join(
        [json.dumps({"type": "header", "datasource": "a"})]
        + [json.dumps({"url": f"http://x/{n}", "mimetype": "ä"}, ensure_ascii=False) for n in range(5)]
        + [json.dumps(END)]
    ).encode()
    reader = JsonLinesReader(io.BytesIO(data))
    items, cursors = [], []
    for item in reader.items():
        items.append(item)
        cursors.append(reader.cursor)
    for at, cursor in enumerate(cursors[:-1]):
        again = list(JsonLinesReader(io.BytesIO(data), start=cursor).items())
        assert [item for item in again if not isinstance(item, FeedHeader)] == items[at + 1 :]
