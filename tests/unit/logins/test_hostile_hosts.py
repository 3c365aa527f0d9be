"""What a host does to a login stays that login's trouble; and a session that a login brought never passes for everybody's."""

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingather.app.reaching.logins import LoginBook
from ingather.app.secrets import KeyFile, SecretStore
from ingather.conf.settings.file import read_settings
from ingather.fetch.logins import Form, FormLogin, Guard
from ingather.fetch.logins.ntlm import Ntlm
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, HostClock, Paper, Told

CANARY = "kanari-hostile-4"


@pytest.mark.parametrize(
    ("fields", "body", "said"),
    [
        ([("Location", "http://[")], b"", "none of http"),
        ([("Location", "http://localhost:99999/")], b"", "login page"),
        ([], b"<form method=post action='http://['><input name=pw></form>", "another origin"),
        ([], b"<form method=post action='http://localhost:99999/'><input name=pw></form>", "another origin"),
        ([], b"<![x[<form method=post><input name=pw></form>", "no form"),
    ],
)
def test_a_login_page_that_is_none_is_a_failure(  # noqa: PLR0913, PLR0917 - fixtures and a case
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", paper: "type[Paper]",
    fields: list[tuple[str, str]], body: bytes, said: str,
) -> None:  # fmt: skip
    async def main() -> None:
        async with host(lambda _: (302 if fields else 200, fields, body)) as there:
            login = FormLogin(f"{there.origin}/", f"{there.origin}/login", (("pw", CANARY),))
            ledger = paper()
            async with aimed(Guard("f", Form(login, clock), ledger)) as ours:
                got = await ours.get(f"{there.origin}/1")
                assert isinstance(got, Failure)
                assert got.kind is FailureKind.AUTH
                assert said in got.detail
                assert CANARY not in got.detail
                assert ledger.lines == ["begin", "ended"]
            assert all(asked.method == "GET" for asked in there.asked)

    run(main())


def test_a_redirect_that_leads_nowhere_is_the_answer_of_a_page(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", clock: "HostClock", paper: "type[Paper]"
) -> None:
    def answer(asked: "Asked") -> "Told":
        if asked.method == "POST":
            return 200, [("Set-Cookie", "sid=1; Path=/")], b"in"
        if asked.path == "/login":
            return 200, [], b"<form method=post><input name=pw></form>"
        return 302, [("Location", "http://[")], b""

    async def main() -> None:
        async with host(answer) as there:
            login = FormLogin(f"{there.origin}/", f"{there.origin}/login", (("pw", CANARY),))
            async with aimed(Guard("f", Form(login, clock), paper())) as ours:
                got = await ours.get(f"{there.origin}/1")
                assert isinstance(got, Response)
                assert got.status == 302

    run(main())


@pytest.mark.parametrize("message", [b"NTLMSSP\0\x02\0\0\0", b"nonsense"])
def test_an_ntlm_message_that_is_none_is_a_failure(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", paper: "type[Paper]", message: bytes
) -> None:
    async def main() -> None:
        said = [("WWW-Authenticate", f"NTLM {b64encode(message).decode()}")]
        async with (
            host(lambda _: (401, said, b"")) as there,
            aimed(Guard("n", Ntlm("u", "", CANARY), paper())) as ours,
        ):
            got = await ours.get(f"{there.origin}/1")
            assert isinstance(got, Failure)
            assert got.kind is FailureKind.AUTH
            assert "NTLM" in got.detail

    run(main())


def test_an_error_within_a_login_is_its_own_failure_without_its_words(
    run: Any, aimed: "type[Aimed]", paper: "type[Paper]"
) -> None:
    class Broken:
        async def ask(self, *_: object) -> Response:
            raise ValueError(CANARY)

    class Full(paper):  # type: ignore[valid-type, misc]
        def begin(self, *, eager: bool = False) -> bool:
            raise OSError(28, "No space left on device")

    async def main() -> None:
        for ledger, said in ((paper(), "ValueError"), (Full(), "No space left on device")):
            async with aimed(Guard("b", Broken(), ledger)) as ours:
                got = await ours.get("http://localhost:1/")
                assert isinstance(got, Failure)
                assert got.kind is FailureKind.AUTH
                assert said in got.detail
                assert CANARY not in got.detail

    run(main())


def test_the_session_of_a_login_is_no_cookie_of_the_source(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    """Whoever has the session sees secrets: it goes along with what is asked for with the login, and with nothing else."""

    def answer(asked: "Asked") -> "Told":
        cookies = asked.headers.get("cookie", "")
        if "authorization" in asked.headers:
            return (
                200,
                [("Set-Cookie", "sid=let-in; Path=/"), ("Set-Cookie", "theme=dark; Path=/")],
                b"secret",
            )
        if "let-in" in cookies:
            return 200, [], b"secret"
        return 200, [("Set-Cookie", "seen=1; Path=/")], b"open"

    SecretStore(tmp_path, KeyFile.of(tmp_path, "", {"HOME": str(Path("~").expanduser())})).set(
        "s", CANARY, 1.0
    )

    async def main() -> None:
        async with host(answer) as there:
            read = read_settings(
                f'[source.here]\ncookies = true\ncredentials = ["c"]\n[credential.c]\nurl = "{there.origin}/in/"\nuser = "u"\nsecret = "s"\n'.encode()
            )
            assert not read.refused, read.diagnostics
            file = tmp_path / "credentials.toml"
            file.write_text(
                f'[[credential]]\nurl = "{there.origin}/old/"\nuser = "o"\npassword = "{CANARY}"\n'
            )
            file.chmod(0o600)
            async with aimed(LoginBook(tmp_path, read.settings, read.sources, clock).find) as ours:
                for path in ("/in/1", "/out/1", "/in/2", "/old/1", "/out/2", "/old/2"):
                    got = await ours.get(f"{there.origin}{path}")
                    assert isinstance(got, Response)
                    assert got.authorized is (got.body == b"secret") is not path.startswith("/out")
            sent = {asked.path: asked.headers.get("cookie", "") for asked in there.asked}
            assert sent == {
                "/in/1": "", "/out/1": "", "/in/2": "sid=let-in; theme=dark", "/old/1": "", "/out/2": "seen=1", "/old/2": "sid=let-in; theme=dark",
            }  # fmt: skip

    run(main())


def test_patterns_of_forms_are_re2() -> None:
    read = read_settings(
        b'[credential.f]\nkind = "form"\nurl = "http://h/"\nform-url = "http://h/l"\nsecret = "s"\nsecret-field = "p"\nended-pattern = "(a)\\\\1"\n'
    )
    assert any("RE2" in str(one) for one in read.diagnostics)
