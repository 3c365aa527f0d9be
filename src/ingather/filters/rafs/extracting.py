"""extract-html-meta, -text, -toc, extract-full-text: attributes out of the page (section 7.9)."""

from collections import Counter

from ingather.filters.evaluation import State
from ingather.filters.rafs.texts import cut_bytes
from ingather.filters.types import HTML_TYPES, media_type
from ingather.model.page import Page
from ingather.plugins import Binding, Run, builds

__all__ = ["RESERVED", "extract_full_text", "extract_html_meta", "extract_html_text", "extract_html_toc"]

RESERVED = frozenset({"url", "ip", "readacl", "virtual-db"})
"""What only the product itself may say, never a page or what was made of it."""

_NOT_STORED = RESERVED | frozenset(
    {
        # what http-equiv says
        "content-type",
        "content-language",
        "content-style-type",
        "content-script-type",
        "content-security-policy",
        "refresh",
        "pragma",
        "cache-control",
        "set-cookie",
        "x-ua-compatible",
        "x-dns-prefetch-control",
        "origin-trial",
        "expires",
    }
)
_MOST_NAMES = 256


def _page_of(state: State, wanted: str) -> Page | None:
    """Return the page if its type is the wanted one (``""`` = any)."""
    if wanted and wanted not in state.kinds():
        return None
    return state.page()


def _wanted(binding: Binding) -> str:
    return media_type(binding.parameters.get("type") or "")


@builds("extract-html-meta")
def extract_html_meta(binding: Binding) -> Run:
    """Title and META names of HTML, each value cut to so many bytes."""
    wanted, truncate = _wanted(binding), binding.parameters.get("truncate")

    def cut(value: str) -> str:
        return value if truncate is None else cut_bytes(value, truncate)

    def run(state: State) -> None:
        page = _page_of(state, wanted)
        if page is None or HTML_TYPES.isdisjoint(state.kinds()):
            return
        attributes = state.attributes
        if page.title:
            attributes["title"] = (cut(page.title),)
        for number, (name, values) in enumerate(page.metas.items()):
            if number >= _MOST_NAMES:
                break
            if name not in _NOT_STORED and (name != "title" or not page.title):
                attributes[name] = tuple([cut(value) for value in values])

    return run


@builds("extract-html-text")
def extract_html_text(binding: Binding) -> Run:
    """Take the first text of the page, on demand without its headings."""
    wanted, truncate = _wanted(binding), binding.parameters.get("truncate")
    dst, skip = binding.parameters["dst"], binding.parameters["skip-headings"]

    def run(state: State) -> None:
        page = _page_of(state, wanted)
        if page is None:
            return
        text = _without_headings(page) if skip else page.text
        if truncate is not None and len(text) * 4 > truncate:
            text = cut_bytes(text, truncate)
        if text:
            state.attributes[dst] = (text,)

    return run


@builds("extract-full-text")
def extract_full_text(binding: Binding) -> Run:
    """Take the whole text."""
    truncate, dst = binding.parameters.get("truncate"), binding.parameters["dst"]

    def run(state: State) -> None:
        page = state.page()
        if page is None or not page.text:
            return
        text = page.text
        state.attributes[dst] = (text if truncate is None or len(text) <= truncate else text[:truncate],)

    return run


@builds("extract-html-toc")
def extract_html_toc(binding: Binding) -> Run:
    """Take the headings down to a level, one a line."""
    wanted, truncate = _wanted(binding), binding.parameters.get("truncate")
    dst, level = binding.parameters["dst"], binding.parameters["level"]

    def run(state: State) -> None:
        page = _page_of(state, wanted)
        if page is None:
            return
        text = "\n".join(
            [heading.text for heading in page.headings if heading.level <= level and heading.text]
        )
        if text:
            state.attributes[dst] = (text if truncate is None else cut_bytes(text, truncate),)

    return run


def _without_headings(page: Page) -> str:
    """Return the text without the blocks that are headings."""
    left = Counter(heading.text for heading in page.headings)
    lines: list[str] = []
    for line in page.text.split("\n"):
        if left[line.strip()] > 0:
            left[line.strip()] -= 1
        else:
            lines.append(line)
    return "\n".join(lines).strip("\n")
