"""Canonical links: whether a page's word that it is another's copy is believed. Pure.

A canonical link is a hint, and often a mistake of a template: all pages name the root, each language names one, a page
names what was deleted. So it is obeyed only when the page that is named stands for it: described, seen by everybody
as this one is, in the same language, with a text of the same kind, and not leading back. Else it is ignored, and the
reason is kept for explain and the report ``canonical``.
"""

from collections.abc import Mapping
from typing import Final

from ingather.catalog.likeness.sqlite_likeness_reader import CanonicalRow, Side
from ingather.extract.simhash import differing_bits
from ingather.model.lifecycle import Outcome
from ingather.model.urlparts import split

__all__ = ["judge_canonicals"]

_SAME_HOST_BITS: Final = 14
"""Texts without anything in common differ in 32 bits, give or take 4; a print view in a dozen."""
_OTHER_HOST_BITS: Final = 6
_MOST_HOPS: Final = 5


def judge_canonicals(rows: Mapping[int, CanonicalRow]) -> dict[int, tuple[str, int | None]]:
    """Return of each page (by row) why its canonical link is ignored, ``""`` = obeyed, and the row that it stands behind.

    A chain of links is followed to its end, at most five; whoever is in a ring is shown itself.
    """
    own = {row: _own_verdict(link) for row, link in rows.items()}
    found: dict[int, tuple[str, int | None]] = {}
    for row, link in rows.items():
        if own[row]:
            found[row] = own[row], None
            continue
        target, seen = link.target.id, {row}
        reason = ""
        while target in own and not own[target]:
            if target in seen:
                reason = "canonical links lead in a ring"
                break
            if len(seen) >= _MOST_HOPS:
                reason = f"more than {_MOST_HOPS} canonical links in a row"
                break
            seen.add(target)
            target = rows[target].target.id
        found[row] = (reason, None) if reason else ("", target)
    return found


def _own_verdict(link: CanonicalRow) -> str:  # noqa: PLR0911 - one a safeguard
    """Say why a link is ignored whatever others say, ``""`` if nothing speaks against it."""
    page, target = link.page, link.target
    if not target.id:
        return "the address is not known here: it was not let in, or not found yet"
    if target.id == page.id:
        return "it names the page itself"
    if not target.shown:
        return f"that page is not described: {_ended(target)}"
    if not page.shown:
        return "the page itself is not shown"
    if not (page.public and target.public):
        return "not everybody may see both pages"
    if page.language and target.language and _primary(page.language) != _primary(target.language):
        return f"another language: {target.language}, this page is {page.language}"
    return _text_verdict(page, target)


def _text_verdict(page: Side, target: Side) -> str:
    here, there = split(page.url), split(target.url)
    other_host = here.host != there.host
    if page.near and target.near:
        bits = differing_bits(page.near, target.near)
        most = _OTHER_HOST_BITS if other_host else _SAME_HOST_BITS
        return f"the texts differ in {bits} of 64 bits, {most} are allowed" if bits > most else ""
    if other_host:
        return "another host, and the texts are too short to compare"
    if there.path == "/" and here.path.partition("?")[0] != "/":
        return "it names the root of the site, and the texts are too short to compare"
    if page.title.casefold() != target.title.casefold():
        return "the titles differ, and the texts are too short to compare"
    return ""


def _ended(side: Side) -> str:
    if side.outcome is None:
        return "it was not visited yet"
    name = Outcome(side.outcome).name.lower().replace("_", " ")
    return f"{name}, status {side.status}" if side.status else name


def _primary(tag: str) -> str:
    return tag.partition("-")[0].lower()
