"""The demo's Markdown: what our documents use comes out as HTML, everything else as text."""

from collections.abc import Sequence
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app.demo.markdown import Links, render, slug

VOID = {"img", "hr", "br", "meta"}


def resolve(target: str) -> tuple[str, str]:
    return ("", "") if target.startswith("missing") else (f"/{target}", "The title")


def children(lines: Sequence[str]) -> list[tuple[str, str]]:
    return [(f"/{line}", line.upper()) for line in lines]


LINKS = Links(resolve=resolve, children=children, module=lambda name: f"What {name} <does>.")


def html(text: str) -> str:
    return render(text, LINKS).html


class Balance(HTMLParser):
    """Notes tags that are not closed in order, and attributes that we never write."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.wrong += [name for name, _ in attrs if name not in {"href", "id", "class", "src", "alt"}]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A `b` & c", '<h1 id="a-b--c">A <code>b</code> &amp; c</h1>\n'),
        ("one\ntwo", "<p>one\ntwo</p>\n"),
        ("*soft* **bold** a*b*c 2 * 3", "<p><em>soft</em> <strong>bold</strong> a*b*c 2 * 3</p>\n"),
        ("`<b>` and ``a`b``", "<p><code>&lt;b&gt;</code> and <code>a`b</code></p>\n"),
        ("[text](page.md) [](page.md)", '<p><a href="/page.md">text</a> <a href="/page.md">The title</a></p>\n'),
        ("[kept](missing.md)", "<p>kept</p>\n"),
        ("![A picture](i.png)", '<p><img src="/i.png" alt="A picture"></p>\n'),
        ("<https://example.org/?a=1&b=2>",
         '<p><a href="https://example.org/?a=1&amp;b=2">https://example.org/?a=1&amp;b=2</a></p>\n'),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("<!-- not\nshown -->\nshown", "<p>shown</p>\n"),
        ('```toml\na = "<"\n```', '<pre><code class="language-toml">a = &quot;&lt;&quot;</code></pre>\n'),
        ("* one\n* two\n  more", "<ul>\n<li>one</li>\n<li>two\nmore</li>\n</ul>\n"),
        ("1. one\n\n   ```\n   x\n   ```\n2. two",
         "<ol>\n<li>one<pre><code>x</code></pre>\n</li>\n<li>two</li>\n</ol>\n"),
        ("* a\n  * b\n* c", "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n"),
        ("| a | b |\n|---|---|\n| `x\\|y` | |",
         "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td><code>x|y</code></td><td></td></tr>\n</table>\n"),
        ("term\n: what it\n  means", "<dl>\n<dt>term</dt>\n<dd>\n<p>what it\nmeans</p>\n</dd>\n</dl>\n"),
        ("> said\n> so", "<blockquote>\n<p>said\nso</p>\n</blockquote>\n"),
        ("---", "<hr>\n"),
        ("```{toctree}\n:maxdepth: 1\n\na/b\n```", '<ul>\n<li><a href="/a/b">A/B</a></li>\n</ul>\n'),
        ("```{eval-rst}\n.. automodule:: a.b\n   :members:\n```",
         '<h3 id="ab"><code>a.b</code></h3>\n<pre>What a.b &lt;does&gt;.</pre>\n'),
        ("```{glossary}\nACL\n  Who may.\n\nbody\n  Bytes.\n```",
         ('<dl>\n<dt id="term-acl">ACL</dt>\n<dd>\n<p>Who may.</p>\n</dd>\n'
         '<dt id="term-body">body</dt>\n<dd>\n<p>Bytes.</p>\n</dd>\n</dl>\n')),
        (":::{note}\nMind this.\n:::", "<aside>\n<p>Mind this.</p>\n</aside>\n"),
        ("(a-label)=\n# Title", '<h1 id="title">Title</h1>\n'),
        ("```\nnever closed", "<pre><code>never closed</code></pre>\n"),
    ],
)  # fmt: skip
def test_what_our_documents_use_becomes_html(text: str, expected: str) -> None:
    assert html(text) == expected


def test_a_page_knows_its_title_and_headings() -> None:
    page = render("# Why *this*\n\n## First part\n", LINKS)
    assert page.title == "Why this"
    assert page.headings == [(1, "why-this", "Why this"), (2, "first-part", "First part")]


def test_slugs_are_those_of_the_documents_builder() -> None:
    assert slug("Bodies: a page's bytes, from the wire") == "bodies-a-pages-bytes-from-the-wire"


BITS = st.sampled_from(
    ["# ", "* ", "1. ", "> ", "| a | b |", "|---|", "```", "```{glossary}", ":::{note}", "  ", "\n", "\n\n", "word ",
     "`", "**", "*", "_", "[x](y)", "](", "![", "<", ">", "&", '"', "<!--", "-->", ": ", "\\", "(t)=", "---", "{term}`x`"]
)  # fmt: skip


@given(st.lists(BITS | st.text(max_size=6), max_size=40).map("".join))
def test_nothing_of_the_input_is_ever_markup(text: str) -> None:
    balance = Balance()
    balance.feed(html(text))
    balance.close()
    assert (balance.open, balance.wrong) == ([], [])


def test_nesting_without_end_is_bounded() -> None:
    assert "<pre>" in html("> " * 500 + "deep")
    assert html("* " * 500)
