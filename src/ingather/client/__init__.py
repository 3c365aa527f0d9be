"""Feeds from the sender's side: made record by record, pushed to Ingather or to any Google Search Appliance.

``FeedWriter`` and ``GroupWriter`` write XML that an appliance of version 7 reads, to anything with a ``write``.
``FeedClient`` pushes a file, or a feed while it is being made::

    client = FeedClient("search.example")
    with client.feed("intranet_hr", "incremental") as feed:
        feed.add("http://hr.example/a.html", content="<html>...</html>", mimetype="text/html")
        feed.delete("http://hr.example/old.html")

A record is checked before its first byte is written: one that cannot be said in a feed raises ``FeedWriteError``, and the
feed may go on without it.

Source: GSA feeds specification, sections 4 to 12.
"""

from ingather.client.folder import FolderFeed, feed_of_folder
from ingather.client.groups import GroupWriter
from ingather.client.pushing import FeedClient, Pushed, PushError
from ingather.client.target import Target
from ingather.client.writing import FeedWriter
from ingather.client.xmltext import FeedWriteError, check_datasource

__all__ = [
    "FeedClient",
    "FeedWriteError",
    "FeedWriter",
    "FolderFeed",
    "GroupWriter",
    "PushError",
    "Pushed",
    "Target",
    "check_datasource",
    "feed_of_folder",
]
