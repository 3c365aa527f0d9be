"""The validator and concatenator, pure: ratios, what is written, the log."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import UsageError
from ingather.overlay import Options, read
from ingather.overlay.validating import concatenate, log_text, threshold_of, validate

GOOD, BAD = "site{}.com/ x:a\n", "bad line {}\n"


def ten(bad: int) -> bytes:
    return "".join((BAD if n < bad else GOOD).format(n) for n in range(10)).encode()


@pytest.mark.parametrize(("bad", "accepted"), [(7, True), (8, False)])
def test_overlay_case_40_seven_of_ten_pass_with_seven_tenths(bad: int, accepted: bool) -> None:  # noqa: FBT001
    made = concatenate([("f", ten(bad))], Decimal("0.7"))
    assert made.validation.accepted is accepted
    assert made.lines == 10 - bad


def test_overlay_case_40_no_records_are_accepted() -> None:
    assert validate([("f", b"# nothing\n\n")]).accepted
    assert validate([]).accepted


@pytest.mark.parametrize("text", ["1.5", "-0.1", "nan", "inf", "", "70%"])
def test_overlay_case_40_a_threshold_is_a_number_from_0_to_1(text: str) -> None:
    with pytest.raises(UsageError):
        threshold_of(text)


def test_overlay_case_41_the_first_profile_wins_and_the_warning_names_both() -> None:
    made = concatenate([("a/cfg", b"s.com/ x:1\n"), ("b/cfg", b"\ns.com/ x:2\n")])
    assert read(made.body).lookup("http://s.com/") == {"x": ("1",)}
    (found,) = made.validation.diagnostics
    assert (found.code, found.severity) == ("duplicate-of-line-1", "warning")
    assert "a/cfg:1" in found.text
    assert "b/cfg:2" in found.text
    assert made.validation.accepted


def test_the_ratio_is_over_all_files_together() -> None:
    files = [("a", ten(10)), ("b", ten(0)), ("c", b"# a comment is no record\n")]
    assert validate(files, Decimal("0.5")).accepted
    assert not validate(files, Decimal("0.49999")).accepted


def test_the_log_has_findings_totals_and_verdict() -> None:
    text = log_text(validate([("config/f", b"site.com/ x:a,b\nbad line\n")], Decimal("0.5")))
    lines = text.splitlines()
    assert lines[0].startswith("config/f:1:13 warning bare-punctuation ")
    assert lines[1].startswith("config/f:2:1 error no-full-host 'bad'")
    assert lines[2] == "config/f: 2 records, 1 bad, 1 errors, 1 warnings"
    assert "still reject this file" in lines[3]
    assert lines[4] == "accepted: 1 bad of 2 records, ratio 0.5, threshold 0.5"


def test_no_bad_line_is_tolerated_where_lines_narrow_access() -> None:
    restricting = Options(on_error="fail", acl_overlay="restrict", permission_classes=frozenset({"p"}))
    made = concatenate([("a", b's.com/ p:"group:g"\nbad line\n')], Decimal(1), restricting)
    assert not made.validation.accepted
    good = concatenate([("a", b's.com/ p:"group:g"\n')], Decimal(0), restricting)
    assert (good.validation.accepted, good.lines) == (True, 1)


lines = st.sampled_from(
    [
        "s.com/ x:1",
        "S.com:80 x:2",
        "  s.com/a/ x:3 y:4\t",
        "s.com/index.html x:5",
        "bad",
        "",
        "# c",
        "t.com/ x:é",
        "s.com/ x:",
    ]
)
files = st.lists(st.lists(lines, max_size=8), max_size=4)


@given(files)
def test_concatenate_is_validate_and_merge(texts: list[list[str]]) -> None:
    bodies = [(str(n), "\r\n".join(each).encode()) for n, each in enumerate(texts)]
    made = concatenate(bodies, Decimal(1))
    checked = validate(bodies, Decimal(1))
    assert (made.validation.records, made.validation.bad) == (checked.records, checked.bad)
    result = read(made.body)
    assert result.counts.errors == result.counts.duplicates == 0
    merged: dict[tuple[str, bool], dict[str, tuple[str, ...]]] = {}
    for _, body in bodies:
        for record in read(body, on_error="skip_line").records():
            merged.setdefault((record.prefix, record.exact), dict(record.classes))
    assert {(each.prefix, each.exact): dict(each.classes) for each in result.records()} == merged
    assert made.lines == result.counts.lines == len(merged)
