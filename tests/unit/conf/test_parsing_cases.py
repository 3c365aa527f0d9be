"""Cases 1 to 21 of the robot specification, section 15: what loads, and what is said about it."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded, load_bodies
from ingather.model.diagnostic import Diagnostic
from ingather.model.phase import Phase

Configure = Callable[..., Loaded]

ENUMERATION1 = """\
<Filter name="enumeration1>
Setup fn=filterrules-setup config=./config/filterrules.conf
# Process the rules
MetaData fn=filterrules-process
# Filter by type and process rules again
Data fn=assign-source dst=type src=content-type
Data fn=filterrules-process
# Perform the enumeration on HTML only
Enumerate enable=true fn=enumerate-urls max=1024 type=text/html
# Cleanup
Shutdown fn=filterrules-shutdown
</Filter>
"""


def of(loaded: Loaded, code: str) -> list[Diagnostic]:
    return [d for d in loaded.diagnostics if d.code == code]


def errors(loaded: Loaded) -> list[str]:
    return [str(d) for d in loaded.diagnostics if d.is_error]


def in_filter(*lines: str, name: str = "enumeration-default", setup: str = "") -> str:
    body = "\n".join(lines)
    return f'<Filter name="{name}">\n{setup}{body}\n</Filter>\n'


def test_robot_case_01_the_vendors_own_filter_with_its_broken_quote_loads(configure: Configure) -> None:
    loaded = configure(ENUMERATION1, robot="enumeration-filter=enumeration1\n")
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert loaded.enumeration.name == "enumeration1"
    assert [d.phase for d in loaded.enumeration.directives] == [
        Phase.SETUP,
        Phase.METADATA,
        Phase.DATA,
        Phase.DATA,
        Phase.ENUMERATE,
        Phase.SHUTDOWN,
    ]
    assert [d.line for d in of(loaded, "W-QUOTE")] == [1]


def test_robot_case_02_fn_with_a_hyphen_is_read(configure: Configure) -> None:
    text = in_filter("MetaData fn-filter-by-max src=content-length value=1024")
    loaded = configure(text)
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].function == "filter-by-max"
    assert [(d.line, d.column) for d in of(loaded, "W-FN-HYPHEN")] == [(2, 10)]


def test_robot_case_02_fn_with_a_hyphen_is_refused_when_strict(configure: Configure) -> None:
    loaded = configure(in_filter("MetaData fn-filter-by-max src=depth value=10"), robot="strict=true\n")
    assert not loaded.ok
    assert [d.line for d in of(loaded, "E-PARAM")] == [2]


def test_robot_case_03_the_summarizer_is_known_by_its_misspelt_line(configure: Configure) -> None:
    text = in_filter("Generate fn-harvest-summarizer summarizer=HTML.sum", name="generation-default")
    loaded = configure(text)
    assert len(of(loaded, "W-FN-HYPHEN")) == 1
    assert errors(loaded) == []
    assert loaded.generation is not None
    assert [d.function for d in loaded.generation.directives] == ["harvest-summarizer"]
    assert loaded.generation.directives[0].parameters["summarizer"] == "HTML.sum"


@pytest.mark.parametrize("mark", ["\\", "\\\\"], ids=["one-backslash", "two-backslashes"])
def test_robot_cases_04_and_05_continuation(configure: Configure, mark: str) -> None:
    line = f"Generate fn=copy-attribute {mark}\nsrc=partial-text dst=description truncate=200 clean=true"
    loaded = configure(in_filter(line, name="generation-default"))
    assert errors(loaded) == []
    assert loaded.generation is not None
    (directive,) = loaded.generation.directives
    assert {k: directive.parameters[k] for k in ("src", "dst", "truncate", "clean")} == {
        "src": "partial-text",
        "dst": "description",
        "truncate": 200,
        "clean": True,
    }
    assert [d.code for d in loaded.diagnostics if d.line <= 4] == (
        [] if len(mark) == 1 else ["W-CONT-DOUBLED"]
    )


def test_robot_case_06_a_wrapped_line_belongs_to_the_directive_before_it(configure: Configure) -> None:
    text = in_filter(
        'Generate fn="generate-by-exact" match="www.siroe.com:80" src="host"',
        'value="Siroe" dst="classification"',
        name="generation-default",
    )
    loaded = configure(text)
    assert errors(loaded) == []
    assert loaded.generation is not None
    assert len(loaded.generation.directives) == 1
    assert [d.line for d in of(loaded, "W-WRAP")] == [3]


def test_an_indented_wrapped_line_is_no_surprise(configure: Configure) -> None:
    text = in_filter("Generate fn=extract-full-text", "   truncate=100", name="generation-default")
    loaded = configure(text)
    assert of(loaded, "W-WRAP") == []
    assert loaded.generation is not None
    assert loaded.generation.directives[0].parameters["truncate"] == 100


def test_the_wrapped_line_of_a_disabled_directive_is_disabled_with_it(configure: Configure) -> None:
    text = in_filter("Data enable=false fn=generate-md5", "bogus=1", "Data fn=clear-source src=path")
    loaded = configure(text)
    assert of(loaded, "W-PARAM-UNKNOWN") == []
    assert loaded.enumeration is not None
    assert [d.function for d in loaded.enumeration.directives] == ["clear-source"]


def test_robot_case_07_a_disabled_line_is_parsed_and_never_part_of_the_filter(configure: Configure) -> None:
    loaded = configure(
        in_filter("Enumerate enable=false fn=enumerate-urls-from-text max=1024 type=text/plain")
    )
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives == ()


def test_robot_case_08_two_names_run_together_suggest_both(configure: Configure) -> None:
    loaded = configure(in_filter("MetaData fn=assign-type-by-extclear-source"))
    (found,) = of(loaded, "E-FN-UNKNOWN")
    assert (found.file, found.line, found.column) == ("filter.conf", 2, 13)
    assert "assign-type-by-extclear-source" in found.text
    assert "enumeration-default" in found.text
    assert "assign-type-by-extension" in (found.hint or "")
    assert "clear-source" in (found.hint or "")


def test_robot_case_09_the_short_name_is_an_alias(configure: Configure) -> None:
    loaded = configure(in_filter("Generate fn=generate-last-modified", name="generation-default"))
    assert errors(loaded) == []
    assert loaded.generation is not None
    assert loaded.generation.directives[0].function == "generate-rd-last-modified"
    assert len(of(loaded, "W-ALIAS")) == 1


def test_robot_case_10_enable_is_yes_or_no(configure: Configure) -> None:
    loaded = configure(in_filter("Data enable=maybe fn=generate-md5"))
    assert [(d.line, d.column) for d in of(loaded, "E-ENABLE")] == [(2, 13)]


def test_robot_case_11_a_disabled_unknown_function_only_warns(configure: Configure) -> None:
    loaded = configure(in_filter("Data enable=off fn=no-such"))
    assert errors(loaded) == []
    assert len(of(loaded, "W-FN-UNKNOWN")) == 1


def test_robot_case_12_a_directive_needs_a_function(configure: Configure) -> None:
    loaded = configure(in_filter("Data src=type deny=a"))
    assert [(d.line, d.column) for d in of(loaded, "E-FN-MISSING")] == [(2, 1)]


def test_robot_case_13_a_repeated_parameter_is_refused_at_its_second_place(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=filter-by-exact src=type deny=a deny=b"))
    (found,) = of(loaded, "E-DUP-PARAM")
    assert (found.line, found.column) == (2, 41)
    assert found.notes[0][0].column == 34


def test_robot_case_14_an_open_quote_is_shown_where_it_opens(configure: Configure) -> None:
    loaded = configure(in_filter('Data fn=filter-by-exact src=type deny="text/plain'))
    assert [(d.line, d.column) for d in of(loaded, "E-QUOTE")] == [(2, 39)]


def test_robot_case_15_a_filter_without_end(configure: Configure) -> None:
    loaded = configure('<Filter name="a">\nData fn=generate-md5\n', complete=False)
    (found,) = of(loaded, "E-TRUNC")
    assert found.line == 2
    assert [place.line for place, _ in found.notes] == [1]


def test_robot_case_16_a_filter_inside_a_filter(configure: Configure) -> None:
    loaded = configure('<Filter name="a">\n<Filter name="b">\n', complete=False)
    assert [d.line for d in of(loaded, "E-FILTER-NESTED")] == [2]


def test_robot_case_17_a_directive_outside_any_filter(configure: Configure) -> None:
    loaded = configure("Data fn=generate-md5\n")
    assert [(d.line, d.column) for d in of(loaded, "E-STRAY")] == [(1, 1)]


def test_robot_case_18_two_filters_of_one_name(configure: Configure) -> None:
    loaded = configure('<Filter name="a">\n</Filter>\n\n<Filter name="a">\n</Filter>\n')
    (found,) = of(loaded, "E-FILTER-DUP")
    assert found.line == 4
    assert "1" in found.text
    assert "4" in found.text
    assert found.notes[0][0].line == 1


def test_robot_case_19_a_comment_does_not_swallow_the_next_line(configure: Configure) -> None:
    loaded = configure(in_filter("# a comment \\", "Data fn=clear-source src=path"))
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert len(loaded.enumeration.directives) == 1
    assert [d.line for d in of(loaded, "W-COMMENT-BACKSLASH")] == [2]


def test_robot_case_20_a_selected_filter_must_exist(configure: Configure) -> None:
    loaded = configure(robot="loglevel=1\nenumeration-filter=my-enumerator\n")
    (found,) = of(loaded, "E-FILTER-UNDEF")
    assert (found.file, found.line) == ("robot.conf", 2)
    assert "enumeration-default" in found.text
    assert not loaded.ok


def test_robot_case_21_line_ends_byte_order_mark_and_missing_last_newline(configure: Configure) -> None:
    text = configure().bodies["filter.conf"].decode().replace("enable=false ", "")
    body = b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode()
    loaded = load_bodies({"filter.conf": body, "robot.conf": b"", "filterrules.conf": b"", "mime.types": b""})
    assert loaded.diagnostics == ()
    assert loaded.enumeration is not None
    assert [d.place.line for d in loaded.enumeration.directives] == [2]


def test_lines_may_end_in_cr_alone(configure: Configure) -> None:
    body = configure(in_filter("Data fn=clear-source src=path")).bodies["filter.conf"].replace(b"\n", b"\r")
    loaded = load_bodies({"filter.conf": body})
    assert loaded.ok
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].place.line == 2


def test_bytes_that_are_not_utf8_are_read_as_latin1(configure: Configure) -> None:
    text = in_filter("Data fn=assign-source dst=x value=caf\u00e9")
    body = configure(text).bodies["filter.conf"].decode().encode("latin-1")
    loaded = load_bodies({"filter.conf": body})
    assert [(d.line, d.column) for d in of(loaded, "W-ENCODING")] == [(2, 38)]
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["value"] == "caf\u00e9"


def test_a_nul_byte_is_refused_with_its_place(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=clear-source \0src=path"))
    assert [(d.line, d.column) for d in of(loaded, "E-BINARY")] == [(2, 22)]


def test_typographic_quotes_count_as_quotes(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=assign-source dst=x value=\u201ca b\u201d"))
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["value"] == "a b"
    assert [(d.line, d.column) for d in of(loaded, "W-SMARTQUOTE")] == [(2, 35)]


def test_typographic_quotes_in_comments_are_nobodys_business(configure: Configure) -> None:
    loaded = configure(in_filter("# \u201cquoted\u201d", "Data fn=clear-source src=path # \u201cx\u201d"))
    assert of(loaded, "W-SMARTQUOTE") == []


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a#b", "a#b"),
        ("#x", "#x"),
        ("a # comment", "a"),
        ('"a # b"', "a # b"),
        ('"a \\" b"', 'a " b'),
        ('"C:\\\\dir\\x"', "C:\\dir\\x"),
        ('""', ""),
    ],
)
def test_values_with_hashes_quotes_and_backslashes(configure: Configure, written: str, value: str) -> None:
    loaded = configure(in_filter(f"Data fn=assign-source dst=x value={written}"))
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["value"] == value


def test_blanks_around_the_equals_sign_and_empty_values(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn = assign-source dst= x value= src=y"))
    assert [d.code for d in loaded.diagnostics if d.is_error] == ["E-VALUE-SRC"]
    loaded = configure(in_filter("Data FN = assign_source DST =x value="))
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["value"] == ""


def test_blanks_after_a_continuation_are_tolerated(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=clear-source \\  ", "src=path"))
    assert errors(loaded) == []
    assert [d.line for d in of(loaded, "W-CONT-BLANK")] == [2]


def test_a_quoted_value_is_joined_without_a_space(configure: Configure) -> None:
    loaded = configure(in_filter('Data fn=assign-source dst=x value="one\\', 'two"'))
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["value"] == "onetwo"


def test_the_end_of_the_file_inside_a_continued_quote(configure: Configure) -> None:
    loaded = configure('<Filter name="a">\nData fn=assign-source dst=x value="abc \\', complete=False)
    places = [(d.line, d.notes[0][0].line, d.notes[0][0].column) for d in of(loaded, "E-TRUNC")]
    assert (2, 2, 35) in places


def test_an_endless_line_is_refused(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=assign-source dst=x value=" + "y" * 70_000))
    assert [(d.line, d.column) for d in of(loaded, "E-LINE-TOO-LONG")] == [(2, 1)]


def test_strict_reading_turns_leniencies_into_errors(configure: Configure) -> None:
    text = in_filter("Data fn=clear-source \\\\", "src=path")
    assert configure(text).ok
    strict = configure(text, robot="strict=yes\n")
    assert [d.severity for d in of(strict, "W-CONT-DOUBLED")] == ["error"]
    assert not strict.ok


def test_an_unknown_tag_and_a_lonely_end(configure: Configure) -> None:
    loaded = configure("<Fliter name=x>\n</Filter>\n")
    (tag,) = of(loaded, "E-TAG")
    assert "Filter" in (tag.hint or "")
    assert [d.line for d in of(loaded, "E-FILTER-CLOSE")] == [2]


def test_a_misspelt_directive_names_the_one_that_was_meant(configure: Configure) -> None:
    loaded = configure(in_filter("Metdata fn=clear-source src=path"))
    (found,) = of(loaded, "E-STRAY")
    assert "MetaData" in (found.hint or "")


def test_a_filter_needs_a_name(configure: Configure) -> None:
    assert len(of(configure("<Filter>\n</Filter>\n"), "E-FILTER-NAME")) == 1


def test_keywords_tags_and_function_names_have_no_case(configure: Configure) -> None:
    loaded = configure('<FILTER name="enumeration-default">\nmetadata FN=Clear_Source src=PATH\n</filter>\n')
    assert errors(loaded) == []
    assert loaded.enumeration is not None
    assert loaded.enumeration.directives[0].parameters["src"] == "path"


def test_an_empty_filter_warns(configure: Configure) -> None:
    assert len(of(configure('<Filter name="a">\n</Filter>\n'), "W-EMPTY-FILTER")) == 1


def test_errors_in_a_filter_that_is_not_selected_are_warnings(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=no-such", "Data fn=clear-source", name="spare"))
    assert loaded.ok
    assert [d.severity for d in of(loaded, "E-FN-UNKNOWN")] == ["warning"]
    assert len(of(loaded, "W-UNUSED-FILTER")) == 1


def test_every_error_of_all_files_is_reported_at_once(configure: Configure) -> None:
    loaded = configure(
        in_filter("Data fn=no-such", "Data fn=clear-source"),
        robot="depth=deep\nmax-connections=1000\n",
        rules="<Rule>\n</Rule>\n<Site name=a>\n</Site>\n",
    )
    found = {(d.file, d.code) for d in loaded.diagnostics if d.is_error}
    assert {
        ("filter.conf", "E-FN-UNKNOWN"),
        ("filter.conf", "E-PARAM-MISSING"),
        ("robot.conf", "E-TYPE"),
        ("robot.conf", "E-RANGE"),
        ("filterrules.conf", "E-PARAM-MISSING"),
    } <= found


def test_a_diagnostic_prints_as_the_specification_says(configure: Configure) -> None:
    loaded = configure(in_filter("Data fn=filter-by-exact src=type deny=a deny=b"))
    (found,) = of(loaded, "E-DUP-PARAM")
    first, note = str(found).splitlines()
    assert first.startswith("filter.conf:2:41: error E-DUP-PARAM: ")
    assert note.startswith("note: filter.conf:2")
