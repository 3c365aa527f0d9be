"""The pages in a real browser: by mouse, by keyboard, without scripts, in both colour schemes, on small screens."""

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser

# The least contrast of any visible text with what lies behind it (WCAG 2.2, 1.4.3).
CONTRAST = """() => {
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  let worst = [21, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    if (!text || !e.checkVisibility() || e.closest(".hidden, .skip")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, text.slice(0, 40)];
  }
  return worst;
}"""


@pytest.fixture
def said() -> list[str]:
    """What the console said."""
    return []


@pytest.fixture
def page(chromium: Any, said: list[str]) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    yield tab
    context.close()


def test_asking_and_filtering_renews_the_answer_in_place(page: Any, site: Any, said: list[str]) -> None:
    page.goto(site.search)
    page.keyboard.type("holiday")
    page.keyboard.press("Enter")
    page.wait_for_selector("ol.results")
    assert page.url == f"{site.search}/?q=holiday"
    page.evaluate("window.kept = true")

    page.click(".side >> text=PDF")
    page.wait_for_selector(".chip >> text=PDF")
    assert page.url == f"{site.search}/?q=holiday&type=pdf"
    assert page.inner_text("#count").startswith("20 results")
    assert page.inner_text("#said").startswith("20 results")
    assert page.evaluate("document.activeElement.id") == "count"

    page.fill("#q", "chapter")
    page.press("#q", "Enter")
    page.wait_for_url("**/?q=chapter&type=pdf")
    page.wait_for_selector("#main[data-title=chapter]")
    assert page.title().startswith("chapter")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.evaluate("window.kept"), "no page was loaded anew"

    page.click("nav.pages >> text=2")
    page.wait_for_url("**page=2")
    page.wait_for_selector(".pages [aria-current] >> text=2")
    assert page.evaluate("scrollY") == 0
    assert said == []


def test_going_back_shows_what_was_there(page: Any, site: Any, said: list[str]) -> None:
    page.goto(f"{site.search}/?q=holiday")
    page.click(".side >> text=PDF")
    page.wait_for_selector(".chip")
    page.go_back()
    page.wait_for_selector(".chip", state="detached")
    assert page.url == f"{site.search}/?q=holiday"
    assert page.inner_text("#count").startswith("60 results")
    page.go_forward()
    page.wait_for_selector(".chip")
    assert said == []


def test_what_the_search_refuses_is_shown_in_place(page: Any, site: Any) -> None:
    page.goto(f"{site.search}/?q=holiday")
    page.evaluate("window.kept = true")
    page.fill("#q", "x " * 600)
    page.press("#q", "Enter")
    page.wait_for_selector("[role=alert]")
    assert "too many words" in page.inner_text("[role=alert]")
    assert page.evaluate("window.kept")


def test_the_keyboard_reaches_everything(page: Any, site: Any) -> None:
    page.goto(f"{site.search}/?q=holiday")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')").startswith("https://")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.evaluate("getSelection().toString()") == "holiday"
    page.keyboard.type("a/b")
    assert page.input_value("#q") == "a/b"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.id"))
        outline = page.evaluate(
            "(e => e === document.body || getComputedStyle(e).outlineStyle !== 'none')(document.activeElement)"
        )
        assert outline, page.evaluate("document.activeElement.outerHTML")[:200]
    assert {"after", "before", "/?q=holiday&sort=date", "/?q=holiday&page=2"} <= reached


def test_without_scripts_everything_works(chromium: Any, site: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.search)
    page.fill("#q", "holiday")
    page.click("button[aria-label=Search]")
    page.click(".side >> text=PDF")
    assert page.inner_text("#count").startswith("20 results")
    page.fill("#q", "chapter")
    page.press("#q", "Enter")
    assert page.url.endswith("/?q=chapter&type=pdf")
    page.click("nav.sorts >> text=Newest")
    page.click("nav.pages >> text=2")
    assert page.url.endswith("/?q=chapter&type=pdf&sort=date&page=2")
    page.fill("#after", "2026-09-01")
    page.click(".span button")
    assert "after=2026-09-01" in page.url
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_fits_and_can_be_read(chromium: Any, site: Any, scheme: str, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    log_in(page, site)
    for address in (
        site.search,
        f"{site.search}/?q=holiday&type=pdf&date=year",
        f"{site.search}/?q=zzzz",
        f"{site.search}/?q=x&num=0",
        f"{site.admin}/",
        f"{site.admin}/explain?url=https://a.example/",
        f"{site.admin}/nope",
    ):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        ratio, text = page.evaluate(CONTRAST)
        assert ratio >= 4.5, (address, text)
    context.close()


def test_small_screens_open_the_filters_on_request(chromium: Any, site: Any) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{site.search}/?q=holiday")
    assert not page.is_visible(".side >> text=PDF")
    page.click("text=Filters")
    page.click(".side >> text=PDF")
    page.wait_for_selector(".chip >> text=PDF")
    context.close()


def test_the_operator_logs_in_decides_and_leaves(page: Any, site: Any, said: list[str]) -> None:
    log_in(page, site)
    said.clear()  # the browser notes the 401 that the form came with
    page.click("text=Delete 40 documents")
    page.wait_for_selector("text=40 documents deleted.")
    assert site.ledger.decided == [True]
    page.fill("#target", "https://a.example/old")
    page.click("text=Remove from search")
    page.wait_for_selector("text=1 document removed from search: https://a.example/old")
    page.fill("#why", "https://a.example/")
    page.click("main >> text=Explain")
    page.wait_for_selector("text=In search.")
    assert said == []
    page.click("text=Log out")
    page.wait_for_selector("#token")


def test_the_figures_renew_themselves_until_the_session_ends(page: Any, site: Any, said: list[str]) -> None:
    log_in(page, site)
    said.clear()
    page.fill("#target", "https://half.written/")
    with page.expect_response(
        lambda response: "hx-request" in response.request.headers, timeout=20_000
    ) as renewed:
        pass
    assert renewed.value.status == 200
    assert page.input_value("#target") == "https://half.written/"
    assert said == []
    page.context.clear_cookies()
    page.wait_for_selector("#token")


def test_what_cannot_be_fetched_in_place_is_opened_plainly(page: Any, site: Any) -> None:
    page.goto(f"{site.search}/?q=holiday")
    page.route(
        "**/*", lambda route: route.abort() if "hx-request" in route.request.headers else route.continue_()
    )
    page.evaluate("window.kept = true")
    page.click(".side >> text=PDF")
    page.wait_for_selector(".chip >> text=PDF")
    assert not page.evaluate("window.kept")


def log_in(page: Any, site: Any) -> None:
    page.goto(site.admin)
    page.fill("#token", site.token)
    page.click("text=Log in")
    page.wait_for_selector("#figures")
