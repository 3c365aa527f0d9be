"""Samba on loopback: its own configuration, password database and folders, on a port of its own."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from tests.unit.shares.conftest import Served, ended, free_port, open_folder, started, tree

_PATH = "/usr/sbin:/usr/local/sbin:/usr/bin"
SMBD = shutil.which("smbd", path=_PATH)
SMBPASSWD = shutil.which("smbpasswd", path=_PATH)
PASSWORD = "right one"  # noqa: S105 - of this server alone
_CONF = """\
[global]
server role = standalone server
workgroup = TEST
interfaces = lo
bind interfaces only = yes
smb ports = {port}
disable netbios = yes
server min protocol = SMB2_02
passdb backend = tdbsam:{base}/passdb.tdb
private dir = {base}/private
lock directory = {base}/lock
state directory = {base}/state
cache directory = {base}/cache
pid directory = {base}/pid
ncalrpc dir = {base}/ncalrpc
log file = {base}/log
load printers = no
printing = bsd
printcap name = /dev/null
disable spoolss = yes
map to guest = Bad User
guest account = nobody
{more}
[docs]
path = {folder}
read only = yes
[closed]
path = {folder}/pub
server smb encrypt = required
[open]
path = {folder}/pub
guest ok = yes
[gone]
path = {folder}/not-there
"""


@contextmanager
def smb_server(more: str = "") -> Iterator[Served]:
    """Run smbd over a tree: share ``docs``, ``closed`` with encryption, ``open`` to guests, ``gone`` without its folder.

    *more*: lines of its global section.
    """
    if find_spec("smbprotocol") is None:
        pytest.skip("smbprotocol is not there (pip install 'ingather[smb]')")
    if SMBD is None or SMBPASSWD is None:
        pytest.skip("smbd is not there (apt-get install samba)")
    if os.getuid():
        pytest.skip("smbd is started by root alone")
    with open_folder() as base:
        folder = tree(base / "root")
        port, me = free_port(), pwd.getpwuid(os.getuid()).pw_name
        for name in ("private", "lock", "state", "cache", "pid", "ncalrpc"):
            (base / name).mkdir()
        conf = base / "smb.conf"
        conf.write_text(_CONF.format(base=base, folder=folder, port=port, more=more))
        subprocess.run(
            [SMBPASSWD, "-c", str(conf), "-L", "-s", "-a", me],
            input=f"{PASSWORD}\n{PASSWORD}\n", text=True, check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        process = started(  # a session of its own: at its end it ends its whole group of processes
            [SMBD, "--foreground", "--no-process-group", "-s", str(conf), "-l", str(base)], port, start_new_session=True
        )  # fmt: skip
        if process.poll() is not None:
            pytest.skip("smbd does not start here")
        try:
            yield Served(port, folder, {"user": me})
        finally:
            ended(process)
