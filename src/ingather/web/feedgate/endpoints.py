"""The gate's addresses other than a feed's way in (GSA feeds specification, section 3)."""

from collections.abc import Callable
from typing import Final

from ingather.web.feedgate.answers import Answer
from ingather.web.feedgate.head import RequestHead
from ingather.web.feedgate.pages import DTD, FORM, VERSION
from ingather.web.feedgate.reception import KINDS

__all__ = ["static_answer"]

_READ: Final = frozenset({"GET", "HEAD"})
_XML: Final = "application/xml"
_PAGE: Final = "text/html; charset=utf-8"


def static_answer(head: RequestHead, backlog: Callable[[], int]) -> Answer | None:
    """Return the answer to a request that brings no feed, ``None`` if it brings one."""
    path = head.path
    if path in KINDS:
        return None if head.method == "POST" else _not_by_post(head)
    texts: dict[str, Callable[[], Answer]] = {
        "/getbacklogcount": lambda: Answer(200, b"%d" % backlog()),
        "/getdtd": lambda: Answer(200, DTD.encode(), _XML),
        "/gsafeed.dtd": lambda: Answer(200, DTD.encode(), _XML),
        "/sw_version.txt": lambda: Answer(200, VERSION.encode()),
    }
    make = texts.get(path)
    if make is None:
        return Answer(404, b"Error - there is nothing at this address")
    if head.method not in _READ:
        return Answer(405, b"Error - ask this address with GET", headers={"Allow": "GET, HEAD"})
    return make()


def _not_by_post(head: RequestHead) -> Answer:
    headers = {"Allow": "POST"}
    if (
        head.path == "/xmlfeed"
        and head.method == "GET"
        and "text/html" in head.fields.get("accept", "").lower()
    ):
        headers["Content-Security-Policy"] = "default-src 'none'; form-action 'self'; frame-ancestors 'none'"
        return Answer(405, FORM.encode(), _PAGE, headers)
    return Answer(405, b"Error - send feeds to this address with POST", headers=headers)
