"""Languages as the index tells them apart, and the normal forms of text.

A *slot* is a set of text fields that share an analyser: one per language with a stemmer,
``xx`` for every other language, ``cjk`` for Chinese, Japanese and Korean. Slots without
documents cost nothing. Text must be NFC (:func:`clean`), because a decomposed accent would
split its word.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

__all__ = [
    "CJK",
    "CJK_CHARACTER",
    "PLAIN",
    "SLOTS",
    "STEMMED",
    "cjk_lines",
    "clean",
    "exact",
    "is_cjk",
    "nfc",
    "read_body",
    "slot_of",
    "slots_for",
]

PLAIN: Final = "xx"
CJK: Final = "cjk"
STEMMED: Final[Mapping[str, str]] = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Primary language tag -> name of the Snowball stemmer."""
SLOTS: Final = (PLAIN, *STEMMED, CJK)

_ALIASES: Final = {"nb": "no", "nn": "no"}
CJK_CHARACTER: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
# Bytes of UTF-8 text that is in NFC and free of CJK for certain: ASCII, Latin with its accents
# (C2-CB), punctuation and symbols (E2; the letter-like signs in there fold by themselves), and what
# follows a first byte. Deleting them is the cheapest look at a text: 8 us for 8,000 characters,
# a third of what a normalisation check or a regular expression costs.
_PLAIN_BYTES: Final = bytes((*range(0x80), *range(0x80, 0xC0), *range(0xC2, 0xCC), 0xE2))
_CJK_FIRST_BYTES: Final = bytes((*range(0xE3, 0xEE), 0xF0))
_CJK_SHARE: Final = 0.3
_EXACT_CHARS: Final = 200
_TYPOGRAPHIC: Final = re.compile("[\u2013\u2014\u2018\u2019\u201c\u201d\u2026]")
_PUNCTUATION: Final = b"!\"#$%&'()*,-./:;<=>?@[\\]^_`{|}~"
_BLANKED: Final = bytes(0x20 if byte in _PUNCTUATION else byte for byte in range(256))
_NUMBERED: Final = frozenset({"chapter", "section", "part", "appendix", "kapitel", "abschnitt", "chapitre"})


def slot_of(language: str) -> str:
    """Return the slot of BCP 47 tag *language*; ``xx`` for unknown, absent and unstemmed languages."""
    primary = language.partition("-")[0].lower()
    primary = _ALIASES.get(primary, primary)
    return primary if primary in STEMMED else PLAIN


def is_cjk(text: str) -> bool:
    """Whether *text* holds a Chinese, Japanese or Korean character."""
    if text.isascii() or not text.encode("utf-8", "replace").translate(None, _PLAIN_BYTES):
        return False
    return CJK_CHARACTER.search(text) is not None


def slots_for(language: str, text: str) -> tuple[str, ...]:
    """Return the slots of a document: its language's, ``cjk``, or both for mixed text."""
    own = slot_of(language)
    if text.isascii():
        return (own,)
    return _slots_of(own, text, text.encode("utf-8", "replace"))


def _slots_of(own: str, text: str, data: bytes) -> tuple[str, ...]:
    if not data.translate(None, _PLAIN_BYTES) or not CJK_CHARACTER.search(text):
        return (own,)
    likely = len(data) - len(data.translate(None, _CJK_FIRST_BYTES))
    return (CJK,) if likely > _CJK_SHARE * len(text) else (own, CJK)


def read_body(language: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Return (:func:`clean` text, its :func:`slots_for`): one look at a long text instead of two."""
    own = slot_of(language)
    if text.isascii():
        return text, (own,)
    try:
        plain = not text.encode().translate(None, _PLAIN_BYTES)
    except UnicodeEncodeError:
        plain = False
    if plain:
        return (text.replace("\u0130", "I") if "\u0130" in text else text), (own,)
    text = clean(text)
    return text, _slots_of(own, text, text.encode())


def nfc(text: str) -> str:
    """Return *text* in NFC and without lone surrogates: the form in which text is shown and counted."""
    if text.isascii():
        return text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "replace")
        text = data.decode()
    if not data.translate(None, _PLAIN_BYTES) or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def clean(text: str) -> str:
    """Return *text* as the index takes it: as :func:`nfc`, of the same length.

    A Turkish capital dotted I would become two characters in lower case, which folding leaves apart.
    """
    if text.isascii():
        return text
    text = nfc(text)
    return text.replace("\u0130", "I") if "\u0130" in text else text


def cjk_lines(text: str) -> str:
    """Return the lines of *text* that hold an ideograph, kana or syllable: what ``cjk`` takes of mixed text.

    The other lines stand in the slot of the document's language. Taking them here too would cost more
    than all the rest of the document (a menu of languages is enough to make a page mixed), and words
    that are common there would seem rare here.
    """
    return "\n".join(line for line in text.split("\n") if CJK_CHARACTER.search(line))


def exact(text: str) -> str:
    """Return the normal form in which whole titles, headings and anchors are compared.

    Case, accents, punctuation, blanks and leading numbering (``5.1``, ``Chapter 5.``) do not count.
    ``""`` when nothing is left.
    """
    low = text[:_EXACT_CHARS].lower()
    if not low.isascii():
        low = _TYPOGRAPHIC.sub(" ", low)
    if not low.isascii():
        low = unicodedata.normalize("NFKD", low)
        if not low.isascii():
            low = "".join(c for c in low if not unicodedata.combining(c))
        low = _TYPOGRAPHIC.sub(" ", low)
    words = low.encode("utf-8", "surrogatepass").translate(_BLANKED).decode("utf-8", "surrogatepass").split()
    start = 1 if len(words) > 1 and words[0] in _NUMBERED and words[1].isdigit() else 0
    while start < len(words) - 1 and words[start].isdigit():
        start += 1
    return " ".join(words[start:])
