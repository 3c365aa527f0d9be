"""Which texts of incoming links say something about a document."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from ingather.index.languages import exact

__all__ = ["MAX_ANCHORS", "informative"]

MAX_ANCHORS: Final = 32
"""Anchor texts that a document keeps, most used first."""

_MAX_CHARS: Final = 200
_URL: Final = re.compile(r"(?:https?|ftp)://|www\.", re.IGNORECASE)
# What links say about themselves: navigation and invitations, in the languages we meet most.
_EMPTY: Final = frozenset({
    "here", "click here", "click", "this", "this page", "link", "this link", "more", "read more", "learn more",
    "details", "more details", "more info", "more information", "next", "prev", "previous", "up", "top", "back",
    "home", "index", "contents", "table of contents", "start", "continue", "continue reading", "see", "see also",
    "go", "open", "view", "show", "download", "source", "edit", "permalink", "print", "first", "last", "page", "website",
    "hier", "hier klicken", "mehr", "weiter", "weiterlesen", "zuruck", "vor", "nach oben", "startseite", "inhalt",
    "ici", "cliquez ici", "suite", "lire la suite", "suivant", "precedent", "accueil", "haut de page", "en savoir plus",
    "aqui", "mas", "leer mas", "siguiente", "anterior", "inicio",
})  # fmt: skip


def informative(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct anchor texts worth indexing: most used first, then by text; at most 32.

    *texts* are those of all links on public pages that lead to one document, repeated as often as
    they occur; the order of the answer does not depend on theirs. Texts that differ only in case,
    accents or punctuation are one. Left out: bare numbers, addresses, "click here" and the like.
    """
    uses: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for text in texts:
        said = " ".join(text[:_MAX_CHARS].split())
        key = exact(said)
        if not key or key in _EMPTY or key.replace(" ", "").isdigit() or _URL.match(said):
            continue
        uses[key] += 1
        shown[key] = min(shown.get(key, said), said)
    best = sorted(uses, key=lambda key: (-uses[key], key))[:MAX_ANCHORS]
    return tuple(shown[key] for key in best)
