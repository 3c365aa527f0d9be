"""A gatherer's way with aliases of hosts: what a page links to gets the chosen host's key, what waits under an alias is not visited.

Pushed content is named by who brought it and stays as it is; what web feeds list got its key when it was read. A URL to which
a redirect led is visited under its own name: a host that sends its visitors to its alias keeps its pages, and nobody is sent in a circle.
"""

from collections.abc import Callable

from ingather.errors import UrlError
from ingather.fetch import REDIRECTS, target_of
from ingather.model.intent import FEEDS
from ingather.model.lifecycle import Outcome
from ingather.model.page import Link
from ingather.model.report import Claim, Denial, Report
from ingather.model.resource import Response
from ingather.model.url import canonical
from ingather.model.verdict import Exclusion
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.hostnames import HostNames
from ingather.robot.visit.listed import RulesOf

__all__ = ["Renaming", "ask_of_redirect"]


class Renaming:
    """Applies *names* to what a gatherer meets.

    Args:
        names: which host stands for which.
        discoverer: judges the URL that stands for another.
        rules: of the sources that feeds control.
    """

    def __init__(self, names: HostNames, discoverer: Discoverer, *, rules: RulesOf) -> None:
        self._names, self._discoverer, self._rules = names, discoverer, rules
        self.active = names.active

    def concerns(self, claim: Claim) -> bool:
        """Whether the URL of *claim* is named by links, and so by us."""
        return self._names.active and not claim.pushed and self._rules(claim.source) is None

    async def ask(self, urls: "list[str] | tuple[str, ...]") -> None:
        """Learn what must be known of *urls* before they are folded."""
        await self._names.learn(urls)

    def links(self, claim: Claim, links: list[Link]) -> list[Link]:
        """Return *links* with the keys that count, each once."""
        if not self.concerns(claim):
            return links
        fold = self._names.fold
        found: dict[str, Link] = {}
        for link in links:
            url = fold(link.url)
            found.setdefault(url, link if url == link.url else link._replace(url=url))
        return list(found.values())

    def target(self, claim: Claim, url: str, target: str) -> str:
        """Return the key of a redirect's *target*; one that would lead back to *url* keeps its own name."""
        if not self.concerns(claim):
            return target
        folded = self._names.fold(target)
        return target if folded == url else folded

    def ended(self, claim: Claim, url: str, ended: Callable[..., Report]) -> Report | None:
        """Return the report of a URL that is not visited because another one stands for it, which is found by it."""
        if claim.hops or claim.intent in FEEDS or not self.concerns(claim):
            return None
        folded = self._names.fold(url)
        if folded == url:
            return None
        denial = Denial(str(Exclusion.ALIAS), "", self._names.why(url), self._discoverer.version)
        report = ended(claim, Outcome.EXCLUDED, detail=denial.reason, denial=denial)
        report.found = [
            self._discoverer.discover(
                folded, depth=claim.depth, max_depth=claim.max_depth, source=claim.source
            )
        ]
        return report


async def ask_of_redirect(renaming: Renaming, url: str, got: Response) -> None:
    """Learn what must be known of where *got* leads."""
    if got.status in REDIRECTS and (target := target_of(url, got.header("location"))):
        try:
            await renaming.ask((canonical(target),))
        except UrlError:
            return
