"""The parts of XML text that are no markup: CDATA sections, comments, processing instructions. Linear."""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["markup", "parts"]

_OPEN: Final = re.compile(r"<!\[CDATA\[|<!--|<\?")
_CLOSE: Final = {"<![CDATA[": "]]>", "<!--": "-->", "<?": "?>"}


def parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (verbatim, part), together the whole of *text*; an opening without an end is markup."""
    at = 0
    endless: set[str] = set()
    for found in _OPEN.finditer(text):
        if found.start() < at or found[0] in endless:
            continue
        mark = _CLOSE[found[0]]
        end = text.find(mark, found.end())
        if end < 0:
            endless.add(found[0])
            continue
        yield False, text[at : found.start()]
        at = end + len(mark)
        yield True, text[found.start() : at]
    yield False, text[at:]


def markup(text: str) -> str:
    """Return *text* without what is no markup."""
    return "".join(part for verbatim, part in parts(text) if not verbatim)
