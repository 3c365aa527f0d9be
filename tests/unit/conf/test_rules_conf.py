"""filterrules.conf: syntax DEC-31 of the robot specification."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded

Configure = Callable[..., Loaded]

EXAMPLE = """\
<Rule name="archive-files" enable=true new-sites=true action=exclude>
Match src=path method=ends-with value=".zip"
Match src=type method=is value="application/zip"
</Rule>
<Site name="siroe" host="www.siroe.com" type=server enable=true depth=10 database=default>
Start url="http://www.siroe.com/" depth=5
Protocol allow="http,https"
Port allow="80,443"
Use rule=archive-files
</Site>
"""


def test_the_specifications_example(configure: Configure) -> None:
    loaded = configure(rules=EXAMPLE)
    assert loaded.ok
    (rule,), (site,) = loaded.rules.rules, loaded.rules.sites
    assert (rule.name, rule.include, rule.enabled, rule.new_sites) == ("archive-files", False, True, True)
    assert [(m.source, m.method, m.value) for m in rule.matches] == [
        ("path", "ends-with", ".zip"),
        ("type", "is", "application/zip"),
    ]
    assert (site.host, site.domain, site.depth, site.source) == ("www.siroe.com", False, 10, "web")
    assert site.protocols == {"http", "https"}
    assert site.ports == {80, 443}
    assert site.use == ("archive-files",)
    assert [(s.url, s.depth) for s in site.starts] == [("http://www.siroe.com/", 5)]
    assert loaded.rules.rules_of(site) == (rule,)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("<Rule>\n</Rule>", "E-PARAM-MISSING", 1),
        ("<Rule name=a action=maybe>\nMatch src=path method=is value=x\n</Rule>", "E-RANGE", 1),
        ("<Rule name=a enable=perhaps>\nMatch src=path method=is value=x\n</Rule>", "E-ENABLE", 1),
        ("<Rule name=a>\nMatch src=colour method=is value=x\n</Rule>", "E-RANGE", 2),
        ("<Rule name=a>\nMatch src=path method=like value=x\n</Rule>", "E-RANGE", 2),
        ("<Rule name=a>\nMatch src=path method=is\n</Rule>", "E-PARAM-MISSING", 2),
        ("<Rule name=a>\nMatch src=path method=regex value=(x\n</Rule>", "E-REGEX", 2),
        ("<Rule name=a>\nMatch path\n</Rule>", "E-PARAM", 2),
        ("<Rule name=a>\nStart url=http://a/\n</Rule>", "E-STRAY", 2),
        ("<Site name=a>\n</Site>", "E-PARAM-MISSING", 1),
        ('<Site name=a host="a b">\n</Site>', "E-HOST", 1),
        ("<Site name=a host=a/b>\n</Site>", "E-HOST", 1),
        ("<Site name=a host=a type=planet>\n</Site>", "E-RANGE", 1),
        ("<Site name=a host=a depth=-2>\n</Site>", "E-RANGE", 1),
        ("<Site name=a host=a depth=x>\n</Site>", "E-TYPE", 1),
        ("<Site name=a host=a>\nUse rule=nothing\n</Site>", "E-RULE-UNDEF", 2),
        ("<Site name=a host=a>\nPort allow=80,http\n</Site>", "E-RANGE", 2),
        ("<Site name=a host=a>\nPort allow=70000\n</Site>", "E-RANGE", 2),
        ("<Site name=a host=a>\nProtocol allow=gopher\n</Site>", "E-RANGE", 2),
        ("<Site name=a host=a>\nStart url=/relative\n</Site>", "E-URL", 2),
        ("<Site name=a host=a>\nStart url=mailto:x@y\n</Site>", "E-URL", 2),
        ("<Site name=a host=a>\n</Site>\n<Site name=a host=b>\n</Site>", "E-SITE-DUP", 3),
        ("<Rule name=a>\nMatch src=path method=is value=x\n</Rule>\n<Rule name=a>\n</Rule>", "E-RULE-DUP", 4),
        ("<Site name=a host=a>\n<Site name=b host=b>\n</Site>", "E-SITE-NESTED", 2),
        ("</Rule>", "E-RULE-CLOSE", 1),
        ("<Site name=a host=a>", "E-TRUNC", 1),
        ("<Sight name=a host=a>", "E-TAG", 1),
    ],
)
def test_mistakes_are_shown_where_they_are(configure: Configure, text: str, code: str, line: int) -> None:
    loaded = configure(rules=text + "\n")
    found = [(d.code, d.line) for d in loaded.diagnostics if d.is_error and d.file == "filterrules.conf"]
    assert (code, line) in found, [str(d) for d in loaded.diagnostics]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<Rule name=a>\n</Rule>", "W-EMPTY-RULE"),
        ("<Rule name=a colour=red>\nMatch src=path method=is value=x\n</Rule>", "W-PARAM-UNKNOWN"),
        ("<Rule name=a>\nMatch src=host method=regex value=*.x\n</Rule>", "W-REGEX-DIALECT"),
        ("<Site name=a host=a>\n</Site>\n<Site name=b host=A>\n</Site>", "W-SITE-HOST"),
        ("<Site name=a host=a>\nStart url=http://b/\n</Site>", "W-START"),
    ],
)
def test_oddities_warn(configure: Configure, text: str, code: str) -> None:
    loaded = configure(rules=text + "\n")
    assert loaded.ok
    assert code in [d.code for d in loaded.diagnostics]


def test_several_rules_in_one_use_line_and_names_with_commas(configure: Configure) -> None:
    rule = "<Rule name={}>\nMatch src=path method=is value=x\n</Rule>\n"
    text = rule.format("a") + rule.format("b") + rule.format('"c, d"')
    text += '<Site name=s host=s>\nUse rule="b, a"\nUse rule="c, d"\n</Site>\n'
    assert configure(rules=text).rules.sites[0].use == ("b", "a", "c, d")


def test_a_wrapped_header_is_read_until_it_closes(configure: Configure) -> None:
    loaded = configure(rules='<Site name="s"\n  host=a.example\n  depth=3>\n</Site>\n')
    assert loaded.ok
    assert loaded.rules.sites[0].depth == 3
