"""Whether a page needs its scripts: the decision is a function of what came."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract.page import read_page
from ingather.robot.visit.scripted import MODES, decide

SCRIPT = "<script src=/app.js></script>"
TEXT = "Holiday is asked for on the yellow form, which lies in the drawer beside the door. " * 10


def decided(body: str | bytes, mode: str = "auto", content_type: str = "text/html") -> tuple[bool, str]:
    data = body.encode() if isinstance(body, str) else body
    page = read_page(data, url="https://a.example/", content_type=content_type, headers=(), agent="ingather")
    found = decide(mode, page, data)
    return found.render, found.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"<title>Shop</title><div id=root></div>{SCRIPT}", "empty-root"),
        (f'<p>Skip to content</p><div class="x" id="app"> <!-- --> </div>{SCRIPT}', "empty-root"),
        (f"<app-root></app-root>{SCRIPT}", "empty-root"),
        (f"<noscript>You need to enable JavaScript to run this app.</noscript><p>Loading the pages for you, a moment please, it comes</p>{SCRIPT}",
         "asks-for-scripts"),
        (f"<p>Loading</p>{SCRIPT}", "no-text"),
        (f"<p>{TEXT}</p>{SCRIPT}" + "<a href='javascript:go(1)'>1</a><a href='#'>2</a><a onclick=x() href='#'>3</a>", "script-links"),
    ],
)  # fmt: skip
def test_pages_that_scripts_make(body: str, reason: str) -> None:
    assert decided(body) == (True, reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"<p>{TEXT}</p>{SCRIPT}<a href=/next>next</a>", "has-text"),
        (f"<div id=root><p>{TEXT}</p></div>{SCRIPT}", "has-text"),
        (f"<div id=root></div><p>{TEXT}</p>{SCRIPT}", "has-text"),
        (f"<noscript><img src=https://count.example/></noscript><p>{TEXT}</p>{SCRIPT}", "has-text"),
        ("<div id=root></div>", "no-scripts"),
        ('<p>Short</p><script type="application/ld+json">{}</script>', "no-scripts"),
        (f"<meta name=robots content='noindex, nofollow'><div id=root></div>{SCRIPT}", "robots"),
    ],
)
def test_pages_that_are_read_as_they_come(body: str, reason: str) -> None:
    assert decided(body) == (False, reason)


def test_the_source_says_of_which_pages_at_all() -> None:
    shell = f"<div id=root></div>{SCRIPT}"
    assert decided(shell, "off") == (False, "off")
    assert decided(f"<p>{TEXT}</p>{SCRIPT}", "always") == (True, "rule")
    assert decided(f"<p>{TEXT}</p>", "always") == (False, "no-scripts")
    assert decided("root app <script>", "always", "text/plain") == (False, "not-html")
    assert decided(shell, "perhaps") == (False, "off")


@given(st.lists(st.sampled_from([
    b"<div id=root>", b"</div>", b"<script>", b"<script", b"</script>", b"<noscript>", b"javascript", b"<a href='#'>", b"<!--", b"-->",
    b"<app-root>", b" ", b"x" * 60, b"\0", b"\xff", b"id=app", b"<body ",
]), max_size=60).map(b"".join), st.sampled_from(MODES))  # fmt: skip
def test_any_bytes_are_decided_about(body: bytes, mode: str) -> None:
    render, reason = decided(body, mode)
    assert reason
    assert not (render and mode == "off")


def test_a_page_made_to_be_slow_is_decided_about() -> None:
    """Patterns that look far ahead, over and over: bounded in each place, so this ends at all."""
    for piece in (b"<div id=root ", b"<noscript>", b"<a href", b"<script ", b"<app-root "):
        decided(piece * 20_000)
