"""Mail (RFC 5322, MIME) and mailboxes: headers, text, attachments; the standard library's parser, guarded.

Of alternatives the plain text is read and the HTML gives its links, or the HTML is read
when there is no plain text. A message in a message is read like an attachment.
"""

import datetime as dt
import email
import email.errors
import email.header
import email.message
import email.policy
import email.utils
import re

from ingather.extract.charset import decode
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.kinds import Kind, kind_of
from ingather.extract.documents.limits import LimitReachedError
from ingather.extract.documents.markup import page_of, write_links
from ingather.extract.documents.plain import add_addresses

__all__ = ["decoded_header", "header_date", "read"]

_HEADERS = (("subject", "title"), ("from", "author"), ("to", "to"), ("cc", "cc"), ("keywords", "keywords"))
_SHOWN = ("Subject", "From", "To", "Cc")
_MBOX_LINE = re.compile(rb"^From \S+ .{0,40}\d\d:\d\d.*$", re.MULTILINE)
_BOUNDARY_LINE = re.compile(rb"^--", re.MULTILINE)
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LINES_PER_PART = 5


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read a message, or every message of a mailbox, into *draft*.

    Raises:
        LimitReachedError: a limit of the draft's budget.
    """
    if kind_of(body) is Kind.MBOX:
        starts = [found.start() for found in _MBOX_LINE.finditer(body)]
        for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
            draft.budget.take_member()
            _read_message(body[body.find(b"\n", start) + 1 : end], draft)
    else:
        _read_message(body, draft)


def _read_message(body: bytes, draft: Draft) -> None:
    message = _parsed(body, draft)
    for name, key in _HEADERS:
        draft.meta(key, ", ".join(decoded_header(value) for value in message.get_all(name, ())))
    draft.meta("created", header_date(str(message.get("date", ""))))
    draft.meta("message-id", str(message.get("message-id", "")))
    draft.meta("language", str(message.get("content-language", "")).partition(",")[0])
    for name in _SHOWN:
        if values := message.get_all(name):
            draft.block(f"{name}: {', '.join(decoded_header(value) for value in values)}")
    _read_part(message, draft, 0)


def _parsed(body: bytes, draft: Draft) -> email.message.Message:
    """Parse a message; one nested or split beyond reason is its headers and its raw text."""
    most = draft.budget.limits.members * _LINES_PER_PART
    try:
        if sum(1 for _, _ in zip(_BOUNDARY_LINE.finditer(body), range(most + 1), strict=False)) <= most:
            return email.message_from_bytes(body, policy=email.policy.compat32)
    except RecursionError:
        pass
    draft.flag("cut")
    end = _HEADER_END.search(body)
    head = body[: end.start() if end else len(body)]
    message = email.message_from_bytes(re.sub(rb"(?im)^content-type:.*$", b"Content-Type: text/plain", head))
    message.set_payload(body[end.end() :].decode("latin-1") if end else "")
    return message


def _read_part(part: email.message.Message, draft: Draft, depth: int) -> None:
    draft.budget.take_member()
    if depth > draft.budget.limits.depth * 10:
        raise LimitReachedError("depth")
    payload = part.get_payload() if part.is_multipart() else None
    children = [child for child in payload if isinstance(child, email.message.Message)] if payload else []
    if not children:
        _read_leaf(part, draft)
    elif part.get_content_type() == "message/rfc822":
        for child in children:
            _read_inner_message(child, draft, depth)
    elif part.get_content_subtype() == "alternative":
        _read_alternatives(children, draft, depth)
    else:
        for child in children:
            _read_part(child, draft, depth + 1)


def _read_inner_message(message: email.message.Message, draft: Draft, depth: int) -> None:
    for name in _SHOWN:
        for value in message.get_all(name, ()):
            draft.block(f"{name}: {decoded_header(value)}")
    _read_part(message, draft, depth + 1)


def _read_alternatives(children: list[email.message.Message], draft: Draft, depth: int) -> None:
    """Read the plain text and take the links of the rest; or, without plain text, the richest that there is."""
    plain = [child for child in children if child.get_content_type() == "text/plain" and _data(child).strip()]
    rest = [child for child in children if child.get_content_type() != "text/plain"]
    if not plain:
        for child in rest[-1:]:
            _read_part(child, draft, depth + 1)
        return
    for child in plain:
        _read_part(child, draft, depth + 1)
    for child in rest:
        for inner in child.walk():
            if inner.get_content_type() == "text/html":
                _take_links(_data(inner), inner, draft)
            elif not inner.is_multipart() and inner.get_content_type() != "text/plain":
                _read_leaf(inner, draft)


def _read_leaf(part: email.message.Message, draft: Draft) -> None:
    data = _data(part)
    name = decoded_header(part.get_filename() or "")
    declared = part.get_content_type()
    if not data:
        return
    if (
        part.get_content_disposition() == "attachment"
        or name
        or part.get_content_maintype() not in {"text", "message"}
    ):
        draft.embed(name or "attachment", data, _declared(part))
    elif declared == "text/html":
        draft.embed("", data, _declared(part), keep=False)
    else:
        text = _text(data, part)
        for line in text.splitlines():
            draft.block(line)
        add_addresses(text, draft)


def _take_links(data: bytes, part: email.message.Message, draft: Draft) -> None:
    write_links(page_of(data, _declared(part)), draft)


def _data(part: email.message.Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        return b""
    return data if isinstance(data, bytes) else b""


def _declared(part: email.message.Message) -> str:
    charset = _charset(part)
    return f"{part.get_content_type()}; charset={charset}" if charset else part.get_content_type()


def _charset(part: email.message.Message) -> str:
    try:
        return str(part.get_content_charset() or "")
    except (ValueError, LookupError):
        return ""


def _text(data: bytes, part: email.message.Message) -> str:
    return str(decode(data, content_type=_declared(part))[0])


def decoded_header(value: object) -> str:
    """Return a header's value with its encoded words decoded, as far as they can be."""
    text = str(value)
    try:
        pieces = email.header.decode_header(text)
    except (email.errors.HeaderParseError, ValueError, IndexError):
        return text
    words = []
    for piece, charset in pieces:
        if isinstance(piece, bytes):
            try:
                words.append(piece.decode(charset or "utf-8", "replace"))
            except LookupError:
                words.append(piece.decode("utf-8", "replace"))
        else:
            words.append(piece)
    return "".join(words)


def header_date(value: str) -> str:
    """Return a date header as RFC 3339 in UTC, ``""`` when it is none."""
    try:
        moment = email.utils.parsedate_to_datetime(value)
        if moment.tzinfo is None:
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
