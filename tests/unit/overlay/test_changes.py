"""Differences of versions: outside the ranges nothing changes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from ingather.model.default_page import stripped
from ingather.overlay import fingerprint, read
from ingather.overlay.against import judged
from ingather.overlay.changes import KeyRange, changes, key_ranges

SEED = b"""www.anu.edu.au w:ACT
www.anu.edu.au/chem/ x:knowledge x:science x:chemistry
www.anu.edu.au/physics/ x:"knowledge science physics" y:external y:funding
www.anu.edu.au/physics/molecular/ x:knowledge x:science x:chemistry
"""


def test_overlay_case_42_one_changed_line_is_one_range() -> None:
    lines = SEED.split(b"\n")
    lines[2] = b"www.anu.edu.au/physics/ y:external"
    old, new = read(SEED), read(b"\n".join(lines))
    assert key_ranges(old, new) == [
        KeyRange("http://www.anu.edu.au/physics/", "http://www.anu.edu.au/physics0"),
    ]
    (change,) = changes(old, new)
    assert (change.old_line, change.new_line) == (3, 3)
    assert str(change) == (
        "~ http://www.anu.edu.au/physics/  x: knowledge science physics -> nothing; y: external | funding -> external"
    )
    for url, same in (("/physics/staff.htm", False), ("/chem/", True)):
        before, after = (fingerprint(each.lookup(f"http://www.anu.edu.au{url}")) for each in (old, new))
        assert (before == after) is same


records = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "s.com/",
                "s.com/a",
                "s.com/a/",
                "s.com/ab/",
                "s.com/a/index.html",
                "s.com:81/",
                "https://s.com/a/b",
            ]
        ),
        st.sampled_from(["x:1", "x:2", 'x:""', "y:1", 'x:"1" y:2']),
    ),
    max_size=6,
)
URLS = [
    f"{host}{path}"
    for host in ("http://s.com", "http://s.com:81", "https://s.com", "http://t.com")
    for path in ("/", "/a", "/a/", "/A/x", "/a/b/c", "/a/index.html", "/ab/1", "/b", "/index.htm")
]


@given(records, records, st.booleans(), st.sampled_from(["http", "any"]))
def test_outside_the_ranges_nothing_changes(
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    fold: bool,  # noqa: FBT001 - hypothesis gives it so
    schemeless: Literal["http", "any"],
) -> None:
    hosts = ("s.com",) if fold else ()
    old, new = (
        read(
            "\n".join(" ".join(pair) for pair in each).encode(),
            case_insensitive_hosts=hosts,
            schemeless=schemeless,
        )
        for each in (before, after)
    )
    ranges = key_ranges(old, new)
    assert all(left.end <= right.first for left, right in pairwise(ranges))
    for url in URLS:
        key = stripped(url)
        if not any(each.first <= key < each.end for each in ranges):
            assert old.lookup(url) == new.lookup(url)
            assert fingerprint(old.lookup_key(key)) == fingerprint(new.lookup_key(key))


def test_hosts_may_not_tell_case_apart() -> None:
    overlay = read(b"s.com/Docs/ x:1", case_insensitive_hosts=["s.com"])
    assert overlay.lookup("http://s.com/dOCS/A") == {"x": ("1",)}
    assert overlay.lookup_key("http://s.com/DOCS/A") == {"x": ("1",)}


def test_a_line_without_a_scheme_may_stand_for_both() -> None:
    overlay = read(b"s.com/ x:1\nhttps://s.com/ x:2\n", schemeless="any")
    assert overlay.lookup("http://s.com/1") == overlay.lookup("https://s.com/1") == {"x": ("1",)}
    assert [each.code for each in overlay.diagnostics] == ["duplicate-of-line-1"]
    assert [each.schemeless for each in overlay.records()] == [True]


def test_findings_that_need_the_catalog() -> None:
    overlay = read(b"a.com/ x:1\nb.com/ x:1\nc.com/ x:1\n")
    keys = ["http://a.com/1", "https://b.com/1"]

    def count(span: KeyRange) -> int:
        return sum(span.first <= key < span.end for key in keys)

    def found() -> Iterator[str | None]:
        for record in overlay.records():
            finding = judged(record, "f", count)
            yield f"{finding.line} {finding.code}" if finding else None

    assert list(found()) == [None, "2 schemeless-https", "3 never-matched"]
