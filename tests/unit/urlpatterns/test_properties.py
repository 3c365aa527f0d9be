"""Whatever stands in a list: it is read or refused with a place, and the tables say what each pattern says alone."""

import string
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import re2
from ingather.conf.patterns.dialects import options
from ingather.conf.policyacl import PolicyAcl
from ingather.conf.urlpatterns import Follow, PatternList
from ingather.conf.urlpatterns.gnu import GnuError, translate

PIECES = st.sampled_from(
    [
        "http://", "^", "$", "-", "+-", "/", "</>", "contains:", "regexp:", "regexpIgnoreCase:", "example.com", "www.", ".pdf",
        ":80", ":8080", ":*", "a", "products/", "*", "\\\\", "\\", "(", ")", "[", "]", "{,3}", "?", "é", " ", "%7e", "%", "#",
        "@", "smb://srv", "index.html",
    ]
)  # fmt: skip
LINES = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=30)
HOSTS = st.sampled_from(
    ["example.com", "www.example.com", "notexample.com", "srv", "a.example.com:8080", "example.com:443"]
)
URLS = st.builds(
    "{}://{}/{}".format,
    st.sampled_from(["http", "https", "smb"]),
    HOSTS,
    st.lists(st.sampled_from(["a", "products/", ".pdf", "?x=1", "b/", "index.html"]), max_size=4).map(
        "".join
    ),
)
VALID = st.sampled_from(
    [
        "example.com/", ".example.com/a", "www.example.com/products/", "http://example.com/", "http://example.com/products/b",
        "https://www.example.com:443/", "example.com:8080/", "example.com:*/a", ":80/", "^http://www", "^https://", "smb://srv/a",
        "^http://example.com/a$", "example.com/a$", ".pdf$", "index.html$", "/products/", "</>products/", "</>a$", "/",
        "contains:b/b", "contains:?x", "regexp:^http://[a-z.]+/a", "regexpIgnoreCase:EXAMPLE", "regexp:x=[0-9]$",
        r"regexp:/([^/]*)/\\1/\\1/", "example.com:8080/a$",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=5).map("\n".join))
def test_any_text_is_read_or_refused_with_places(text: str) -> None:
    count = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for made, said in (PatternList.parse(text, "f"), PolicyAcl.parse(text, "f")):
        assert all(1 <= d.line <= count and d.column >= 1 and d.code[:2] in ("E-", "W-") for d in said)
        (made.match if isinstance(made, PolicyAcl) else made.decide)("http://example.com/a")


@given(st.lists(VALID, min_size=1, max_size=12), URLS, st.sampled_from(["any", "label"]))
def test_the_tables_say_what_each_pattern_says_alone(lines: list[str], url: str, boundary: str) -> None:
    together, said = PatternList.parse("\n".join(lines), "f", boundary=boundary)
    assert not [d for d in said if d.is_error]
    alone = [PatternList.parse(line, "f", boundary=boundary)[0].decide(url) is not None for line in lines]
    hit = together.decide(url)
    assert (hit.line if hit else 0) == (alone.index(True) + 1 if any(alone) else 0)
    policy, _ = PolicyAcl.parse("\n".join(f"{line} x" for line in lines), "f", boundary=boundary)
    assert {rule.line for rule in policy.find(url)} == {n for n, one in enumerate(alone, start=1) if one}


@given(
    st.lists(VALID, max_size=6), st.lists(VALID, max_size=3), st.lists(VALID, max_size=6), st.lists(VALID, max_size=3), URLS
)  # fmt: skip
def test_crawled_is_in_follow_and_not_in_do_not_follow(
    one: list[str], less: list[str], other: list[str], again: list[str], url: str
) -> None:
    def made(lines: list[str], excepted: list[str]) -> PatternList:
        return PatternList.parse("\n".join([f"-{line}" for line in excepted] + lines), "f")[0]

    def within(lines: list[str], excepted: list[str]) -> bool:
        return made(lines, []).decide(url) is not None and made(excepted, []).decide(url) is None

    pair = Follow(made(one, less), made(other, again))
    assert pair.crawled(url)[0] == (within(one, less) and not within(other, again))


@given(st.text(alphabet="ab(){}[]^$|*+?\\.,12<>-:" + string.ascii_lowercase[:4], max_size=20))
@settings(max_examples=150)
def test_what_the_translation_gives_compiles_or_is_refused_by_re2(expression: str) -> None:
    made = ""
    with suppress(GnuError):
        made, _ = translate(expression)
    try:
        re2.compile(made, options(folded=False))
    except re2.error:
        assert PatternList.parse(f"regexp:{expression}", "f")[1]


MEANT = [
    ("a+?b", "b", True), ("a+?b", "xb", True), ("^a+?$", "", True), ("a??c", "c", True), ("^(a|b)*?$", "abab", True),
    ("a{,3}$", "b", True), ("^a{,3}$", "aaaa", False), ("^a{2}?$", "", True), (r"[\d]", "d", True), (r"[\d]", "1", False),
    (r"[\d]", "\\", True), (r"\d", "d", True), (r"\d", "7", False), (r"\<new\>", "a new x", True), (r"\<new\>", "renew", False),
    (r"a\'", "ba", True), (r"a\'", "ab", False), (r"\`a", "ab", True), ("[]a]", "]", True), ("[^]a]b", "]b", False),
    ("a{x", "a{x", True), ("a{}", "a{}", True), ("[[:digit:]]+x", "12x", True), ("[a&&b]", "&", True), ("x|^y", "zx", True),
    ("a{,}b", "b", True), (r"\w+", "%", False), (r"\.", "a", False),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "text", "wanted"), MEANT)
def test_gnu_means(expression: str, text: str, wanted: bool) -> None:  # noqa: FBT001 - a table
    made, _ = translate(expression)
    assert (re2.compile(made, options(folded=False)).search(text) is not None) is wanted


REFUSED = [
    ("*.pdf", "leading-star"), ("(*a)", "leading-star"), ("a|*b", "leading-star"), ("^*a", "leading-star"), ("+a", "regex"),
    ("(?:a)", "regex"), ("(?i)a", "regex"), ("a)", "regex"), ("(a", "regex"), ("a**", "regex"), ("a++", "regex"),
    ("[[=a=]]", "collating"), ("[[:no:]]", "regex"), ("a\\", "regex"), (r"(a)\2", "backreference"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "kind"), REFUSED)
def test_gnu_refuses(expression: str, kind: str) -> None:
    with pytest.raises(GnuError) as caught:
        translate(expression)
    assert caught.value.kind == kind


def test_a_thousand_patterns_of_each_kind_are_told_apart() -> None:
    lines = [f"http://h{n}.test/p{n}/" for n in range(1000)]
    lines += [f"contains:literal-{n}-" for n in range(1000)] + [f".suffix{n}$" for n in range(1000)]
    lines += [f"regexp:/q{n}/[0-9]+/end" for n in range(200)] + [f"/dir{n}/" for n in range(1000)]
    found, said = PatternList.parse("\n".join(lines), "f")
    assert not said
    for url, line in (
        ("http://h7.test/p7/x", 8), ("http://h7.test/p8/x", 0), ("http://x/literal-999-", 2000), ("http://x/a.suffix5", 2006),
        ("http://x:81/a.suffix5", 2006), ("http://x/q17/22/end", 3018), ("http://x/y/dir3/", 3204), ("http://dir3/x", 0),
    ):  # fmt: skip
        hit = found.decide(url)
        assert (hit.line if hit else 0) == line, url
