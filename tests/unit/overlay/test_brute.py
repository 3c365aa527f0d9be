"""Lookup against a matcher that tries every line, over random files and URLs."""

import random
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from ingather.model.default_page import stripped
from ingather.model.url import canonical
from ingather.overlay import Overlay, print_records, read

hosts = st.sampled_from(
    ["s.com", "s.com:8080", "S.com:80", "t.com", "s.com.au", "http://s.com", "https://s.com"]
)
segments = st.sampled_from(
    ["", "a", "ab", "b", "a.b", "index.html", "Default.ASPX", "index.shtml", "main.php", "%7e", "é"]
)
paths = st.lists(segments, max_size=4).map(lambda parts: "/" + "/".join(parts))
queries = st.sampled_from(["", "", "", "?", "?id=", "?id=7", "?a=1&b=2"])
values = st.sampled_from(['""', "1", "2", "three", '"four five"', '"six|seven"', '"a ""b"""'])
elements = st.lists(st.tuples(st.sampled_from("abck"), values), min_size=1, max_size=4)
lines = st.lists(st.tuples(hosts, paths, queries, elements), max_size=12)
urls = st.builds(lambda h, p, q: f"{h}{p}{q}" if "://" in h else f"http://{h}{p}{q}", hosts, paths, queries)


Rows = list[tuple[str, str, str, list[tuple[str, str]]]]


def text_of(records: Rows) -> str:
    return "".join(f"{h}{p}{q} {' '.join(f'{c}:{v}' for c, v in es)}\n" for h, p, q, es in records)


def brute(records: Rows, url: str) -> dict[str, tuple[str, ...]]:
    """Section 6 of the specification, word for word."""
    known: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for host, path, query, es in records:
        whole = canonical(host + path + query if "://" in host else f"http://{host}{path}{query}")
        if query == "?":
            whole += "?"
        bare = stripped(whole)
        own: dict[str, list[str]] = {}
        for name, value in es:
            mine = own.setdefault(name, [])
            for part in value.removeprefix('"').removesuffix('"').replace('""', '"').split("|"):
                if part and part not in mine:
                    mine.append(part)
        known.setdefault((bare, bare != whole), own)
    asked = stripped(canonical(url))
    chain = sorted(
        (len(prefix), exact, prefix)
        for prefix, exact in known
        if (asked == prefix if exact else asked.startswith(prefix))
    )
    out: dict[str, list[str]] = {}
    for _length, exact, prefix in chain:
        out.update(known[prefix, exact])
    return {name: tuple(each) for name, each in out.items() if each}


@given(lines, st.lists(urls, max_size=8))
def test_lookup_is_what_trying_every_line_gives(records: Rows, asked: list[str]) -> None:
    overlay = read(text_of(records).encode())
    assert not overlay.counts.errors
    for url in asked + sorted(asked):
        assert overlay.lookup(url) == brute(records, url)
        assert overlay.explain(url).values == brute(records, url)


@given(lines, urls, st.randoms())
def test_the_order_of_lines_matters_to_identical_prefixes_alone(
    records: Rows, url: str, dice: random.Random
) -> None:
    known: dict[str, tuple[str, str, str, list[tuple[str, str]]]] = {}
    for host, path, _, es in records:
        whole = canonical(host + path if "://" in host else f"http://{host}{path}")
        known.setdefault(stripped(whole), (host, path, "", es))
    unique = list(known.values())
    before = read(text_of(unique).encode()).lookup(url)
    dice.shuffle(unique)
    assert read(text_of(unique).encode()).lookup(url) == before


@given(lines, st.sampled_from(["http", "any"]), urls)
def test_print_then_parse_is_identity(records: Rows, schemeless: Literal["http", "any"], url: str) -> None:
    first = read(text_of(records).encode(), schemeless=schemeless)
    again = read(print_records(first.records()), schemeless=schemeless)
    assert not again.counts.errors
    assert _plain(again) == _plain(first)
    assert again.lookup(url) == first.lookup(url)


def test_a_big_file_in_no_order_is_what_it_is_in_order() -> None:
    """Beyond a hundred thousand records keys and elements are laid side by side."""
    known = [f's{n % 7}.com/{n:06}/ t:"Report {n}"' for n in range(100_000)]
    known += [f's{n}.com c:part p:"a|b" d:20040102' for n in range(7)]
    known += [f"s{n % 7}.com/{n:06}/index.html c:{n}" for n in range(0, 100_000, 5_000)]
    first, again = read("\n".join(sorted(known)).encode()), [*known, *known[:5], "s0.com t:late"]
    random.Random(1).shuffle(known)  # noqa: S311
    text = [*known, *again[-6:]]
    mixed = read("\n".join(text).encode())
    assert mixed.counts.duplicates == 6
    assert _plain(mixed) == _plain(first)
    for n in range(0, len(mixed), 997):
        assert mixed.written(n).decode() == text[mixed.line(n) - 1] == first.written(n).decode()
        assert mixed.elements(n) == first.elements(n)
    for n in (0, 5_000, 5_001, 99_999):
        url = f"http://s{n % 7}.com/{n:06}/"
        assert mixed.lookup(url) == first.lookup(url)
        assert mixed.lookup(f"{url}x")["t"] == (f"Report {n}",)
        assert ("c", (str(n),)) in mixed.lookup(url).items() or n % 5_000


def _plain(overlay: Overlay) -> list[tuple[object, ...]]:
    return [(r.prefix, r.exact, dict(r.classes), r.schemeless) for r in overlay.records()]
