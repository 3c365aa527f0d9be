"""Documents that web feeds list: what happens next, the sentence that says why they are as they are, and the lines on a terminal."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ingather.model.intent import Intent
from ingather.syndication.explaining import Explanation
from ingather.syndication.facts import DocState, Due, Registration

__all__ = ["because", "feed_reason", "lines", "upcoming"]

_WANTED: Final = {
    Intent.NEW: ("fetch", "it is listed and not indexed"),
    Intent.REINDEX: ("fetch", "its dates changed"),
    Intent.CHECK: ("check", "no feed listed it for long, or a further look was due"),
    Intent.REFRESH: ("check", "it is listed, and its dates do not change"),
}
_FETCHED: Final = frozenset({Due.NEW, Due.RETRY, Due.REINDEX, Due.AGAIN})


def upcoming(found: Registration, told: Explanation, *, hold: int = 0) -> dict[str, Any]:
    """Return what is done next (``fetch``, ``check``, ``reindex``, ``forget``, ``person`` or ``nothing``), at (``None`` = as soon as its host allows) and why.

    Args:
        found: the document's facts.
        told: what the decider says of them.
        hold: number of the hold in which its deletion waits, 0 = none.
    """
    if hold:
        why = f"its deletion waits for a person: ingather holds release {hold}, or ingather holds discard {hold}"
        return {"what": "person", "at": None, "why": why}
    if found.intent in _WANTED:
        what, why = _WANTED[found.intent]
        return {"what": what, "at": None, "why": why}
    if told.next_s is not None:
        what = {Due.AGE: "reindex", Due.FORGET: "forget"}.get(
            found.due, "fetch" if found.due in _FETCHED else "check"
        )
        return {"what": what, "at": _instant(told.next_s), "why": told.because}
    if found.state is DocState.ALIAS:
        why = "it is the same document as another one, which is looked after"
        return {"what": "nothing", "at": None, "why": why}
    why = "its feeds have to say something new" if told.next == "nothing" else f"{told.next} {told.because}"
    return {"what": "nothing", "at": None, "why": why}


def because(form: Mapping[str, Any]) -> str:
    """Return the sentence about a document: why it is, or is not, indexed, and what happens next and why."""
    listed = [listing for listing in form["listings"] if listing["listed"]]
    first = min(form["listings"], key=lambda listing: listing["first"] or "", default=None)
    at = f" at {form['indexed']}" if form["indexed"] else ""
    origin = f"feed {first['url']} listed it on {first['first']}" if first else "a feed listed it"
    state = form["state"]
    if state == "deleted":
        said = f"deleted at {form['deleted']}: {form['reason'] or form['tombstone'] or 'gone'}; {origin}"
    elif state == "pending":
        said = f"not indexed so far{': ' + form['reason'] if form['reason'] else ''}; {origin}"
    elif state == "alias":
        said = f"the same document as {form['alias_of']}; {origin}"
    elif state == "excluded":
        said = f"left out: {form['reason'] or 'excluded'}; {origin}"
    else:
        kept = {
            "retry": ", kept although its last visit failed",
            "gone_held": ", about to be deleted",
            "hidden": ", hidden",
        }
        said = f"indexed{at} because {origin}{kept.get(state, '')}"
    if not listed and form["seen"]:
        said += f"; no feed lists it any more, last seen {form['seen']}"
    then = form["next"]
    what = {"fetch": "next visit", "check": "next check", "reindex": "reindexed", "forget": "forgotten"}.get(
        then["what"]
    )
    if what is None:
        return f"{said}; {then['why']}"
    return f"{said}; {what} {then['at'] or 'as soon as its host allows'} because {then['why']}"


def feed_reason(answer: Mapping[str, Any]) -> str:
    """Return why a URL is not in search if it is a web feed, ``""`` if it is none."""
    feed = (answer.get("web_feeds") or {}).get("feed")
    if not feed:
        return ""
    then = f"next poll {feed['next_poll']}: {feed['why']}" if feed["next_poll"] else feed["why"]
    return f"it is a feed of the source {feed['source']}, and feeds are no documents; {then}"


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an explanation says of web feeds."""
    found = answer.get("web_feeds") or {}
    if found.get("feed"):
        feed = found["feed"]
        yield f"web feed   of {feed['source']}, {feed['state']}, last poll {feed['last_poll'] or 'never'}"
        yield f"next poll  {feed['next_poll'] or 'none'}{': ' + feed['why'] if feed['why'] else ''}"
    for listing in (*found.get("listings", ()), *found.get("foreign", ())):
        dates = ", ".join(f"{name} {listing[name]}" for name in ("published", "modified") if listing[name])
        now = "listed by" if listing["listed"] else "once listed by"
        yield f"web feed   {now} {listing['url']} ({listing['source']}) {listing['first']} to {listing['last']}; {dates or 'no date'}"
    if found.get("known"):
        then = found["next"]
        yield f"as listed  {found['state'].replace('_', ' ')}; seen {found['seen'] or 'never'}, checked {found['checked'] or 'never'}"
        yield f"next       {then['what']} {then['at'] or ''}".rstrip() + f": {then['why']}"
        if found["hold"]:
            yield f"held       {found['hold']['release']}, or {found['hold']['discard']}"


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
