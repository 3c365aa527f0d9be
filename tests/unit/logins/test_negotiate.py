"""Negotiate with a real MIT KDC on loopback: tickets out of a keytab, taken by an acceptor of Debian's Kerberos libraries."""

import asyncio
import ctypes
import ctypes.util
import os
import shutil
import socket
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from ingather.fetch.logins import Guard, Negotiate
from ingather.fetch.logins.negotiate import principal_of
from ingather.model.resource import Failure, FailureKind, Response
from ingather.testing.running import wait_until

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, Paper, Told

PLACES = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
KDC, ADMIN, MAKE = (shutil.which(name, path=PLACES) for name in ("krb5kdc", "kadmin.local", "kdb5_util"))
LIBRARY = ctypes.util.find_library("gssapi_krb5")

pytestmark = pytest.mark.skipif(
    KDC is None or ADMIN is None or MAKE is None or LIBRARY is None,
    reason="a MIT KDC is not there (apt-get install krb5-kdc krb5-admin-server)",
)

CLIENT = """\
[libdefaults]
  default_realm = CORP.TEST
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  CORP.TEST = {{
    kdc = 127.0.0.1:{port}
  }}
[domain_realm]
  localhost = CORP.TEST
  other.test = CORP.TEST
"""
SERVER = """\
[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  CORP.TEST = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
  }}
[logging]
  kdc = FILE:{folder}/log
"""


class _Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]  # type: ignore[mutable-override]


class Acceptor:
    """The host's side, by the C library: who is it that shows this token?"""

    def __init__(self, keytab: Path) -> None:
        self._gss = ctypes.CDLL(LIBRARY)
        assert self._gss.krb5_gss_register_acceptor_identity(str(keytab).encode()) == 0

    def who(self, token: bytes) -> str:
        gss, minor = self._gss, ctypes.c_uint32()
        context, name, out, shown = ctypes.c_void_p(), ctypes.c_void_p(), _Buffer(), _Buffer()
        given = ctypes.create_string_buffer(token, len(token))
        taken = _Buffer(len(token), ctypes.cast(given, ctypes.c_void_p))
        major = gss.gss_accept_sec_context(
            ctypes.byref(minor), ctypes.byref(context), None, ctypes.byref(taken), None, ctypes.byref(name), None, ctypes.byref(out), None, None, None
        )  # fmt: skip
        try:
            if major & 0xFFFF0000 or name.value is None:
                return ""
            assert gss.gss_display_name(ctypes.byref(minor), name, ctypes.byref(shown), None) == 0
            return ctypes.string_at(shown.value, shown.length).decode()
        finally:
            for buffer in (out, shown):
                gss.gss_release_buffer(ctypes.byref(minor), ctypes.byref(buffer))
            gss.gss_release_name(ctypes.byref(minor), ctypes.byref(name))
            gss.gss_delete_sec_context(ctypes.byref(minor), ctypes.byref(context), None)


@dataclass
class Realm:
    """A running KDC."""

    folder: Path
    environment: dict[str, str]

    def admin(self, *queries: str) -> None:
        for query in queries:
            done = subprocess.run([str(ADMIN), "-q", query], env=self.environment, capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
            assert done.returncode == 0, done.stderr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    folder = tmp_path_factory.mktemp("kdc")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (folder / "krb5.conf").write_text(CLIENT.format(port=port))
    (folder / "kdc.conf").write_text(SERVER.format(port=port, folder=folder))
    environment = {
        "PATH": PLACES, "KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
    }  # fmt: skip
    made = subprocess.run(
        [str(MAKE), "create", "-s", "-r", "CORP.TEST", "-P", "master"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    here = Realm(folder, environment)
    here.admin(
        "addprinc -randkey HTTP/localhost", "addprinc -randkey crawler", "addprinc -randkey lost",
        f"ktadd -k {folder}/http.keytab HTTP/localhost", f"ktadd -k {folder}/crawler.keytab crawler",
        f"ktadd -k {folder}/lost.keytab lost", "cpw -randkey lost",
    )  # fmt: skip
    with subprocess.Popen(
        [str(KDC), "-n"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(port))
            assert process.poll() is None, (folder / "log").read_text()
            yield here
        finally:
            process.terminate()
            process.wait(60)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_each_request_shows_a_ticket_of_the_keytabs_account(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(realm.folder / "krb5.conf"))
    acceptor = Acceptor(realm.folder / "http.keytab")

    def answer(asked: "Asked") -> "Told":
        token = asked.headers.get("authorization", "").removeprefix("Negotiate ")
        name = acceptor.who(b64decode(token)) if token else ""
        return (200, [], name.encode()) if name else (401, [("WWW-Authenticate", "Negotiate")], b"")

    async def main() -> None:
        login = Negotiate(realm.folder / "crawler.keytab")
        async with (
            host(answer) as there,
            aimed(lambda _, source: login if source == "here" else None) as ours,
        ):
            got = await asyncio.gather(*(ours.get(f"{there.origin}/{n}") for n in range(4)))
            assert [isinstance(one, Response) and one.authorized and one.body for one in got] == [
                b"crawler@CORP.TEST"
            ] * 4
            assert len({asked.headers["authorization"] for asked in there.asked}) == 4  # none is good twice
            assert (await ours.get(f"{there.origin}/x", source="other")).status == 401
        login.close()

    run(main())


def test_no_ticket_is_a_failure_with_kerberos_words(
    run: Any, aimed: "type[Aimed]", paper: "type[Paper]", realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(realm.folder / "krb5.conf"))

    async def main() -> None:
        for keytab, name, line, words in (
            ("crawler.keytab", "other.test", "ended", "not found in Kerberos database"),
            ("lost.keytab", "localhost", "refused", "Decrypt integrity check failed"),
            ("none.keytab", "localhost", "ended", "Kerberos"),
        ):
            ledger = paper()
            login = Negotiate(realm.folder / keytab)
            guard = Guard("k", login, ledger)
            async with aimed(guard) as ours:
                got = await ours.get(f"http://{name}:9/")
                assert isinstance(got, Failure)
                assert got.kind is FailureKind.AUTH
                assert words in got.detail
                assert ledger.lines == ["begin", line]
            login.close()

    run(main())


def test_whose_a_keytab_is(realm: Realm) -> None:
    assert principal_of((realm.folder / "crawler.keytab").read_bytes()) == "crawler@CORP.TEST"
    assert principal_of((realm.folder / "http.keytab").read_bytes()) == "HTTP/localhost@CORP.TEST"
    for broken in (
        b"",
        b"\x05\x02",
        b"\x05\x02\x00",
        b"\x05\x02" + bytes(40),
        os.urandom(200),
        b"\x05\x02\xff\xff\xff\x00aa",
    ):
        principal_of(broken)
