"""Small changes to a TOML file that leave all else as people wrote it: comments, order, blanks, line ends."""

import copy
import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any, Final

from ingather.conf.text.toml_places import TomlPlaces

__all__ = ["NotEditableError", "add_to_list", "toml_text"]

_EQUALS: Final = re.compile(r"[ \t]*=\s*\[")
_TOKEN: Final = re.compile(
    r'"{3}(?:[^\\]|\\.)*?"{3,5}|\'{3}.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[,\]]|[^\s,\]#"\']+',
    re.DOTALL,
)


class NotEditableError(Exception):
    """The file is written in a way that is not changed by program; the message says how it could be done by hand."""


def toml_text(text: str) -> str:
    """Return *text* as a basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def add_to_list(body: str, table: tuple[str, ...], key: str, values: Sequence[str]) -> str:
    """Return the file *body* with *values* at the end of the list of texts *key* of ``[table]``, which is made if it is not there.

    Raises:
        NotEditableError: the table is not there, or is written so that there is no safe place.
        tomllib.TOMLDecodeError: *body* is not TOML.
    """
    if not values:
        return body
    before = tomllib.loads(body)
    inside: Any = before
    for name in table:
        inside = inside.get(name) if isinstance(inside, dict) else None
    if not isinstance(inside, dict):
        raise NotEditableError(f"there is no [{'.'.join(table)}]")
    if not isinstance(inside.get(key, []), list):
        raise NotEditableError(f"{key} of [{'.'.join(table)}] is no list")
    written = [toml_text(value) for value in values]
    places = TomlPlaces(body)
    new = (
        _appended(body, places.find((*table, key)), written)
        if key in inside
        else _begun(body, places.find(table), key, written)
    )
    wanted = copy.deepcopy(before)
    inside = wanted
    for name in table:
        inside = inside[name]
    inside[key] = [*inside.get(key, ()), *values]
    try:
        right = tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise NotEditableError(f"write {', '.join(written)} into {key} of [{'.'.join(table)}]")
    return new


def _offset(body: str, place: tuple[int, int]) -> int:
    at = 0
    for _ in range(place[0] - 1):
        at = body.index("\n", at) + 1
    return at + place[1] - 1


def _end_of_line(body: str, at: int) -> str:
    return "\r\n" if body[:at].endswith("\r\n") or (at == 0 and "\r\n" in body) else "\n"


def _begun(body: str, place: tuple[int, int], key: str, written: Sequence[str]) -> str:
    """Write ``key = [...]`` behind the header of a table."""
    at = _offset(body, place)
    start = body.rfind("\n", 0, at) + 1
    if body[start:at].strip() != "[":
        raise NotEditableError(f"write {key} = [{', '.join(written)}] there")
    end = body.find("\n", at)
    if end < 0:
        return f"{body}\n{key} = [{', '.join(written)}]\n"
    return f"{body[: end + 1]}{key} = [{', '.join(written)}]{_end_of_line(body, end + 1)}{body[end + 1 :]}"


def _appended(body: str, place: tuple[int, int], written: Sequence[str]) -> str:
    """Write values behind the last one of a list, in a line of their own when that one has one."""
    at = _offset(body, place)
    opening = _EQUALS.search(body, at)
    if opening is None:
        raise NotEditableError(f"write {', '.join(written)} there")
    last, comma, here = 0, 0, opening.end()
    while True:
        found = _TOKEN.search(body, here)
        if found is None or found[0] == "]":
            break
        here = found.end()
        if found[0] == ",":
            comma = here
        elif found[0][0] != "#":
            last = here
            comma = 0
    if not last:
        return f"{body[: opening.end()]}{', '.join(written)}{body[opening.end() :]}"
    line = body.rfind("\n", 0, last) + 1
    own_line = line > opening.end()
    if not own_line:
        tail = "," if comma else ""
        return f"{body[:last]}, {', '.join(written)}{tail}{body[comma or last :]}"
    indent = body[line : len(body) - len(body[line:].lstrip())]
    stop = body.find("\n", last)
    comment = body[comma or last : stop]
    if comment.strip() and not comment.strip().startswith("#"):
        return f"{body[:last]}, {', '.join(written)}{body[comma or last :]}"
    end = "\r\n" if comment.endswith("\r") else "\n"
    lines = f",{end}".join(indent + value for value in written)
    comment = comment.removesuffix("\r")
    return f"{body[:last]},{comment}{end}{lines}{',' if comma else ''}{end}{body[stop + 1 :]}"
