"""What a page leads to: the links that its source follows, those of them that were not met before judged."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from ingather.catalog.packing import pack_keys
from ingather.feeds.headers import read_anchors
from ingather.model.candidate import Pushed
from ingather.model.page import Link, Page
from ingather.model.report import Claim, Report
from ingather.model.resource import LISTING_ENTRIES, Response
from ingather.model.url import whole_urls
from ingather.model.urlparts import key, split
from ingather.robot.frontier.seen import Seen
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.listed import RulesOf, honoured
from ingather.robot.visit.renaming import Renaming

__all__ = ["OutLinks"]

_ANCHOR: Final = "x-gsa-external-anchor"
_encode = msgspec.msgpack.Encoder().encode


class OutLinks:
    """Takes links into reports; one a pipeline.

    Args:
        discoverer: judges URLs that were not met before.
        seen: what was met; ``None`` = a rehearsal, links are listed and not followed.
        heeds, rules, renaming: as of the pipeline.
        most: links of a page that are followed.
        anchor_chars: of a link's text that are kept.
    """

    def __init__(  # noqa: PLR0913 - what links depend on
        self,
        *,
        discoverer: Discoverer,
        seen: Seen | None,
        heeds: Callable[[Claim], bool],
        rules: RulesOf,
        renaming: Renaming | None,
        most: int,
        anchor_chars: int,
    ) -> None:
        self._discoverer, self._seen, self._most, self._anchor_chars = discoverer, seen, most, anchor_chars
        self._heeds, self._rules, self._renaming = heeds, rules, renaming

    def take(self, report: Report, judged: Judged, got: Response, page: Page, links: list[Link]) -> None:
        """Put what *page* leads to into *report* (in a rehearsal into *judged*); *links* are those of Enumerate."""
        links = self._own(judged, self._named(judged, page, self._anchored(judged, got, page, links)))
        if self._renaming is not None:
            links = self._renaming.links(judged.claim, links)
        most = max(self._most, LISTING_ENTRIES) if got.listing else self._most
        if len(links) > most or (got.listing and got.cut):
            del links[most:]
            page.flags.append("links-truncated")
            report.flags = tuple(page.flags)
        if self._seen is None:
            judged.links = links
        else:
            self._follow(report, judged, links, self._seen, cut=page.cut)

    def _anchored(self, judged: Judged, got: Response, page: Page, links: list[Link]) -> list[Link]:
        """Add the links that the head gives a document that cannot have any: no Enumerate line asks for its type."""
        if not judged.evaluation.enumeration.allowed:
            return links
        if _ANCHOR in got.by_name() and "nofollow" not in page.robots and self._heeds(judged.claim):
            there = {link.url for link in links}
            links += [link for link in read_anchors(got.headers, judged.place) if link.url not in there]
        return links

    @staticmethod
    def _named(judged: Judged, page: Page, links: list[Link]) -> list[Link]:
        """Add the address that a page names as its own: it may be reached in no other way."""
        named = page.canonical
        if (
            not named
            or "nofollow" in page.robots
            or not judged.evaluation.enumeration.allowed
            or named == judged.place
        ):
            return links
        return (
            links
            if any(link.url == named for link in links)
            else [*links, Link(named, "", "canonical", "canonical")]
        )

    def _own(self, judged: Judged, links: list[Link]) -> list[Link]:
        """Return those of *links* that the document's source follows: where feeds are in control none, or its host's."""
        rules = self._rules(judged.claim.source)
        if not judged.place.startswith("file:"):  # no page of a host names files of ours
            links = [link for link in links if not link.url.startswith("file:")]
        if rules is None:
            return links
        if not rules.discover:
            return []
        own = split(judged.place).origin + "/"
        kept = [
            link._replace(url=honoured(link.url, rules.honoured_query))
            for link in links
            if link.url.startswith(own)
        ]
        return list({link.url: link for link in reversed(kept)}.values())[::-1]

    def _follow(
        self,
        report: Report,
        judged: Judged,
        links: Sequence[Link],
        seen: Seen,
        *,
        cut: Mapping[str, Sequence[str]],
    ) -> None:
        """Pack the page's links, and judge those that were not met before.

        A page that was pushed brings its own host into scope and no other.
        """
        claim = judged.claim
        pushed = claim.pushed or self._rules(claim.source) is not None
        own = split(judged.url).origin + "/" if pushed else ""
        seed, known, depth = self._discoverer.seed, seen.known, claim.depth + 1
        keys: list[int] = []
        anchors: list[str] = []
        most = self._anchor_chars
        for link in links:
            url = link.url
            number = key(url, seed)
            keys.append(number)
            anchors.append(link.text[:most])
            if not known(number, depth):
                found = self._discoverer.discover(
                    url, depth=depth, max_depth=claim.max_depth, source=claim.source, number=number,
                    pushed=Pushed.URL if own and url.startswith(own) else Pushed.NO,
                )  # fmt: skip
                if url in cut:
                    found.wholes = [(key(whole, seed), split(whole).path) for whole in whole_urls(cut[url])]
                report.found.append(found)
        report.links, report.anchors = pack_keys(keys), _encode(anchors)
