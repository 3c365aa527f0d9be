"""Plain text and tables as text: decoded, line by line; a table's fields apart by tabs."""

import csv
import io
import re
from collections.abc import Iterator

from ingather.extract.charset import decode
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.kinds import Kind, kind_of

__all__ = ["read"]

_URL = re.compile(r"\bhttps?://[^\s<>\"'`{}|\\^]{1,2000}", re.IGNORECASE)
_TRAILING = ".,;:!?)]}'\""
_SAMPLE = 8192
_LONGEST_FIELD = 1 << 20


def read(body: bytes, draft: Draft, name: str, content_type: str | None) -> None:
    """Read text or a table into *draft*; addresses in the text become links.

    Raises:
        ExtractError: the text cannot be decoded.
        LimitReachedError: a limit of the draft's budget.
    """
    text = decode(body, content_type=content_type)[0]
    if kind_of(body, name=name, content_type=content_type) is Kind.CSV:
        for row in _rows(text):
            draft.block("\t".join(row))
    else:
        for line in text.splitlines():
            draft.block(line)
    add_addresses(text, draft)


def add_addresses(text: str, draft: Draft) -> None:
    """Add a link for every web address that *text* spells out and no link has yet."""
    for found in _URL.finditer(text):
        url = found[0].rstrip(_TRAILING)
        if url.count("(") > url.count(")") and found[0][len(url) :].startswith(")"):
            url += ")"
        draft.link_once(url)


def _rows(text: str) -> Iterator[list[str]]:
    """Read the fields of a table with the delimiter that its beginning suggests; a broken one gives lines."""
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(
            text[:_SAMPLE].rpartition("\n")[0], delimiters=",;\t|"
        )
    except csv.Error:
        dialect = csv.excel
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), dialect)
    read = 0
    try:
        for row in reader:
            yield row
            read = reader.line_num
    except csv.Error:
        for line in text.splitlines()[read:]:
            yield [line]
