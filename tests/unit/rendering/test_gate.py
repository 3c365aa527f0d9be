"""What one page may have: judged before anybody is asked, bounded, and told afterwards."""

import asyncio
from collections.abc import Callable
from typing import Any

from ingather.app.rendering.gate import Gate, GateLimits, Refused
from ingather.app.rendering.keeping import Kept
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.renderer import NotAsked
from ingather.testing.clock import FakeClock

PAGE = "https://a.example/page"
FIRST = Response(PAGE, 200, (("Content-Type", "text/html"),), b"<p>the page")
Said = Response | Failure | NotAsked


class Errands:
    """Notes what was asked for and answers it."""

    def __init__(self, say: Callable[[Request], Said] | None = None) -> None:
        self.asked: list[Request] = []
        self._say = say or (lambda request: Response(request.url, 200, (), b"body"))

    async def __call__(self, request: Request, _scope: Scope) -> Said:
        self.asked.append(request)
        return self._say(request)


def gate(errands: Errands, limits: GateLimits | None = None, kept: Kept | None = None) -> Gate:
    return Gate(
        PAGE,
        FIRST,
        Scope(),
        errand=errands,
        kept=kept or Kept(1 << 20, FakeClock()),
        limits=limits or GateLimits(),
    )


def answer(
    one: Gate, kind: str, url: str, *, main: bool = False, method: str = "GET", **headers: str
) -> Response | Refused:
    wanted = {"url": url, "method": method, "headers": headers}
    return asyncio.run(one.answer(kind, wanted, main=main))


def test_the_page_itself_is_not_asked_for_again() -> None:
    errands = Errands()
    one = gate(errands)
    assert answer(one, "document", PAGE, main=True) is FIRST
    assert answer(one, "document", PAGE, main=True) == Refused("leads-away", "another page")
    assert not errands.asked
    assert [fate.fate for fate in one.fates] == ["page", "leads-away"]


def test_scripts_styles_and_data_are_asked_for_and_nothing_else() -> None:
    errands = Errands()
    one = gate(errands)
    for kind in ("script", "stylesheet", "xhr", "fetch"):
        assert isinstance(answer(one, kind, f"https://a.example/{kind}"), Response)
    for kind in (
        "image",
        "media",
        "font",
        "texttrack",
        "ping",
        "eventsource",
        "manifest",
        "prefetch",
        "other",
        "document",
        "preflight",
        "",
    ):
        assert answer(one, kind, f"https://a.example/{kind}") == Refused("kind", answer_detail(kind))
    assert [request.url.rpartition("/")[2] for request in errands.asked] == [
        "script",
        "stylesheet",
        "xhr",
        "fetch",
    ]


def answer_detail(kind: str) -> str:
    return "a frame" if kind == "document" else "not needed for the text"


def test_images_are_asked_for_where_the_setting_lets_them() -> None:
    errands = Errands()
    one = gate(errands, GateLimits(skip=frozenset({"style"})))
    assert isinstance(answer(one, "image", "https://a.example/i.png"), Response)
    assert isinstance(answer(one, "stylesheet", "https://a.example/s.css"), Refused)


def test_a_robot_asks_and_never_sends() -> None:
    errands = Errands()
    one = gate(errands)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert answer(one, "fetch", PAGE, method=method) == Refused("method", f"a robot does not {method}")
    assert not errands.asked


def test_the_page_says_little_of_what_is_sent() -> None:
    errands = Errands()
    odd: dict[str, Any] = {"User-Agent": "Browser", "X-Requested-With": "a\r\nEvil: 1"}
    answer(
        gate(errands), "xhr", "https://a.example/api#part", Accept="application/json", Origin="https://a.example", Cookie="a=b",
        Authorization="Bearer x", **odd,
    )  # fmt: skip
    assert errands.asked == [
        Request(
            "https://a.example/api", headers=(("Accept", "application/json"), ("Origin", "https://a.example"))
        )
    ]


def test_why_something_is_missing_is_told() -> None:
    said: dict[str, Said] = {
        "https://a.example/robots": NotAsked("robots", "Disallow: /robots"),
        "https://a.example/down": Failure("", FailureKind.CONNECT, "nobody there"),
    }
    one = gate(Errands(lambda request: said[request.url]))
    assert answer(one, "script", "https://a.example/robots") == Refused("robots", "Disallow: /robots")
    assert answer(one, "script", "https://a.example/down") == Refused("failed", "connect: nobody there")
    assert answer(one, "script", "no url at all") == Refused("url", one.fates[-1].detail)
    assert [(fate.fate, fate.detail) for fate in one.fates][:2] == [
        ("robots", "Disallow: /robots"),
        ("failed", "connect: nobody there"),
    ]


def test_requests_and_bytes_of_a_page_are_bounded() -> None:
    errands = Errands()
    one = gate(errands, GateLimits(requests=3, bytes=10))
    fates = [answer(one, "xhr", f"https://a.example/{number}") for number in range(5)]
    assert [isinstance(one, Response) for one in fates] == [True, True, False, False, False]
    assert [fate.fate for fate in one.fates] == ["fetched", "fetched", "bytes", "requests", "requests"]
    assert len(errands.asked) == 3


def test_a_bundle_is_fetched_once_and_data_every_time() -> None:
    errands, kept = Errands(), Kept(1 << 20, FakeClock())
    gates = [gate(errands, kept=kept) for _ in range(2)]
    for one in gates:
        answer(one, "script", "https://a.example/app.js")
        answer(one, "xhr", "https://a.example/api")
    assert [request.url.rpartition("/")[2] for request in errands.asked] == ["app.js", "api", "api"]
    assert [fate.fate for fate in gates[-1].fates] == ["kept", "fetched"]


def test_data_that_came_with_credentials_makes_the_page_theirs() -> None:
    one = gate(Errands(lambda request: Response(request.url, 200, authorized=request.url.endswith("secret"))))
    answer(one, "xhr", "https://a.example/open")
    assert not one.authorized
    answer(one, "xhr", "https://a.example/secret")
    assert one.authorized


def test_a_page_that_makes_requests_for_ever_is_told_of_in_part() -> None:
    one = gate(Errands())
    for number in range(500):
        answer(one, "image", f"https://a.example/{number}")
    assert len(one.fates) == 200
