"""Basic, Digest, bearer tokens and OAuth 2 against hosts that keep to their RFCs: what goes out, when, and how often."""

import asyncio
import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from ingather.fetch.logins import Basic, Bearer, Digest, Guard, LoginError, OAuth2, WhenAsked
from ingather.fetch.logins.oauth2 import Client
from ingather.fetch.logins.port import challenges
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, HostClock, Paper, Told

CANARY = "kanari-ä-31"


def test_basic_goes_with_every_request_and_the_answer_is_not_for_everybody(
    run: Any, host: "type[Host]", aimed: "type[Aimed]"
) -> None:
    wanted = "Basic " + b64encode(f"CORP\\u:{CANARY}".encode()).decode()

    def answer(asked: "Asked") -> "Told":
        return (200, [], b"in") if asked.headers.get("authorization") == wanted else (401, [], b"")

    async def main() -> None:
        login = Basic("CORP\\u", CANARY)
        async with host(answer) as there, aimed(lambda _, __: login) as ours:
            got = await ours.get(there.origin + "/a")
            assert isinstance(got, Response)
            assert (got.status, got.authorized, len(there.asked)) == (200, True, 1)

    run(main())


def test_a_password_for_all_is_shown_only_to_hosts_that_ask_for_basic(
    run: Any, host: "type[Host]", aimed: "type[Aimed]"
) -> None:
    def answer(asked: "Asked") -> "Told":
        if asked.path == "/open":
            return 200, [], b"open"
        if "authorization" in asked.headers:
            return 200, [], b"in"
        return 401, [("WWW-Authenticate", "Basic realm=x" if asked.path == "/basic" else "Bearer")], b""

    async def main() -> None:
        login = WhenAsked(Basic("u", CANARY))
        async with host(answer) as there, aimed(lambda _, __: login) as ours:
            open_ = await ours.get(there.origin + "/open")
            other = await ours.get(there.origin + "/other")
            assert not any("authorization" in asked.headers for asked in there.asked)
            asked = await ours.get(there.origin + "/basic")
            told = [
                (one.status, isinstance(one, Response) and one.authorized) for one in (open_, other, asked)
            ]
            assert told == [(200, False), (401, False), (200, True)]

    run(main())


def digest_host(
    algorithm: str, *, qop: str = 'qop="auth, auth-int", ', lasts: int = 3
) -> "Callable[[Asked], Told]":
    """A host of RFC 7616 that checks everything; a nonce is good for so many requests, then it is stale."""
    used: dict[str, list[str]] = {}
    name = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}[
        algorithm.removesuffix("-sess") or "MD5"
    ]

    def h(text: str) -> str:
        return hashlib.new(name, text.encode()).hexdigest()

    def challenge(*, stale: bool) -> "Told":
        nonce = f"n{len(used)}"
        used[nonce] = []
        said = (
            f'Digest realm="a, \\"b\\"", nonce="{nonce}", {qop}opaque="o=,", algorithm={algorithm or "MD5"}'
        )
        return (
            401,
            [
                ("WWW-Authenticate", "Negotiate"),
                ("WWW-Authenticate", said + (", stale=true" if stale else "")),
            ],
            b"",
        )

    def answer(asked: "Asked") -> "Told":
        header = asked.headers.get("authorization", "")
        if not header.startswith("Digest "):
            return challenge(stale=False)
        given = {
            m[1]: m[2].replace('\\"', '"') if m[2] is not None else m[3]
            for m in re.finditer(r'([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^,]*))', header)
        }
        seen = used.get(given["nonce"])
        assert seen is not None, "a nonce that was never given"
        assert (given["realm"], given["opaque"], given["uri"]) == ('a, "b"', "o=,", asked.target)
        secret = h(f"u:{given['realm']}:{CANARY}")
        if algorithm.endswith("-sess"):
            secret = h(f"{secret}:{given['nonce']}:{given['cnonce']}")
        middle = given["nonce"]
        if qop:
            assert given["qop"] == "auth"
            assert given["nc"] not in seen, "a count that was used"
            middle += f":{given['nc']}:{given['cnonce']}:auth"
        if given["response"] != h(f"{secret}:{middle}:{h(f'{asked.method}:{asked.target}')}"):
            return challenge(stale=False)
        seen.append(given.get("nc", str(len(seen))))
        return challenge(stale=True) if len(seen) > lasts else (200, [], b"in")

    return answer


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256", "SHA-512-256", "MD5-sess", "SHA-256-sess"])
def test_digest_is_answered_once_and_then_goes_along(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", algorithm: str
) -> None:
    async def main() -> None:
        login = Digest("u", CANARY)
        async with host(digest_host(algorithm)) as there, aimed(lambda _, __: login) as ours:
            got = [await ours.get(f"{there.origin}/a?q={n}") for n in range(5)]
            assert [one.status for one in got] == [200] * 5
            assert all(isinstance(one, Response) and one.authorized for one in got)
            assert len(there.asked) == 5 + 2  # one challenge at the start, one when the nonce was old

    run(main())


def test_digest_of_rfc_2069_and_a_wrong_password(run: Any, host: "type[Host]", aimed: "type[Aimed]") -> None:
    async def main() -> None:
        for password, status in ((CANARY, 200), ("wrong", 401)):
            login = Digest("u", password)
            async with host(digest_host("MD5", qop="")) as there, aimed(login) as ours:
                got = await ours.get(f"{there.origin}/a")
                assert (got.status, len(there.asked)) == (status, 2)

    run(main())


def test_the_strongest_digest_is_taken_and_no_unknown_one(
    run: Any, host: "type[Host]", aimed: "type[Aimed]"
) -> None:
    weak = ("WWW-Authenticate", 'Digest realm="r", nonce="1", qop="auth", algorithm=MD5')
    strong = ("WWW-Authenticate", 'Digest realm="r", nonce="2", qop="auth", algorithm=SHA-256')
    odd = ("WWW-Authenticate", 'Digest realm="r", nonce="3", qop="auth-int", algorithm=ROT13')

    async def main() -> None:
        offered = [weak, strong, odd]

        def answer(_: "Asked") -> "Told":
            return 401, offered, b""

        async with host(answer) as there, aimed(lambda _, __: Digest("u", CANARY)) as ours:
            await ours.get(there.origin + "/")
            assert 'nonce="2"' in there.asked[-1].headers["authorization"]
            offered[:] = [odd]
            with pytest.raises(LoginError, match="does not offer Digest"):
                await ours.get(there.origin + "/")

    run(main())


def test_challenges_are_read_as_rfc_9110_has_them() -> None:
    line = 'Newauth realm="apps", type=1, title="Login to \\"apps\\", now", Basic realm="simple", NTLM, Negotiate YII='
    found = challenges(Response("u", 401, (("WWW-Authenticate", line), ("www-authenticate", "Bearer"))))
    assert [scheme for scheme, _ in found] == ["newauth", "basic", "ntlm", "negotiate", "bearer"]
    assert dict(found)["negotiate"] == "YII="
    assert 'title="Login' in dict(found)["newauth"]


def test_a_bearer_token_goes_along(run: Any, host: "type[Host]", aimed: "type[Aimed]") -> None:
    async def main() -> None:
        async with host(lambda _: (200, [], b"")) as there, aimed(lambda _, __: Bearer("t0k")) as ours:
            got = await ours.get(there.origin + "/a")
            assert isinstance(got, Response)
            assert got.authorized
            assert there.asked[0].headers["authorization"] == "Bearer t0k"

    run(main())


class TokenServer:
    """RFC 6749 section 4.4: strict about method, type, client; counts what it gave."""

    def __init__(self, *, in_form: bool) -> None:
        self.in_form = in_form
        self.given: list[str] = []
        self.revoked: set[str] = set()
        self.lasts_s: float = 3600
        self.trouble: Told | None = None

    async def answer(self, asked: "Asked") -> "Told":
        if asked.path == "/token":
            await asyncio.sleep(0)
            if self.trouble is not None:
                return self.trouble
            form = {key: values[0] for key, values in parse_qs(asked.body.decode()).items()}
            assert (asked.method, asked.headers["content-type"]) == (
                "POST",
                "application/x-www-form-urlencoded",
            )
            assert (form["grant_type"], form["scope"]) == ("client_credentials", "read all")
            wanted = "Basic " + b64encode(b"c%3A1:kanari-%C3%A4-31").decode()
            good = (
                form.get("client_secret") == CANARY
                if self.in_form
                else asked.headers.get("authorization") == wanted
            )
            if not good:
                return 401, [], b'{"error": "invalid_client"}'
            self.given.append(f"t{len(self.given)}")
            body = {"access_token": self.given[-1], "token_type": "Bearer", "expires_in": self.lasts_s}
            return 200, [("Content-Type", "application/json")], json.dumps(body).encode()
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        return (200, [], b"in") if token in self.given and token not in self.revoked else (401, [], b"")


@pytest.mark.parametrize("in_form", [False, True])
def test_oauth2_gets_one_token_for_many_and_a_new_one_when_it_ends_or_is_refused(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", *, in_form: bool
) -> None:
    async def main() -> None:
        server = TokenServer(in_form=in_form)
        # With one connection at a time the token is asked for within the slot of the page that wants it.
        async with host(server.answer) as there:
            client = Client(there.origin + "/token", "c:1", CANARY, "read all", in_form=in_form)
            login = OAuth2(client, clock)
            async with aimed(lambda _, __: login, max_connections=1) as narrow:
                assert (await narrow.get(there.origin + "/a")).status == 200
            async with aimed(lambda _, __: login) as ours:
                got = await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(5)))
                assert [one.status for one in got] == [200] * 5
                assert server.given == ["t0"]
                clock.ahead_s = 3601.0
                await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(5)))
                assert server.given == ["t0", "t1"]
                server.revoked.add("t1")
                assert (await ours.get(f"{there.origin}/x")).status == 200
                assert server.given == ["t0", "t1", "t2"]

    run(main())


@pytest.mark.parametrize(
    ("trouble", "text", "refused"),
    [
        ((401, [], b'{"error": "invalid_client"}'), "HTTP 401 invalid_client", True),
        ((400, [], b'{"error": "<b>kanari"}'), "HTTP 400", False),
        ((200, [], b"[]"), "holds none", False),
        ((200, [], b'{"access_token": "a\\nb", "token_type": "bearer"}'), "holds none", False),
        ((200, [], b'{"access_token": "a", "token_type": "mac"}'), "another kind", False),
        ((503, [], b""), "HTTP 503", False),
    ],
)
def test_no_token_is_a_failure_of_this_login_alone(  # noqa: PLR0913, PLR0917 - fixtures and a case
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", paper: "type[Paper]", trouble: "Told", text: str, *, refused: bool
) -> None:  # fmt: skip
    async def main() -> None:
        server, ledger = TokenServer(in_form=False), paper()
        server.trouble = trouble
        async with host(server.answer) as there:
            login = Guard(
                "g", OAuth2(Client(there.origin + "/token", "c:1", CANARY, "read all"), clock), ledger
            )
            async with aimed(lambda _, source: login if source == "here" else None) as ours:
                got = await ours.get(there.origin + "/a")
                assert isinstance(got, Failure)
                assert got.kind is FailureKind.AUTH
                assert "credential g: no token" in got.detail
                assert text in got.detail
                assert "kanari" not in got.detail
                assert ledger.lines == ["begin", "refused" if refused else "ended"]
                assert (await ours.get(there.origin + "/a", source="other")).status == 401

    run(main())


def test_the_token_endpoint_is_reached_through_the_gate(
    run: Any, aimed: "type[Aimed]", clock: "HostClock", paper: "type[Paper]"
) -> None:
    async def main() -> None:
        login = Guard("g", OAuth2(Client("http://169.254.169.254/token", "c", CANARY), clock), paper())
        async with aimed(lambda _, __: login) as ours:
            got = await ours.get("http://localhost:9/")
            assert isinstance(got, Failure)
            assert "refused-address" in got.detail

    run(main())
