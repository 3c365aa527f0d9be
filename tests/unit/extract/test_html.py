"""What a reader of the page would see, and every link it has; with both walks."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import html as reader
from ingather.extract import read_page
from ingather.model.page import Heading, Link, Page

URL = "http://h/dir/page.html?x=1"


@pytest.fixture(params=["compiled", "python"], scope="module", autouse=True)
def walk(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            patch.setattr(reader, "_compiled", lambda: None)
        elif reader.walk_in_use() != "compiled":
            pytest.skip("the compiled walk is not built: ./run test builds it where there is a C compiler")
        yield


def page(html: str, **options: object) -> Page:
    return read_page(html.encode(), url=URL, content_type="text/html; charset=utf-8", **options)  # type: ignore[arg-type]


def links(html: str) -> list[str]:
    return [link.url for link in page(html).links]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\nTwo"),
        ("<div>a<div>b</div>c</div>d", "a\nb\nc\nd"),
        ("<ul><li>1</li><li>2<ul><li>3</ul>tail</ul>", "1\n2\n3\ntail"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></table>x", "1\n2\n3\nx"),
        ("<h1>Head</h1>body", "Head\nbody"),
        ("one<br>two<hr>three", "one\ntwo\nthree"),
        ("<dl><dt>t<dd>d<dt>u</dl>", "t\nd\nu"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("a<a href=x><div>b</div></a>c", "a\nb\nc"),
        ("<a href=x>Home</a><a href=y>About</a>", "Home\nAbout"),
        ("<b>bo</b>ld <code>Component</code>s H<sub>2</sub>O (<i>x</i>).", "bold Components H2O (x)."),
        ("  spaced   \n\n\n  out  ", "spaced\nout"),
        ("a&nbsp;&amp;&lt;b&gt;", "a\xa0&<b>"),
    ],
)
def test_blocks_are_apart_and_inline_markup_does_not_cut_words(html: str, text: str) -> None:
    assert page(html).text == text


@pytest.mark.parametrize(
    "html",
    [
        "<script>no</script>yes",
        "<style>no</style>yes",
        "<template><p>no</template>yes",
        "<p><noscript>no</noscript>yes",
        "<textarea>no</textarea>yes",
        "<div hidden>no</div>yes",
        "<div Hidden=until-found><p>no</p></div>yes",
        "<div class=x hidden>no</div>yes",
        "<!-- no -->yes",
        "<title>no</title>yes",
        "<datalist><option>no</datalist>yes",
        "<iframe src=x>no</iframe>yes",
        "<svg><title>no</title></svg>yes",
    ],
)
def test_what_nobody_sees_is_no_text(html: str) -> None:
    assert page(html).text == "yes"


@pytest.mark.parametrize(
    "html",
    ['<input type="hidden" value=x>yes', "<p>a hidden thing, display:none</p>", '<p title="hidden ">yes', "<p data-hidden=1>yes",
     "<style>p { display: none }</style>yes", "<body hidden>yes"],
)  # fmt: skip
def test_the_word_hidden_and_styles_hide_nothing(html: str) -> None:
    assert page(html).text in {"yes", "a hidden thing, display:none"}


def test_an_unclosed_script_eats_only_what_the_parser_gives_it() -> None:
    read = page("<p>before<script>var a = '<a href=x>';</script><p>after<a href=y>z</a><script>endless")
    assert read.text == "before\nafterz"
    assert [link.url for link in read.links] == ["http://h/dir/y"]


def test_seed_7_9_stopindex_hides_text_but_not_links_meta_and_title() -> None:
    read = page(
        "<title>T</title><meta name=k content=v>A<!--stopindex-->B<h2>No</h2><a href=l>M</a><meta name=k content=w>"
        "<!-- StartIndex -->C<p>D<!--STOPINDEX-->E<b>F</b>"
    )
    assert read.text == "AC\nD"
    assert read.headings == []
    assert read.title == "T"
    assert read.metas == {"k": ["v", "w"]}
    assert read.links == [Link("http://h/dir/l", "M")]


def test_gsa_8_4_googleoff_hides_text_but_not_links() -> None:
    read = page(
        "A<!--googleoff: index-->B<h2>No</h2><a href=l>M</a><!--googleon: index-->C<p>D<!--googleoff:all-->E<!--googleon: all -->F"
        "<p>G<!--googleoff: snippet-->H<!--googleon: snippet--><!--googleoff: anchor-->I<!--googleoff-->J"
    )
    assert read.text == "AC\nDF\nGHIJ"
    assert read.headings == []
    assert read.links == [Link("http://h/dir/l", "M")]


def test_links_of_every_kind_come_in_order() -> None:
    read = page(
        '<link rel="Next" href=n title=N><link rel=alternate hreflang=de href=de>'
        "<link rel=stylesheet href=s.css><link rel=icon href=i.ico>"
        "<meta http-equiv=refresh content='5; url=r.html'>"
        '<a href="a.html#x">A  <b>word</b></a><map><area href=b alt="B"></map><iframe src=c title=C></iframe><img src=i.png>'
    )
    assert read.links == [
        Link("http://h/dir/n", "N", "next", "next"),
        Link("http://h/dir/de", "", "alternate", "alternate"),
        Link("http://h/dir/r.html", "", "", "refresh"),
        Link("http://h/dir/a.html", "A word", "", "a"),
        Link("http://h/dir/b", "B", "", "area"),
        Link("http://h/dir/c", "C", "", "iframe"),
    ]


def test_a_frameset_has_links() -> None:
    read = page("<frameset><frame src=a name=x><frame src=b></frameset>")
    assert [(link.url, link.kind) for link in read.links] == [
        ("http://h/dir/a", "frame"),
        ("http://h/dir/b", "frame"),
    ]


def test_a_target_is_there_once_with_its_first_words() -> None:
    read = page(
        "<a href=x><img></a><a href=y>Y</a><a href=x#1>X</a><a href='/dir/x'>again</a><a href=y>other</a>"
    )
    assert read.links == [Link("http://h/dir/x", "X"), Link("http://h/dir/y", "Y")]


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<a href=x><img alt=' Go  home '></a>", "Go home"),
        ("<a href=x title=T></a>", "T"),
        ("<a href=x aria-label=L><i></i></a>", "L"),
        ("<a href=x><div>A</div><div>B</div></a>", "A B"),
        ("<a href=x></a>", ""),
    ],
)
def test_a_link_without_words_speaks_by_its_picture_or_label(html: str, words: str) -> None:
    assert page(html).links == [Link("http://h/dir/x", words)]


def test_a_nameless_link_beside_an_svg_link_without_href_is_no_trouble() -> None:
    read = page("<a href=x></a><svg><a xlink:href=y>Y</a></svg><a href=x>X</a>")
    assert read.links == [Link("http://h/dir/x", "X"), Link("http://h/dir/y", "Y")]


def test_nofollow_is_marked_unless_another_link_to_the_target_is_followed() -> None:
    read = page(
        "<a href=x rel='NoFollow  UGC'>1</a><a href=y rel=nofollow>2</a><a href=y>3</a><a href=z>4</a><a href=z rel=nofollow>5</a>"
    )
    assert read.links == [
        Link("http://h/dir/x", "1", "nofollow ugc"),
        Link("http://h/dir/y", "2"),
        Link("http://h/dir/z", "4"),
    ]


@pytest.mark.parametrize(
    "href", ["#x", "", "mailto:a@b", "javascript:x()", "http://[", "tel:1", "data:text/html,x"]
)
def test_what_leads_nowhere_is_no_link(href: str) -> None:
    assert links(f"<a href='{href}'>x</a><a name=y>z</a>") == []


def test_base_is_the_first_with_a_href_and_counts_for_links_before_it() -> None:
    read = page(
        "<a href=1>x</a><base target=_top><base href='//other/b/'><base href=/c/><a href=2>y</a><a href='?q'>z</a>"
    )
    assert read.base == "http://other/b/"
    assert [link.url for link in read.links] == ["http://other/b/1", "http://other/b/2", "http://other/b/?q"]


def test_a_relative_base_hangs_on_the_page_and_a_bad_one_is_ignored() -> None:
    assert links("<base href='../up/'><a href=1>x</a>") == ["http://h/up/1"]
    assert links("<base href='javascript:x'><a href=1>x</a>") == ["http://h/dir/1"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=http://x/", "http://x/"),
        ("5; URL = 'a b'", "http://h/dir/a%20b"),
        ('5;url="a"junk', "http://h/dir/a"),
        ("5, a", "http://h/dir/a"),
        ("5 a", "http://h/dir/a"),
        (".5;url=a", "http://h/dir/a"),
        ("5", None),
        ("5;", None),
        ("url=a", None),
        ("x;url=a", None),
    ],
)
def test_whatwg_meta_refresh(content: str, target: str | None) -> None:
    html = (
        f"<meta http-equiv=Refresh content='{content}'>"
        if "'" not in content
        else f'<meta http-equiv=Refresh content="{content}">'
    )
    assert links(html) == ([target] if target else [])


def test_headings_title_and_marked_words() -> None:
    read = page(
        "<title> A \n B </title><title>C</title><h1>One <i>x</i></h1><h3></h3><h6>Six</h6><dl><dt>term<dd>d</dl><b>bold</b>"
    )
    assert read.title == "A B"
    assert read.headings == [Heading(1, "One x"), Heading(6, "Six")]
    assert all(type(heading) is Heading for heading in read.headings)
    assert read.marked == "term bold"


def test_metas_keep_every_value_and_tell_pragmas_apart() -> None:
    read = page(
        "<meta name=Author content=A><meta name=author content=B><meta property='og:title' content=O><meta name=x>"
        "<meta http-equiv=Expires content=0><meta http-equiv=author content=C><meta charset=utf-8>"
    )
    assert read.metas == {"author": ["A", "B", "C"], "og:title": ["O"], "expires": ["0"]}
    assert read.pragmas == {"expires"}


def test_feeds_are_discovered_and_are_no_links() -> None:
    read = page(
        "<link rel=alternate type='application/rss+xml' href=r><link rel='alternate' type='application/atom+xml; x' href=a>"
        "<link rel=alternate type=application/rss+xml href=r><link rel=feed href=f><link rel=alternate type=text/css href=c>"
    )
    assert read.feeds == ["http://h/dir/r", "http://h/dir/a", "http://h/dir/f"]
    assert read.links == []


def test_canonical_is_resolved_and_the_first_counts() -> None:
    assert page("<link rel=canonical href='/c#x'><link rel=canonical href=/d>").canonical == "http://h/c"
    assert page("<link rel=canonical href='mailto:x'>").canonical == ""


def test_a_legitimate_deep_page_loses_no_link() -> None:
    depth = 3000
    html = "<div>" * depth + "<a href=deep>x</a>" + "</div>" * depth
    assert links(html) == ["http://h/dir/deep"]


@pytest.mark.parametrize(
    "html",
    [
        "<h1><div>" * 2000 + "x" * 500_000,
        "<b><div>" * 2000 + "x" * 500_000,
        "<a href=x><table><tr><td>" * 1000 + "x" * 500_000,
        "hidden = display:none " * 30_000,
        "<p>" + " " * 1_000_000 + "<p>" * 1000,
        "<meta name=a content=b>" * 50_000,
        "<a href=x1>" * 50_000,
        "<time>x</time>" * 20_000,
        "<!--stopindex-->" * 20_000 + "x",
    ],
)
def test_repeated_and_nested_markup_costs_no_more_than_its_size(html: str) -> None:
    read = page(html)
    assert len(read.marked) < 100
    assert len(read.headings) < 10
    assert sum(len(link.text) for link in read.links) < 10_000
    assert len(read.metas.get("a", [])) <= 100


def test_unfolded_text_keeps_the_white_space_of_the_source() -> None:
    assert page("<p> a </p>\n\n<p>b", folded=False).text == " a \n\nb"


_FRAGMENT = st.sampled_from(
    ["<a href=x>", "</a>", "<b>", "</b>", "<p>", "<table>", "<td>", "</table>", "<svg>", "<math>", "<script>", "</script>", "<!--",
     "-->", "<!--stopindex-->", "<!--startindex-->", "<template>", "</template>", "<frameset>", "<frame src=y>", "<select>",
     "<option>", "<plaintext>", "<textarea>", "<base href=z>", "<meta name=q content=w>", "<meta http-equiv=refresh content=1;u>",
     "<link rel=canonical href=c>", "<div hidden>", "<i style='display:none'>", "<html hidden lang=de>", "<body style='display:none'>",
     "<title>", "</title>", "<h1>", "</h1>", "<time datetime=2024>", "<iframe src=f>", "<noscript>", "text ", "&amp;", "\x00", "<", ">", "'"]
)  # fmt: skip


@given(st.lists(_FRAGMENT, max_size=25))
def test_no_markup_breaks_the_reader(fragments: list[str]) -> None:
    read = page("".join(fragments))
    assert "\x00" not in read.text
    assert all(link.url.startswith("http://h/") for link in read.links)
    assert len({link.url for link in read.links}) == len(read.links)


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(body: bytes) -> None:
    read = read_page(body, url=URL, content_type="text/html")
    read.text.encode("utf-8")
