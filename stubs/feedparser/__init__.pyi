# feedparser ships no types. Only what is called: parse, with bytes alone, because text it would open.
from typing import Any

class FeedParserDict(dict[str, Any]):
    entries: list[FeedParserDict]
    feed: FeedParserDict

def parse(
    url_file_stream_or_string: bytes,
    *,
    response_headers: dict[str, str] | None = ...,
    resolve_relative_uris: bool | None = ...,
    sanitize_html: bool | None = ...,
) -> FeedParserDict: ...
