"""Patterns: the table of section 6 of the robot specification, and what each dialect means."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.conf.patterns.dialects import Pattern, PatternError, compile_pattern

HOSTS = ("www.nasa.gov", "nasa.gov", "www.governor.com", "www.gov.uk", "mygov.com")


def hits(pattern: str) -> list[int]:
    found = compile_pattern(pattern, "host")
    return [int(found.test(host)) for host in HOSTS]


@pytest.mark.parametrize(
    ("written", "dialect", "matches"),
    [
        (r"\\\\*.gov", "shexp", [1, 1, 0, 0, 0]),
        (r"\\*.gov", "shexp", [1, 1, 0, 0, 0]),
        ("*.gov", "shexp", [1, 1, 0, 0, 0]),
        (r"\*.gov", "shexp", [1, 1, 0, 0, 0]),
        (r"^*.gov$", "shexp", [1, 1, 0, 0, 0]),
        (r"\\*\.gov", "shexp", [1, 1, 0, 0, 0]),
        (r".*\.gov$", "posix", [1, 1, 0, 0, 0]),
        (r"\.gov$", "posix", [1, 1, 0, 0, 0]),
        (r"\.gov", "posix", [1, 1, 1, 1, 0]),
        (r"[.]GOV$", "posix", [1, 1, 0, 0, 0]),
        (r"\\\\*", "shexp", [1, 1, 1, 1, 1]),
        (r"\\*", "shexp", [1, 1, 1, 1, 1]),
        ("*", "shexp", [1, 1, 1, 1, 1]),
        ("all", "all", [1, 1, 1, 1, 1]),
        ("(*.gov|mygov.com)", "shexp", [1, 1, 0, 0, 1]),
        ("*.gov~nasa.gov", "shexp", [1, 0, 0, 0, 0]),
        (r"\<gov\>", "posix", [1, 1, 0, 1, 0]),
        ("^[[:alpha:]]+\\.gov$", "posix", [0, 1, 0, 0, 0]),
        ("^[[.m.]y[=g=]]+ov", "posix", [0, 0, 0, 0, 1]),
    ],
)
def test_the_table_of_the_specification(written: str, dialect: str, matches: list[int]) -> None:
    found = compile_pattern(written, "host")
    assert found.dialect == dialect
    assert hits(written) == matches


def test_a_wildcard_reads_as_one() -> None:
    assert compile_pattern(r"\\\\*.gov", "host").read_as == "*.gov"
    assert compile_pattern(r"\\\\*.gov", "host").guessed
    assert not compile_pattern("*.gov", "host", dialect="shexp").guessed


def test_a_single_escaped_asterisk_is_one_where_there_can_be_one() -> None:
    found = compile_pattern(r"a\*b", "path")
    assert found.dialect == "posix"
    assert found.test("/a*b")
    assert not found.test("/aab")


def test_case_follows_the_source() -> None:
    assert compile_pattern("NASA", "host").test("www.nasa.gov")
    assert not compile_pattern("NASA", "path").test("/nasa")
    assert compile_pattern("^TEXT/", "type").test("text/html")


@pytest.mark.parametrize(
    ("written", "dialect", "offset"),
    [
        ("(unclosed", "posix", 0),
        ("ab(c", "posix", 2),
        ("x)", "posix", 1),
        ("a[b", "posix", 1),
        ("a**", "posix", 1),
        ("a\\", "posix", 1),
        (r"(a)\1", "posix", 3),
        ("*(a", "shexp", 1),
        ("*a)", "shexp", 2),
        ("*[a", "shexp", 1),
        ("(?=a)", "python", 0),
    ],
)
def test_what_does_not_compile_says_where(written: str, dialect: str, offset: int) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(written, "url", dialect="python" if dialect == "python" else "auto")
    assert (caught.value.dialect, caught.value.offset) == (dialect, offset)


def test_a_pattern_that_can_never_match_is_noticed() -> None:
    assert compile_pattern(r"a\*b", "host", dialect="posix").never
    assert compile_pattern(r"a[*]b", "host").never
    assert not compile_pattern(r"a\*b|c", "host", dialect="posix").never
    assert not compile_pattern(r"a\*b", "url", dialect="posix").never


def test_hostile_patterns_take_linear_time() -> None:
    found = compile_pattern("(a+)+$", "url")
    assert not found.test("a" * 50_000 + "b")


def any_of(found: Pattern, host: str, port: int) -> bool:
    return found.any((host, f"{host}:{port}"))


def test_an_exception_holds_for_every_form_of_a_host() -> None:
    found = compile_pattern("*siroe*~www.siroe.com", "host")
    assert any_of(found, "home.siroe.com", 80)
    assert not any_of(found, "www.siroe.com", 80)


@settings(deadline=None, max_examples=150)
@given(st.text("abX./\\^$", max_size=6), st.text("abAxX./", max_size=8), st.sampled_from(["host", "path"]))
def test_plain_tests_mean_what_re2_means(written: str, value: str, source: str) -> None:
    """Simple expressions are tested without RE2; both must agree."""
    import re2
    from ingather.conf.patterns.dialects import options

    try:
        found = compile_pattern(written, source, dialect="posix")
    except PatternError:
        return
    assert found.test(value) == bool(
        re2.compile(found.expression, options(folded=source == "host")).search(value)
    )
