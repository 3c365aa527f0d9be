"""What is kept of scripts and styles, and for how long."""

import pytest

from ingather.app.rendering.keeping import Kept, fresh_for_s
from ingather.model.resource import Response
from ingather.testing.clock import FakeClock

URL = "https://a.example/app.js"


def answer(*headers: tuple[str, str], status: int = 200, size: int = 100) -> Response:
    return Response(URL, status, headers, b"x" * size)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((), 600),
        ((("Cache-Control", "max-age=30"),), 30),
        ((("Cache-Control", "public, s-maxage=40, max-age=30"),), 40),
        ((("Cache-Control", "max-age=31536000, immutable"),), 86_400),
        ((("Cache-Control", "max-age=0"),), 0),
        ((("Cache-Control", "no-store"),), 0),
        ((("Cache-Control", "No-Cache"),), 0),
        ((("Cache-Control", "private, max-age=600"),), 0),
        ((("Expires", "Thu, 01 Jan 1970 00:01:40 GMT"),), 50),
        ((("Expires", "Thu, 01 Jan 1970 00:00:10 GMT"),), 0),
        ((("Expires", "0"),), 0),
        ((("Vary", "Accept-Encoding, Origin"),), 600),
        ((("Vary", "Cookie"),), 0),
        ((("Vary", "*"),), 0),
    ],
)
def test_the_host_says_for_how_long(headers: tuple[tuple[str, str], ...], seconds: float) -> None:
    assert fresh_for_s(answer(*headers), 50.0) == seconds


def test_only_whole_answers_are_kept() -> None:
    assert fresh_for_s(answer(status=404), 0) == 0
    assert fresh_for_s(Response(URL, 200, (), b"x", cut=True), 0) == 0


def test_what_is_kept_ends_with_its_time() -> None:
    clock = FakeClock()
    kept = Kept(10_000, clock)
    kept.put("web", URL, "https://a.example", answer(("Cache-Control", "max-age=30")))
    assert kept.get("web", URL, "https://a.example")
    clock.advance(31)
    assert kept.get("web", URL, "https://a.example") is None
    assert kept.bytes == 0


def test_sources_and_origins_do_not_share() -> None:
    kept = Kept(10_000, FakeClock())
    kept.put("web", URL, "https://a.example", answer())
    assert kept.get("other", URL, "https://a.example") is None
    assert kept.get("web", URL, "https://b.example") is None


def test_the_bytes_are_bounded_and_the_oldest_goes() -> None:
    kept = Kept(5_000, FakeClock())
    for number in range(6):
        kept.put("web", f"{URL}?{number}", "", answer(size=600))
        kept.get("web", f"{URL}?0", "")
    assert kept.bytes <= 5_000
    assert kept.get("web", f"{URL}?0", "")
    assert kept.get("web", f"{URL}?1", "") is None
    kept.put("web", URL, "", answer(size=10_000))
    assert kept.get("web", URL, "") is None
