"""Reading a response into a page: here when it is harmless, in a converter when it is not.

HTML and plain text are read in the gatherer, unless a linear pre-scan finds markup that is
known to make parsers quadratic, or the URL killed a gatherer before: then a converter reads
it, which may die. While the gatherer parses, its shared slot names the URL.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from ingather.errors import ExtractError, IsolationError, UrlError
from ingather.extract.hostile import suspect_reason
from ingather.extract.page import is_html, read_converted, read_page
from ingather.extract.sniffing import sniff
from ingather.log import get
from ingather.model.page import Converted, Page, PageDate
from ingather.model.report import Claim
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser, canonical
from ingather.ports.clock import Clock
from ingather.ports.isolation import Isolation
from ingather.ports.summarizer import Summarizer
from ingather.robot.slot import Slot

__all__ = ["Reading", "Unreadable"]

_log = get("reading")
_LARGE_XML = 2 << 20
"""Bytes of XML that take the reader of pages a quarter of a second; more of it goes to a converter."""
_HEADERS = ("x-robots-tag", "content-language", "last-modified", "link")


class Unreadable(Exception):  # noqa: N818 - a value that travels up two calls, never out of the room
    """A document could not be read; reasons ``died``, ``timeout``, ``memory``, ``cpu`` are strikes."""

    def __init__(self, reason: str, *, media_type: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.media_type = media_type
        self.flag = f"conversion-failed:{reason}"


class Reading:
    """Makes pages; one a gatherer."""

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        *,
        isolation: Isolation,
        slot: Slot | None,
        clock: Clock,
        agent: str,
        canonicaliser: Canonicaliser,
        summarizer: Summarizer | None = None,
        extractors: frozenset[str] = frozenset(),
    ) -> None:
        self._extractors = extractors
        self._isolation = isolation
        self._summarizer = summarizer
        self._slot = slot
        self._clock = clock
        self._agent = agent
        self._canonicaliser = canonicaliser

    def canonical(self, url: str) -> str:
        """Return the key form of a link, without the parameters that links lose.

        Raises:
            UrlError: it is no URL that we gather.
        """
        return self._canonicaliser.canonical(url)

    async def page(self, claim: Claim, url: str, got: Response) -> Page:
        """Read HTML and text; any other type gives a page without text, for a converter to fill."""
        content_type = got.header("content-type") or None
        if self._extractors and content_type:
            media_type = content_type.partition(";")[0].strip().lower()
            if media_type in self._extractors:
                return await self._extracted(url, got, media_type)
        if claim.suspect or suspect_reason(got.body):
            media_type = sniff(got.body, name=url, content_type=content_type)
            if is_html(media_type) or media_type.startswith("text/"):
                page = await self._isolated(url, got, media_type)
                page.flags.append("suspect-html")
                return page
        if len(got.body) > _LARGE_XML:
            media_type = sniff(got.body, name=url, content_type=content_type)
            if media_type.endswith("xml") and not is_html(media_type):
                return await self._isolated(url, got, media_type)
        if self._slot is not None:
            self._slot.begin(claim.id, self._clock.monotonic())
        try:
            return read_page(
                got.body,
                url=url,
                content_type=content_type,
                headers=got.headers,
                agent=self._agent,
                canonicaliser=self._canonicaliser,
            )
        finally:
            if self._slot is not None:
                self._slot.end()

    async def _extracted(self, url: str, got: Response, media_type: str) -> Page:
        """Have a plug-in's extractor make the page; links that are no URLs of ours are left out."""
        answer = await self._run("extract", got.body, {"url": url, "content_type": media_type}, media_type)
        page = msgspec.msgpack.decode(answer, type=Page)
        page.url, page.media_type = url, page.media_type or media_type
        page.base = page.base or url
        page.links = [link for link in page.links if _is_canonical(link.url)]
        return page

    async def _isolated(self, url: str, got: Response, media_type: str) -> Page:
        options = {
            "url": url,
            "content_type": got.header("content-type"),
            "agent": self._agent,
            "drop_parameters": "\n".join(self._canonicaliser.drop_parameters),
        }
        options |= {name: got.header(name) for name in _HEADERS if got.header(name)}
        return msgspec.msgpack.decode(await self._run("page", got.body, options, media_type), type=Page)

    async def convert(self, claim: Claim, url: str, got: Response, media_type: str) -> Page:
        """Convert a document and read what came out as a page."""
        name = claim.path.partition("?")[0].rsplit("/", 1)[-1]
        answer = await self._run(
            "convert",
            got.body,
            {
                "name": name,
                "content_type": media_type,
                "declared": got.header("content-type"),
            },
            media_type,
        )
        converted = msgspec.msgpack.decode(answer, type=Converted)
        return read_converted(
            converted,
            url=url,
            media_type=media_type,
            headers=got.headers,
            agent=self._agent,
            canonicaliser=self._canonicaliser,
        )

    async def summarize(self, program: str, got: Response) -> Mapping[str, tuple[str, ...]]:
        """Return what a Harvest program prints about the body as it came."""
        if self._summarizer is None:
            raise Unreadable("unavailable")
        try:
            return await self._summarizer.summarize(
                program, got.body, content_type=got.header("content-type")
            )
        except (ExtractError, IsolationError) as error:
            _log.warning(
                "summarizer failed", program=program, url=got.url, reason=error.reason, error=str(error)
            )
            raise Unreadable(error.reason) from error

    async def _run(self, job: str, body: bytes, options: dict[str, str], media_type: str) -> bytes:
        try:
            return await self._isolation.run(job, body, options)
        except (ExtractError, IsolationError) as error:
            raise Unreadable(error.reason, media_type=media_type) from error

    @staticmethod
    def epoch(date: PageDate | None) -> int | None:
        """Return a page's date as epoch seconds."""
        if date is None:
            return None
        try:
            return int(datetime.fromisoformat(date.value).timestamp())
        except (ValueError, OverflowError):
            return None


def _is_canonical(url: str) -> bool:
    try:
        return canonical(url) == url
    except UrlError:
        return False
