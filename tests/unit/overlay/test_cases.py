"""The numbered cases of the specification, section 14. Those of validator and index stand in their own files."""

import pytest

from ingather.errors import ConfigurationError
from ingather.overlay import Layers, Overlay, read

SEED = """\
www.anu.edu.au w:ACT
www.anu.edu.au/chem/ x:knowledge x:science x:chemistry
www.anu.edu.au/physics/ x:"knowledge science physics" y:external y:funding
www.anu.edu.au/physics/molecular/ x:knowledge x:science x:chemistry
"""
ANU = "http://www.anu.edu.au"
NESTED = ["s.com/ a:1 b:1 c:1", "s.com/p/ b:2", "s.com/p/q/ c:3", "s.com/p/q/r.html a:4"]


def overlay(text: str) -> Overlay:
    return read(text.encode())


def found(text: str | Overlay, url: str) -> dict[str, str]:
    """What a URL gets, values joined; a path alone is one of http://site.com."""
    laid = overlay(text) if isinstance(text, str) else text
    values = laid.lookup(f"http://site.com{url}" if url.startswith(("/", ":")) else url)
    return {name: "|".join(each) for name, each in values.items()}


def codes(text: str, *, severity: str = "error") -> list[str]:
    return [each.code for each in overlay(text).diagnostics if each.severity == severity]


def test_overlay_case_01_the_whole_host() -> None:
    assert found(SEED, f"{ANU}/~jim/index.html") == {"w": "ACT"}


def test_overlay_case_02_a_folder_inherits() -> None:
    assert found(SEED, f"{ANU}/physics/staff.htm") == {
        "w": "ACT",
        "x": "knowledge science physics",
        "y": "external|funding",
    }


def test_overlay_case_03_three_values_of_a_class() -> None:
    assert found(SEED, f"{ANU}/chem/x/y/p.pdf") == {"w": "ACT", "x": "knowledge|science|chemistry"}


def test_overlay_case_04_the_nearer_folder_overrides_class_by_class() -> None:
    assert found(SEED, f"{ANU}/physics/molecular/index.htm") == {
        "w": "ACT",
        "x": "knowledge|science|chemistry",
        "y": "external|funding",
    }


def test_overlay_case_05_http_is_assumed() -> None:
    assert found(SEED, "https://www.anu.edu.au/chem/") == {}


@pytest.mark.parametrize("url", ["http://www.anu.edu.au.example.net/", "http://anu.edu.au/"])
def test_overlay_case_06_a_host_is_whole(url: str) -> None:
    assert found(SEED, url) == {}


def test_overlay_case_07_each_scheme_has_its_line() -> None:
    text = "site.com/ c:partner\nhttps://site.com/ c:secure"
    assert found(text, "http://site.com/a") == {"c": "partner"}
    assert found(text, "https://site.com/a") == {"c": "secure"}


def test_overlay_case_08_host_and_port_are_normal_the_path_keeps_its_case() -> None:
    text = "HTTP://Site.COM:80/A c:x"
    assert found(text, "/A/b") == {"c": "x"}
    assert found(text, "/a/b") == {}
    assert found(text, ":8080/A/b") == {}


def test_overlay_case_09_another_port_is_another_server() -> None:
    assert found("site.com:8080/ c:x", "http://site.com:8080/") == {"c": "x"}
    assert found("site.com:8080/ c:x", "/") == {}


def test_overlay_case_10_a_prefix_may_end_within_a_segment() -> None:
    assert found("site.com/chem c:x", "/chemistry/a") == {"c": "x"}
    assert found("site.com/chem c:x", "/che") == {}
    assert codes("site.com/chem c:x", severity="warning") == ["open-ended-prefix"]


def test_overlay_case_11_the_first_of_identical_prefixes_is_effective() -> None:
    text = "site.com/ a:1 b:2\nSITE.com:80 a:9 z:9"
    assert found(text, "/q") == {"a": "1", "b": "2"}
    assert codes(text, severity="warning") == ["duplicate-of-line-1"]
    assert overlay(text).diagnostics[0].line == 2


@pytest.mark.parametrize("url", ["/", "/default.aspx", "/index.html"])
def test_overlay_case_12_a_default_page_means_every_default_page(url: str) -> None:
    assert found("site.com/index.html c:home", url) == {"c": "home"}


@pytest.mark.parametrize("url", ["/a.html", "/sub/index.html", "/index.shtml", "/index.html?x=1"])
def test_overlay_case_13_a_default_page_means_nothing_else(url: str) -> None:
    assert found("site.com/index.html c:home", url) == {}


def test_overlay_case_14_an_exact_record_inherits() -> None:
    text = "site.com/ c:all k1:v\nsite.com/home.htm c:home"
    assert found(text, "/Main.PHP") == {"c": "home", "k1": "v"}
    assert found(text, "/x") == {"c": "all", "k1": "v"}


def test_overlay_case_15_an_exact_record_is_no_folder() -> None:
    text = "site.com/index.html c:1\nsite.com/ c:2 e:3"
    assert found(text, "/sub/") == {"c": "2", "e": "3"}
    assert found(text, "/") == {"c": "1", "e": "3"}


def test_overlay_case_16_the_url_loses_its_default_page() -> None:
    assert found("site.com/docs/ c:d", "/docs/index.html") == {"c": "d"}


def test_overlay_case_17_a_stripped_url_is_compared() -> None:
    assert found("site.com/ind c:d", "/index.html") == {}
    assert found("site.com/ind c:d", "/industry.html") == {"c": "d"}
    assert codes("site.com/ind c:d", severity="warning") == ["open-ended-prefix"]


def test_overlay_case_18_two_default_pages_are_identical() -> None:
    text = "site.com/index.html c:1\nsite.com/welcome.htm c:2"
    assert found(text, "/") == {"c": "1"}
    assert codes(text, severity="warning") == ["duplicate-of-line-1"]


@pytest.mark.parametrize("lines", [NESTED], ids=["as written"])
def test_overlay_case_19_four_levels(lines: list[str]) -> None:
    _four_levels("\n".join(lines))


def test_overlay_case_20_the_order_of_lines_does_not_matter() -> None:
    _four_levels("\n".join(reversed(NESTED)))


def _four_levels(text: str) -> None:
    assert found(text, "http://s.com/p/q/r.html") == {"a": "4", "b": "2", "c": "3"}
    assert found(text, "http://s.com/p/q/z") == {"a": "1", "b": "2", "c": "3"}
    assert found(text, "http://s.com/p/z") == {"a": "1", "b": "2", "c": "1"}


def test_overlay_case_21_nothing_between_quotes_clears() -> None:
    text = 'site.com/ x:a y:b\nsite.com/pub/ x:""'
    assert found(text, "/pub/1") == {"y": "b"}
    assert found(text, "/1") == {"x": "a", "y": "b"}


def test_overlay_case_22_the_delimiter_parts_values() -> None:
    assert found('site.com/ x:"red | blue|red" x:green', "/1") == {"x": "red|blue|green"}


def test_overlay_case_23_a_quote_within_quotes_is_doubled() -> None:
    assert found('site.com/ t:"He said ""hi""" p:CSIRO', "/1") == {"t": 'He said "hi"', "p": "CSIRO"}


def test_overlay_case_24_dates() -> None:
    text = "http://www.xxx.gov.au/notices/2004/ d:20040101 X:20041231"
    assert found(text, "http://www.xxx.gov.au/notices/2004/a.htm") == {"d": "2004-01-01", "X": "2004-12-31"}


def test_overlay_case_25_escapes_are_normal() -> None:
    assert found("site.com/a%7eb/%c3%a9/ c:x", "http://site.com/a~b/é/1") == {"c": "x"}


def test_overlay_case_26_dot_segments_go() -> None:
    assert found("site.com/a/../b/ c:x", "/b/1") == {"c": "x"}


def test_overlay_case_27_a_prefix_may_end_within_the_query() -> None:
    assert found("site.com/index.php?id= x:q", "/index.php?id=7") == {"x": "q"}
    assert found("site.com/index.php?id= x:q", "/index.php") == {}


def test_overlay_case_28_a_query_behind_the_host() -> None:
    assert found("site.com?a=1 x:q", "http://site.com/?a=1&b=2") == {"x": "q"}


def test_overlay_case_29_html_escapes_are_warned_of() -> None:
    text = "https://h.tru.ca/t?mode=search&amp;course=A1 c:x"
    assert found(text, "https://h.tru.ca/t?mode=search&course=A1") == {}
    assert codes(text, severity="warning") == ["html-escaped-prefix"]


def test_overlay_case_30_comments_blanks_and_line_ends() -> None:
    laid = overlay("# note\n\n  site.com/\tc:x \r\n")
    assert found(laid, "/1") == {"c": "x"}
    assert (laid.counts.records, laid.counts.errors) == (1, 0)


def test_overlay_case_31_international_hosts() -> None:
    assert found("bücher.example/ c:x", "http://xn--bcher-kva.example/1") == {"c": "x"}


def test_overlay_case_32_long_class_names() -> None:
    assert found("www.example.org/ genre:comedy", "http://www.example.org/m/1") == {"genre": "comedy"}


def test_overlay_case_33_what_a_bad_line_does() -> None:
    body = b"good.com/ a:1\nbad line\ngood2.com/ a:2"
    ignored, skipped = read(body), read(body, on_error="skip_line")
    assert ignored.lookup("http://good.com/") == {}
    assert ignored.refused
    assert skipped.lookup("http://good.com/") == {"a": ("1",)}
    with pytest.raises(ConfigurationError) as caught:
        read(body, on_error="fail")
    for diagnostics in (ignored.diagnostics, skipped.diagnostics, caught.value.diagnostics):
        assert [(each.line, each.severity) for each in diagnostics] == [(2, "error")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("site.com/", "no-elements"),
        ("/physics/ x:a", "no-host"),
        ("//site.com/ x:a", "no-host"),
        ("ftp://site.com/ x:a", "scheme"),
        ("intranet/ x:a", "no-full-host"),
        ("http:///a x:a", "no-host"),
    ],
)
def test_overlay_case_34_bad_prefixes(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("site.com/ x", "no-colon"),
        ("site.com/ x:", "missing-value"),
        ('site.com/ x:"a', "unterminated-quote"),
        ('site.com/ x:"a"b', "junk-after-quote"),
        ('site.com/ x:a"b', "quote-in-word"),
        ("site.com/ x: a", "missing-value"),
    ],
)
def test_overlay_case_35_bad_elements(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("site.com/ func:a", "bad-class"),
        ("site.com/ my-class:a", "bad-class"),
        ("site.com/ d:2004-01-01", "bad-date"),
        ("site.com/ d:20040230", "bad-date"),
        ("site.com/a#b x:a", "fragment"),
        ("u:p@site.com/ x:a", "userinfo"),
        ("site.com/a%2 x:a", "bad-escape"),
    ],
)
def test_overlay_case_36_bad_classes_dates_and_urls(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_overlay_case_37_punctuation_outside_quotes() -> None:
    assert found("site.com/ x:a,b", "/1") == {"x": "a,b"}
    assert codes("site.com/ x:a,b", severity="warning") == ["bare-punctuation"]
    strict = read(b"site.com/ x:a,b", strict=True)
    assert [(each.code, each.severity) for each in strict.diagnostics] == [("bare-punctuation", "error")]
    assert strict.lookup("http://site.com/1") == {}


def test_overlay_case_38_what_the_file_gives_to_be_added_to_the_page() -> None:
    assert found('site.com/ x:ext t:"New"', "/1") == {"x": "ext", "t": "New"}


def test_overlay_case_39_layers_accumulate() -> None:
    layers = Layers(
        [overlay("http://example.com/a foo:bar t:File"), overlay("http://example.com/a foo:foobar t:API")]
    )
    assert layers.lookup("http://example.com/a") == {"foo": ("bar", "foobar"), "t": ("File",)}


def test_overlay_case_43_the_original_s_index_terms() -> None:
    two = overlay(SEED).explain(f"{ANU}/physics/staff.htm").terms
    four = overlay(SEED).explain(f"{ANU}/physics/molecular/index.htm").terms
    assert two == ("act_w", "knowledge_x", "science_x", "physics_x", "external_y", "funding_y")
    assert four == ("act_w", "knowledge_x", "science_x", "chemistry_x", "external_y", "funding_y")
