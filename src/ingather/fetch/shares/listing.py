"""A folder's entries as a page of links, for protocols whose folders have no page of their own.

Filters see an ordinary text/html page; ``Response.listing`` tells the robot that it is followed and not described.
What a host says of its folders is not trusted: a name is one segment of a path or is left out, and their number is bounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import md5
from html import escape
from urllib.parse import quote, unquote

from ingather.model.resource import LISTING_ENTRIES, Request, Response

__all__ = ["Entry", "is_name", "listing_page", "listing_response"]

_SAFE = "!$&'()*+,=:@"  # what a path may hold as it is; a semicolon would begin parameters
_FIRST_SHOWN = 0x20
_DELETE = 0x7F


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder.

    Attributes:
        name: as the host spells it, bytes that are no UTF-8 as surrogates (``surrogateescape``).
        folder: whether it holds entries itself.
    """

    name: str
    folder: bool = False


def is_name(name: str) -> bool:
    """Whether *name* can be one entry of a folder: no path, no control characters, not the folder or its parent."""
    return name not in {"", ".", ".."} and not any(
        char == "/" or ord(char) < _FIRST_SHOWN or ord(char) == _DELETE for char in name
    )


def listing_page(url: str, entries: Iterable[Entry], *, most: int = LISTING_ENTRIES) -> tuple[bytes, bool]:
    """Return an HTML page with a link for each of *entries*, sorted, and whether some were left out.

    Args:
        url: canonical, of the folder; ends with ``/``.
        entries: as the host gave them; what is no name is left out, and what comes twice.
        most: so many are kept, those that sort first.
    """
    kept = sorted({(entry.name, entry.folder) for entry in entries if is_name(entry.name)})
    cut = len(kept) > most
    title = escape(unquote(url.partition("://")[2].partition("/")[2]))
    lines = [
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>/{_shown(title)}</title></head>\n<body><ul>'
    ]
    for name, folder in kept[:most]:
        mark = "/" if folder else ""
        href = quote(name.encode("utf-8", "surrogateescape"), safe=_SAFE)
        lines.append(f'<li><a href="./{escape(href)}{mark}">{_shown(escape(name))}{mark}</a></li>')
    lines.append("</ul></body></html>\n")
    return "\n".join(lines).encode(), cut


def listing_response(  # noqa: PLR0913 - the facts of one answer
    request: Request,
    entries: Iterable[Entry],
    *,
    wire_bytes: int = 0,
    elapsed_s: float = 0.0,
    address: str = "",
    authorized: bool = False,
    most: int = LISTING_ENTRIES,
) -> Response:
    """Return the answer to *request* for a folder: 200 with its page, or 304 if it is the one that was known.

    ``Response.cut``: there are more entries than *most*.
    """
    body, cut = listing_page(request.url, entries, most=most)
    etag = f'"{md5(body, usedforsecurity=False).hexdigest()}"'
    known = bool(request.etag) and request.etag == etag
    return Response(
        request.url,
        304 if known else 200,
        (("Content-Type", "text/html; charset=utf-8"), ("ETag", etag)),
        b"" if known else body,
        wire_bytes,
        elapsed_s,
        address,
        cut=cut,
        authorized=authorized,
        listing=True,
    )


def _shown(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
