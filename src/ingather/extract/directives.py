"""What a page tells robots: ``<meta name="robots">`` and ``X-Robots-Tag``, united for one agent.

The directives for all robots and those for our agent add up: the strictest wins, as with the large
engines. ``none`` is noindex and nofollow; ``index``, ``follow`` and ``all`` take nothing back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

__all__ = ["page_directives", "product_token"]

_MEANS: Final[dict[str, frozenset[str]]] = {
    "noindex": frozenset({"noindex"}),
    "nofollow": frozenset({"nofollow"}),
    "none": frozenset({"noindex", "nofollow"}),
    "noarchive": frozenset({"noarchive"}),
    "nocache": frozenset({"noarchive"}),
    "nosnippet": frozenset({"nosnippet"}),
    "max-snippet:0": frozenset({"nosnippet"}),
}
_WITH_VALUE: Final = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SEPARATORS: Final = re.compile(r"[\s,;]+")
_SPACED_COLON: Final = re.compile(r"\s*:\s*")
_NOTHING: Final[frozenset[str]] = frozenset()


def page_directives(
    metas: Mapping[str, Sequence[str]], header_lines: Iterable[str], agent: str
) -> frozenset[str]:
    """Return which of noindex, nofollow, noarchive and nosnippet are in force.

    Args:
        metas: META values by lower-case name; ``robots`` and the agent's name count.
        header_lines: values of ``X-Robots-Tag``; a line may hold several headers joined by commas. A
            directive after ``NAME:`` is for that robot only, up to the next name or the end of the line.
        agent: our product token or whole User-Agent; compared without regard to case.
    """
    token = product_token(agent)
    found = _NOTHING
    for name in ("robots", token):
        for content in metas.get(name, ()) if name else ():
            found |= _meaning(_SPACED_COLON.sub(":", content.lower()))
    for line in header_lines:
        found |= _in_header(_SPACED_COLON.sub(":", line.lower()), token)
    return found


def product_token(agent: str) -> str:
    """Return the lower-case product token of a User-Agent: ``Ingather/1.0 (+...)`` gives ``ingather``."""
    return agent.strip().partition("/")[0].partition(" ")[0].lower()


def _meaning(directives: str) -> frozenset[str]:
    found = _NOTHING
    for word in _SEPARATORS.split(directives):
        found |= _MEANS.get(word, _NOTHING)
    return found


def _in_header(line: str, token: str) -> frozenset[str]:
    found = _NOTHING
    ours = True
    for part in line.split(","):
        directive = part.strip()
        name, colon, rest = directive.partition(":")
        if colon and name not in _WITH_VALUE and re.fullmatch(r"[\w.*-]+", name):
            ours, directive = name in {token, "*"}, rest
        if ours:
            found |= _meaning(directive)
    return found
