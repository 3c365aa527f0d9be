"""The first line says why, the strongest reason first."""

from typing import Any

import pytest

from ingather.explain import as_text, headline

PASSES = {"allowed": True, "reason": "", "category": None, "where": ""}
DENIED = {
    "allowed": False,
    "reason": "filter rule archive-files",
    "category": "filter rules",
    "where": "filter.conf:14",
}


def answer(**changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "url": "http://h/a", "known": True, "state": "done", "outcome": "indexed", "status": 200, "detail": "", "where": "",
        "described": True, "access": "public", "source": "web", "depth": 1, "config_version": 1, "flags": [], "linked_from": 0,
        "anchors": [], "next_visit": None, "visits": [], "origins": {}, "layers": {}, "found": {"referrers": ["http://h/"]},
        "index": {"indexed": True, "sequence": 9, "behind": 0}, "robots": {"allowed": True, "detail": "status 200"},
        "decision": {"enumeration": PASSES, "generation": PASSES, "steps": []}, "tombstone": None, "held": None, "duplicate_of": None,
    }  # fmt: skip
    return facts | changes


LISTED = {
    "known": True,
    "because": "indexed at T because feed F listed it on D; next check E because X",
    "foreign": [],
}
FEED = {"known": False, "foreign": [], "feed": {"source": "news", "next_poll": "T", "why": "its ttl"}}
OUT = {"indexed": False, "sequence": 9, "behind": 0}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "In search"),
        ({"flags": ["unread", "conversion-failed:encrypted"]}, "In search by its address only: text not read, because it needs a password."),
        ({"flags": ["converted", "no-text"], "index": OUT | {"indexed": True, "behind": 3}}, "In search by its address only (the index is 3 changes behind): text not read, because there is none in it (no-text)"),
        ({"flags": ["unread"]}, "In search by its address only: text not read, because no convert-to-html line of filter.conf takes its type."),
        ({"flags": ["conversion-failed:odd"], "web_feeds": LISTED}, "because its reader failed (odd); indexed at T because feed F"),
        ({"web_feeds": LISTED}, "In search: indexed at T because feed F listed it on D; next check E because X."),
        ({"index": OUT, "described": False, "web_feeds": FEED}, "it is a feed of the source news, and feeds are no documents; next poll T: its ttl"),
        ({"index": OUT, "tombstone": {"at": "T", "reason": "404"}, "web_feeds": LISTED | {"because": "feed F listed it"}}, "deleted T: 404; feed F listed it"),
        ({"index": OUT, "described": False, "outcome": "not_found", "web_feeds": LISTED | {"because": "not indexed so far"}}, "not indexed so far"),
        ({"held": "not found (404)"}, "deletion is held"),
        ({"index": OUT | {"behind": 3}}, "3 changes behind"),
        ({"index": OUT, "tombstone": {"at": "2026-01-01T00:00:00Z", "reason": "removed by hand"}}, "removed by hand"),
        ({"index": OUT, "duplicate_of": "http://h/b"}, "duplicate of http://h/b"),
        ({"index": OUT, "access": "secure", "layers": {"import": {"readacl": ["x"]}}}, "access list (readacl)"),
        ({"index": OUT, "described": False, "outcome": "robots", "detail": "robots.txt forbids it", "where": "robots.txt:3"}, "robots.txt:3"),
        ({"index": OUT, "described": False, "outcome": "redirected", "redirects_to": "http://h/new"}, "redirects to http://h/new"),
        ({"index": OUT, "described": False, "outcome": "not_found", "status": 404}, "404"),
        ({"index": OUT, "described": False, "outcome": "failed", "detail": "tls: expired"}, "tls: expired"),
        ({"index": OUT, "described": False, "state": "waiting", "outcome": None}, "not visited yet"),
        ({"index": OUT, "described": False, "state": "excluded", "detail": "depth over 2", "where": "filter.conf:14"}, "depth over 2"),
        ({"index": OUT, "described": False, "state": "quarantined", "detail": "hangs its reader"}, "hangs its reader"),
        ({"known": False, "index": OUT, "decision": {"enumeration": DENIED, "generation": DENIED, "steps": []}}, "filter.conf:14"),
        ({"known": False, "index": OUT, "robots": {"allowed": False, "line": 2, "text": "Disallow: /a"}}, "Disallow: /a"),
        ({"known": False, "index": OUT}, "never met"),
    ],
)  # fmt: skip
def test_the_first_line_names_the_reason(changes: dict[str, Any], said: str) -> None:
    line = headline(answer(**changes))
    assert said in line
    assert line.endswith(".")


def test_the_text_begins_with_the_first_line() -> None:
    given = answer(answer="In search.")
    assert as_text(given).splitlines()[0] == "In search."
    assert "linked from http://h/" in as_text(given)
