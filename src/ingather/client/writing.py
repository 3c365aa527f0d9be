"""A feed of documents, written record by record: memory depends on the largest record.

Source: GSA feeds specification, sections 7 to 11; the order of elements is the DTD's.
"""

import mimetypes
from base64 import b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import urlsplit
from zlib import compress

from ingather.client.acls import acl_element
from ingather.client.document import FeedDocument
from ingather.client.xmltext import (
    FeedWriteError,
    Output,
    attributes,
    check_datasource,
    check_url,
    escape,
    is_plain,
    is_xml,
)
from ingather.model.acl import Acl
from ingather.model.feed import FeedAcl, FeedContent, FeedRecord, FeedType, MetaPair

__all__ = ["FeedWriter"]

_AUTHMETHODS: Final = ("", "none", "httpbasic", "ntlm", "httpsso", "negotiate")
_SCORINGS: Final = ("", "content", "web")
_ACL_META: Final = "google:acl"
_BOM: Final = b"\xef\xbb\xbf"
_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "">\n'
    "<gsafeed>\n<header>\n<datasource>{}</datasource>\n<feedtype>{}</feedtype>\n</header>\n<group>\n"
)
_FOOT: Final = "</group>\n</gsafeed>\n"


class FeedWriter(FeedDocument):
    """Writes a feed to *out*; a context manager, whose regular end writes the end tag.

    After an exception the end tag is left out, so that nobody takes half a feed for a whole one.

    Attributes:
        datasource, feedtype: what the feed is for.
        records: records and ACLs so far.
        size: bytes so far; an appliance takes 1 GB (10^9 bytes) at most.
    """

    def __init__(
        self, out: Output, datasource: str, feedtype: FeedType | str, *, compressed: bool = True
    ) -> None:
        """Begin a feed.

        Args:
            out: takes the bytes.
            datasource: its name, legal for an appliance.
            feedtype: ``full``, ``incremental``, ``metadata-and-url``.
            compressed: bytes go as ``base64compressed``; else as ``base64binary``, for readers that know no other.

        Raises:
            FeedWriteError: *datasource* or *feedtype* is none, or ``web`` was to be replaced by a full feed.
        """
        self.datasource = check_datasource(datasource)
        try:
            self.feedtype = FeedType(feedtype)
        except ValueError:
            raise FeedWriteError(
                f"{feedtype!r} is not a feed type", hint="it is full, incremental or metadata-and-url"
            ) from None
        if self.feedtype is FeedType.FULL and datasource == "web":
            raise FeedWriteError(
                'the data source "web" cannot be replaced by a full feed: many tools share it'
            )
        super().__init__(out, _HEAD.format(datasource, self.feedtype), _FOOT)
        self.records, self._compressed = 0, compressed

    def add(  # noqa: PLR0913 (the attributes of a record, each by keyword)
        self,
        url: str,
        *,
        content: bytes | str | None = None,
        mimetype: str = "",
        metadata: Mapping[str, str] | Iterable[MetaPair] | None = None,
        acl: Acl | None = None,
        last_modified: datetime | str = "",
        display_url: str = "",
        authmethod: str = "",
        lock: bool = False,
        pagerank: int | None = None,
        crawl_immediately: bool = False,
        crawl_once: bool = False,
        scoring: str = "",
        overwrite_acls: bool = True,
    ) -> None:
        """Add or change a document.

        Args:
            url: absolute; who the document is, everywhere.
            content: text, or the document's bytes; ``None`` in a feed of URLs to be fetched, or when only metadata
                changes.
            mimetype: ``""`` = by the end of *url*, else ``text/plain`` (text) or ``application/octet-stream``.
            metadata: ``None`` leaves what is stored, an empty one clears it. Pairs without content are left out, because
                an appliance refuses the whole record for one.
            acl: who may see it; its own ``url`` may be ``""``. No entries and no parent = nobody (an appliance: everybody).
            last_modified: a moment with its zone, or text.
            display_url: shown and linked instead of *url*.
            authmethod: ``none``, ``httpbasic``, ``ntlm``, ``httpsso``, ``negotiate``; all but ``none`` secure it.
            lock: an appliance at its licence's limit evicts it last.
            pagerank: 68 to 100; of content feeds.
            crawl_immediately: fetched before others.
            crawl_once: never fetched again by schedule.
            scoring: ``content`` or ``web``.
            overwrite_acls: ``False`` keeps stored ACL metas that are absent here.

        Raises:
            FeedWriteError: it cannot be said in this feed; nothing was written.
        """
        pairs: tuple[MetaPair, ...] | None = None
        if metadata is not None:
            pairs = tuple(metadata.items() if isinstance(metadata, Mapping) else metadata)
        if isinstance(last_modified, datetime):
            if last_modified.tzinfo is None:
                raise FeedWriteError(f"{url}: last_modified has no time zone")
            last_modified = format_datetime(last_modified.astimezone(UTC), usegmt=True)
        body = None
        if content is not None:
            text = isinstance(content, str)
            body = FeedContent(_utf8(content, url) if isinstance(content, str) else content, text=text)
        self.write(
            FeedRecord(
                line=0,
                offset=0,
                url=url,
                display_url=display_url,
                mimetype=mimetype or _mimetype(url, content),
                last_modified=last_modified,
                lock=lock,
                authmethod=authmethod,
                pagerank=pagerank,
                crawl_immediately=crawl_immediately,
                crawl_once=crawl_once,
                scoring=scoring,
                metadata=pairs,
                overwrite_acls=overwrite_acls,
                acl=acl,
                content=body,
            )
        )

    def delete(self, url: str) -> None:
        """Delete a document."""
        self.write(FeedRecord(line=0, offset=0, url=url, delete=True, mimetype="text/plain"))

    def acl(self, acl: Acl, *, delete: bool = False) -> None:
        """Set the ACL of ``acl.url``, whether that is a document or not (a folder, a share).

        *delete* is understood by Ingather; no way is known for an appliance.
        """
        self.write(FeedAcl(line=0, offset=0, acl=acl, delete=delete))

    def write(self, item: FeedRecord | FeedAcl) -> None:
        """Write a record or a free ACL; ``line``, ``offset`` and ``warnings`` are of reading and not looked at.

        Raises:
            FeedWriteError: see :meth:`add`.
        """
        self._see_open()
        if isinstance(item, FeedAcl):
            made = acl_element(item.acl, url=check_url(item.acl.url), delete=item.delete)
        else:
            made = self._record(item)
        self._put(made + "\n")
        self.records += 1

    def _record(self, item: FeedRecord) -> str:
        url = check_url(item.url)
        if item.denied:
            raise FeedWriteError(f"{url}: nobody may see it, which a feed cannot say: {item.denied}")
        if item.authmethod not in _AUTHMETHODS:
            raise FeedWriteError(f"{url}: the authmethod {item.authmethod!r} is not known")
        if item.scoring not in _SCORINGS:
            raise FeedWriteError(f"{url}: scoring is {item.scoring!r}, neither content nor web")
        pairs = [
            ("url", url),
            ("displayurl", item.display_url.strip() or None),
            ("action", "delete" if item.delete else None),
            ("mimetype", item.mimetype.strip()),
            ("last-modified", item.last_modified.strip() or None),
            ("lock", "true" if item.lock else None),
            ("authmethod", item.authmethod or None),
            ("pagerank", None if item.pagerank is None else str(item.pagerank)),
            ("crawl-immediately", "true" if item.crawl_immediately else None),
            ("crawl-once", "true" if item.crawl_once else None),
            ("scoring", item.scoring or None),
        ]
        inside = ""
        if item.acl is not None:
            if item.acl.url.strip() not in {"", url, item.url}:
                raise FeedWriteError(f"{url}: its ACL is of another url, {item.acl.url!r}")
            inside += acl_element(item.acl, url="")
        inside += self._metadata(item, url) + self._content(item.content, url)
        tag = f"record{attributes(url, pairs)}"
        return f"<{tag}>{inside}</record>" if inside else f"<{tag}/>"

    @staticmethod
    def _metadata(item: FeedRecord, url: str) -> str:
        if item.metadata is None:
            if not item.overwrite_acls:
                raise FeedWriteError(f"{url}: overwrite_acls=False needs metadata, be they empty")
            return ""
        metas = []
        for name, content in item.metadata:
            name = name.strip()  # noqa: PLW2901
            acl = name.lower().startswith(_ACL_META)
            if not name:
                raise FeedWriteError(f"{url}: a meta has no name")
            if acl and item.acl is not None:
                raise FeedWriteError(f"{url}: it has both an ACL and the meta {name!r}: write one of them")
            if not content.strip():
                if acl:
                    raise FeedWriteError(
                        f"{url}: the meta {name!r} is empty", hint="give the record an ACL instead"
                    )
                continue
            encoding = None
            if not (is_plain(name) and is_plain(content)):
                encoding = "base64binary"
                name, content = (b64encode(_utf8(text, url)).decode() for text in (name, content))  # noqa: PLW2901
            pairs = [("encoding", encoding), ("name", name), ("content", content)]
            metas.append(f"<meta{attributes(url, pairs)}/>")
        own = "" if item.overwrite_acls else ' overwrite-acls="false"'
        return f"<metadata{own}>{''.join(metas)}</metadata>"

    def _content(self, content: FeedContent | None, url: str) -> str:
        if content is None:
            return ""
        if self.feedtype is FeedType.METADATA_AND_URL:
            raise FeedWriteError(f"{url}: a metadata-and-url feed brings no content: its URLs are fetched")
        body = content.body
        if content.text:
            try:
                text = body.decode()
            except UnicodeDecodeError as error:
                raise FeedWriteError(f"{url}: its text is not UTF-8 ({error})") from None
            if is_xml(text):
                return f"<content>{escape(text)}</content>"
            # XML cannot hold some character of it; the mark says that these bytes are UTF-8.
            body = _BOM + body
        if self._compressed:
            return f'<content encoding="base64compressed">{b64encode(compress(body)).decode()}</content>'
        return f'<content encoding="base64binary">{b64encode(body).decode()}</content>'


def _utf8(text: str, url: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FeedWriteError(f"{url}: a text holds a lone surrogate, which is no character") from None


def _mimetype(url: str, content: bytes | str | None) -> str:
    if content is None:
        return "text/plain"
    guessed, encoding = mimetypes.guess_type(urlsplit(url.strip()).path) if "://" in url else (None, None)
    if guessed and not encoding:
        return guessed
    return "text/plain" if isinstance(content, str) else "application/octet-stream"
