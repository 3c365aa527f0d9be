"""Bad input: located, counted, bounded."""

import random

import pytest

from ingather.model.default_page import stripped
from ingather.overlay import Overlay, read
from ingather.overlay.laid import _SLOTS


def test_all_errors_are_counted_and_the_first_thousand_kept() -> None:
    overlay = read(b"x\n" * 20_000)
    assert overlay.counts.errors == overlay.counts.bad == 20_000
    assert [each.line for each in overlay.diagnostics] == list(range(1, 1001))


def test_warnings_leave_room_for_errors() -> None:
    overlay = read(b"".join(b"site.com/%d x:a\n" % n for n in range(2000)) + b"bad line\n")
    assert (overlay.counts.warnings, overlay.counts.errors) == (2000, 1)
    assert overlay.diagnostics[-1].line == 2001


@pytest.mark.parametrize("seed", range(5))
def test_binary_files_are_located(seed: int) -> None:
    body = random.Random(seed).randbytes(50_000)  # noqa: S311 - the same bytes every time
    overlay = read(body)
    assert overlay.refused
    assert overlay.counts.lines == body.count(b"\n") + (not body.endswith(b"\n"))
    assert all(each.line and each.column and each.text.isprintable() for each in overlay.diagnostics)
    assert overlay.lookup("http://site.com/") == {}


@pytest.mark.parametrize(
    "line",
    [
        b"site.com/ x:" + b"a" * 1_000_000,
        b'site.com/ x:"' + b'""' * 500_000,
        b"a." * 500_000,
        b" x:a" * 250_000,
    ],
)
def test_a_line_of_a_megabyte_is_one_error(line: bytes) -> None:
    overlay = read(b"site.com/ y:1\n" + line + b"\nsite.org/ y:1\n", on_error="skip_line")
    assert [(each.code, each.line) for each in overlay.diagnostics] == [("too-long", 2)]
    assert len(overlay) == 2


def test_a_file_beyond_the_limit_is_not_read() -> None:
    overlay = read(b"site.com/ x:a\n" * 100, limit_bytes=1000)
    assert [each.code for each in overlay.diagnostics] == ["too-long"]
    assert overlay.lookup("http://site.com/") == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"site.com/" + b"a" * 5000 + b" x:a", "too-long"),
        (b"site.com/ x:" + b"a" * 9000, "too-long"),
        (b"site.com/" + b" x:a" * 1001, "too-long"),
        (b"site.com/\x00 x:a", "bad-escape"),
        (b"# caf\xe9", ""),
        (b"site.com/ FuN1:a", "bad-class"),
        (b"site.com/ " + b"a" * 65 + b":a", "bad-class"),
        (b'site.com/ "a:b"', "no-colon"),
        (b"site.com./ x:a", ""),
        (b"localhost x:a", ""),
        (b"[::1]:8080 x:a", ""),
        (b"http://intranet/ x:a", ""),
    ],
)
def test_limits_and_corners(line: bytes, code: str) -> None:
    assert "".join(each.code for each in read(line).diagnostics if each.is_error) == code


def test_expiry_dates_that_lapse_with_a_file_are_counted() -> None:
    overlay = read(b"a.com/ X:20041231\nb.com/ X:20041231\nbad line\n")
    assert overlay.refused
    assert overlay.counts.expiring == 2


def test_the_last_good_version_goes_on() -> None:
    good = read(b"a.com/ x:1\n", on_error="keep_last_good")
    after = read(b"bad\n", on_error="keep_last_good", last_good=good)
    assert after.kept
    assert after.lookup("http://a.com/") == {"x": ("1",)}
    assert [each.code for each in after.diagnostics] == ["no-full-host"]
    assert read(b"bad\n", on_error="keep_last_good").refused


def test_restrictions_are_not_read_where_a_mistake_would_lift_them() -> None:
    with pytest.raises(ValueError, match="would widen access"):
        read(b"", acl_overlay="restrict", permission_classes=["p"])


def test_nested_prefixes_with_many_classes_do_not_multiply() -> None:
    levels, classes = 400, 200
    own = " ".join(f"c{n}:v" for n in range(classes - 1))
    body = "".join(f"s.com/{'a/' * n}{' ' + own} level:{n}\n" for n in range(levels)).encode()
    overlay = read(body)
    for n in [*range(levels), *reversed(range(levels))]:
        found = overlay.lookup_key(f"http://s.com/{'a/' * n}x")
        assert len(found) == classes
        assert found["level"] == (str(n),)
    assert _kept(overlay) <= _SLOTS


def _kept(overlay: Overlay) -> int:
    return sum(len(each) + 1 for each in overlay._merged.values())


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("http://s.com/a/Welcome.HTML", "http://s.com/a/"),
        ("http://s.com/a/index.en.html", "http://s.com/a/index.en.html"),
        ("http://s.com/?x=/index.html", "http://s.com/?x=/index.html"),
        ("http://index.com", "http://index.com"),
        ("http://s.com/index.js", "http://s.com/index.js"),
        ("http://s.com/myindex.html", "http://s.com/myindex.html"),
    ],
)
def test_default_pages(url: str, bare: str) -> None:
    assert stripped(url) == bare
