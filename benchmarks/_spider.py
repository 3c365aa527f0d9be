"""Scrapy's part of the comparison: follow all links of one site, do nothing else.

usage: python _spider.py URL PAGES COUNTS WAY     (by the interpreter of the environment that has Scrapy)

COUNTS grows by one line a page. WAY is one of

* ``scrapy``: tuned by its documented settings: asyncio reactor, 64 connections, no delay, no log, no
  telnet console; links by Scrapy's own LinkExtractor. This is the one that ratios are made with.
* ``lean``: the same, and breadth first, no cookies, no retries, no statistics, none of the middlewares and
  extensions that links alone do not need, one link extractor that knows what to leave out.
* ``bare``: as ``lean``, but around the link extractor: one XPath expression and a set of the URLs met.
"""

import re
import sys
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy  # type: ignore[import-not-found] # the opponents have an environment of their own
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.linkextractors import IGNORED_EXTENSIONS, LinkExtractor  # type: ignore[import-not-found]

URL, PAGES, COUNTS, WAY = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]

_DOWNLOADER = "scrapy.downloadermiddlewares"
_SPIDER = "scrapy.spidermiddlewares"
TUNED = {
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "CLOSESPIDER_PAGECOUNT": PAGES,
}
LEAN = {
    **TUNED,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "DOWNLOADER_STATS": False,
    "MEMUSAGE_ENABLED": False,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "DEPTH_PRIORITY": 1,
    "DOWNLOADER_MIDDLEWARES": {
        f"{_DOWNLOADER}.httpauth.HttpAuthMiddleware": None,
        f"{_DOWNLOADER}.httpcompression.HttpCompressionMiddleware": None,
        f"{_DOWNLOADER}.httpproxy.HttpProxyMiddleware": None,
        f"{_DOWNLOADER}.defaultheaders.DefaultHeadersMiddleware": None,
        f"{_DOWNLOADER}.offsite.OffsiteMiddleware": None,
        f"{_DOWNLOADER}.redirect.MetaRefreshMiddleware": None,
    },
    "SPIDER_MIDDLEWARES": {
        f"{_SPIDER}.referer.RefererMiddleware": None,
        f"{_SPIDER}.urllength.UrlLengthMiddleware": None,
        f"{_SPIDER}.httperror.HttpErrorMiddleware": None,
    },
    "EXTENSIONS": {
        "scrapy.extensions.corestats.CoreStats": None,
        "scrapy.extensions.logstats.LogStats": None,
        "scrapy.extensions.feedexport.FeedExporter": None,
        "scrapy.extensions.throttle.AutoThrottle": None,
        "scrapy.extensions.remote_control.RemoteControl": None,
    },
}
# What our shipped rules leave out by its extension and Scrapy's own list would not.
SKIPPED = [*IGNORED_EXTENSIONS, "svgz", "c", "cc", "cpp", "h", "py", "java", "js", "sql", "log"]


class Follower(scrapy.Spider):  # type: ignore[misc]
    """Follows the links of ``a`` and ``area`` that lie on the same site."""

    name = "follower"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._counts = COUNTS.open("w", buffering=1)
        self._links = LinkExtractor()

    async def start(self) -> AsyncIterator[Any]:
        """Begin at the entry page."""
        yield scrapy.Request(URL)

    def parse(self, response: Any) -> Iterator[Any]:
        """Follow the links of a page."""
        if response.status != 200:
            return
        self._counts.write("200\n")
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self._links.extract_links(response):
                if link.url.startswith(URL):
                    yield scrapy.Request(link.url)


class Lean(Follower):
    """Has what is not followed left out by the extractor."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._links = LinkExtractor(allow=[f"^{re.escape(URL)}"], deny_extensions=SKIPPED, unique=True)


class Bare(Follower):
    """Finds links by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._met: set[str] = {URL}
        self._skipped = frozenset(SKIPPED)

    def parse(self, response: Any) -> Iterator[Any]:
        """Follow the links of a page."""
        if response.status != 200:
            return
        self._counts.write("200\n")
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        for href in response.xpath("//a/@href | //area/@href").getall():
            target = urllib.parse.urljoin(response.url, href).partition("#")[0]
            if target not in self._met and target.startswith(URL):
                self._met.add(target)
                if target.rpartition(".")[2].lower() not in self._skipped:
                    yield scrapy.Request(target)


WAYS = {"scrapy": (Follower, TUNED), "lean": (Lean, LEAN), "bare": (Bare, LEAN)}

if __name__ == "__main__":
    spider, settings = WAYS[WAY]
    process = CrawlerProcess(settings)
    process.crawl(spider)
    process.start()
