"""What the gate says, in the bytes that the appliance used (GSA feeds specification, section 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import msgspec

from ingather.feeds.desk import FeedTicket
from ingather.web.feedgate.refusal import INTERNAL_TEXT, RefusedError

__all__ = ["CONTINUE", "SUCCESS", "Answer", "internal", "json_answer", "refused", "success"]

SUCCESS: Final = b"Success"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_TEXT: Final = "text/plain"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body and what else the head has."""

    status: int
    body: bytes
    media: str = _TEXT
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire(self, *, always_200: bool = False, without_body: bool = False) -> bytes:
        """Return the answer as it is sent; *without_body* for ``HEAD``."""
        status = 200 if always_200 else self.status
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Error"
        lines = [
            f"HTTP/1.1 {status} {phrase}",
            f"Content-Type: {self.media}",
            "Server: feedergate_1.0",
            "Connection: close",
            f"Content-Length: {len(self.body)}",
            "X-Content-Type-Options: nosniff",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
        return head if without_body else head + self.body


def success(ticket: FeedTicket, status_url: str) -> Answer:
    """Return ``Success``, seven bytes; *status_url* is where the feed's report can be read."""
    return Answer(200, SUCCESS, headers=feed_headers(ticket, status_url))


def feed_headers(ticket: FeedTicket, status_url: str) -> dict[str, str]:
    """Return the fields that name a feed."""
    headers = {"X-Feed-Id": ticket.name}
    if status_url:
        headers["X-Feed-Status-Url"] = status_url + ticket.name
    return headers


def json_answer(
    tree: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return a JSON object."""
    return Answer(status, msgspec.json.encode(tree), "application/json", headers or {})


def refused(error: RefusedError) -> Answer:
    """Return a refusal."""
    text = " ".join(error.text.split())
    return Answer(
        error.status,
        text.encode("utf-8", "replace"),
        "text/plain; charset=utf-8" if not text.isascii() else _TEXT,
    )


def internal() -> Answer:
    """Return what is said when the fault is ours."""
    return Answer(500, INTERNAL_TEXT.encode())
