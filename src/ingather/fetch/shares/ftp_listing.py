"""What FTP and SFTP servers print of a folder: MLSD (RFC 3659), ``ls -l`` in its spellings, DOS, EPLF.

Symbolic links are left out: what they lead to within the tree is met by its own name, and what lies outside is none of ours.
What cannot be read is left out as well. Pure.
"""

import re
from collections.abc import Iterator
from typing import Final

from ingather.fetch.shares.listing import Entry

__all__ = ["read_list", "read_mlsd"]

_LONGEST: Final = 8192
# Every quantifier is bounded: a hostile line costs time in proportion to its length.
_DATE: Final = re.compile(
    r"(?<=[0-9][ ])[ ]{0,15}(?:"
    r"[^\W\d]{2,5}\.?[ ]{1,3}[0-9]{1,2}[ ]{1,3}(?:[0-9]{1,2}:[0-9]{2}|[0-9]{4})"  # Nov 22 13:15, Nov 22  2020
    r"|[0-9]{1,2}\.?[ ]{1,3}[^\W\d]{2,5}\.?[ ]{1,3}(?:[0-9]{1,2}:[0-9]{2}|[0-9]{4})"  # 22 Nov 13:15
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[ ][+-][0-9]{4})?)?"
    r")[ ](?=.)"
)
_UNIX: Final = re.compile(r"(?P<type>[-dl])(?:[-rwxsStTlL]{9}[+@.]?|[ ]?\[[A-Z-]{1,16}\])[ ]")
_DOS: Final = re.compile(
    r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[ ]{1,3}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[ ]?(?:[AaPp][Mm]?)?[ ]{1,20}"
    r"(?:(?P<dir><[Dd][Ii][Rr]>)[ ]{1,20}|[0-9][0-9,.]{0,30}[ ])(?P<name>[^<].*)"
)


def read_list(body: bytes) -> Iterator[Entry]:
    """Yield the entries of what LIST gave."""
    for line in _lines(body):
        if line.startswith("+"):
            entry = _eplf(line)
        elif (unix := _UNIX.match(line)) is not None:
            date = _DATE.search(line, unix.end() - 1)
            known = date is not None and unix["type"] != "l"
            entry = (
                Entry(line[date.end() :], folder=unix["type"] == "d") if date is not None and known else None
            )
        elif (dos := _DOS.fullmatch(line)) is not None:
            entry = Entry(dos["name"], folder=dos["dir"] is not None)
        else:
            entry = None
        if entry is not None:
            yield entry


def read_mlsd(body: bytes) -> Iterator[Entry]:
    """Yield the entries of what MLSD gave: ``type=dir;modify=...; name``."""
    for line in _lines(body):
        facts, blank, name = line.partition(" ")
        kind = next(
            (
                value.lower()
                for fact, sign, value in (text.partition("=") for text in facts.split(";"))
                if sign and fact.lower() == "type"
            ),
            "",
        )
        if blank and kind in {"file", "dir"}:
            yield Entry(name, folder=kind == "dir")


def _lines(body: bytes) -> Iterator[str]:
    for raw in body.split(b"\n"):
        line = raw.removesuffix(b"\r")
        if 0 < len(line) <= _LONGEST:
            yield line.decode("utf-8", "surrogateescape")


def _eplf(line: str) -> Entry | None:
    """Read easily parsed list format: ``+i8388621.29609,m824255902,/,TAB tdev``."""
    facts, tab, name = line[1:].partition("\t")
    kinds = set(facts.split(","))
    if not tab or not {"/", "r"} & kinds:
        return None
    return Entry(name, folder="/" in kinds)
