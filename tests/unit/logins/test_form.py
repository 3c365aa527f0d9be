"""Form login against a site with sessions, tokens in hidden fields, log-out links and bad days; cookies as RFC 6265 has them."""

import asyncio
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.logins import Form, FormLogin, Guard, Jar, LoginError, WithCookies
from ingather.fetch.logins.formpage import forms_of
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, HostClock, Paper, Told

CANARY = "kanari-form-ä&=3"


class Site:
    """Sessions by cookie, a token in the form that is good once, links that end the session."""

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.tokens: set[str] = set()
        self.logins = self.number = 0
        self.removes = True
        self.action = "/do-login"
        self.method = "post"

    async def answer(self, asked: "Asked") -> "Told":
        await asyncio.sleep(0)
        cookies = dict(one.split("=", 1) for one in asked.headers.get("cookie", "").split("; ") if "=" in one)
        if asked.path == "/login":
            return self._form("")
        if asked.path == "/do-login":
            return self._log_in(asked)
        if cookies.get("sid") not in self.sessions or cookies.get("theme") != "dark":
            return 302, [("Location", f"/login?next={asked.path}")], b""
        if asked.path in {"/logout", "/goodbye"}:
            self.sessions.discard(cookies["sid"])
            gone = [("Set-Cookie", "sid=; Max-Age=0; Path=/")] if self.removes else []
            return 302, [("Location", "/login"), *gone], b""
        return 200, [], f"secret page {asked.path}".encode()

    def _form(self, said: str) -> "Told":
        self.number += 1
        self.tokens.add(token := f"tok&{self.number}")
        body = f"""<form action=/search><input name=q></form>{said}<FORM method={self.method} action='{self.action}'>
          <input type=hidden name=csrf value="{escape(token)}"><input name=who><input type=password name=pw>
          <input type=checkbox name=stay checked value=yes><input type=checkbox name=no><select name=lang><option value=de>
          <option value=en selected></select><button name=go value=1>in</button><button name=other value=2>other</button></form>"""
        return 200, [("Set-Cookie", "pre=1; Path=/"), ("Content-Type", "text/html")], body.encode()

    def _log_in(self, asked: "Asked") -> "Told":
        form = parse_qs(asked.body.decode(), keep_blank_values=True)
        assert asked.method == "POST"
        assert "pre=1" in asked.headers["cookie"]
        assert (form["stay"], form["lang"], form["go"]) == (["yes"], ["en"], ["1"])
        assert not {"no", "other", "q"} & set(form)
        token = form["csrf"][0]
        assert token in self.tokens, "a token that was used"
        self.tokens.discard(token)
        if (form["who"], form["pw"]) != (["anna"], [CANARY]):
            return self._form("<p>Wrong password</p>")
        self.logins += 1
        self.sessions.add(sid := f"s{self.logins}")
        return (
            303,
            [
                ("Location", "/home"),
                ("Set-Cookie", f"sid={sid}; Path=/; HttpOnly"),
                ("Set-Cookie", "theme=dark; Path=/"),
            ],
            b"",
        )


def form(origin: str, **parts: Any) -> FormLogin:
    values = (("who", "anna"), ("pw", parts.pop("pw", CANARY)))
    return FormLogin(f"{origin}/", f"{origin}/login", values, **parts)


@pytest.mark.parametrize(
    "parts", [{}, {"success_cookie": "sid"}, {"success_url": "/home$"}, {"success_pattern": "secret p"}]
)
def test_one_login_for_many_pages_and_another_one_when_the_session_ends(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", parts: dict[str, str]
) -> None:
    async def main() -> None:
        site = Site()
        async with host(site.answer) as there:
            login = Form(form(there.origin, **parts), clock)
            async with aimed(lambda _, source: login if source == "here" else None) as ours:
                got = await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(6)))
                assert all(
                    isinstance(one, Response) and one.authorized and b"secret page" in one.body for one in got
                )
                assert site.logins == 1
                site.sessions.clear()
                clock.ahead_s += 3600
                got = await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(6)))
                assert all(isinstance(one, Response) and b"secret page" in one.body for one in got)
                assert site.logins == 2
                other = await ours.get(f"{there.origin}/1", source="other")
                assert isinstance(other, Response)
                assert (other.status, other.authorized) == (302, False)

    run(main())


@pytest.mark.parametrize("removes", [True, False])
def test_what_ends_the_session_is_never_asked_for_or_learned(  # noqa: PLR0913 - fixtures and a case
    run: Any,
    host: "type[Host]",
    aimed: "type[Aimed]",
    clock: "HostClock",
    paper: "type[Paper]",
    *,
    removes: bool,
) -> None:
    async def main() -> None:
        site = Site()
        site.removes = removes
        async with host(site.answer) as there:
            login = Guard("f", Form(form(there.origin, logout="/bye"), clock), paper())
            async with aimed(lambda _, __: login) as ours:
                assert (await ours.get(f"{there.origin}/1")).status == 200
                before = len(there.asked)
                for path in ("/logout", "/user/log-off?x=1", "/a?action=logout", "/sign_out.do", "/bye"):
                    got = await ours.get(there.origin + path)
                    assert isinstance(got, Failure)
                    assert got.kind is FailureKind.AUTH
                assert len(there.asked) == before
                assert (await ours.get(f"{there.origin}/blogout")).status == 200
                clock.ahead_s += 3600
                got = await ours.get(f"{there.origin}/goodbye")
                assert isinstance(got, Failure)
                assert "ends the session" in got.detail
                before = len(there.asked)
                got = await ours.get(f"{there.origin}/goodbye")
                assert isinstance(got, Failure)
                assert len(there.asked) == before
                clock.ahead_s += 3600
                assert (await ours.get(f"{there.origin}/2")).status == 200

    run(main())


@pytest.mark.parametrize("always", [False, True])
def test_the_form_in_place_of_a_page_tells_that_the_session_ended(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", *, always: bool
) -> None:
    shown = b"<form method=post action=/in><input name=who><input name=pw type=password></form>"
    good: set[str] = set()

    def answer(asked: "Asked") -> "Told":
        if asked.method == "POST":
            good.add(f"sid={len(good)}{asked.connection}")
            return 200, [("Set-Cookie", f"{max(good)}; Path=/")], b"welcome" + (shown if always else b"")
        if asked.headers.get("cookie") in good and asked.path != "/login":
            return 200, [], b"secret" + (shown if always else b"")
        return 200, [], b"log in" + shown

    async def main() -> None:
        async with host(answer) as there:
            login = Form(form(there.origin, success_cookie="sid"), clock)
            async with aimed(login) as ours:
                first: Any = await ours.get(f"{there.origin}/1")
                assert first.body.startswith(b"secret")
                clock.ahead_s += 3600
                first = await ours.get(f"{there.origin}/2")
                assert first.body.startswith(b"secret")
                good.clear()
                again: Any = await ours.get(f"{there.origin}/3")
                assert again.body.startswith(b"log in" if always else b"secret")
            assert sum(asked.method == "POST" for asked in there.asked) == (1 if always else 2)

    run(main())


def test_a_wrong_password_and_forms_that_would_give_it_away(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", paper: "type[Paper]"
) -> None:
    async def main() -> None:
        site = Site()
        async with host(site.answer) as there:
            for pw, action, method, said, line in (
                ("wrong-kanari", "/do-login", "post", "did not let us in", "refused"),
                (CANARY, "http://evil.test/do-login", "post", "another origin", "ended"),
                (CANARY, f"//localhost:{there.port + 1}/", "post", "another origin", "ended"),
                (CANARY, "/do-login", "get", "sent by GET", "ended"),
            ):
                site.action, site.method = action, method
                ledger = paper()
                login = Guard("f", Form(form(there.origin, pw=pw), clock), ledger)
                async with aimed(login) as ours:
                    got = await ours.get(f"{there.origin}/1")
                    assert isinstance(got, Failure)
                    assert said in got.detail
                    assert "kanari" not in got.detail
                    assert ledger.lines == ["begin", line]
            assert site.logins == 0
            assert not any("kanari" in asked.target for asked in there.asked)

    run(main())


def test_cookies_stay_within_their_source(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock"
) -> None:
    jars = {"here": Jar(), "second": Jar()}

    async def main() -> None:
        async with (
            host(
                lambda asked: (200, [("Set-Cookie", f"n={asked.connection}{asked.path[1:]}; Path=/")], b"")
            ) as there,
            aimed(
                lambda _, source: WithCookies(jars[source], None, clock.wall) if source in jars else None
            ) as ours,
        ):
            for source in ("here", "second", "third", "here", "second", "third"):
                got = await ours.get(f"{there.origin}/{source}", source)
                assert isinstance(got, Response)
                assert not got.authorized
            said = [asked.headers.get("cookie", "") for asked in there.asked]
            assert said[:3] == ["", "", ""]
            assert said[3].endswith("here")
            assert said[4].endswith("second")
            assert not said[5]

    run(main())


URL = "https://a.shop.example/docs/x/page?q"


@pytest.mark.parametrize(
    ("line", "at", "sent"),
    [
        ("a=1", "https://a.shop.example/docs/x/other", True),
        ("a=1", "https://a.shop.example/docs/x", True),
        ("a=1", "https://a.shop.example/docs/xx", False),
        ("a=1; Path=/", "https://b.a.shop.example/", False),
        ("a=1; Path=/; Domain=.shop.example", "https://b.shop.example/", True),
        ("a=1; Path=/; Domain=shop.example", "https://notshop.example/", False),
        ("a=1; Path=/; Domain=example", "https://a.shop.example/", False),
        ("a=1; Path=/; Domain=other.example", "https://other.example/", False),
        ("a=1; Path=/; Domain=b.a.shop.example", "https://b.a.shop.example/", False),
        ("a=1; Path=/; Secure", "http://a.shop.example/", False),
        ("a=1; Path=/; Secure", "https://a.shop.example/", True),
        ("a=1; Path=/; Max-Age=0", "https://a.shop.example/", False),
        ("a=1; Path=/; Max-Age=50", "https://a.shop.example/", True),
        ("a=1; Path=/; Expires=Wed, 09-Jun-2021 10:18:14 GMT", "https://a.shop.example/", False),
        ("a=1; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "https://a.shop.example/", True),
        ("a=1; Path=/; Expires=nonsense", "https://a.shop.example/", True),
        ("__Host-a=1; Path=/; Secure", "https://a.shop.example/", True),
        ("__Host-a=1; Path=/; Secure; Domain=shop.example", "https://a.shop.example/", False),
        ("__Secure-a=1; Path=/", "https://a.shop.example/", False),
        ("=1; Path=/", "https://a.shop.example/", False),
        ("a b=1; Path=/", "https://a.shop.example/", False),
    ],
)
def test_which_cookie_goes_where(line: str, at: str, *, sent: bool) -> None:
    jar = Jar()
    jar.take(URL, line, 1.7e9)
    assert (jar.header(at, 1.7e9) is not None) is sent


def test_a_cookie_ends_is_replaced_and_there_are_not_too_many() -> None:
    jar = Jar()
    jar.take(URL, "a=1; Max-Age=10; Path=/", 100.0)
    jar.take(URL, "b=2; Path=/docs", 100.0)
    assert jar.header(URL, 105.0) == b"Cookie: b=2; a=1"
    assert jar.header(URL, 110.0) == b"Cookie: b=2"
    assert jar.take(URL, "b=; Path=/docs; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 110.0) == "b"
    assert jar.header(URL, 110.0) is None
    for number in range(3_000):
        jar.take(f"https://h{number % 40}.example/", f"c{number}=1", 0.0)
    assert len(jar) <= 1_000
    assert len(jar.names("https://h1.example/", 0.0)) <= 50


@given(st.lists(st.text(max_size=80), max_size=5), st.binary(max_size=300))
def test_nothing_that_a_host_says_is_an_error(lines: list[str], body: bytes) -> None:
    jar = Jar()
    for line in lines:
        jar.take(URL, line, 0.0)
    header = jar.header(URL, 0.0)
    assert header is None or not {b"\r", b"\n"} & {header[i : i + 1] for i in range(len(header))}
    forms_of(body)
    forms_of(b"<form><input name=a " + body)


def test_a_login_error_has_no_values() -> None:
    assert CANARY not in repr(form("https://h"))
    assert "x" in repr(LoginError("x"))
