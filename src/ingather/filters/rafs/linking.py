"""enumerate-urls and enumerate-urls-from-text: which links are followed (section 7.8)."""

import re

from ingather.errors import UrlError
from ingather.filters.evaluation import State
from ingather.filters.types import media_type
from ingather.model.page import Link
from ingather.model.resource import LISTING_ENTRIES
from ingather.model.url import canonical
from ingather.plugins import Binding, Run, builds

__all__ = ["enumerate_urls", "enumerate_urls_from_text"]

_IN_TEXT = re.compile(r"URL:[ \t]*((?i:https?|ftp)://[^\s>]+)")


@builds("enumerate-urls")
def enumerate_urls(binding: Binding) -> Run:
    """Take the page's links in document order, each once, at most *max*; count the rest.

    The entries of a folder (:attr:`Response.listing`) are all taken unless *max* is written: they are what it holds.
    """
    most: int = binding.parameters["max"]
    usual = next(spec.default for spec in binding.directive.spec.parameters if spec.name == "max")
    in_folder = max(most, LISTING_ENTRIES) if most == usual else most
    wanted = _wanted(binding)
    obey = binding.robot.enable_robots_txt

    def run(state: State) -> None:
        if wanted and wanted not in state.kinds():
            return
        page = state.page()
        if page is None:
            return
        links: dict[str, Link | None] = state.links
        got = state.evaluation.response
        room = in_folder if got is not None and got.listing else most
        for link in page.links:
            url = link.url
            if url in links or (link.rel and obey and "nofollow" in link.rel.split()):
                continue
            if room:
                links[url] = link
                room -= 1
            else:
                _over(state, url)

    return run


@builds("enumerate-urls-from-text")
def enumerate_urls_from_text(binding: Binding) -> Run:
    """Take the absolute URLs that stand behind ``URL:`` in a text."""
    most: int = binding.parameters["max"]
    wanted = _wanted(binding)

    def run(state: State) -> None:
        kinds = state.kinds()
        if wanted not in kinds if wanted else not any(kind.startswith("text/") for kind in kinds):
            return
        page = state.page()
        if page is None:
            return
        room = most
        for match in _IN_TEXT.finditer(page.text):
            try:
                url = canonical(match[1].rstrip(".,;)"))
            except UrlError:
                continue
            if url in state.links:
                continue
            if room:
                state.links[url] = Link(url, kind="text")
                room -= 1
            else:
                _over(state, url)

    return run


def _wanted(binding: Binding) -> str:
    return media_type(binding.parameters.get("type") or "")


def _over(state: State, url: str) -> None:
    """Count a link for which there was no room: it stands in ``links`` without a value."""
    state.links[url] = None
    state.evaluation.over_max += 1
