"""Rows of the external metadata specification, sections 3 to 7, that no numbered case is about."""

import pytest

from ingather.overlay import Layers, Overlay, read


def found(text: str | bytes, url: str, **options: object) -> dict[str, tuple[str, ...]]:
    body = text if isinstance(text, bytes) else text.encode()
    return read(body, **options).lookup(url)  # type: ignore[arg-type]


def warnings(overlay: Overlay) -> list[str]:
    return [each.code for each in overlay.diagnostics if not each.is_error]


# -- section 3: the text ------------------------------------------------------------------------------


def test_overlay_row_3_encoding_bom_and_invalid_bytes() -> None:
    assert found(b"\xef\xbb\xbfs.com/ x:a\n", "http://s.com/") == {"x": ("a",)}
    overlay = read(b's.com/ x:a\ns.com/b x:"caf\xe9"\nt.com/ x:b\n', on_error="skip_line")
    assert [(each.code, each.line) for each in overlay.diagnostics] == [("bad-utf8", 2)]
    assert (overlay.lookup("http://t.com/"), len(overlay)) == ({"x": ("b",)}, 2)


def test_overlay_row_3_line_ends_blank_lines_and_comments() -> None:
    overlay = read(b"\t# a note: x:1\r\n\r\n  \t\r\ns.com/ x:a\r\ns.com/b x:b")
    assert (overlay.counts.records, overlay.counts.lines, overlay.counts.errors) == (2, 5, 0)
    assert overlay.lookup("http://s.com/b") == {"x": ("b",)}


def test_overlay_row_3_a_hash_later_in_a_line_is_a_character() -> None:
    assert found('s.com/ x:"a # b" y:c#d', "http://s.com/") == {"x": ("a # b",), "y": ("c#d",)}


def test_overlay_row_3_blanks_of_a_prefix_are_escaped() -> None:
    assert found("s.com/a%20b/ x:1", "http://s.com/a b/c") == {"x": ("1",)}


def test_overlay_row_3_a_backslash_is_a_character() -> None:
    assert found('s.com/ x:"C:\\dir\\" y:a', "http://s.com/") == {"x": ("C:\\dir\\",), "y": ("a",)}


def test_overlay_row_3_the_first_colon_separates() -> None:
    overlay = read(b"s.com/ x:a:b")
    assert overlay.lookup("http://s.com/") == {"x": ("a:b",)}
    assert warnings(overlay) == ["bare-punctuation"]


def test_overlay_row_3_values_are_trimmed_outside_and_kept_inside() -> None:
    assert found('s.com/ x:"  a   b  |\tc " y:"  "', "http://s.com/") == {"x": ("a   b", "c")}


def test_overlay_row_3_letters_marks_and_underscores_need_no_quotes() -> None:
    overlay = read("s.com/ x:Grüße_7 y:日本語 z:e\u0301".encode())
    assert warnings(overlay) == []
    assert overlay.lookup("http://s.com/")["y"] == ("日本語",)


def test_overlay_row_3_classes_differ_by_case_and_have_64_characters() -> None:
    name = "a" * 64
    assert found(f"s.com/ x:1 X1:2 x1:3 {name}:4", "http://s.com/") == {
        "x": ("1",), "X1": ("2",), "x1": ("3",), name: ("4",)
    }  # fmt: skip


# -- section 4: prefixes ------------------------------------------------------------------------------


def test_overlay_row_4_schemeless_any_is_both_schemes_and_no_other_port() -> None:
    text = "s.com/ x:1\nhttps://s.com/b/ x:2"
    for url, value in (
        ("http://s.com/a", "1"),
        ("https://s.com/a", "1"),
        ("https://s.com/b/", "2"),
        ("http://s.com/b/", "1"),
    ):
        assert found(text, url, schemeless="any") == {"x": (value,)}
    assert found(text, "https://s.com:8443/a", schemeless="any") == {}


@pytest.mark.parametrize(
    ("prefix", "url"),
    [
        ("https://s.com:443/", "https://s.com/a"),
        ("s.com./a", "http://s.com/a"),
        ("http://S.COM.:80/a", "http://s.com/ab"),
        ("localhost/a", "http://localhost/a"),
        ("[::1]/a", "http://[::1]/a"),
        ("http://intranet/", "http://intranet/x"),
        ("s.com/./a//b/../c", "http://s.com/a//c"),
        ("s.com/%7Euser/%2f", "http://s.com/~user/%2F"),
        ("s.com/p?b=2&a=1&", "http://s.com/p?b=2&a=1&c=3"),
    ],
)
def test_overlay_row_4_both_sides_have_one_form(prefix: str, url: str) -> None:
    assert found(f"{prefix} x:1", url) == {"x": ("1",)}


@pytest.mark.parametrize(
    ("prefix", "url"),
    [
        ("https://s.com:80/", "https://s.com/"),
        ("s.com/p?a=1&b=2", "http://s.com/p?b=2&a=1"),
        ("s.com/A", "http://s.com/a"),
        ("s.com/p?A", "http://s.com/p?a"),
        ("www.s.com", "http://www.s.com.example.net/"),
        ("s.com", "http://s.co/"),
    ],
)
def test_overlay_row_4_what_counts_counts(prefix: str, url: str) -> None:
    assert found(f"{prefix} x:1", url) == {}


def test_overlay_row_4_hosts_that_do_not_tell_case_apart() -> None:
    text = "iis.com/Dir/ x:1\nother.com/Dir/ x:1"
    assert found(text, "http://iis.com/dIR/a", case_insensitive_hosts=["iis.com"]) == {"x": ("1",)}
    assert found(text, "http://other.com/dir/a", case_insensitive_hosts=["iis.com"]) == {}


# -- section 5: default pages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["index.htm", "WELCOME.Html", "home.php", "Default.aspx", "main.jsp", "index.7z9"]
)
def test_overlay_row_5_default_pages_of_a_folder_are_the_folder(name: str) -> None:
    assert found(f"s.com/a/{name} x:1", "http://s.com/a/") == {"x": ("1",)}
    assert found("s.com/a/home.html x:1", f"http://s.com/a/{name}") == {"x": ("1",)}
    assert found(f"s.com/a/{name} x:1", "http://s.com/a/b") == {}


def test_overlay_row_5_exact_and_ordinary_are_two_records() -> None:
    overlay = read(b"s.com/ x:1 y:1\ns.com/index.html x:2")
    assert overlay.counts.duplicates == 0
    assert (overlay.lookup("http://s.com/"), overlay.lookup("http://s.com/a")) == (
        {"x": ("2",), "y": ("1",)},
        {"x": ("1",), "y": ("1",)},
    )


def test_overlay_row_5_a_prefix_that_stops_within_a_default_page_is_warned_of() -> None:
    overlay = read(b"site.com/ind c:d")
    assert warnings(overlay) == ["open-ended-prefix"]


# -- section 6: inheritance ---------------------------------------------------------------------------


def test_overlay_row_6_values_of_a_line_add_up_without_repetition() -> None:
    assert found("s.com/ x:b x:a x:b\ns.com/a x:c", "http://s.com/") == {"x": ("b", "a")}
    assert found("s.com/ x:b x:a\ns.com/a x:c", "http://s.com/a") == {"x": ("c",)}


def test_overlay_row_6_the_first_valid_line_of_a_prefix_counts() -> None:
    text = "s.com/ x:\ns.com/ x:2\ns.com/ x:3 y:3"
    overlay = read(text.encode(), on_error="skip_line")
    assert overlay.lookup("http://s.com/") == {"x": ("2",)}
    assert warnings(overlay) == ["duplicate-of-line-2"]


# -- section 7: values --------------------------------------------------------------------------------


def test_overlay_row_7_the_delimiter_can_be_another_or_none() -> None:
    text = 's.com/ x:"a|b;c"'
    assert found(text, "http://s.com/", delimiter=";") == {"x": ("a|b", "c")}
    assert found(text, "http://s.com/", delimiter="") == {"x": ("a|b;c",)}
    assert found(text, "http://s.com/", delimiters={"x": ";"}) == {"x": ("a|b", "c")}


@pytest.mark.parametrize("name", ["d", "X"])
def test_overlay_row_7_a_second_date_is_warned_of_and_the_first_kept(name: str) -> None:
    overlay = read(f"s.com/ {name}:20040229 {name}:20050101".encode())
    assert warnings(overlay) == ["second-date"]
    assert overlay.lookup("http://s.com/") == {name: ("2004-02-29",)}


@pytest.mark.parametrize(
    "day", ["20050229", "2004", "200402290", "20041301", "00000101", "\uff12\uff10\uff10\uff140101"]
)
def test_overlay_row_7_a_day_has_eight_digits_and_is_in_the_calendar(day: str) -> None:
    overlay = read(f"s.com/ X:{day}".encode())
    assert [each.code for each in overlay.diagnostics if each.is_error] == ["bad-date"]


@pytest.mark.parametrize("name", "hikmuvK")
def test_overlay_row_7_classes_of_the_indexer_are_warned_of(name: str) -> None:
    overlay = read(f"s.com/ {name}:a".encode())
    assert warnings(overlay) == ["reserved-class"]
    assert overlay.lookup("http://s.com/") == {name: ("a",)}


def test_overlay_row_7_permissions_need_restrict_and_only_narrow() -> None:
    refused = read(b"s.com/ who:user:a", permission_classes=["who"])
    assert [each.code for each in refused.diagnostics if each.is_error] == ["bad-class"]
    first, second = (
        read(f"s.com/ who:user:{name}".encode(), permission_classes=["who"], acl_overlay="restrict", on_error="fail") for name in "ab"
    )  # fmt: skip
    layers = Layers([first, second], permission=frozenset({"who"}))
    assert layers.requirements("http://s.com/") == (frozenset({"user:a"}), frozenset({"user:b"}))


def test_overlay_row_7_override_is_inside_a_layer_and_single_classes_have_one_speaker() -> None:
    file, api, listing = (
        read(text.encode())
        for text in (
            "s.com/ x:f d:20040101\ns.com/a x:g",
            "s.com/ x:api d:20050101 f:pdf",
            "s.com/ x:g x:list t:T",
        )
    )
    assert Layers([file, api, listing]).lookup("http://s.com/a") == {
        "x": ("g", "api", "list"), "d": ("2004-01-01",), "f": ("pdf",), "t": ("T",)
    }  # fmt: skip
