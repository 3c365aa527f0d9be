"""Feeds as text, and what the reader makes of them."""

import io
from typing import Any

from ingather.feeds.reading import FeedItem, read_items
from ingather.model.feed import FeedAcl, FeedEnd, FeedRecord, FeedRejection

DOCTYPE = '<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "">'


def feed(*pieces: str, group: str = "<group>", feedtype: str = "incremental", doctype: str = DOCTYPE) -> str:
    """Return a feed of *pieces* in one group; the first of them stands in line 5."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}\n<gsafeed><header><datasource>test</datasource>'
        f"<feedtype>{feedtype}</feedtype></header>\n{group}\n" + "\n".join(pieces) + "\n</group></gsafeed>\n"
    )


def read(text: str | bytes, **options: Any) -> list[FeedItem]:
    """Return everything that the reader makes of *text*."""
    data = text.encode() if isinstance(text, str) else text
    return list(read_items(io.BytesIO(data), **options))


def records(items: list[FeedItem]) -> list[FeedRecord]:
    """Return the records among *items*."""
    return [item for item in items if isinstance(item, FeedRecord)]


def acls(items: list[FeedItem]) -> list[FeedAcl]:
    """Return the free ACLs among *items*."""
    return [item for item in items if isinstance(item, FeedAcl)]


def rejections(items: list[FeedItem]) -> list[FeedRejection]:
    """Return the rejections among *items*."""
    return [item for item in items if isinstance(item, FeedRejection)]


def end(items: list[FeedItem]) -> FeedEnd:
    """Return how the feed ended."""
    last = items[-1]
    assert isinstance(last, FeedEnd)
    return last


def only(*pieces: str, **options: Any) -> FeedRecord:
    """Return the only record of a feed of *pieces*."""
    (record,) = records(read(feed(*pieces, **options)))
    return record


SEED = """<gsafeed>
<header>
<datasource>myfeed</datasource>
<feedtype>incremental</feedtype>
</header>
<group>
<record
url="" action="add" mimetype="text/html">
<metadata>
<meta
name="state" content="new york">
<meta
name="city" content="buffalo">
<meta
name="google:aclusers" content="siva,vaka"/>
<meta
name="google:aclgroups" content="admins,hr"/
</metadata>
<content>
<![CDATA[
<html>
<head><title>my
doc</title></head>
<body>this
is html document body</body>
</html>
]]>
</content>
</record>
<record
url="" action="add"
mimetype="application/pdf">
<content
encoding="base64binary">
SDfadfxdafeadfdafJLKadfad
Adfadsfadf
KDLDJSPofaifadf\u2026
</content>
</record>
<record
url="http://test.com/page1.html"
displayURL="http://test.com/pagesIndex.html" action="add"
mimetype="text/html">
<content>
</content>
</record>
</group>
</gsafeed>
"""
"""The sample of the protocol's description, as printed."""
