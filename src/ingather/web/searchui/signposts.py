"""What tells browsers and robots about the search page: OpenSearch description and robots.txt."""

import re
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ingather.web.failures import WebError
from ingather.web.state import search_state

__all__ = ["opensearch", "robots"]

_HOST = re.compile(r"[0-9A-Za-z._-]+(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?")
_NAME_CHARS = 16
_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>{name}</ShortName>
  <Description>{name}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Url type="text/html" method="get" template={page}/>
  <Url type="application/opensearchdescription+xml" rel="self" template={own}/>
</OpenSearchDescription>
"""


async def opensearch(request: Request) -> Response:
    """``GET /opensearch.xml``: OpenSearch 1.1, with the address by which the browser called us."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise WebError(
            400, "bad-host", "The header Host is no host.", hint="Call this listener by its name or address."
        )
    base = f"{request.url.scheme}://{host}"
    text = _DESCRIPTION.format(
        name=escape(search_state(request).parts.name[:_NAME_CHARS]),
        page=quoteattr(f"{base}/?q={{searchTerms}}&page={{startPage?}}"),
        own=quoteattr(f"{base}/opensearch.xml"),
    )
    return Response(text, media_type="application/opensearchdescription+xml")


async def robots(_request: Request) -> Response:
    """``GET /robots.txt``: result pages are for people; another robot would walk them for ever."""
    return PlainTextResponse(
        "User-agent: *\nDisallow: /\n", headers={"cache-control": "public, max-age=86400"}
    )
