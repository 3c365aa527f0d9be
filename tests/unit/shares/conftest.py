"""Servers of files on loopback: vsftpd and sshd with keys, accounts and trees of their own; skipped by name where missing."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingather.model.resource import Failure, Response
from ingather.model.scope import Scope
from ingather.testing.running import wait_until

VSFTPD = shutil.which("vsftpd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
KEYGEN = shutil.which("ssh-keygen")
OPENSSL = shutil.which("openssl")
_OLD_S = 1_700_000_000


class Clock:
    """The machine's own clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()


class Here:
    """A resolver that knows this machine under some names."""

    async def resolve(self, host: str) -> Sequence[str]:
        return ("127.0.0.1",) if host in {"localhost", "other.example", "127.0.0.1"} else ()


@dataclass
class Served:
    """A running server: its port, the folder that it shows, what else a test wants to know."""

    port: int
    folder: Path
    facts: dict[str, str] = field(default_factory=dict)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
    except OSError:
        return False


def tree(folder: Path) -> Path:
    """Make files that are old enough to have validators, a folder, a link out of the tree and an empty folder."""
    (folder / "pub" / "sub dir").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "pub" / "a.txt").write_text("hello")
    (folder / "pub" / "page.html").write_text("<title>A page</title><a href='a.txt'>a</a>")
    (folder / "pub" / "big.bin").write_bytes(b"x" * 200_000)
    (folder / "pub" / "sub dir" / "ä;b.txt").write_text("umlaut")
    (folder / "pub" / "link").symlink_to("/etc/passwd")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /pub/secret/\n")
    for path in folder.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (_OLD_S, _OLD_S))
            path.chmod(0o755 if path.is_dir() else 0o644)
    folder.chmod(0o755)
    return folder


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder of ours that other users can look into: servers give up their rights."""
    base = Path(tempfile.mkdtemp(prefix="ingather-test-"))
    base.chmod(0o755)
    try:
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)


def run(
    make: Callable[[], Any], ask: Callable[[Callable[..., Awaitable[Response | Failure]]], Awaitable[None]]
) -> None:
    """Run *ask* with a fetcher's fetch, and close the fetcher."""

    async def main() -> None:
        fetcher = make()
        try:
            await ask(fetcher.fetch)
        finally:
            await fetcher.close()

    asyncio.run(main())


def scope(*schemes: str, **more: Any) -> Scope:
    """A source that may go to this machine."""
    return Scope(source="files", schemes=frozenset(schemes), addresses=("127.0.0.0/8",), **more)


def answer(got: Response | Failure, status: int) -> Response:
    assert isinstance(got, Response), got
    assert got.status == status, got
    return got


def failure(got: Response | Failure) -> Failure:
    assert isinstance(got, Failure), got
    return got


def started(command: Sequence[str], port: int, **more: Any) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more
    )
    try:
        wait_until(lambda: answers(port) or process.poll() is not None)
    except BaseException:
        ended(process)
        raise
    return process


def ended(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that signs itself, and its key."""
    if OPENSSL is None:
        pytest.skip("openssl is not there (apt-get install openssl)")
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(paths[1]), "-out", str(paths[0]),
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return paths


VSFTPD_CONF = """\
listen=YES
listen_address=127.0.0.1
listen_port={port}
background=NO
anonymous_enable=YES
local_enable={local}
ftp_username={anonymous}
anon_root={folder}
nopriv_user={anonymous}
run_as_launching_user={launching}
secure_chroot_dir={empty}
seccomp_sandbox=NO
pasv_min_port=0
connect_from_port_20=NO
port_enable=YES
xferlog_enable=YES
log_ftp_protocol=YES
vsftpd_log_file={log}
{more}
"""


@contextmanager
def _vsftpd(more: str = "") -> Iterator[Served]:
    if VSFTPD is None:
        pytest.skip("vsftpd is not there (apt-get install vsftpd)")
    with open_folder() as base:
        yield from _serving(base, more)


def _serving(base: Path, more: str) -> Iterator[Served]:
    folder = tree(base / "root")
    empty = base / "empty"
    empty.mkdir()
    port, me = free_port(), pwd.getpwuid(os.getuid()).pw_name
    root = os.getuid() == 0
    anonymous = "ftp" if root and _has_user("ftp") else "nobody" if root else me
    conf = base / "vsftpd.conf"
    conf.write_text(
        VSFTPD_CONF.format(
            port=port, local="NO", anonymous=anonymous, folder=folder, launching="NO" if root else "YES",
            empty=empty, log=base / "log", more=more,
        )
    )  # fmt: skip
    process = started([str(VSFTPD), str(conf)], port)
    if process.poll() is not None:
        pytest.skip("vsftpd does not start here")
    try:
        yield Served(port, folder, {"log": str(base / "log")})
    finally:
        ended(process)


def _has_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@pytest.fixture(scope="session")
def vsftpd() -> Iterator[Served]:
    """An FTP server for everybody."""
    with _vsftpd() as served:
        yield served


@pytest.fixture(scope="session")
def vsftpd_tls(certificate: tuple[Path, Path]) -> Iterator[Served]:
    """The same with TLS asked for (AUTH TLS)."""
    with _vsftpd(TLS.format(cert=certificate[0], key=certificate[1])) as served:
        yield served


@pytest.fixture(scope="session")
def vsftpd_implicit(certificate: tuple[Path, Path]) -> Iterator[Served]:
    """The same with TLS from the first byte."""
    with _vsftpd(TLS.format(cert=certificate[0], key=certificate[1]) + "implicit_ssl=YES\n") as served:
        yield served


TLS = """\
ssl_enable=YES
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
rsa_cert_file={cert}
rsa_private_key_file={key}
require_ssl_reuse=NO
"""

SSHD_CONF = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {base}/host
PidFile {base}/pid
AuthorizedKeysFile {base}/authorized
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
"""


@pytest.fixture(scope="session")
def sshd() -> Iterator[Served]:
    """An SFTP server with a host key and an account's key of its own; the account is ours."""
    if SSHD is None or KEYGEN is None:
        pytest.skip("sshd is not there (apt-get install openssh-server)")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # its privilege separation wants the folder
    with open_folder() as base:
        folder = tree(base / "root")
        for name in ("host", "user", "other"):
            subprocess.run(
                [KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(base / name)], check=True, timeout=60
            )
        (base / "authorized").write_text((base / "user.pub").read_text())
        port = free_port()
        conf = base / "sshd.conf"
        conf.write_text(SSHD_CONF.format(port=port, base=base))
        process = started([SSHD, "-D", "-f", str(conf), "-E", str(base / "log")], port)
        if process.poll() is not None:
            pytest.skip("sshd does not start here")
        shown = subprocess.run(
            [KEYGEN, "-lf", str(base / "host.pub")], check=True, capture_output=True, text=True, timeout=60
        )
        try:
            yield Served(
                port,
                folder,
                {
                    "user": pwd.getpwuid(os.getuid()).pw_name,
                    "key": str(base / "user"),
                    "other-key": str(base / "other"),
                    "fingerprint": shown.stdout.split()[1],
                    "host-key": (base / "host.pub").read_text().rsplit(" ", 1)[0],
                },
            )
        finally:
            ended(process)
