"""For programs of one's own: feeds are made and pushed, to Ingather or to any Google Search Appliance; questions are asked.

``FeedWriter`` and ``GroupWriter`` write XML that an appliance of version 7 reads, to anything with a ``write``.
``FeedClient`` pushes a file, or a feed while it is being made::

    client = FeedClient("search.example")
    with client.feed("intranet_hr", "incremental") as feed:
        feed.add("http://hr.example/a.html", content="<html>...</html>", mimetype="text/html")
        feed.delete("http://hr.example/old.html")

A record is checked before its first byte is written: one that cannot be said in a feed raises ``FeedWriteError``, and the
feed may go on without it.

``Search`` asks ``/api/v1/search`` and gives typed answers::

    for found in Search("https://search.example", token="...").results("holiday form"):
        print(found.title, found.url)

Source: GSA feeds specification, sections 4 to 12.
"""

from ingather.client.asking import Search, SearchError
from ingather.client.folder import FolderFeed, feed_of_folder
from ingather.client.found import Answer, Facet, Found
from ingather.client.groups import GroupWriter
from ingather.client.pushing import FeedClient, Pushed, PushError
from ingather.client.target import Target
from ingather.client.writing import FeedWriter
from ingather.client.xmltext import FeedWriteError, check_datasource

__all__ = [
    "Answer",
    "Facet",
    "FeedClient",
    "FeedWriteError",
    "FeedWriter",
    "FolderFeed",
    "Found",
    "GroupWriter",
    "PushError",
    "Pushed",
    "Search",
    "SearchError",
    "Target",
    "check_datasource",
    "feed_of_folder",
]
