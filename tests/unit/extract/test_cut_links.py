"""Links that lose session and campaign parameters, with what they lost."""

from ingather.extract import read_page
from ingather.model.url import Canonicaliser

URLS = Canonicaliser(("sid", "utm_*", "jsessionid"))


def _read(body: str, url: str = "http://a.test/d/") -> dict[str, list[str]]:
    return read_page(body.encode(), url=url, content_type="text/html", canonicaliser=URLS).cut


def test_a_page_tells_what_its_cut_links_looked_like() -> None:
    body = '<a href="view?sid=1">x</a><a href="view?sid=2">y</a><a href="plain">z</a><a href="/o;jsessionid=9?q=1&utm_a=2">o</a>'
    assert _read(body) == {
        "http://a.test/d/view": ["http://a.test/d/view?sid=1", "http://a.test/d/view?sid=2"],
        "http://a.test/o?q=1": ["http://a.test/o;jsessionid=9?q=1&utm_a=2"],
    }


def test_pages_of_one_folder_know_their_own_links_alone_though_the_folder_remembers() -> None:
    first, second = '<a href="view?sid=1">x</a>', '<a href="view?sid=2">x</a>'
    assert _read(first) == _read(first) == {"http://a.test/d/view": ["http://a.test/d/view?sid=1"]}
    assert _read(second) == {"http://a.test/d/view": ["http://a.test/d/view?sid=2"]}
    assert _read('<a href="plain">x</a>') == {}


def test_a_page_with_very_many_spellings_of_one_link_keeps_some() -> None:
    body = "".join(f'<a href="view?sid={n}">x</a>' for n in range(100))
    assert len(_read(body)["http://a.test/d/view"]) == 16
