"""Excerpts with the found words marked: at most two fragments a result, as segments, never as markup.

A word of the text is marked when the analyser of the document's language gives it the same term as
a word of the query, so that ``forms`` is marked for ``form`` and ``café`` for ``cafe``;
:mod:`ingather.search.finding` says where such words stand.

Offsets are in characters of the NFC text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ingather.index import AllOf
from ingather.index.languages import CJK, nfc, slot_of, slots_for
from ingather.search.finding import Finder, Lowered, Span, asked, begins_with_ideograph, lower, lower_signs

__all__ = ["Fragment", "Highlighter", "Segment"]

FRAGMENT_CHARS: Final = 160
"""Width of a fragment; half as many for ideographs, which say more each."""
MAX_FRAGMENTS: Final = 2

_MORE_CHUNKS: Final = 8
_FIRST_CHARS: Final = 4_096
_CHUNK_CHARS: Final = 32_768
_LEAD_SHARE: Final = 0.35
_CUT_REACH: Final = 24
_NEW_WEIGHT: Final = 4.0
_NEAR_WEIGHT: Final = 0.6
_REPEAT_WEIGHT: Final = 0.1
_MAX_REPEATS: Final = 10
_NEXT_CHARS: Final = 2
_INK: Final = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text and whether it is a found word."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a document's text in segments.

    ``start`` is its offset in characters; ``before`` and ``after`` say whether text was left out
    on that side (within the document).
    """

    segments: tuple[Segment, ...]
    start: int = 0
    before: bool = False
    after: bool = False


class Highlighter:
    """Marks the words of one query; keeps what it learns of words, so use one for a page of results.

    *every*: what was found has every word of the query; otherwise nobody looks for the missing ones in long texts.
    """

    def __init__(self, tree: AllOf, *, every: bool = True) -> None:
        self._every = every
        self._asked = list(dict.fromkeys(asked(tree.nodes)))
        self._by_slot: dict[str, Finder] = {}
        self._chunks_left = _MORE_CHUNKS

    def mark(self, text: str, language: str) -> tuple[Segment, ...]:
        """Return the whole of *text* (a title) in segments."""
        text = nfc(text)
        return _segments(text, 0, len(text), self._finder(text, language).spans(text))

    def fragments(
        self,
        text: str,
        language: str,
        *,
        width: int = FRAGMENT_CHARS,
        rest: Callable[[], str] | None = None,
    ) -> tuple[Fragment, ...]:
        """Return the best excerpts of *text*, in its order; none if nothing of the query stands in it.

        Texts are read in pieces, the first one short: no further than until all words stand together, and beyond the
        second no further than to the piece in which the last word turns up. What may be read there is bounded for all
        texts that one highlighter sees. When *text* is but the beginning, *rest* gives more, should it be needed.
        """
        head = text[:_CHUNK_CHARS]
        low = lower_signs(head)
        finder = self._finder(head, language) if low is None else self._finder_of(slot_of(language))
        if rest is not None:
            text = text[: text.rfind(" ") + 1] or text  # the last word may go on
        reading = _Reading(finder, text, rest, low or "")
        reading.on(_FIRST_CHARS)
        if not reading.together(width):
            reading.on(_CHUNK_CHARS)
            enough = finder.number if self._every else min(finder.number, 1)
            while len(reading.seen) < enough and self._chunks_left and reading.on_to_missing():
                self._chunks_left -= 1
        first = reading.best(width)
        if first is None:
            return ()
        read, spans = reading.read, reading.spans
        chosen = [_window(read, spans, first, width)]
        begin, until = chosen[0]
        held = frozenset(wanted for at, _, wanted in spans if begin <= at < until)
        second = _best(spans, width, finder.number, held, chosen)
        if second is not None:
            start, end = _apart(chosen[0], *_window(read, spans, second, width))
            if any(start <= at and to <= end for at, to, _ in spans):
                chosen.append((start, end))
        return tuple(_fragment(read, start, end, spans, more=reading.more) for start, end in sorted(chosen))

    def lead(self, text: str, *, width: int = FRAGMENT_CHARS) -> tuple[Fragment, ...]:
        """Return the beginning of *text*, for results that were found by other words than the text's."""
        text = nfc(text[: width * 8]).strip()
        if not text:
            return ()
        end = _cut_end(text, min(len(text), width * 2), 0)
        return (_fragment(text, 0, end, []),)

    def _finder(self, text: str, language: str) -> "Finder":
        slots = slots_for(language, text)
        return self._finder_of("en" if slots == (CJK,) else slots[0])

    def _finder_of(self, slot: str) -> "Finder":
        finder = self._by_slot.get(slot)
        if finder is None:
            finder = self._by_slot[slot] = Finder(slot, self._asked)
        return finder


class _Reading:
    """How far a text was read, and what was found there; ``seen``: numbers of the words that were.

    *low*: the beginning of *text* in lower case, if it is such as :func:`lower_signs` reads.
    """

    def __init__(self, finder: Finder, text: str, rest: Callable[[], str] | None, low: str = "") -> None:
        self._low = low
        self._finder = finder
        self._text = text
        self._rest = rest
        self.at = 0
        self.read = ""
        self.spans: list[Span] = []
        self.seen: set[int] = set()
        self._best: tuple[int, int] | None = None

    @property
    def more(self) -> bool:
        """Whether the text goes on."""
        return self._rest is not None or bool(self._text[self.at : self.at + _CHUNK_CHARS].strip())

    def on(self, until: int) -> None:
        """Read on to about *until*."""
        if self.at < len(self._text):
            piece, lowered = self._piece(until)
            self._add(self._finder.spans(piece, None, lowered))
            self.read += piece

    def on_to_missing(self) -> bool:
        """Read one more piece, closely only if it has a word that was not seen yet; whether there was one to read."""
        if self.at >= len(self._text) and self._rest is not None:
            self._text, self._rest = self._rest(), None
        if self.at >= len(self._text):
            return False
        piece, lowered = self._piece(self.at + _CHUNK_CHARS)
        if self._finder.spans(piece, set(range(self._finder.number)) - self.seen, lowered):
            self._add(self._finder.spans(piece, None, lowered))
        self.read += piece
        return True

    def best(self, width: int) -> tuple[int, int] | None:
        """Return (first, last) index of the spans of the best window."""
        if self._best is None:
            self._best = _best(self.spans, width, self._finder.number, frozenset(), ())
        return self._best

    def together(self, width: int) -> bool:
        """Whether one window has every word."""
        if len(self.seen) < self._finder.number or (best := self.best(width)) is None:
            return False
        return len({wanted for _, _, wanted in self.spans[best[0] : best[1] + 1]}) == self._finder.number

    def _piece(self, until: int) -> tuple[str, Lowered]:
        end = _cut_chunk(self._text, self.at, until)
        start, self.at = self.at, end
        if end <= len(self._low):
            return self._text[start:end], (self._low[start:end], True)
        piece = nfc(self._text[start:end])
        return piece, lower(piece)

    def _add(self, spans: list[Span]) -> None:
        by, self._best = len(self.read), None
        self.seen.update([wanted for _, _, wanted in spans])
        self.spans += [(a + by, b + by, wanted) for a, b, wanted in spans] if by else spans


def _cut_chunk(text: str, at: int, end: int) -> int:
    """Return where the piece of *text* from *at* to about *end* ends: at a blank, so that no word is cut."""
    if end >= len(text):
        return len(text)
    blank = max(text.rfind(" ", end - _CUT_REACH * 8, end), text.rfind("\n", end - _CUT_REACH * 8, end))
    return blank + 1 if blank > at else end


def _best(
    spans: list[Span], width: int, number: int, held: frozenset[int], taken: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Return (first, last) index of the spans of the best window of *width* characters outside of *taken*, ``None`` if there is none.

    Of *number* things asked for, different ones count most, those not yet *held* more, one right after another some, repeated ones little;
    early places break ties. The hot path of a page of results.
    """
    best: tuple[int, int] | None = None
    best_score = worth = near = 0.0
    values = [1.0 if wanted in held else _NEW_WEIGHT for wanted in range(number)]
    inside = [0] * number
    follows = [
        _NEAR_WEIGHT if after[0] - before[1] <= _NEXT_CHARS else 0.0 for before, after in pairwise(spans)
    ]
    follows.insert(0, 0.0)
    count, behind = len(spans), 0  # behind the last span of the window
    for first, (start, _, own) in enumerate(spans):
        until = start + width
        entered = behind
        while behind < count and (behind <= first or spans[behind][1] <= until):
            wanted = spans[behind][2]
            if not inside[wanted]:
                worth += values[wanted]
            inside[wanted] += 1
            near += follows[behind]
            behind += 1
        # A window that only lost something is not better than the last one, unless that one was not free.
        if behind > entered or taken:
            repeats = behind - first
            score = worth + near + _REPEAT_WEIGHT * (min(_MAX_REPEATS, repeats))
            if score > best_score and not any(begin <= start < end for begin, end in taken):
                best, best_score = (first, behind - 1), score
        inside[own] -= 1
        if not inside[own]:
            worth -= values[own]
        near -= follows[first]
    return best


def _window(text: str, spans: list[Span], chosen: tuple[int, int], width: int) -> tuple[int, int]:
    """Return start and end of the fragment around the *chosen* spans, cut where words and blocks end."""
    first, last = chosen
    begin, until = spans[first][0], spans[last][1]
    if begins_with_ideograph(text[begin]):
        width //= 2
    spare = max(0, width - (until - begin))
    start = max(0, begin - int(spare * _LEAD_SHARE))
    block = text.rfind("\n", start, begin)
    if block >= 0:
        start = block + 1
    elif start:
        blank = text.find(" ", start, min(begin, start + _CUT_REACH))
        start = blank + 1 if blank >= 0 else start
    return start, _cut_end(text, min(len(text), max(until, start + width)), until)


def _cut_end(text: str, end: int, until: int) -> int:
    """Return *end* moved back to the end of a word, but not before *until*."""
    if end >= len(text) or not text[end].isalnum():
        return end
    blank = max(
        text.rfind(" ", max(until, end - _CUT_REACH), end),
        text.rfind("\n", max(until, end - _CUT_REACH), end),
    )
    return blank if blank > until else end


def _apart(other: tuple[int, int], start: int, end: int) -> tuple[int, int]:
    if start < other[1] and end > other[0]:
        return (other[1], end) if start >= other[0] else (start, other[0])
    return start, end


def _fragment(text: str, start: int, end: int, spans: list[Span], *, more: bool = False) -> Fragment:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Fragment(
        _segments(text, start, end, spans),
        start,
        before=_INK.search(text, 0, start) is not None,
        after=more or _INK.search(text, end) is not None,
    )


def _segments(text: str, start: int, end: int, spans: Sequence[Span]) -> tuple[Segment, ...]:
    made: list[Segment] = []
    at = start
    for begin, until, _ in spans:
        if begin < at or until > end:
            continue
        if begin > at:
            made.append(Segment(text[at:begin].replace("\n", " ")))
        found = text[begin:until].replace("\n", " ")
        if made and made[-1].marked:
            made[-1] = Segment(made[-1].text + found, marked=True)
        else:
            made.append(Segment(found, marked=True))
        at = until
    if at < end:
        made.append(Segment(text[at:end].replace("\n", " ")))
    return tuple(made)
