"""One finding of every code: its message, place, hint and notes, word for word, as the reference shows them."""

import re
from pathlib import Path

import pytest

from ingather.conf import PARAMETERS, Loaded, load_bodies
from ingather.conf.filters.filterconf import GRAMMAR as FILTERS
from ingather.conf.report import SHOWN, Report
from ingather.conf.robot.robotconf import parse_robot_document
from ingather.conf.sites.rulesconf import GRAMMAR as RULES
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.tree import Block, Document, Entry, Remark
from ingather.conf.text.writer import print_document

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "diagnostics.md"
HEAD = '<Filter name="enumeration-default">\n'
EMPTY = '<Filter name="{name}">\nData enable=false fn=clear-source src=x\n</Filter>\n'
Files = dict[str, str | bytes]

GOLDEN: list[tuple[str, Files, str]] = [
    (
        "E-BINARY",
        {"robot.conf": b"depth=3\ndep\x00th=4\n"},
        "robot.conf:2:4: error E-BINARY: NUL byte: this is not a text file",
    ),
    (
        "W-ENCODING",
        {"robot.conf": b"# caf\xe9\ndepth=3\n"},
        "robot.conf:1:6: warning W-ENCODING: byte 0xe9 is not UTF-8: the file is read as Latin-1; save the file as UTF-8",
    ),
    (
        "E-FILE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nSetup fn=filterrules-setup config=./config/rules.conf\nShutdown fn=filterrules-shutdown\n</Filter>\n'
        },
        "filter.conf:2:35: error E-FILE: cannot read ./config/rules.conf: No such file",
    ),
    (
        "E-LINE-TOO-LONG",
        {"filter.conf": f"{HEAD}Data fn=filter-by-exact src=type deny={'x' * 70_000}\n</Filter>\n"},
        "filter.conf:2:1: error E-LINE-TOO-LONG: line of more than 65536 characters",
    ),
    (
        "W-SMARTQUOTE",
        {"robot.conf": "auto-proxy=”http://proxy.example/”\n"},
        'robot.conf:1:12: warning W-SMARTQUOTE: typographic quote taken as "',
    ),
    (
        "W-COMMENT-BACKSLASH",
        {
            "filter.conf": '<Filter name="enumeration-default">\n# off: \\\nData fn=clear-source src=x\n</Filter>\n'
        },
        "filter.conf:2:8: warning W-COMMENT-BACKSLASH: a backslash does not continue a comment",
    ),
    (
        "W-CONT-DOUBLED",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact \\\\\n  src=type deny=text/plain\n</Filter>\n'
        },
        "filter.conf:2:26: warning W-CONT-DOUBLED: doubled continuation backslash; write one backslash at the end",
    ),
    (
        "W-CONT-BLANK",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact \\  \n  src=type deny=text/plain\n</Filter>\n'
        },
        "filter.conf:2:25: warning W-CONT-BLANK: blanks after the continuation backslash",
    ),
    (
        "W-WRAP",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src=type\ndeny=text/plain\n</Filter>\n'
        },
        "filter.conf:3:1: warning W-WRAP: taken as continuation of Data in line 2; end the line before with a backslash, or indent this one",
    ),
    (
        "W-FN-HYPHEN",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn-filter-by-max src=depth value=10\n</Filter>\n'
        },
        "filter.conf:2:10: warning W-FN-HYPHEN: fn-filter-by-max is read as fn=filter-by-max",
    ),
    (
        "W-QUOTE",
        {"filter.conf": '<Filter name="enumeration-default>\nData fn=clear-source src=x\n</Filter>\n'},
        "filter.conf:1:14: warning W-QUOTE: the quote is not closed in <Filter ...>",
    ),
    (
        "E-QUOTE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src=type deny="text/plain\n</Filter>\n'
        },
        'filter.conf:2:39: error E-QUOTE: the quote that opens here is never closed; close it with ", or write \\" for a quote inside a value',
    ),
    (
        "E-PARAM",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src=type deny=text/plain quickly\n</Filter>\n'
        },
        "filter.conf:2:50: error E-PARAM: 'quickly' is not of the form name=value",
    ),
    (
        "E-DUP-PARAM",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src=type deny=a deny=b\n</Filter>\n'
        },
        "filter.conf:2:41: error E-DUP-PARAM: parameter 'deny' is given twice\nnote: filter.conf:2: first given here",
    ),
    (
        "E-TRUNC",
        {"robot.conf": "<Process csid=a\ndepth=3\n"},
        "robot.conf:2:7: error E-TRUNC: the file ends inside <Process>; close it with </Process>\nnote: robot.conf:1: opened here",
    ),
    (
        "E-TAG",
        {"filter.conf": '<Filtre name="a">\n'},
        "filter.conf:1:1: error E-TAG: unknown tag <Filtre>; did you mean Filter?",
    ),
    (
        "E-STRAY",
        {"filter.conf": "Data fn=generate-md5\n"},
        "filter.conf:1:1: error E-STRAY: Data outside of <Filter>; move it between the opening and the closing tag",
    ),
    (
        "E-FILTER-NAME",
        {"filter.conf": "<Filter>\nData fn=clear-source src=x\n</Filter>\n"},
        'filter.conf:1:1: error E-FILTER-NAME: filter without a name: write <Filter name="...">',
    ),
    (
        "E-FILTER-DUP",
        {
            "filter.conf": '<Filter name="a">\nData fn=clear-source src=x\n</Filter>\n<Filter name="a">\nData fn=clear-source src=x\n</Filter>\n'
        },
        "filter.conf:4:1: error E-FILTER-DUP: filter 'a' is defined twice (lines 1 and 4)\nnote: filter.conf:1: first defined here",
    ),
    (
        "E-FILTER-NESTED",
        {"filter.conf": '<Filter name="a">\n<Filter name="b">\n</Filter>\n'},
        "filter.conf:2:1: error E-FILTER-NESTED: <Filter> before </Filter>\nnote: filter.conf:1: <Filter> was opened here",
    ),
    (
        "E-FILTER-CLOSE",
        {"filter.conf": "</Filter>\n"},
        "filter.conf:1:1: error E-FILTER-CLOSE: </Filter> without <Filter>",
    ),
    (
        "E-FILTER-UNDEF",
        {
            "robot.conf": "enumeration-filter=my-enumerator\n",
            "filter.conf": '<Filter name="my-enumeration">\nData fn=clear-source src=x\n</Filter>\n',
        },
        "robot.conf:1:1: error E-FILTER-UNDEF: enumeration-filter=my-enumerator: filter.conf defines no such filter (defined: my-enumeration, enumeration-default, generation-default); did you mean my-enumeration?",
    ),
    (
        "W-EMPTY-FILTER",
        {"filter.conf": '<Filter name="enumeration-default">\n</Filter>\n'},
        "filter.conf:1:1: warning W-EMPTY-FILTER: filter 'enumeration-default' is empty: it lets everything pass and does nothing",
    ),
    (
        "W-UNUSED-FILTER",
        {"filter.conf": '<Filter name="old">\nData fn=no-such\n</Filter>\n'},
        "filter.conf:1:1: warning W-UNUSED-FILTER: filter 'old' has 1 error, but robot.conf does not select it",
    ),
    (
        "E-FN-UNKNOWN",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=assign-type-by-extclear-source\n</Filter>\n'
        },
        "filter.conf:2:13: error E-FN-UNKNOWN: no function 'assign-type-by-extclear-source' (filter 'enumeration-default'); did you mean clear-source or assign-type-by-extension?",
    ),
    (
        "W-FN-UNKNOWN",
        {"filter.conf": '<Filter name="enumeration-default">\nData enable=off fn=no-such\n</Filter>\n'},
        "filter.conf:2:20: warning W-FN-UNKNOWN: no function 'no-such' (filter 'enumeration-default'), in a disabled line",
    ),
    (
        "E-FN-MISSING",
        {"filter.conf": '<Filter name="enumeration-default">\nData src=type deny=a\n</Filter>\n'},
        "filter.conf:2:1: error E-FN-MISSING: Data without fn=",
    ),
    (
        "W-ALIAS",
        {
            "filter.conf": '<Filter name="generation-default">\nGenerate fn=generate-last-modified\n</Filter>\n'
        },
        "filter.conf:2:13: warning W-ALIAS: generate-last-modified is read as generate-rd-last-modified",
    ),
    (
        "E-PHASE",
        {"filter.conf": '<Filter name="enumeration-default">\nMetaData fn=enumerate-urls\n</Filter>\n'},
        "filter.conf:2:1: error E-PHASE: enumerate-urls is not allowed under MetaData; allowed: Enumerate",
    ),
    (
        "E-ENABLE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData enable=maybe fn=generate-md5\n</Filter>\n'
        },
        "filter.conf:2:13: error E-ENABLE: enable='maybe'; write enable=true or enable=false",
    ),
    (
        "E-PARAM-MISSING",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact deny=text/plain\n</Filter>\n'
        },
        "filter.conf:2:9: error E-PARAM-MISSING: filter-by-exact needs src=",
    ),
    (
        "E-PARAM-EMPTY",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src= deny=text/plain\n</Filter>\n'
        },
        "filter.conf:2:25: error E-PARAM-EMPTY: src is empty",
    ),
    (
        "W-PARAM-UNKNOWN",
        {
            "filter.conf": '<Filter name="enumeration-default">\nEnumerate fn=enumerate-urls maximum=10\n</Filter>\n'
        },
        "filter.conf:2:29: warning W-PARAM-UNKNOWN: enumerate-urls has no parameter 'maximum': it is ignored; did you mean max?",
    ),
    (
        "E-ALLOW-DENY",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-exact src=type deny=a allow=b\n</Filter>\n'
        },
        "filter.conf:2:9: error E-ALLOW-DENY: filter-by-exact has both of allow and deny; give exactly one of allow and deny",
    ),
    (
        "E-VALUE-SRC",
        {"filter.conf": '<Filter name="enumeration-default">\nData fn=assign-source dst=type\n</Filter>\n'},
        "filter.conf:2:9: error E-VALUE-SRC: assign-source has neither of value and src; give exactly one of value and src",
    ),
    (
        "E-REGEX",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=filter-by-regex src=URL deny=(unclosed\n</Filter>\n'
        },
        "filter.conf:2:42: error E-REGEX: '(unclosed' is not a posix pattern: missing ) at offset 0",
    ),
    (
        "W-REGEX-DIALECT",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=filter-by-regex src=host deny=\\\\\\\\*.gov\n</Filter>\n'
        },
        "filter.conf:2:43: warning W-REGEX-DIALECT: read as wildcard *.gov; it does not match gov itself: for that write (*.gov|gov)",
    ),
    (
        "W-REGEX-NEVER",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=filter-by-regex src=host dialect=posix deny=a\\*b\n</Filter>\n'
        },
        "filter.conf:2:57: warning W-REGEX-NEVER: never matches: host holds no asterisk",
    ),
    (
        "E-RANGE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nSetup fn=setup-regex-cache cache-size=0\n</Filter>\n'
        },
        "filter.conf:2:39: error E-RANGE: cache-size=0 is out of range; allowed: 1 or more",
    ),
    (
        "E-TYPE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nEnumerate fn=enumerate-urls max=many\n</Filter>\n'
        },
        "filter.conf:2:33: error E-TYPE: max='many' is not a whole number",
    ),
    (
        "E-MAP",
        {
            "filter.conf": '<Filter name="generation-default">\nGenerate fn=rename-attribute src="author"\n</Filter>\n'
        },
        "filter.conf:2:34: error E-MAP: src='author' is not of the form old->new",
    ),
    (
        "E-ONCE",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=filter-by-max src=depth value=10\nData fn=filter-by-max src=objects value=10\n</Filter>\n'
        },
        "filter.conf:3:9: error E-ONCE: filter-by-max may be used once in a filter\nnote: filter.conf:2: first used here",
    ),
    (
        "E-REQUIRES",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=filter-by-md5\nData fn=generate-md5\n</Filter>\n'
        },
        "filter.conf:2:9: error E-REQUIRES: filter-by-md5 needs generate-md5 earlier in the same filter; add a line with fn=generate-md5 that runs before this one",
    ),
    (
        "W-REQUIRES",
        {
            "filter.conf": '<Filter name="enumeration-default">\nSetup fn=filterrules-setup config=filterrules.conf\n</Filter>\n'
        },
        "filter.conf:2:10: warning W-REQUIRES: filterrules-setup without filterrules-shutdown",
    ),
    (
        "W-REPEAT",
        {
            "filter.conf": '<Filter name="enumeration-default">\nSetup fn=setup-regex-cache cache-size=28\nSetup fn=setup-regex-cache cache-size=32\n</Filter>\n'
        },
        "filter.conf:3:10: warning W-REPEAT: setup-regex-cache is repeated: this last one counts\nnote: filter.conf:2: first used here",
    ),
    (
        "W-ORDER",
        {
            "filter.conf": '<Filter name="enumeration-default">\nData fn=clear-source src=x\nMetaData fn=clear-source src=y\n</Filter>\n'
        },
        "filter.conf:3:1: warning W-ORDER: MetaData stands after Data but runs before it\nnote: filter.conf:2: Data stands here",
    ),
    (
        "W-DEFER",
        {
            "filter.conf": '<Filter name="enumeration-default">\nMetaData fn=filter-by-max src=content-length value=1024\n</Filter>\n'
        },
        "filter.conf:2:1: warning W-DEFER: content-length is not known in MetaData: tested when the response arrives",
    ),
    (
        "E-UNSUPPORTED",
        {"filter.conf": "Init fn=load-modules shlib=mine.py funcs=mine\n"},
        "filter.conf:1:9: error E-UNSUPPORTED: load-modules: no plug-ins can be loaded here",
    ),
    (
        "E-ROBOT-UNKNOWN",
        {"robot.conf": "enumeration-fliter=mine\n"},
        "robot.conf:1:1: warning E-ROBOT-UNKNOWN: unknown parameter 'enumeration-fliter'; did you mean enumeration-filter or generation-filter?",
    ),
    (
        "E-PROCESS-NESTED",
        {"robot.conf": "<Process csid=a>\n<Process>\n</Process>\n"},
        "robot.conf:2:1: error E-PROCESS-NESTED: <Process> inside <Process>\nnote: robot.conf:1: opened here",
    ),
    (
        "E-PROCESS-CLOSE",
        {"robot.conf": "depth=3\n</Process>\n"},
        "robot.conf:2:1: error E-PROCESS-CLOSE: </Process> without <Process>",
    ),
    (
        "E-URL",
        {"robot.conf": "gopher://old.example/\n"},
        "robot.conf:1:1: error E-URL: 'gopher://old.example/' is not a URL that can be gathered",
    ),
    (
        "W-START",
        {"robot.conf": "http://www.siroe.com/\n"},
        "robot.conf:1:1: warning W-START: no enabled site covers http://www.siroe.com/: it will be denied; define a <Site> for its host in filterrules.conf",
    ),
    (
        "W-EMAIL",
        {"robot.conf": "email=user@domain\n"},
        "robot.conf:1:7: warning W-EMAIL: the placeholder user@domain is not sent; give your own address",
    ),
    (
        "W-NO-LIMIT",
        {"robot.conf": "site-max-connections=0\n"},
        "robot.conf:1:22: warning W-NO-LIMIT: no limit of connections to one host",
    ),
    (
        "W-ROBOTS",
        {"robot.conf": "enable-robots-txt=no\n"},
        "robot.conf:1:19: warning W-ROBOTS: robots.txt is not obeyed; this is recorded",
    ),
    (
        "W-UNSUPPORTED",
        {"robot.conf": "enable-rdm-probe=true\n"},
        "robot.conf:1:1: warning W-UNSUPPORTED: RDM probes are not supported: nobody answers them any more",
    ),
    (
        "E-RULE-DUP",
        {
            "filterrules.conf": '<Rule name="a">\nMatch src=path method=is value="/"\n</Rule>\n<Rule name="a">\nMatch src=path method=is value="/x"\n</Rule>\n'
        },
        "filterrules.conf:4:1: error E-RULE-DUP: Rule 'a' is defined twice\nnote: filterrules.conf:1: first defined here",
    ),
    (
        "E-RULE-NESTED",
        {
            "filterrules.conf": '<Site name="s" host="www.siroe.com">\n<Rule name="a">\nMatch src=path method=is value="/"\n</Rule>\n</Site>\n'
        },
        "filterrules.conf:2:1: error E-RULE-NESTED: <Rule> before </Site>\nnote: filterrules.conf:1: <Site> was opened here",
    ),
    (
        "E-RULE-CLOSE",
        {"filterrules.conf": "</Rule>\n"},
        "filterrules.conf:1:1: error E-RULE-CLOSE: </Rule> without <Rule>",
    ),
    (
        "E-RULE-UNDEF",
        {
            "filterrules.conf": '<Rule name="Archive">\nMatch src=path method=ends-with value=".zip"\n</Rule>\n<Site name="s" host="www.siroe.com">\nUse rule=Archives\n</Site>\n'
        },
        "filterrules.conf:5:1: error E-RULE-UNDEF: no rule 'Archives'; did you mean Archive?",
    ),
    (
        "W-EMPTY-RULE",
        {"filterrules.conf": '<Rule name="a">\n</Rule>\n'},
        "filterrules.conf:1:1: warning W-EMPTY-RULE: rule 'a' has no Match line: it never matches",
    ),
    (
        "E-SITE-DUP",
        {
            "filterrules.conf": '<Site name="s" host="www.siroe.com">\n</Site>\n<Site name="s" host="home.siroe.com">\n</Site>\n'
        },
        "filterrules.conf:3:1: error E-SITE-DUP: Site 's' is defined twice\nnote: filterrules.conf:1: first defined here",
    ),
    (
        "W-DATABASE",
        {"filterrules.conf": '<Site name="s" host="www.siroe.com" database="my news">\n</Site>\n'},
        "filterrules.conf:1:46: warning W-DATABASE: 'my news' cannot be the name of a database: descriptions stay where they are; 1 to 64 letters a to z, digits, '_', '.', '-', a letter or digit first",
    ),
    (
        "E-CREDENTIAL",
        {"filterrules.conf": '<Site name="s" host="www.siroe.com" credentials="robot:sesame">\n</Site>\n'},
        "filterrules.conf:1:49: error E-CREDENTIAL: credentials= is not a name; write the name of a [credential.NAME] of ingather.toml; names and passwords never stand here",
    ),
    (
        "E-SITE-NESTED",
        {
            "filterrules.conf": '<Site name="s" host="www.siroe.com">\n<Site name="t" host="home.siroe.com">\n</Site>\n'
        },
        "filterrules.conf:2:1: error E-SITE-NESTED: <Site> before </Site>\nnote: filterrules.conf:1: <Site> was opened here",
    ),
    (
        "E-SITE-CLOSE",
        {"filterrules.conf": "</Site>\n"},
        "filterrules.conf:1:1: error E-SITE-CLOSE: </Site> without <Site>",
    ),
    (
        "W-SITE-HOST",
        {
            "filterrules.conf": '<Site name="s" host="www.siroe.com">\n</Site>\n<Site name="t" host="www.siroe.com">\n</Site>\n'
        },
        "filterrules.conf:3:1: warning W-SITE-HOST: site 't' has the host of 's', which is used\nnote: filterrules.conf:1: first site of this host",
    ),
    (
        "E-HOST",
        {"filterrules.conf": '<Site name="s" host="http://www.siroe.com/">\n</Site>\n'},
        "filterrules.conf:1:21: error E-HOST: 'http://www.siroe.com/' is not a host name; write it like \"www.example.org\"",
    ),
    (
        "W-MIME",
        {"mime.types": "text/html html\nhtml is text\n"},
        "mime.types:2:1: warning W-MIME: neither 'type=text/html exts=htm,html' nor 'text/html html htm'",
    ),
    (
        "W-NO-EFFECT",
        {"robot.conf": "proxy-type=auto\n"},
        "robot.conf:1:1: warning W-NO-EFFECT: proxy-type has no effect yet",
    ),
    (
        "W-NOT-READ",
        {"robot.conf": "depth=3\n", "process.conf": "depth=4\n"},
        "process.conf:1:1: warning W-NOT-READ: robot.conf is read, process.conf beside it is not; keep one of the two",
    ),
    (
        "W-CATEGORY",
        {
            "classification.conf": "Classify src=path method=contains value=a category=Archive:Chad\n",
            "taxonomy.rdm": "@CLASSIFICATION { -\nid{12}:\tArchive:Chat\n}\n",
        },
        "classification.conf:1:52: warning W-CATEGORY: category 'Archive:Chad' is not in the taxonomy; it is kept as it is; did you mean Archive or Archive:Chat?",
    ),
]
STRICT = {
    "W-ENCODING",
    "W-SMARTQUOTE",
    "W-COMMENT-BACKSLASH",
    "W-CONT-DOUBLED",
    "W-CONT-BLANK",
    "W-WRAP",
    "W-FN-HYPHEN",
    "W-QUOTE",
}
ELSEWHERE = re.compile(r"[EW]-(SOIF|RD|SCHEMA|KEY|VALUE$|SYNTAX|ENCODING)|E-SETUP")
"""Codes of other files: SOIF, descriptions, the schema, ingather.toml; and of what happens at a start."""


def configuration(files: Files, *, strict: bool = False) -> Loaded:
    """Load *files*, with filters that are empty where they do not define the selected ones."""
    bodies = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    filters = bodies.get("filter.conf", b"")
    for name in ("enumeration-default", "generation-default"):
        if f'"{name}'.encode() not in filters:
            filters += EMPTY.format(name=name).encode()
    others = {"robot.conf": b"", "filterrules.conf": b"", "mime.types": b"text/html html\n"}
    return load_bodies(others | bodies | {"filter.conf": filters}, strict=strict)


def section(code: str) -> str:
    page = PAGE.read_text("utf-8")
    assert f"### {code}\n" in page, f"{code} is not in the reference"
    return re.split(r"\n##+ ", page.partition(f"### {code}\n")[2])[0]


@pytest.mark.parametrize(("code", "files", "expected"), GOLDEN, ids=[row[0] for row in GOLDEN])
def test_the_message_is_that_of_the_reference(code: str, files: Files, expected: str) -> None:
    found = [str(d) for d in configuration(files).diagnostics if d.code == code]
    assert found == [expected]
    assert expected in section(code)


@pytest.mark.parametrize("code", sorted(STRICT))
def test_strict_makes_an_error_of_what_the_lexer_tolerates(code: str) -> None:
    files = next(files for name, files, _ in GOLDEN if name == code)
    assert configuration(files).ok
    loaded = configuration(files, strict=True)
    assert not loaded.ok
    assert "*strict*" in section(code)
    wanted = "E-PARAM" if code == "W-FN-HYPHEN" else code
    assert [d.severity for d in loaded.diagnostics if d.code == wanted] == ["error"]


def test_strict_changes_no_other_warning() -> None:
    for code, files, _ in GOLDEN:
        if code.startswith("W-") and code not in STRICT:
            assert configuration(files, strict=True).ok, code
        elif code not in STRICT:
            assert "*strict*" not in section(code)


def test_a_parameter_without_effect_says_so() -> None:
    for parameter in PARAMETERS.values():
        if parameter.kind == "bool" and not parameter.acts and parameter.name != "enable-rdm-probe":
            value = str(not parameter.default).lower()
            loaded = configuration({"robot.conf": f"{parameter.name}={value}\n"})
            assert [d.code for d in loaded.diagnostics] == ["W-NO-EFFECT"], parameter.name
    assert section("W-NO-EFFECT")


def test_the_reference_has_every_code_that_the_languages_have() -> None:
    codes = set()
    for path in (ROOT / "src" / "ingather" / "conf").glob("*.py"):
        codes |= set(re.findall(r'"([EW]-[A-Z][A-Z0-9-]*[A-Z0-9])"', path.read_text("utf-8")))
    for code in sorted(codes):
        if not ELSEWHERE.match(code):
            assert section(code)


def test_all_errors_are_counted_and_the_first_thousand_listed() -> None:
    lines = "".join(f"Data fn=no-such-{n}\n" for n in range(3000))
    loaded = configuration({"filter.conf": f"{HEAD}{lines}</Filter>\n"})
    assert loaded.errors == 3000
    assert [d.line for d in loaded.diagnostics] == list(range(2, SHOWN + 2))


def shape(document: Document) -> list[object]:
    """The tree without places."""

    def of(node: Entry | Block | Remark) -> object:
        if isinstance(node, Remark):
            return node.text
        items = [(p.name, p.value) for p in node.parameters.items]
        if isinstance(node, Entry):
            return (node.keyword, items, [b.word for b in node.bare], node.comment)
        return (node.tag, items, node.comment, node.end_comment, [of(n) for n in node.body])

    return [of(node) for node in document.nodes]


def parsed(name: str, text: str, report: Report) -> Document:
    if name == "robot.conf":
        return parse_robot_document(text, name, report)
    return parse_blocks(text, name, FILTERS if name == "filter.conf" else RULES, report)


def test_what_is_tolerated_is_printed_so_that_it_is_read_the_same() -> None:
    for _, files, _ in GOLDEN:
        for name, text in files.items():
            report = Report()
            if isinstance(text, bytes) or name in {"mime.types", "classification.conf", "taxonomy.rdm"}:
                continue
            document = parsed(name, text, report)
            if report.refused:
                continue
            again = Report()
            printed = print_document(document)
            assert shape(parsed(name, printed, again)) == shape(document)
            assert not again.refused
