"""What one line changes, from the file to the results (external metadata specification, section 14)."""

from typing import Any

PAGE = {"title": "Old", "partial-text": "something to read"}


def test_one_line_makes_a_site_answer_to_a_class(desk: Any) -> None:
    desk.put(
        ("http://site.com/a", PAGE), ("http://site.com/b/index.html", PAGE), ("https://site.com/a", PAGE), ("http://other.com/a", PAGE)
    )  # fmt: skip
    desk.take_in()
    assert desk.found("c:partner") == []
    desk.write('site.com/ c:partner t:"New name"\n')
    desk.take_in()
    assert desk.found("c:partner") == ["http://site.com/a", "http://site.com/b/index.html"]
    titles = {r.url: (r.title, r.title_original, r.classes) for r in desk.search("read").results}
    assert titles["http://site.com/a"] == ("New name", "Old", {"c": ("partner",)})
    assert titles["http://other.com/a"] == ("Old", "", {})
    desk.write("")
    desk.take_in()
    assert desk.found("c:partner") == []
    assert {r.title for r in desk.search("read").results} == {"Old"}
