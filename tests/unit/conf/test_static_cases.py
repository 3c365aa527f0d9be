"""Cases 22 to 30 of the robot specification, section 15, and the other codes of its section 4."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded
from ingather.model.diagnostic import Diagnostic

Configure = Callable[..., Loaded]
SETUP = "Setup fn=filterrules-setup config=./config/filterrules.conf\n"
MIME = "Setup fn=setup-type-by-extension file=./config/mime.types\n"


def of(loaded: Loaded, code: str) -> list[Diagnostic]:
    return [d for d in loaded.diagnostics if d.code == code]


def codes(loaded: Loaded) -> list[str]:
    return [d.code for d in loaded.diagnostics if d.is_error]


def both(*lines: str) -> str:
    """One enumeration filter of *lines*; they stand from line 2."""
    return '<Filter name="enumeration-default">\n' + "\n".join(lines) + "\n</Filter>\n"


def generation(*lines: str) -> str:
    return both(*lines).replace("enumeration-default", "generation-default")


def test_robot_case_22_assign_source_takes_value_or_src(configure: Configure) -> None:
    text = both("Data fn=assign-source dst=type value=a src=b", "Data fn=assign-source dst=type")
    assert [(d.line, d.column) for d in of(configure(text), "E-VALUE-SRC")] == [(2, 9), (3, 9)]


def test_robot_case_23_a_function_in_the_wrong_phase(configure: Configure) -> None:
    (found,) = of(configure(both("MetaData fn=enumerate-urls")), "E-PHASE")
    assert (found.line, found.column) == (2, 1)
    assert "Enumerate" in (found.hint or "")


def test_robot_case_24_md5_is_tested_before_it_is_made(configure: Configure) -> None:
    text = both("Data fn=filter-by-md5", "Data fn=generate-md5")
    (found,) = of(configure(text), "E-REQUIRES")
    assert found.line == 2
    assert "generate-md5" in found.text


def test_robot_case_25_md5_is_made_before_it_is_tested(configure: Configure) -> None:
    assert codes(configure(both("Data fn=generate-md5", "Data fn=filter-by-md5"))) == []


def test_robot_case_26_filter_by_max_once_in_a_filter(configure: Configure) -> None:
    lines = ("MetaData fn=filter-by-max src=depth value=1", "Data fn=filter-by-max src=depth value=2")
    (found,) = of(configure(both(*lines)), "E-ONCE")
    assert found.line == 3
    assert found.notes[0][0].line == 2
    disabled = configure(both(lines[0], lines[1].replace("fn=", "enable=false fn=")))
    assert codes(disabled) == []


def test_robot_case_27_extensions_need_their_map(configure: Configure) -> None:
    (found,) = of(configure(both("MetaData fn=assign-type-by-extension")), "E-REQUIRES")
    assert "setup-type-by-extension" in found.text
    assert codes(configure(both(MIME + "MetaData fn=assign-type-by-extension"))) == []


def test_robot_case_28_an_expression_that_does_not_compile(configure: Configure) -> None:
    (found,) = of(configure(both("MetaData fn=filter-by-regex src=URL deny=(unclosed")), "E-REGEX")
    assert (found.line, found.column) == (2, 42)
    assert "offset 0" in found.text
    assert "(unclosed" in found.text


def test_robot_case_29_allow_or_deny_not_both(configure: Configure) -> None:
    text = both("Data fn=filter-by-exact src=type deny=a allow=b", "Data fn=filter-by-exact src=type")
    assert [d.line for d in of(configure(text), "E-ALLOW-DENY")] == [2, 3]


def test_robot_case_30_a_regex_cache_of_nothing(configure: Configure) -> None:
    (found,) = of(configure(both("Setup fn=setup-regex-cache cache-size=0")), "E-RANGE")
    assert found.line == 2
    assert "1" in (found.hint or "")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Data fn=filter-by-exact src=type deny=", "E-PARAM-EMPTY"),
        ("Data fn=filter-by-exact deny=a", "E-PARAM-MISSING"),
        ("Data fn=clear-source src=", "E-PARAM-EMPTY"),
        ("Data fn=clear-source src=path path", "E-PARAM"),
        ('Data fn=clear-source src=a"b"', "E-QUOTE"),
        ("Enumerate fn=enumerate-urls max=0", "E-RANGE"),
        ("Enumerate fn=enumerate-urls max=many", "E-TYPE"),
        ("MetaData fn=filter-by-max src=colour value=3", "E-RANGE"),
        ("MetaData fn=filter-by-max src=depth value=x", "E-TYPE"),
        ("Setup fn=filterrules-setup config=./config/missing.conf", "E-FILE"),
        ("Setup fn=setup-type-by-extension file=/no/such/file", "E-FILE"),
        ("Setup fn=filterrules-setup config=./config/filterrules.conf logtype=loud", "E-RANGE"),
        ("MetaData fn=filterrules-process", "E-REQUIRES"),
        ("MetaData fn=filter-by-regex src=URL deny=(a)\\1", "E-REGEX"),
        ("MetaData fn=filter-by-regex src=URL deny=[a-", "E-REGEX"),
        ("Data fn=filter-by-regex src=URL deny=a dialect=perl", "E-RANGE"),
    ],
)
def test_one_wrong_line_is_one_error(configure: Configure, line: str, code: str) -> None:
    loaded = configure(both(line))
    assert codes(loaded) == [code], [str(d) for d in loaded.diagnostics]
    assert of(loaded, code)[0].line == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Generate fn=rename-attribute src=author", "E-MAP"),
        ('Generate fn=rename-attribute src="->b"', "E-MAP"),
        ('Generate fn=extract-source src="a->"', "E-MAP"),
        ("Generate fn=extract-html-toc level=7", "E-RANGE"),
        ("Generate fn=copy-attribute src=a dst=b clean=perhaps", "E-TYPE"),
        ("Generate fn=generate-by-exact dst=a src=b value=c", "E-PARAM-MISSING"),
    ],
)
def test_one_wrong_generate_line_is_one_error(configure: Configure, line: str, code: str) -> None:
    assert codes(configure(generation(line))) == [code]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("Data fn=clear-source src=a colour=red",), "W-PARAM-UNKNOWN"),
        (("Data fn=clear-source src=a", "MetaData fn=clear-source src=b"), "W-ORDER"),
        ((SETUP.strip(),), "W-REQUIRES"),
        (("Data fn=generate-md5",), "W-REQUIRES"),
        (("Setup fn=setup-regex-cache cache-size=1", "Setup fn=setup-regex-cache cache-size=2"), "W-REPEAT"),
        (("MetaData fn=filter-by-max src=content-length value=1024",), "W-DEFER"),
        ((r"MetaData fn=filter-by-regex src=host deny=\\*.gov",), "W-REGEX-DIALECT"),
        ((r"MetaData fn=filter-by-regex src=host deny=a\*b dialect=posix",), "W-REGEX-NEVER"),
    ],
)
def test_what_is_odd_but_harmless_warns(configure: Configure, lines: tuple[str, ...], code: str) -> None:
    loaded = configure(both(*lines))
    assert codes(loaded) == []
    assert len(of(loaded, code)) == 1


def test_every_use_of_a_digest_counts(configure: Configure) -> None:
    text = generation("Data fn=generate-md5", 'Generate fn=extract-source src="md5, depth"')
    assert of(configure(text), "W-REQUIRES") == []


def test_what_the_phases_share_runs_before_what_comes_later(configure: Configure) -> None:
    text = generation("Data fn=generate-md5", "Generate fn=filter-by-md5")
    assert codes(configure(text)) == []
    text = generation("Generate fn=filter-by-md5", "Data fn=generate-md5")
    assert codes(configure(text)) == []  # Data runs first, wherever it stands


def test_a_module_of_ones_own_is_refused_where_no_plug_ins_are_at_hand(configure: Configure) -> None:
    loaded = configure('Init fn=load-modules shlib=mine.py funcs="a,b"\n')
    assert codes(loaded) == ["E-UNSUPPORTED"]
    assert codes(configure('Init enable=false fn=load-modules shlib=mine.py funcs="a,b"\n')) == []


def test_a_referenced_file_is_read_and_reported_once(configure: Configure) -> None:
    text = both(SETUP + "Shutdown fn=filterrules-shutdown") + generation(
        SETUP + "Shutdown fn=filterrules-shutdown"
    )
    loaded = configure(text, rules="<Rule name=a action=maybe>\nMatch src=path method=is value=x\n</Rule>\n")
    assert len(of(loaded, "E-RANGE")) == 1
    assert loaded.enumeration is not None
    assert loaded.generation is not None
    assert loaded.enumeration.rules is loaded.generation.rules
