"""Where the words of a query stand in a text: the same words to the analyser, found without analysing all.

Candidates are what begins like a term, found as plain text; only they go to the analyser. Runs of
ideographs are compared as they stand. What is asked for as a phrase is found where it stands as one.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from ingather.index import AllOf, AnyOf, Node, Phrase, Title, Word
from ingather.index.languages import CJK_CHARACTER, clean, is_cjk
from ingather.index.tantivy_analysers import analyser

__all__ = ["Finder", "Lowered", "Span", "asked", "begins_with_ideograph", "lower", "lower_signs"]

_MAX_HITS: Final = 60
_KEPT_PATTERNS: Final = 2_048
_MIN_PREFIX: Final = 2
_STEM_CHANGES: Final = 2
_SHORT_TERM: Final = 3
_FEW_LETTERS: Final = 4
_ALNUM: Final = re.compile(r"[^\W_]")
_NO_LETTER: Final = re.compile(r"[\W_]")
_DIGRAPHS: Final = (("ss", "\u00df"), ("ae", "\u00e6"), ("oe", "\u0153"))
_ACCENT_BYTES: Final = bytes((*range(0xC3, 0xCC), *range(0xCD, 0xD4), 0xE1))
# UTF-8 of ASCII and signs (U+0080 to U+00BF, U+2000 to U+2FFF); among the latter few have capitals.
_SIGN_BYTES: Final = bytes((*range(0xC0), 0xC2, 0xE2))
_CASED_SIGN: Final = re.compile(b"\xe2[\x84-\x86\x92\x93\xb0-\xb3\xba-\xbf]")
_PIECE: Final = re.compile(rf"(?P<cjk>{CJK_CHARACTER.pattern})|(?P<word>[^\W_])")
# Their stemmers also take away beginnings, or their words hold marks that are no letters to ``re``.
_TAKEN_APART: Final = frozenset({"ar", "ta"})


Lowered = tuple[str, bool]
"""What :func:`lower` returns."""

Span = tuple[int, int, int]
"""Where something stands (characters, half open) and the number of what was asked for. Thousands for a page of results."""


class _Wanted(NamedTuple):
    """One thing to mark: its terms in order; a single one, or a phrase."""

    terms: tuple[str, ...]


def asked(nodes: Iterable[Node]) -> Iterable[tuple[str, bool]]:
    """Yield (text, is a phrase) of all that a result may hold; not what it must not."""
    for node in nodes:
        match node:
            case Word(text):
                yield text, False
            case Phrase(text) | Title(text):
                yield text, True
            case AnyOf(inner) | AllOf(inner):
                yield from asked(inner)
            case _:
                pass


class Finder:
    """Finds the things to mark in texts of one language."""

    def __init__(self, slot: str, asked: Sequence[tuple[str, bool]]) -> None:
        self._slot = slot
        self._analyse = analyser(slot).analyze
        self._known: dict[str, str] = {}
        self._wanted: list[_Wanted] = []
        self._ideographs: dict[str, re.Pattern[str]] = {}
        self._starts: dict[str, tuple[str, bool]] = {}
        for text, phrase in asked:
            pieces = [p for run in _pieces(clean(text)) for p in self._terms(run, whole=phrase)]
            if pieces:
                # What is written as one word but is several terms (e-mail) stands as a phrase.
                self._wanted.append(_Wanted(tuple(pieces)))

    @property
    def number(self) -> int:
        """How many different things there are to mark."""
        return len(self._wanted)

    def spans(
        self, text: str, only: Collection[int] | None = None, lowered: Lowered | None = None
    ) -> list[Span]:
        """Return what to mark, by place; where things overlap the longer one stands.

        *only*: numbers to look for. *lowered*: :func:`lower` of *text*, if it is known.
        """
        low, plain = lowered or lower(text)
        if len(low) != len(text):
            return []
        sought = [(n, w) for n, w in enumerate(self._wanted) if only is None or n in only]
        places = self._places(text, low, {term for _, wanted in sought for term in wanted.terms}, plain=plain)
        found: list[Span] = []
        for number, wanted in sought:
            if len(wanted.terms) == 1:
                found += [(a, b, number) for a, b in places.get(wanted.terms[0], ())]
            else:
                found += _sequences(low, wanted.terms, places, number)
        found.sort()
        return _disjoint(found)

    def _terms(self, run: str, *, whole: bool) -> list[str]:
        """Return the terms of a run of one script; ideographs are a term as they stand."""
        if begins_with_ideograph(run):
            low = run.lower()
            # An unbroken run is looked for in pairs, as the index matches it, unless asked for as a phrase.
            self._ideographs.setdefault(low, _run_pattern(low, whole=whole))
            return [low]
        return self._analyse(run)

    def _places(
        self, text: str, low: str, terms: set[str], *, plain: bool
    ) -> dict[str, list[tuple[int, int]]]:
        words = [t for t in terms if t not in self._ideographs]
        places = {
            run: [m.span() for m in islice(p.finditer(low), _MAX_HITS)]
            for run, p in self._ideographs.items()
            if run in terms
        }
        if self._slot in _TAKEN_APART:
            return places | self._taken_apart(text, words)
        if not plain:
            low = _folded(low)
        mixed, known = not plain and is_cjk(low), self._known
        for term in words:
            start, loose = self._start(term, "" if plain else low)
            if mixed:
                places[term] = self._matching(term, _mixed(_anywhere(start), low), low)
            elif (
                loose
            ):  # two or three letters begin many words: first which of them have the term, if any has
                pattern = _beginning(start)
                having = {w for w in set(pattern.findall(low)) if (known.get(w) or self._term_of(w)) == term}
                places[term] = _having(pattern, having, low) if having else []
            else:
                places[term] = self._begun(term, start, low)
        return places

    def _matching(self, term: str, hits: Iterable[tuple[int, int]], low: str) -> list[tuple[int, int]]:
        known = self._known
        spans: list[tuple[int, int]] = []
        for start, end in hits:
            word = low[start:end]
            if (known.get(word) or self._term_of(word)) == term:
                spans.append((start, end))
                if len(spans) >= _MAX_HITS:
                    break
        return spans

    def _begun(self, term: str, start: str, low: str) -> list[tuple[int, int]]:
        """Return where words stand that begin with *start* and have *term*: what :func:`_beginning` finds; rare ones are found faster so."""
        known, behind, no_letter = self._known, len(start), _NO_LETTER.search
        spans: list[tuple[int, int]] = []
        at = low.find(start)
        while at >= 0:
            end = at + behind
            if not at or not low[at - 1].isalnum():
                after = no_letter(low, end)
                end = after.start() if after else len(low)
                word = low[at:end]
                if (known.get(word) or self._term_of(word)) == term:
                    spans.append((at, end))
                    if len(spans) >= _MAX_HITS:
                        break
            else:
                end = at + 1
            at = low.find(start, end)
        return spans

    def _taken_apart(self, text: str, words: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        places: dict[str, list[tuple[int, int]]] = {word: [] for word in words}
        for token in analyser(self._slot).pre_tokenize(text).tokens:
            spans = places.get(token.text)
            if spans is not None and len(spans) < _MAX_HITS:
                spans.append((token.char_offset_from, token.char_offset_to))
        return places

    def _start(self, term: str, low: str) -> tuple[str, bool]:
        """Return how words begin that may have *term*, by first letters, which a stem keeps, and whether these are few.

        *low*: the text, empty if no letter in it can be two of a term.
        """
        known = self._starts.get(term)
        if known is None:
            # Stems differ from their words in the last letters (happi, happy); very short ones only in y.
            kept = len(term) if len(term) <= _SHORT_TERM and term[-1] != "i" else len(term) - _STEM_CHANGES
            start = term[: max(_MIN_PREFIX, kept)]
            known = self._starts[term] = start, len(start) < min(len(term), _FEW_LETTERS)
        if not low:
            return known
        start = known[0]
        for pair, letter in _DIGRAPHS:
            at = start.find(pair)
            if at > 0 and letter in low:
                start = start[:at]
        return start, len(start) < min(len(term), _FEW_LETTERS)

    def _term_of(self, word: str) -> str:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = " ".join(self._analyse(clean(word)))
        return known


def _pieces(text: str) -> list[str]:
    """Cut *text* into runs of ideographs and runs of other letters."""
    runs: list[str] = []
    last = ""
    end = -1
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or ""
        if kind == last and match.start() == end:
            runs[-1] += match[0]
        else:
            runs.append(match[0])
        last, end = kind, match.end()
    return runs


@cache
def begins_with_ideograph(text: str) -> bool:
    """Whether the first character is Chinese, Japanese or Korean."""
    match = _PIECE.match(text)
    return match is not None and match.lastgroup == "cjk"


def _run_pattern(run: str, *, whole: bool) -> re.Pattern[str]:
    between = r"[\W_]?"
    if whole or len(run) <= 2:  # noqa: PLR2004 - a pair is whole anyway
        return re.compile(between.join(map(re.escape, run)))
    pairs = sorted({run[i : i + 2] for i in range(len(run) - 1)})
    whole_run = "".join(map(re.escape, run))
    return re.compile("|".join([whole_run, *(re.escape(p) for p in pairs)]))


def lower(text: str) -> Lowered:
    """Return *text* in lower case, and whether it has neither accents nor ideographs for certain."""
    low = lower_signs(text)
    if low is not None:
        return low, True
    return (text.replace("\u0130", "I") if "\u0130" in text else text).lower(), False


def lower_signs(text: str) -> str | None:
    """Return *text* in lower case if it has nothing but ASCII and signs, so that it is in NFC for certain; else ``None``."""
    if text.isascii():
        return text.lower()
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    if data.translate(None, _SIGN_BYTES) or _CASED_SIGN.search(data):
        return None
    return data.lower().decode()  # a third of the time that str.lower() takes where a dash is in a text


def _letter_folds() -> dict[str, str]:
    """Return accented letter -> letter, one for one: Latin, Greek, Cyrillic."""
    found = {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u0131": "i", "\u03c2": "\u03c3"}
    for area in (range(0xC0, 0x250), range(0x370, 0x500), range(0x1E00, 0x2000)):
        for code in area:
            letter = chr(code)
            base = unicodedata.normalize("NFKD", letter)[0]
            if letter.islower() and base != letter and base.isalpha():
                found.setdefault(letter, base)
    return found


_FOLDS: Final = _letter_folds()
_FOLDED: Final = re.compile(f"[{''.join(sorted(_FOLDS))}]")


def _folded(low: str) -> str:
    """Return *low* without accents, of the same length."""
    if low.isascii():
        return low
    data = low.encode("utf-8", "replace")
    if len(data.translate(None, _ACCENT_BYTES)) == len(data):
        return low
    return _FOLDED.sub(lambda match: _FOLDS[match[0]], low)


@lru_cache(_KEPT_PATTERNS)
def _beginning(start: str) -> re.Pattern[str]:
    """Return the search for words that begin with *start*: making one takes longer than looking for it in a page."""
    letters = re.escape(start)
    # First the letters, then a look back over them: what begins with letters is found fast.
    return re.compile(rf"{letters}(?<![^\W_]{letters})[^\W_]*")


@lru_cache(_KEPT_PATTERNS)
def _anywhere(start: str) -> re.Pattern[str]:
    """Return the search for *start* and the letters behind it: among ideographs a word may begin right after one."""
    return re.compile(rf"{re.escape(start)}[^\W_]*")


def _having(pattern: re.Pattern[str], having: set[str], low: str) -> list[tuple[int, int]]:
    """Return where *pattern* finds one of the words *having*, the first places."""
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(low):
        if match[0] in having:
            spans.append(match.span())
            if len(spans) >= _MAX_HITS:
                break
    return spans


def _mixed(pattern: re.Pattern[str], low: str) -> Iterator[tuple[int, int]]:
    """Yield the words that *pattern* finds among ideographs, which begin and end words."""
    at = 0
    while match := pattern.search(low, at):
        start, end = match.span()
        cut = CJK_CHARACTER.search(low, start, end)
        at = end = cut.start() if cut else end
        if not start or not low[start - 1].isalnum() or CJK_CHARACTER.match(low, start - 1):
            yield start, end


def _sequences(
    low: str, terms: Sequence[str], places: dict[str, list[tuple[int, int]]], number: int
) -> list[Span]:
    """Return where *terms* stand one after another with nothing but blanks and punctuation between."""
    starts = [dict(places.get(term, ())) for term in terms[1:]]
    found = []
    for begin, first_end in places.get(terms[0], ()):
        end = first_end
        for after in starts:
            gap = _ALNUM.search(low, end)
            at = gap.start() if gap else -1
            if at not in after:
                break
            end = after[at]
        else:
            found.append((begin, end, number))
    return found


def _disjoint(spans: list[Span]) -> list[Span]:
    """Return *spans* (by place) without overlaps: of two the longer one, of equal ones the first."""
    kept: list[Span] = []
    until = 0
    for span in spans:
        start, end, _ = span
        if start >= until:
            kept.append(span)
            until = end
        elif end - start > until - kept[-1][0]:
            kept[-1] = span
            until = end
    return kept
