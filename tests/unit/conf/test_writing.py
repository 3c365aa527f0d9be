"""What the writer prints parses to the same tree."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.conf.filters.filterconf import GRAMMAR as FILTERS
from ingather.conf.report import Report
from ingather.conf.robot.robotconf import parse_robot_document
from ingather.conf.shipped import shipped
from ingather.conf.sites.rulesconf import GRAMMAR as RULES
from ingather.conf.text.blocks import Grammar, parse_blocks
from ingather.conf.text.parameters import RAW_NAMES, quoted, unescape
from ingather.conf.text.tree import Block, Document, Entry, Remark
from ingather.conf.text.writer import print_document

NAME = st.one_of(
    st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), st.sampled_from(["allow", "deny", "match"])
)
VALUE = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0\u201c\u201d", exclude_categories=["Cs"]),
    max_size=20,
)
# A pattern cannot hold a backslash directly before a quote, nor end in one: there is no way to write it.
PATTERN = VALUE.filter(lambda v: '\\"' not in v and not v.endswith("\\"))
COMMENT = st.sampled_from(["", "", " # remark", "\t#\u201cquoted\u201d \\"])
REMARK = st.sampled_from(["", "   ", "# comment", "  # indented \\", "#"])
JOIN = st.sampled_from([" ", " ", "  ", " \\\n", " \\\\\n   ", "\t"])


@st.composite
def parameters(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    words = [f"{name}={quoted(name, draw(PATTERN if name in RAW_NAMES else VALUE))}" for name in names]
    text = words[0]
    for word in words[1:]:
        text += draw(JOIN) + word
    return text


@st.composite
def block(draw: st.DrawFn, tag: str, keywords: tuple[str, ...]) -> str:
    lines = [f"<{tag} {draw(parameters())}>{draw(COMMENT)}"]
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            lines.append(draw(REMARK))
        else:
            line = f"{draw(st.sampled_from(keywords))} {draw(parameters())}{draw(COMMENT)}"
            lines.append(line)
            if kind == 3 and "\\" not in line[-2:]:
                lines.append(f"   wrapped=1{draw(COMMENT)}")
    lines.append(f"</{tag}>{draw(COMMENT)}")
    return "\n".join(lines)


def texts(grammar: Grammar) -> st.SearchStrategy[str]:
    blocks = st.one_of([block(tag, keywords) for tag, keywords in grammar.blocks.items()])
    return st.lists(st.one_of(blocks, REMARK), max_size=4).map("\n".join)


def shape(document: Document) -> list[object]:
    """The tree without places."""

    def items(node: Entry | Block) -> list[tuple[str, str]]:
        return [(p.name, p.value) for p in node.parameters.items]

    def of(node: Entry | Block | Remark) -> object:
        if isinstance(node, Remark):
            return node.text
        if isinstance(node, Entry):
            return (node.keyword, items(node), [b.word for b in node.bare], node.comment)
        return (
            node.tag,
            items(node),
            node.comment,
            node.end is not None,
            node.end_comment,
            [of(n) for n in node.body],
        )

    return [of(node) for node in document.nodes]


@given(texts(FILTERS))
def test_filter_conf_prints_and_parses_to_the_same_tree(text: str) -> None:
    report = Report()
    first = parse_blocks(text, "f", FILTERS, report)
    assert not report.refused, [str(d) for d in report.diagnostics]
    printed = print_document(first)
    assert shape(parse_blocks(printed, "f", FILTERS, Report())) == shape(first)
    assert print_document(parse_blocks(printed, "f", FILTERS, Report())) == printed


@given(texts(RULES))
def test_filterrules_conf_prints_and_parses_to_the_same_tree(text: str) -> None:
    report = Report()
    first = parse_blocks(text, "f", RULES, report)
    assert not report.refused
    assert shape(parse_blocks(print_document(first), "f", RULES, Report())) == shape(first)


ROBOT_LINE = st.one_of(
    REMARK,
    st.builds("{}{}".format, parameters(), COMMENT),
    st.sampled_from(["http://a.example/x?a=b depth=3", "https://b.example/ # start"]),
)


@given(
    st.lists(ROBOT_LINE, max_size=5),
    st.sampled_from(["", "<Process>", "<Process csid=x", '<Process csid="x" \\\ny=1>']),
)
def test_robot_conf_prints_and_parses_to_the_same_tree(lines: list[str], head: str) -> None:
    text = "\n".join([head, *lines, "</Process>"] if head else lines)
    report = Report()
    first = parse_robot_document(text, "f", report)
    assert not report.refused, [str(d) for d in report.diagnostics]
    assert shape(parse_robot_document(print_document(first), "f", Report())) == shape(first)


@given(NAME, PATTERN)
def test_a_quoted_value_is_read_back(name: str, value: str) -> None:
    raw = quoted(name, value)
    assert unescape(name, raw[1:-1] if raw.startswith('"') else raw) == value


@given(st.text(max_size=300))
def test_no_text_makes_the_parser_fail(text: str) -> None:
    for grammar in (FILTERS, RULES):
        parse_blocks(text, "f", grammar, Report())
    parse_robot_document(text, "f", Report())


def test_the_shipped_files_survive_as_they_are() -> None:
    for name, grammar in (("filter.conf", FILTERS), ("filterrules.conf", RULES)):
        text = shipped()[name]
        assert print_document(parse_blocks(text, name, grammar, Report())) == text
    text = shipped()["robot.conf"]
    assert print_document(parse_robot_document(text, "robot.conf", Report())) == text
