"""One page, one key: what must be the same, what must not, and that doing it twice changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import UrlError
from ingather.model.url import DEFAULT_DROP, Canonicaliser, canonical
from ingather.model.urlparts import host_key, key, path_prefix, split


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("http://h", "http://h/"),
        ("HTTP://EXAMPLE.com:80/Path", "http://example.com/Path"),
        ("https://h:443/", "https://h/"),
        ("https://h:8443/", "https://h:8443/"),
        ("ftp://h:21/a", "ftp://h/a"),
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/../../x", "http://h/x"),
        ("http://h/a/%2e%2E/b", "http://h/b"),
        ("http://h/a#frag", "http://h/a"),
        ("http://h/a#", "http://h/a"),
        ("http://user:secret@h/a", "http://h/a"),
        ("http://h./a", "http://h/a"),
        ("http://h.:8080/a", "http://h:8080/a"),
        ("http://h/a?", "http://h/a"),
        ("http://h/%7euser/%41", "http://h/~user/A"),
        ("http://h/%c3%a4", "http://h/%C3%A4"),
        ("http://h/ä ö", "http://h/%C3%A4%20%C3%B6"),
        ("http://h/a[1]|b^", "http://h/a%5B1%5D%7Cb%5E"),
        ("http://h/100%", "http://h/100%25"),
        ("http://h/%2%35", "http://h/%2525"),
        ('http://h/?q="a"', "http://h/?q=%22a%22"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
        ("  http://h/\ta\n ", "http://h/a"),
        ("http:\\\\h\\a", "http://h/a"),
        ("file://localhost/srv/a%20b.txt", "file:///srv/a%20b.txt"),
    ],
)
def test_spellings_of_one_page_get_one_key(written: str, expected: str) -> None:
    assert canonical(written) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://h/a?b=2&a=1",
        "http://h/A/b",
        "http://h/a//b",
        "http://h/a/",
        "http://h/a;v=1",
        "http://h/?a=&b",
        "http://h/a%2Fb",
        "http://h/?q=a+b",
        "http://h/?url=http://x/y?z",
        "http://h/?story=1&sid=123",
    ],
)
def test_what_a_server_may_tell_apart_is_kept(url: str) -> None:
    assert canonical(url) == url


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("http://h/a;jsessionid=1F2E?x=1", "http://h/a?x=1"),
        ("http://h/a;v=2;JSESSIONID=1F2E/b", "http://h/a;v=2/b"),
        ("http://h/a?PHPSESSID=abc&b=1", "http://h/a?b=1"),
        ("http://h/a?b=1&utm_source=x&UTM_Medium=y&c=2", "http://h/a?b=1&c=2"),
        ("http://h/a?utm%5Fsource=x", "http://h/a"),
        ("http://h/a?fbclid=x", "http://h/a"),
        ("http://h/a?gclid=1#x", "http://h/a"),
        ("http://h/a?sid=0123456789abcdef0123", "http://h/a"),
        ("http://h/a/.;jsessionid=1", "http://h/a/"),
    ],
)
def test_session_and_tracking_parameters_make_no_second_page(written: str, expected: str) -> None:
    assert canonical(written) == expected


def test_the_list_of_parameters_is_a_setting() -> None:
    urls = Canonicaliser(["lang", "x_*"])
    assert urls.canonical("http://h/?lang=de&x_1=a&utm_source=b") == "http://h/?utm_source=b"
    assert Canonicaliser([]).canonical("http://h/?gclid=1") == "http://h/?gclid=1"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("c", "http://h/a/c"),
        ("./c", "http://h/a/c"),
        ("../c?x#y", "http://h/c?x"),
        ("/c", "http://h/c"),
        ("//other/c", "http://other/c"),
        ("?q=1", "http://h/a/b?q=1"),
        ("https:c", "https://c/"),
        ("http:c", "http://h/a/c"),
    ],
)
def test_references_are_resolved_as_browsers_do(href: str, expected: str) -> None:
    assert canonical(href, "http://h/a/b?old") == expected
    assert Canonicaliser().resolver("http://h/a/b?old")(href) == expected


@pytest.mark.parametrize(
    "bad",
    ["", "nothing", "http://", "http://a b/", "http://h:99999/", "mailto:a@b", "javascript:x()", "data:,x", "gopher://h/",
     "http://./", "https://exa%2Xmple/", "http://h\ud800/", "http://1.2.3.4.5/", "about:blank"],
)  # fmt: skip
def test_what_is_no_url_of_ours_is_refused(bad: str) -> None:
    with pytest.raises(UrlError):
        canonical(bad)


def test_a_broken_base_is_refused() -> None:
    with pytest.raises(UrlError):
        canonical("a", "nothing")
    with pytest.raises(UrlError):
        Canonicaliser().resolver("nothing")


@pytest.mark.parametrize(
    "href",
    [
        "",
        "#top",
        "  ",
        "\t#x",
        "mailto:a@b",
        "javascript:void(0)",
        "tel:1",
        "http://",
        "http://\ud800/",
        "data:,x",
    ],
)
def test_a_resolver_gives_nothing_for_what_is_no_link(href: str) -> None:
    assert Canonicaliser().resolver("http://h/a/b")(href) is None


def test_a_resolver_remembers_the_directory_but_not_the_page() -> None:
    urls = Canonicaliser()
    assert urls.resolver("http://h/a/one")("?p=2") == "http://h/a/one?p=2"
    assert urls.resolver("http://h/a/two")("?p=2") == "http://h/a/two?p=2"
    assert urls.resolver("http://h/a/one")("x") == urls.resolver("http://h/a/two")("x") == "http://h/a/x"
    assert urls.resolver("http://h/b/one")("x") == "http://h/b/x"


def test_a_resolver_is_bounded_and_right_when_it_forgets() -> None:
    urls = Canonicaliser()
    for directory in range(200):
        resolve = urls.resolver(f"http://h/{directory}/x")
        assert resolve("y") == f"http://h/{directory}/y"
    resolve = urls.resolver("http://h/many/x")
    for number in range(5000):
        resolve(f"{number}")
    assert urls.resolver("http://h/many/x")("7") == "http://h/many/7"
    assert len(urls._memos) <= 64
    assert len(urls._memos["http://h/many"]) < 10


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_text_gives_a_url_or_the_documented_error(text: str) -> None:
    for candidate in (text, f"http://h/{text}", f"http://{text}/", f"http://h/a?{text}", f"file:///{text}"):
        try:
            once = canonical(candidate)
        except UrlError:
            continue
        assert canonical(once) == once
        parts = split(once)
        assert f"{parts.origin}{parts.path}" == once


_PIECE = st.sampled_from(
    ["/", "//", ".", "..", "%2e", "%2E%2e", ";", ";jsessionid=1", ";sid=0123456789abcdef0123", "%", "%2", "%25", "%41", "%c3",
     "a", "B", "?", "&", "=", "utm_source=x", "utm_", "utm%5fx=1", "#", "@", ":", "[", "]", "|", "\\", " ", "ä", "'", "+",
     "http:", "C|", "C:", "x.", ":80", ":8080"]
)  # fmt: skip


@given(
    st.lists(_PIECE, max_size=12),
    st.sampled_from(["http://h", "https://h.", "ftp://h/a/", "file:///", "http://"]),
)
def test_canonical_is_idempotent_on_nasty_urls(pieces: list[str], start: str) -> None:
    try:
        once = canonical(start + "".join(pieces))
    except UrlError:
        return
    assert canonical(once) == once


@given(
    st.lists(_PIECE | st.sampled_from(["../", "../../"]), max_size=8),
    st.sampled_from(
        ["http://h/a/b;c/d?e=f", "http://h/a/b/c", "https://H:443", "ftp://h/%7e/", "file:///a/b/c"]
    ),
)
def test_a_resolver_agrees_with_canonical(pieces: list[str], base: str) -> None:
    href = "".join(pieces)
    bare = href.partition("#")[0]
    expected: str | None
    try:
        expected = canonical(bare, base) if bare.strip() else None
    except UrlError:
        expected = None
    urls = Canonicaliser()
    for _ in range(2):  # what it learnt changes nothing
        resolve = urls.resolver(base)
        assert resolve(href) == expected
        assert resolve(href) == expected


@given(st.lists(_PIECE, max_size=8))
def test_a_known_origin_changes_no_canonical_url(pieces: list[str]) -> None:
    url = "http://h/" + "".join(pieces)
    urls = Canonicaliser()
    urls.resolver("http://h/x")
    try:
        expected = canonical(url)
    except UrlError:
        with pytest.raises(UrlError):
            urls.canonical(url)
    else:
        assert urls.canonical(url) == expected


def test_split_takes_a_key_apart() -> None:
    assert split("https://h:8443/a?b") == ("https", "h", 8443, "https://h:8443", "/a?b")
    assert split("http://h/") == ("http", "h", 80, "http://h", "/")
    assert split("http://[::1]:81/x") == ("http", "[::1]", 81, "http://[::1]:81", "/x")
    assert split("http://[::1]/x").host == "[::1]"
    assert split("file:///srv/a") == ("file", "", 0, "file://", "/srv/a")
    for bad in ("nothing", "http://h", "gopher://h/"):
        with pytest.raises(UrlError):
            split(bad)


def test_a_host_has_one_politeness_name_for_its_usual_ports() -> None:
    assert (
        host_key("http://h") == host_key("https://H") == host_key("https://h/x") == host_key("ftp://h") == "h"
    )
    assert host_key("https://h:8443") == "h:8443"
    assert host_key("http://h:443") == "h"
    assert host_key("http://[::1]:8080") == "[::1]:8080"
    assert host_key("http://[::1]") == "[::1]"


def test_a_path_prefix_is_the_first_segments() -> None:
    assert path_prefix("/a/b/c/d?e") == "/a/b"
    assert path_prefix("/a/b") == "/a/b"
    assert path_prefix("/a") == "/a"
    assert path_prefix("/?x/y/z") == "/"
    assert path_prefix("/a/b/c", 1) == "/a"


@given(st.text(max_size=50), st.integers(0, 2**64 - 1))
def test_keys_are_signed_64_bit_and_hang_on_the_seed(url: str, seed: int) -> None:
    value = key(url.encode("utf-8", "replace").decode(), seed)
    assert -(2**63) <= value < 2**63


def test_keys_differ_between_urls_and_seeds() -> None:
    assert len({key(f"http://h/{n}", seed) for n in range(100) for seed in (0, 1)}) == 200
    assert key("http://h/") == key("http://h/", 0)


def test_default_drop_is_lower_case_and_without_duplicates() -> None:
    assert len(set(DEFAULT_DROP)) == len(DEFAULT_DROP)
    assert all(name == name.lower() for name in DEFAULT_DROP)


def test_messages_are_one_short_line() -> None:
    with pytest.raises(UrlError) as caught:
        canonical("nothing\n" * 1000)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h.example/.git/../a?x=/../#/..", "http://h.example/a?x=/../"),
        ("http://h.example/.x/..", "http://h.example/"),
        ("http://h.example/a/.|/../..", "http://h.example/"),
        ("http://h.example/.../../b", "http://h.example/b"),
        ("http://h.example//.a/./b", "http://h.example//.a/b"),
        ("ftp://h.example/.a/../b/.", "ftp://h.example/b/"),
        ("file:///C:/.x/../../..", "file:///C:/"),
        ("http://h.example/.well-known/a", "http://h.example/.well-known/a"),
    ],
)
def test_dot_segments_go_behind_a_name_that_begins_with_a_dot(url: str, expected: str) -> None:
    assert canonical(url) == expected
    assert Canonicaliser().resolver("http://h.example/.d/e")(url) == expected


@given(st.lists(st.sampled_from(["/", ".", "..", "/..", "a", "|", "%2e", "\u00e9", ";", "?"]), max_size=12))
def test_no_dot_segment_is_left_and_twice_is_once(parts: list[str]) -> None:
    made = canonical("http://h.example/" + "".join(parts))
    assert canonical(made) == made
    path = made.partition("?")[0].split("/")[3:]
    assert "." not in path
    assert ".." not in path
