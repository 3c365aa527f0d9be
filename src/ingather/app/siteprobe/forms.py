"""Forms that ask for a password, and the schemes of a 401: how one logs in at a site. Pure and linear."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from ingather.fetch import target_of

__all__ = ["LoginForm", "login_forms", "schemes_of"]

_MOST_BYTES: Final = 512 * 1024
_MOST_FORMS: Final = 5
_MOST_FIELDS: Final = 40
# Bounded and possessive: each tag is read once, a text of "<form<form" too.
_TAG: Final = re.compile(r"<(/?)(form|input|button|select)\b([^<>]{0,4096}+)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"""([A-Za-z-]{1,40}+)\s{0,20}+=\s{0,20}+(?:"([^"]{0,2000}+)"|'([^']{0,2000}+)'|([^\s"'<>]{1,2000}+))"""
)
_SCHEME: Final = re.compile(r"(?:^|,)\s{0,20}+([A-Za-z][A-Za-z0-9-]{1,40}+)(?=\s|,|$)(?!\s{0,20}+=)")
_REALM: Final = re.compile(r'realm="([^"]{0,200}+)"', re.IGNORECASE)
_HIDDEN: Final = frozenset({"hidden", "submit", "button", "image", "reset"})


class LoginForm(msgspec.Struct, frozen=True):
    """A form with a password: where it goes, how, and its fields in order.

    Attributes:
        action: absolute.
        method: ``post`` or ``get``.
        password: name of the field for the password.
        user: name of the field before it, which is for the user's name as a rule; ``""`` = none.
        hidden: names of the fields that are filled in already.
        fields: names of all fields.
    """

    action: str
    method: str
    password: str
    user: str = ""
    hidden: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


def login_forms(body: bytes, url: str) -> tuple[LoginForm, ...]:
    """Return the forms of an HTML page that ask for a password, at most five; a password outside of any form counts as one at *url*."""
    text = _uncommented(body[:_MOST_BYTES].decode("utf-8", "replace"))
    found: list[LoginForm] = []
    form: dict[str, str] = {}
    fields: list[tuple[str, str]] = []
    for match in _TAG.finditer(text):
        name, closes = match[2].lower(), bool(match[1])
        if name == "form":
            found += _made(form, fields, url)
            form, fields = ({} if closes else _attributes(match[3])), []
        elif name in {"input", "select"} and not closes and len(fields) < _MOST_FIELDS:
            given = _attributes(match[3])
            fields.append((given.get("name", ""), given.get("type", "text").lower()))
        if len(found) >= _MOST_FORMS:
            return tuple(found[:_MOST_FORMS])
    return tuple((found + list(_made(form, fields, url)))[:_MOST_FORMS])


def schemes_of(header: str) -> tuple[tuple[str, str], ...]:
    """Return (scheme, realm) of a ``WWW-Authenticate`` (several lines joined by commas), in order, each scheme once."""
    starts = [(match.start(1), match[1]) for match in _SCHEME.finditer(header)]
    found: dict[str, str] = {}
    for number, (at, scheme) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(header)
        realm = _REALM.search(header[at:end])
        found.setdefault(scheme.capitalize() if not scheme.isupper() else scheme, realm[1] if realm else "")
    return tuple(found.items())


def _made(form: dict[str, str], fields: list[tuple[str, str]], url: str) -> Iterator[LoginForm]:
    at = next((number for number, (_, kind) in enumerate(fields) if kind == "password"), -1)
    if at < 0:
        return
    before = [
        name
        for name, kind in fields[:at]
        if name and kind not in _HIDDEN and kind not in {"checkbox", "radio"}
    ]
    yield LoginForm(
        target_of(url, form.get("action", "") or url) or url,
        form.get("method", "get").lower() or "get",
        fields[at][0],
        before[-1] if before else "",
        tuple(name for name, kind in fields if name and kind == "hidden"),
        tuple(name for name, _ in fields if name),
    )


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        value = match[2] if match[2] is not None else match[3] if match[3] is not None else match[4]
        found.setdefault(match[1].lower(), value.strip().replace("&amp;", "&"))
    return found


def _uncommented(text: str) -> str:
    pieces, at = [], 0
    while (begin := text.find("<!--", at)) >= 0:
        pieces.append(text[at:begin])
        end = text.find("-->", begin + 4)
        if end < 0:
            return "".join(pieces)
        at = end + 3
    return "".join([*pieces, text[at:]])
