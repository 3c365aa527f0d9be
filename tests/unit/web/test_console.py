"""The operator's pages."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient

from ingather.web import AdminParts, admin_app

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105 - as in conftest


class Tags(HTMLParser):
    """Collects (tag, attributes)."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_the_status_page_shows_real_figures_alone(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "12\u202f345" in page
    assert "slow.example" in page
    assert "quarantined" not in page
    assert "Limits hit" not in page


def test_warnings_stand_above_all_else_until_they_are_mended(admin_parts: AdminParts) -> None:
    told = "config/external_metadata.cfg:2:1: error no-colon: '<b>' has no colon"
    parts = replace(admin_parts, status=lambda: {"state": "running", "warnings": [told]})
    with TestClient(admin_app(parts), base_url="http://127.0.0.1:8081", follow_redirects=False) as client:
        page = client.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).text
    assert page.count("has no colon") == 1
    assert page.index("no-colon: &#39;&lt;b&gt;&#39;") < page.index("Held deletions")


def test_held_deletions_are_shown_and_decided_on_the_page(browser: TestClient, ledger: object) -> None:
    page = browser.get("/").text
    assert "12 documents of" in page
    secret = re.search(r'name="csrf" value="([^"]+)"', page)
    assert secret
    answer = browser.post("/api/v1/holds/3/release", data={"csrf": secret[1]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert ledger.closed == {3: True}  # type: ignore[attr-defined]
    after = browser.get("/").text
    assert "12 documents deleted." in after
    assert "Nothing is held." in after
    assert "12 documents deleted." not in browser.get("/").text


def test_a_poll_does_not_eat_the_notice(browser: TestClient) -> None:
    secret = re.search(r'name="csrf" value="([^"]+)"', browser.get("/").text)
    assert secret
    browser.post("/api/v1/remove", data={"csrf": secret[1], "url": "https://x.example/"})
    browser.get("/", headers={"hx-request": "true"})
    assert "1 document removed from search: https://x.example/" in browser.get("/").text


def test_a_removal_of_many_is_asked_first_and_has_a_button_that_undoes_it(
    browser: TestClient, ledger: Any
) -> None:
    secret = re.search(r'name="csrf" value="([^"]+)"', browser.get("/").text)
    assert secret
    form = {"csrf": secret[1], "url": "https://x.example/*"}
    assert browser.post("/api/v1/remove", data=form).status_code == 303
    assert not ledger.removed
    page = browser.get("/").text
    assert "Remove 120 documents from search?" in page
    assert "more than 100" in page
    assert '<input type="hidden" name="url" value="https://x.example/*">' in page
    assert "Remove 120 documents from search?" not in browser.get("/").text  # said once
    browser.post("/api/v1/remove", data=form | {"yes": "yes"})
    assert ledger.removed == {"https://x.example/*"}
    page = browser.get("/").text
    assert 'name="decision" value="12"' in page
    browser.post("/api/v1/undelete", data={"csrf": secret[1], "decision": "12"})
    assert "put back: {&#39;decision&#39;: &#39;12&#39;}" in browser.get("/").text


def test_what_goes_wrong_with_a_form_is_a_page(browser: TestClient) -> None:
    secret = re.search(r'name="csrf" value="([^"]+)"', browser.get("/").text)
    assert secret
    answer = browser.post("/api/v1/remove", data={"csrf": secret[1], "url": "nothing"})
    assert answer.status_code == 400
    assert "<html" in answer.text
    assert "is not a URL" in answer.text


def test_what_is_not_in_search_is_not_shown_as_good(browser: TestClient) -> None:
    assert 'class="verdict"' in browser.get("/explain?url=https://intranet.example/a").text
    assert 'class="verdict out"' in browser.get("/explain?url=https://intranet.example/gone").text


def test_the_explanation_begins_with_the_answer(browser: TestClient) -> None:
    page = browser.get("/explain?url=https://intranet.example/a").text
    assert page.index("In search.") < page.index("starting point") < page.index("Visits")


def test_an_explanation_of_nothing_says_so_on_the_page(browser: TestClient) -> None:
    answer = browser.get("/explain?url=nothing")
    assert answer.status_code == 400
    assert "is not a URL" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/explain?url=https://x.example/%3Cscript%3Ealert(1)%3C/script%3E",
        "/explain?url=javascript:alert(1)",
        "/%3Cscript%3E",
    ],
)
def test_nothing_stored_or_sent_becomes_markup(browser: TestClient, path: str) -> None:
    tags = Tags(browser.get(path).text)
    assert all(s.get("src", "").startswith("/static/") for s in tags.named("script"))  # type: ignore[union-attr]
    assert all(
        (a.get("href") or "").startswith(("/", "#", "http://localhost:8080/")) for a in tags.named("a")
    )
    assert not [a for _, attrs in tags.found for a in attrs if a.startswith(("on", "hx-on")) or a == "style"]


def test_a_search_address_that_is_no_link_becomes_none(admin_parts: AdminParts) -> None:
    parts = replace(admin_parts, search_url="javascript:alert(1)")
    with TestClient(admin_app(parts), base_url="http://127.0.0.1") as client:
        page = client.get("/", headers={"authorization": f"Bearer {TOKEN}", "accept": "text/html"}).text
    assert "javascript:" not in page


def test_every_field_has_a_label_and_every_page_its_landmarks(browser: TestClient) -> None:
    for path in ("/", "/explain", "/explain?url=https://x.example/"):
        page = browser.get(path).text
        tags = Tags(page)
        labelled = {label.get("for") for label in tags.named("label")}
        for field in tags.named("input"):
            if field.get("type") not in {"hidden", "checkbox"}:
                assert field.get("id") in labelled
        assert len(tags.named("main")) == len(tags.named("h1")) == 1
        assert tags.named("html")[0]["lang"] == "en"
        assert 'class="skip" href="#main"' in page
