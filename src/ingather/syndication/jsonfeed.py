"""JSON Feed 1.0 and 1.1."""

from dataclasses import replace
from typing import Any, Final

import msgspec

from ingather.syndication.collecting import Collector
from ingather.syndication.dates import tidy
from ingather.syndication.links import Candidates, absolute, resolved
from ingather.syndication.listing import Hints, ListingLimits

__all__ = ["NotJsonFeedError", "read_json_feed"]

_HUBS: Final = 20
_NUMBERS: Final = (int, float)


class NotJsonFeedError(Exception):
    """The document is no JSON Feed; the message says why."""


def read_json_feed(text: str, *, url: str, limits: ListingLimits) -> Collector:
    """Read a JSON Feed.

    Raises:
        NotJsonFeedError: no JSON, or JSON of another kind.
        TooManyItemsError: more items than one document may list.
    """
    try:
        feed: Any = msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise NotJsonFeedError(f"not JSON: {error}") from None
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        raise NotJsonFeedError("JSON without a list of items: not a JSON Feed")
    version = _text(feed.get("version"))
    if "jsonfeed.org" not in version and not any(
        isinstance(item, dict) and ("url" in item or "external_url" in item) for item in feed["items"]
    ):
        raise NotJsonFeedError("JSON that does not say that it is a JSON Feed")
    to = Collector(url, limits, "json", version.rpartition("/")[2], tidy(_text(feed.get("title"))))
    chars = limits.link_chars
    hubs = [hub.get("url") for hub in _list(feed.get("hubs")) if isinstance(hub, dict)]
    to.hints = replace(
        Hints(),
        hubs=tuple(hub for hub in (resolved(_text(hub), url, chars) for hub in hubs[:_HUBS]) if hub),
        self_url=resolved(_text(feed.get("feed_url")), url, chars),
        next_url=resolved(_text(feed.get("next_url")), url, chars),
        expired=feed.get("expired") is True,
    )
    for item in feed["items"]:
        _item(item if isinstance(item, dict) else {}, to)
    return to


def _item(item: dict[str, Any], to: Collector) -> None:
    chars = to.limits.link_chars
    identity = item.get("id")
    guid = (
        identity if isinstance(identity, str) else repr(identity)[:100] if type(identity) in _NUMBERS else ""
    )
    own, foreign = _text(item.get("url")), _text(item.get("external_url"))
    found = Candidates(
        links=[("url", resolved(own, to.url, chars)), ("external_url", resolved(foreign, to.url, chars))],
        identity=absolute(guid, chars),
        seen=[own, foreign, guid],
    )
    to.add(
        found,
        published=_text(item.get("date_published")),
        modified=_text(item.get("date_modified")),
        guid=guid,
        title=_text(item.get("title")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
