"""Which login goes along with which URL, what tables and files may be wrong with, and how often a refused one is tried."""

import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app.reaching.ledger import FileLedger, forget, refusals
from ingather.app.reaching.logins import LoginBook
from ingather.app.secrets import KeyFile, SecretStore
from ingather.conf import load_bodies
from ingather.conf.settings.file import read_settings
from ingather.fetch.logins.port import Closed, LoginError
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, HostClock, Told

CANARY = "kanari-book-5"
TABLES = """
[source.wiki]
credentials = ["wiki", "reports"]
[source.other]
[credential.wiki]
url = "https://Intranet.example:443/"
user = "u"
secret = "one"
[credential.reports]
url = "https://intranet.example/reports/"
kind = "bearer"
secret = "two"
"""


def book(home: Path, clock: "HostClock", text: str = TABLES, **parts: Any) -> LoginBook:
    read = read_settings(text.encode())
    assert not read.refused, read.diagnostics
    return LoginBook(home, read.settings, read.sources, clock, **parts)


def store(home: Path, **values: str) -> SecretStore:
    made = SecretStore(home, KeyFile.of(home, "", {"HOME": str(Path("~").expanduser())}))
    for number, (name, value) in enumerate(values.items()):
        made.set(name, value, float(number))
    return made


def test_a_credential_is_for_its_beginning_and_its_sources(tmp_path: Path, clock: "HostClock") -> None:
    store(tmp_path, one=CANARY, two="t")
    found = book(tmp_path, clock)
    general, special = (
        found.find("https://intranet.example/x", "wiki"),
        found.find("https://intranet.example/reports/1", "wiki"),
    )
    assert general is not None
    assert special is not None
    assert general is not special
    assert general is found.find("https://intranet.example/y", "wiki")
    for url in (
        "http://intranet.example/",
        "https://intranet.example:8443/",
        "https://intranet.example.evil/",
        "https://x.intranet.example/",
    ):
        assert found.find(url, "wiki") is None, url
    assert found.find("https://intranet.example/x", "other") is None
    assert found.find("https://intranet.example/x", "nobody") is None


@given(st.sampled_from(["https", "http"]), st.text(st.sampled_from("intranet.example:@443/\\"), max_size=24))
def test_no_url_of_another_origin_gets_anything(scheme: str, rest: str) -> None:
    class Clock:
        def monotonic(self) -> float:
            return 0.0

        def wall(self) -> float:
            return 0.0

    found = LoginBook(
        Path("/nonexistent"), read_settings(b"").settings, read_settings(TABLES.encode()).sources, Clock()
    )
    if found.find(f"{scheme}://{rest}", "wiki") is not None:
        assert f"{scheme}://{rest}".startswith("https://intranet.example/")


def test_a_site_names_a_credential_for_its_hosts(tmp_path: Path, clock: "HostClock") -> None:
    store(tmp_path, one=CANARY)
    rules = load_bodies({
        "filter.conf": b"", "robot.conf": b"", "mime.types": b"",
        "filterrules.conf": b'<Site name="s" host="intranet.example" source="web" credentials="wiki">\n</Site>\n',
    })  # fmt: skip
    found = book(tmp_path, clock, sites=rules.rules.sites)
    assert found.find("https://intranet.example/x", "web") is not None
    assert found.find("https://intranet.example/x", "other") is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            '[credential.a]\nurl = "https://h/"\nuser = "u"\npassword = "kanari"',
            1,
            "password does not stand in this file",
        ),
        ('[credential.a]\nurl = "https://h/"\nuser = "u"\nsecret = "kan ari"', 4, "not the name of a secret"),
        ('[credential.a]\nurl = "https://h/"\nuser = "u"', 1, "basic needs secret"),
        ('[credential.a]\nuser = "u"\nsecret = "s"', 1, "basic needs url"),
        ('[credential.a]\nurl = "https://u:kanari@h/"\nuser = "u"\nsecret = "s"', 2, "no beginning"),
        ('[credential.a]\nurl = "ftp://h/"\nuser = "u"\nsecret = "s"', 2, "basic is for http, https"),
        ('[credential.a]\nurl = "*"\nuser = "u"\nsecret = "s"', 2, "credential.a.url"),
        ('[credential.a]\nurl = "https://h/"\nkind = "kerberos"', 3, "is not known here"),
        (
            '[credential.a]\nurl = "https://h/"\nkind = "form"\nform-url = "https://h/l"',
            1,
            "form needs secret-field",
        ),
        (
            '[credential.a]\nurl = "https://h/"\nkind = "form"\nform-url = "https://h/l"\nsecret-field = "p"\nsecret = "s"\nended-pattern = "("',
            7,
            "no regular expression",
        ),
        (
            '[credential.a]\nurl = "https://h/"\nkind = "form"\nform-url = "https://h/l"\nsecret-fields = ["p"]',
            5,
            "field=value",
        ),
        ('[credential.a]\nurl = "https://h/"\nusr = "u"\nsecret = "s"', 3, "no key 'usr'"),
        (
            '[source.web]\n\ncredentials = ["wikki"]\n[credential.wiki]\nurl = "https://h/"\nuser = "u"\nsecret = "s"',
            3,
            "there is no credential 'wikki'",
        ),
        ("credential = 5", 1, "a credential is a table"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(text: str, line: int, said: str) -> None:
    found = read_settings(text.encode())
    errors = [one for one in found.diagnostics if one.is_error]
    assert [one.line for one in errors][:1] == [line], found.diagnostics
    assert said in errors[0].text
    assert "kanari" not in f"{found.diagnostics}"


def count(run: Path, clock: "HostClock", mark: str = "m") -> FileLedger:
    return FileLedger(run, "wiki", mark, 3, wall=clock.wall, monotonic=clock.monotonic)


def test_refusals_are_counted_by_all_processes_together(tmp_path: Path, clock: "HostClock") -> None:
    one, other = count(tmp_path, clock), count(tmp_path, clock)
    assert one.begin() is True
    assert other.begin() is False  # an attempt is being made: ask again
    one.ended(refused=True, text="no")
    waits = other.begin()
    assert isinstance(waits, Closed)
    assert waits.wait_s is not None
    for refused in (2, 3):
        clock.ahead_s += 3600
        assert other.begin() is True
        other.ended(refused=True, text="no")
        assert refusals(tmp_path)[0].refused == refused
    clock.ahead_s += 30 * 86_400
    closed = one.begin()
    assert isinstance(closed, Closed)
    assert closed.wait_s is None
    assert "suspended after 3" in closed.text
    assert one.closed() == closed
    # Another secret is another matter.
    assert count(tmp_path, clock, "set anew").begin() is True
    assert forget(tmp_path, "wiki")
    assert not forget(tmp_path, "wiki")
    assert one.begin() is True
    one.succeeded()
    assert refusals(tmp_path) == []


def test_nobody_waits_for_a_process_that_died_while_it_tried(tmp_path: Path, clock: "HostClock") -> None:
    mine = count(tmp_path, clock)
    code = (
        "import os, sys, time; from pathlib import Path; from ingather.app.reaching.ledger import FileLedger\n"
        "ledger = FileLedger(Path(sys.argv[1]), 'wiki', 'm', 3, wall=time.time, monotonic=time.monotonic)\n"
        "print(ledger.begin(), flush=True); sys.stdin.read(1); os._exit(9)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert (mine.tried(), mine.begin()) == (True, False)
        other.communicate(b"x", timeout=60)
    assert not mine.tried()
    assert mine.begin() is True  # at once; counted it stays: the host may have refused it
    assert refusals(tmp_path)[0].refused == 2
    mine.ended(refused=True, text="no")
    assert isinstance(mine.begin(), Closed)


def test_an_attempt_that_says_nothing_of_the_secret_is_taken_back(tmp_path: Path, clock: "HostClock") -> None:
    one = count(tmp_path, clock)
    for _ in range(9):
        assert one.begin() is True
        one.ended(refused=False)
    # One whose process died stands: the host may have refused it.
    assert count(tmp_path, clock).begin() is True
    clock.ahead_s += 200
    assert one.begin() is True
    assert refusals(tmp_path)[0].refused == 2


def test_a_wrong_password_is_shown_three_times_and_never_again_until_it_is_another(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    right = "Basic " + b64encode(f"u:{CANARY}".encode()).decode()

    def answer(asked: "Asked") -> "Told":
        if asked.path == "/robots.txt" and "authorization" not in asked.headers:
            return 200, [], b"User-agent: *"
        return (200, [], b"in") if asked.headers.get("authorization") == right else (401, [], b"")

    async def main() -> None:
        kept = store(tmp_path, wiki="wrong")
        async with host(answer) as there:
            table = f'[source.here]\ncredentials = ["wiki"]\n[credential.wiki]\nurl = "{there.origin}/"\nuser = "u"\nsecret = "wiki"\n'
            found = book(tmp_path, clock, table)
            details: list[str] = []
            async with aimed(found.find) as ours:
                for _ in range(12):
                    got = await ours.get(f"{there.origin}/a")
                    assert isinstance(got, Failure)
                    assert got.kind is FailureKind.AUTH
                    details.append(got.detail)
                    clock.ahead_s += 1800
                assert len(there.asked) == 3
                assert "suspended" in details[-1]
                assert "ingather secret resume wiki" in details[-1]
                # What is for everybody is had without it.
                robots = await ours.get(f"{there.origin}/robots.txt")
                assert isinstance(robots, Response)
                assert (robots.status, robots.authorized) == (200, False)
                kept.set("wiki", CANARY, 99.0)
                clock.ahead_s += 3
                got = await ours.get(f"{there.origin}/a")
                assert isinstance(got, Response)
                assert got.authorized

    run(main())


def test_public_pages_do_not_let_a_wrong_password_be_shown_for_ever(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    right = "Basic " + b64encode(f"u:{CANARY}".encode()).decode()

    def answer(asked: "Asked") -> "Told":
        shown = asked.headers.get("authorization")
        closed = asked.path != "/public" and shown != right
        return (401, [], b"") if closed or asked.path == "/never" else (200, [], b"in")

    async def main() -> None:
        kept = store(tmp_path, wiki="wrong")
        async with host(answer) as there:
            table = f'[source.here]\ncredentials = ["wiki"]\n[credential.wiki]\nurl = "{there.origin}/"\nuser = "u"\nsecret = "wiki"\n'
            found = book(tmp_path, clock, table)
            async with aimed(found.find) as ours:
                for _ in range(8):
                    await ours.get(f"{there.origin}/public")
                    clock.ahead_s += 3600
                    await ours.get(f"{there.origin}/closed")
                    clock.ahead_s += 3600
                shown = [asked for asked in there.asked if asked.path == "/closed"]
                assert len(shown) == 3
                # The right one is not suspended by pages that it may not see, as long as it opens others.
                kept.set("wiki", CANARY, 99.0)
                clock.ahead_s += 3
                assert (await ours.get(f"{there.origin}/closed")).status == 200
                for _ in range(5):
                    got = await ours.get(f"{there.origin}/never")
                    assert isinstance(got, Failure)
                    got = await ours.get(f"{there.origin}/closed")
                    assert isinstance(got, Response)
                    assert got.status == 200

    run(main())


def test_without_the_key_nothing_is_sent_and_other_sources_go_on(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    async def main() -> None:
        kept = store(tmp_path, wiki=CANARY)
        kept.key.path.unlink()
        async with host(lambda _: (200, [], b"")) as there:
            table = f'[source.here]\ncredentials = ["wiki"]\n[credential.wiki]\nurl = "{there.origin}/"\nuser = "u"\nsecret = "wiki"\n'
            async with aimed(book(tmp_path, clock, table).find) as ours:
                got = await ours.get(f"{there.origin}/a")
                assert isinstance(got, Failure)
                assert "the key of the secrets is missing" in got.detail
                assert there.asked == []
                assert (await ours.get(f"{there.origin}/a", source="other")).status == 200

    run(main())


def test_robot_conf_case_password_is_for_hosts_of_defined_sites_that_ask(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    def answer(asked: "Asked") -> "Told":
        return (
            (200, [], b"")
            if "authorization" in asked.headers
            else (401, [("WWW-Authenticate", "Basic realm=x")], b"")
        )

    loaded = load_bodies({
        "filter.conf": b"", "robot.conf": b"username=scott\npassword=kanari\n", "mime.types": b"",
        "filterrules.conf": b'<Site name="s" host="localhost" source="here">\n</Site>\n',
    })  # fmt: skip

    async def main() -> None:
        found = book(
            tmp_path, clock, "[source.here]\n[source.other]\n", sites=loaded.rules.sites, robot=loaded.robot
        )
        async with host(answer) as there, aimed(found.find) as ours:
            got = await ours.get(f"{there.origin}/a")
            assert isinstance(got, Response)
            assert (got.status, got.authorized) == (200, True)
            assert there.asked[-1].headers["authorization"] == "Basic " + b64encode(b"scott:kanari").decode()
            elsewhere = await ours.get(there.origin.replace("localhost", "elsewhere.test") + "/a")
            assert elsewhere.status == 401
            assert (await ours.get(f"{there.origin}/a", source="other")).status == 401
            assert found.password("ftp://localhost/x", "here") == ("scott", "kanari")
            assert found.password("ftp://elsewhere.test/x", "here") is None

    run(main())


def test_passwords_of_other_protocols(tmp_path: Path, clock: "HostClock") -> None:
    kept = store(tmp_path, nas=CANARY)
    table = '[source.files]\ncredentials = ["nas"]\n[credential.nas]\nkind = "password"\nurl = "ftp://nas.example/"\nuser = "u"\ndomain = "D"\nsecret = "nas"\n'
    found = book(tmp_path, clock, table)
    assert found.password("ftp://nas.example/a", "files") == ("D\\u", CANARY)
    assert found.password("ftp://other.example/a", "files") is None
    assert found.find("ftp://nas.example/a", "files") is None
    kept.delete("nas")
    with pytest.raises(LoginError, match="there is no secret 'nas'"):
        found.password("ftp://nas.example/a", "files")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('kind = "certificate"\ncertificate = "no.pem"', "no.pem cannot be read"),
        ('kind = "certificate"\ncertificate = "open.key"', "others may read"),
        ('kind = "certificate"\ncertificate = "open.key"\nkey = "open.key"', "others may read"),
        ('kind = "certificate"\ncertificate = "closed.key"', "closed.key cannot be used"),
        ('kind = "certificate"\ncertificate = "open.key"\nkey = "closed.key"', "with the key"),
        ('kind = "negotiate"\nuser = "u"\nkeytab = "open.key"', "others may read"),
        ('kind = "negotiate"\nuser = "u@R"\nkeytab = "closed.key"', "the first account of"),
        ('kind = "bearer"\nsecret = "broken"', "characters that cannot be sent"),
        ('kind = "bearer"\nsecret = "none"', "there is no secret 'none'"),
    ],
)
def test_what_a_login_lacks_is_said_and_nothing_is_sent(  # noqa: PLR0913, PLR0917 - fixtures and a case
    run: Any, aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock", keys: str, said: str
) -> None:
    store(tmp_path, broken=f"{CANARY}\r\nX-Evil: 1")
    for name, mode in (("open.key", 0o644), ("closed.key", 0o600)):
        (tmp_path / name).write_bytes(b"x")
        (tmp_path / name).chmod(mode)

    async def main() -> None:
        table = f'[source.here]\ncredentials = ["c"]\n[credential.c]\nurl = "http://localhost:9/"\n{keys}\n'
        async with aimed(book(tmp_path, clock, table).find) as ours:
            got = await ours.get("http://localhost:9/a")
            assert isinstance(got, Failure)
            assert got.kind is FailureKind.AUTH
            assert said in got.detail
            assert "kanari" not in got.detail
        assert refusals(tmp_path / "run") == []

    run(main())


def test_credentials_toml_locks_no_account_either(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", tmp_path: Path, clock: "HostClock"
) -> None:
    right = "Basic " + b64encode(f"u:{CANARY}".encode()).decode()

    def answer(asked: "Asked") -> "Told":
        return (200, [], b"in") if asked.headers.get("authorization") == right else (401, [], b"")

    def write(password: str) -> None:
        path = tmp_path / "credentials.toml"
        path.unlink(missing_ok=True)
        path.write_text(f'[[credential]]\nurl = "{there.origin}/"\nuser = "u"\npassword = "{password}"\n')
        path.chmod(0o600)

    there: Host

    async def main() -> None:
        nonlocal there
        async with host(answer) as there:
            write("wrong")
            found = book(tmp_path, clock, "[source.here]\n")
            async with aimed(found.find) as ours:
                for _ in range(8):
                    got = await ours.get(f"{there.origin}/a")
                    assert isinstance(got, Failure)
                    clock.ahead_s += 1800
                assert len(there.asked) == 3
                assert refusals(tmp_path / "run")[0].name == "credentials.toml: u at localhost"
                held = found.counting(f"{there.origin}/a", "here")
                assert held is not None
                assert held.held(f"{there.origin}/a") is not None
                write(CANARY)
                clock.ahead_s += 3
                got = await ours.get(f"{there.origin}/a")
                assert isinstance(got, Response)
                assert (got.status, got.authorized) == (200, True)

    run(main())
