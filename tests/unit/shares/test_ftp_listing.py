"""What servers print of folders, in every spelling that we read; what we cannot read is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.shares.ftp_listing import read_list, read_mlsd
from ingather.fetch.shares.listing import Entry, is_name

UNIX = """\
total 24
drwxr-xr-x    2 0        0            4096 Nov 22 13:15 sub dir
-rw-r--r--    1 0        0               5 Nov 22 13:15 a.txt
-rw-r--r--+   1 ann      domain users 1234567890123 Jan  1  2020 of a group with a blank
-rw-r--r--.   1 ann      staff          19 Nov 22  2024  begins with a blank
lrwxrwxrwx    1 0        0              11 Nov 22 13:15 link -> /etc/passwd
crw-rw-rw-    1 0        0          1,   3 Nov 22 13:15 null
srwxr-xr-x    1 0        0               0 Nov 22 13:15 socket
prw-r--r--    1 0        0               0 Nov 22 13:15 pipe
-rw-r--r--    1 owner                   10 Nov 22 13:15 no group
-rw-r--r--    1 ann      staff          10 2026-11-22 13:15 iso
-rw-r--r--    1 ann      staff          10 2026-11-22 13:15:01.123456789 +0100 full iso
-rw-r--r--    1 ann      staff          10 22 Nov 13:15 day first
-rw-r--r--    1 ann      staff          10 déc. 22 13:15 français
-rw-r--r--    1 ann      staff          10 Nov 22 13:15 12 Nov 22 13:15 date in it
d [R----F--] supervisor            512       Jan 16 18:53    login
- [R----F--] rhesus             214059       Oct 20 15:27    cx.exe
-rwsr-sr-t    1 0        0               5 Nov 22 13:15 odd bits
Something else entirely
-rw-r--r-- no date here
"""


def test_unix() -> None:
    assert list(read_list(UNIX.replace("\n", "\r\n").encode())) == [
        Entry("sub dir", folder=True),
        Entry("a.txt"),
        Entry("of a group with a blank"),
        Entry(" begins with a blank"),
        Entry("no group"),
        Entry("iso"),
        Entry("full iso"),
        Entry("day first"),
        Entry("français"),
        Entry("12 Nov 22 13:15 date in it"),
        Entry("   login", folder=True),
        Entry("   cx.exe"),
        Entry("odd bits"),
    ]


def test_dos() -> None:
    body = (
        b"11-22-26  01:15PM       <DIR>          sub dir\r\n"
        b"11-22-2026  01:15PM                 1234 a file.txt\r\n"
        b"2026/11/22  13:15              1,234,567 new.txt\r\n"
        b"11-22-26  01:15PM       <JUNCTION>     Docs [C:\\Users]\r\n"
        b"11-22-26  01:15PM       <SYMLINKD>     other [..]\r\n"
    )
    assert list(read_list(body)) == [Entry("sub dir", folder=True), Entry("a file.txt"), Entry("new.txt")]


def test_eplf() -> None:
    body = b"+i8388621.48594,m825718503,r,s280,\tdjb.html\r\n+i8388621.50690,m824255907,/,\t514\r\n+m1,\tneither\r\n+r\r\n"
    assert list(read_list(body)) == [Entry("djb.html"), Entry("514", folder=True)]


def test_mlsd() -> None:
    body = (
        b"type=cdir;modify=20261122131532;perm=el; /pub\r\n"
        b"type=pdir; ..\r\n"
        b"Type=DIR;Unix.mode=0755; sub dir\r\n"
        b"modify=20261122131532;size=5;type=file; a.txt\r\n"
        b"type=OS.unix=slink:/etc/passwd;size=1; link\r\n"
        b"type=OS.unix=symlink; link2\r\n"
        b"type=file;  leading\r\n"
        b"type=file;\r\nsize=5; untyped\r\nrubbish\r\n"
    )
    assert list(read_mlsd(body)) == [Entry("sub dir", folder=True), Entry("a.txt"), Entry(" leading")]


def test_bytes_that_are_no_utf8_stay_themselves() -> None:
    entry = next(read_list(b"-rw-r--r-- 1 0 0 5 Nov 22 13:15 \xe4.txt\n"))
    assert entry.name.encode("utf-8", "surrogateescape") == b"\xe4.txt"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "..", ".", "a/b", "tab\tin it", "bell\x07"])
def test_names_that_are_paths_are_no_names(name: str) -> None:
    found = [entry.name for entry in read_list(f"-rw-r--r-- 1 0 0 5 Nov 22 13:15 {name}\n".encode())]
    assert not any(is_name(entry) for entry in found)


@pytest.mark.parametrize(
    "piece", [" ", "1 ", "-rw-r--r-- ", "1 Nov ", "11-22-26 ", "+", "a=", ";", "Nov 22 "]
)
def test_long_hostile_lines_are_read_in_linear_steps(piece: str) -> None:
    line = (f"-rw-r--r-- 1 0 0 {piece * 4000}"[:8000] + "\n").encode() * 40
    assert len(list(read_list(line))) <= 40
    assert not list(read_mlsd(line))


@given(st.binary(max_size=400))
def test_anything_can_be_read(body: bytes) -> None:
    for entry in (*read_list(body), *read_mlsd(body)):
        assert "\n" not in entry.name
