"""Words to terms: one analyser per language slot, the same for documents and questions.

All slots lower-case, fold accents, then stem. ``cjk`` takes each ideograph, kana or syllable as a
word with a position of its own, and runs of other letters as words (stemmed as English), so that
phrases are true over both. N-gram tokenizers are not used: they give every token position 0.

There is no filter for long words: it costs 20 us a page and saves 30 bytes.
"""

from functools import cache, lru_cache
from typing import Final

from tantivy import Filter, Index, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from ingather.index.languages import CJK, PLAIN, SLOTS, STEMMED

__all__ = ["TERMS", "analyser", "positions", "register", "terms"]

TERMS: Final = "terms"
"""The analyser of fields that take terms which are made already, with blanks between them."""

_KEPT: Final = 16_384  # a word is asked in each language that the index has
_CJK_CLASS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\x{30FC}\x{FF70}"
_CJK_TOKEN: Final = rf"[{_CJK_CLASS}]|[[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK_CLASS}]]+"


@cache
def analyser(slot: str) -> TextAnalyzer:
    """Return the analyser of *slot*; safe to share between threads."""
    tokenizer = Tokenizer.regex(_CJK_TOKEN) if slot == CJK else Tokenizer.simple()
    builder = TextAnalyzerBuilder(tokenizer).filter(Filter.lowercase()).filter(Filter.ascii_fold())
    if slot != PLAIN:
        builder = builder.filter(Filter.stemmer(STEMMED.get(slot, "english")))
    return builder.build()


def register(index: Index) -> None:
    """Make the analysers known to *index*: needed after every open, for writing and for reading."""
    for slot in SLOTS:
        index.register_tokenizer(slot, analyser(slot))
    index.register_tokenizer(TERMS, TextAnalyzerBuilder(Tokenizer.whitespace()).build())


def terms(slot: str, text: str) -> list[str]:
    """Return the terms of NFC *text* in *slot*, in order."""
    return analyser(slot).analyze(text)


@lru_cache(_KEPT)
def positions(slot: str, text: str) -> tuple[tuple[int, str], ...]:
    """Return (position, term) of NFC *text* in *slot*, for phrase queries; what was asked lately is remembered."""
    return tuple([(token.position, token.text) for token in analyser(slot).pre_tokenize(text).tokens])
