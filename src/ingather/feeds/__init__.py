"""Pushed feeds: what clients of a Google Search Appliance send, read and applied.

The journey of a feed: the gate writes it to a spool file (``spool``) and tells the desk (``desk``); a converter process
reads it. ``encoding`` makes UTF-8 of its bytes, ``scanning`` cuts it at the start and end tags of records and ACLs and
knows the line and offset of each, ``references`` settles references that XML does not know, ``pieces`` parses one record
strictly and repairs known slips, ``records`` and ``acls`` make values of the element, ``content`` decodes the document
inside. ``reading`` is all of that in order; ``groups_reading`` is its sister for group memberships and
``jsonlines`` reads the same model from JSON. ``batches`` makes of it what one transaction applies, with the cursor at
which the next one begins.

The keeper applies a batch in one transaction: ``applying`` decides what each record means, ``applying_acls`` and ``groups_applying`` what
ACLs and memberships do. Each statement is asked for first: ``authority`` says what a sender may say, ``ownership`` to which source a
URL belongs, ``senders`` and ``trust`` keep the tokens and addresses. ``spelling`` notes when two records mean one URL, ``receipts``
says what became of each, ``sweeping`` deals with what a full feed leaves out.

Adaptors push URLs alone; ``headers`` reads what their answers say when those are fetched.

``streaming`` has the same for programs of other people, :func:`read_feed` and :func:`read_groups`.
``checking`` is for authors of clients: a feed against the DTD (``dtd``), every finding with its line.

One bad record costs one record. What was lost of an ACL is never taken for its absence: the document is shown to nobody.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ingather.feeds.checking import FeedReport, check
    from ingather.feeds.cursor import FeedCursor
    from ingather.feeds.dates import parse_feed_date
    from ingather.feeds.limits import FeedLimits
    from ingather.feeds.streaming import FeedStream, Record, Rejection, read_feed, read_groups

__all__ = [
    "FeedCursor",
    "FeedLimits",
    "FeedReport",
    "FeedStream",
    "Record",
    "Rejection",
    "check",
    "parse_feed_date",
    "read_feed",
    "read_groups",
]

_HOMES: Final = {
    "FeedCursor": "cursor",
    "FeedLimits": "limits",
    "FeedReport": "checking",
    "FeedStream": "streaming",
    "Record": "streaming",
    "Rejection": "streaming",
    "check": "checking",
    "parse_feed_date": "dates",
    "read_feed": "streaming",
    "read_groups": "streaming",
}


def __getattr__(name: str) -> object:
    """Import the module behind a public name when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
