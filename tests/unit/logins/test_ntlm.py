"""NTLM against an acceptor of pyspnego's: the connection is what is logged in, the password is never on it."""

import asyncio
import os
import ssl
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import spnego
from spnego.channel_bindings import GssChannelBindings
from spnego.exceptions import SpnegoError

from ingather.fetch.logins import Guard
from ingather.fetch.logins.ntlm import Ntlm
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, Paper, Told

CANARY = "Kanari-NTLM-9"


class Acceptor:
    """Keeps a context for each connection, as a server of NTLM has to."""

    def __init__(self, bound: bytes = b"") -> None:
        self.users: list[str] = []
        self._bound = bound
        self.close_within = False

    def answer(self, asked: "Asked") -> "Told":
        state, header = asked.state, asked.headers.get("authorization", "")
        if state.get("user") and not header:
            return 200, [], f"for {state['user']}".encode()
        if not header.startswith("NTLM "):
            return 401, [("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", "NTLM")], b"no"
        if "context" not in state:
            bindings = GssChannelBindings(application_data=self._bound) if self._bound else None
            state["context"] = spnego.server(
                protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm, channel_bindings=bindings
            )
        context = state["context"]
        try:
            token = context.step(b64decode(header[5:]))
        except SpnegoError:
            del state["context"]
            return 401, [("WWW-Authenticate", "NTLM")], b"wrong"
        if not context.complete:
            if self.close_within:
                state["close"] = True
            return 401, [("WWW-Authenticate", "NTLM " + b64encode(token).decode())], b"go on"
        state["user"] = context.client_principal
        self.users.append(context.client_principal)
        del state["context"]
        return 200, [], f"for {state['user']}".encode()


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "accounts"
    file.write_text(f"CORP:crawler:{CANARY}\n")
    monkeypatch.setenv("NTLM_USER_FILE", str(file))
    assert os.environ["NTLM_USER_FILE"]


@pytest.mark.usefixtures("accounts")
def test_one_connection_is_logged_in_and_carries_everything(
    run: Any, host: "type[Host]", aimed: "type[Aimed]"
) -> None:
    async def main() -> None:
        acceptor = Acceptor()
        login = Ntlm("crawler", "CORP", CANARY)
        async with (
            host(acceptor.answer) as there,
            aimed(lambda _, source: login if source == "here" else None) as ours,
        ):
            got = await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(6)))
            assert [one.status for one in got] == [200] * 6
            assert all(
                isinstance(one, Response) and one.authorized and one.body == b"for CORP\\crawler"
                for one in got
            )
            assert (acceptor.users, there.connections, len(there.asked)) == (["CORP\\crawler"], 1, 7)
            # Another source asks the same host at the same time: never over the connection that is logged in.
            other = await ours.get(f"{there.origin}/7", source="other")
            assert isinstance(other, Response)
            assert (other.status, other.authorized, there.connections) == (401, False, 2)

    run(main())


@pytest.mark.usefixtures("accounts")
def test_a_connection_that_is_lost_is_logged_in_again(
    run: Any, host: "type[Host]", aimed: "type[Aimed]"
) -> None:
    async def main() -> None:
        acceptor = Acceptor()
        login = Ntlm("crawler", "CORP", CANARY)
        async with host(acceptor.answer) as there, aimed(lambda _, __: login) as ours:
            assert (await ours.get(f"{there.origin}/1")).status == 200
            there.asked[-1].state["close"] = True
            assert (await ours.get(f"{there.origin}/2")).status == 200
            assert (await ours.get(f"{there.origin}/3")).status == 200
            assert (there.connections, len(acceptor.users)) == (2, 2)

    run(main())


@pytest.mark.usefixtures("accounts")
def test_a_wrong_password_a_host_without_ntlm_and_one_that_hangs_up(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", paper: "type[Paper]"
) -> None:
    async def main() -> None:
        acceptor, ledger = Acceptor(), paper()
        login = Guard("n", Ntlm("crawler", "CORP", "wrong"), ledger)
        async with host(acceptor.answer) as there, aimed(lambda _, __: login) as ours:
            got = await ours.get(f"{there.origin}/1")
            assert isinstance(got, Failure)
            assert (got.kind, got.status, ledger.lines) == (FailureKind.AUTH, 401, ["begin", "refused"])
            acceptor.close_within = True
            got = await ours.get(f"{there.origin}/1")
            assert isinstance(got, Failure)
            assert "closes the connection" in got.detail
            assert ledger.lines[2:] == ["begin", "ended"]
        async with (
            host(lambda _: (401, [("WWW-Authenticate", "Basic realm=x")], b"")) as there,
            aimed(lambda _, __: login) as ours,
        ):
            got = await ours.get(f"{there.origin}/1")
            assert isinstance(got, Failure)
            assert "does not offer NTLM, but basic" in got.detail

    run(main())


@pytest.mark.usefixtures("accounts")
def test_over_tls_the_login_is_bound_to_the_hosts_certificate(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", papers: Path
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(papers / "localhost.pem", papers / "localhost.key")
    shown = ssl.PEM_cert_to_DER_cert(
        (papers / "localhost.pem").read_text().partition("-----BEGIN")[1]
        + (papers / "localhost.pem").read_text().partition("-----BEGIN")[2]
    )
    right = b"tls-server-end-point:" + sha256(shown).digest()

    async def main() -> None:
        for bound, status in ((right, 200), (b"tls-server-end-point:" + bytes(32), 401)):
            login = Ntlm("crawler", "CORP", CANARY)
            async with (
                host(Acceptor(bound).answer, tls) as there,
                aimed(login, papers / "ca.pem") as ours,
            ):
                assert (await ours.get(f"{there.origin}/1")).status == status

    run(main())
