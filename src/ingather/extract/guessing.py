"""The last resort for a charset: guess it from the bytes, when nothing and nobody declares it.

Certain signs first (pure ASCII, valid UTF-8, escape sequences, zeros of UTF-16). Then a wrong
decoding gives itself away: each candidate decodes a sample of the words that hold high bytes, and
the language detector says how much that looks like a language which is written in that encoding.
"""

import re
from functools import lru_cache
from typing import Final

import eldc
from ingather.extract.labels import decode_as

__all__ = ["DEFAULT_ENCODING", "guess"]

DEFAULT_ENCODING: Final = "windows-1252"
"""What the HTML standard falls back to in most locales (section 13.2.3.2, last step)."""

_SAMPLE_BYTES: Final = 2000
_HIGH_WORDS: Final = re.compile(rb"[^\s<>\"'=]*[\x80-\xff][^\s<>\"'=]*")
_ESCAPES: Final = re.compile(rb"\x1b(?:\$[@B]|\([BIJ])")
_ASCII_ESCAPE: Final = b"\x1b"
_ZERO_SHARE: Final = 0.3
_MARGIN: Final = 1.02
_IMPOSSIBLE: Final = re.compile("[\ufffd\x7f-\x9f]")
# What a wrong code page makes of letters: signs, boxes, half-width katakana.
_SYMBOLS: Final = re.compile("[\xa1-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2500-\u25ff\uff61-\uff9f]")
# Letters of two scripts side by side, as when the accents of a Latin text are taken for Thai or Greek.
_MIXED: Final = re.compile("[A-Za-z](?=[^\x00-\x7f])|(?<=[^\x00-\x7f])[A-Za-z]")
_LATIN: Final = frozenset(
    {"windows-1252", "windows-1250", "windows-1254", "windows-1257", "windows-1258", "iso-8859-2"}
)
_HIGH: Final = re.compile("[^\x00-\x7f]")
_WRONG_SHARE: Final = 0.02

# In order of use on the web: the first of equals wins.
_CANDIDATES: Final[tuple[tuple[str, frozenset[str]], ...]] = tuple(
    (name, frozenset(languages.split()))
    for name, languages in (
        ("windows-1252", "en de fr es pt it nl sv da no nb fi is ca gl eu ga cy sq et lb af ms id tl"),
        ("windows-1251", "ru uk bg sr mk be mn kk"),
        ("windows-1250", "cs pl hu ro hr sk sl bs sr sq"),
        ("shift_jis", "ja"),
        ("euc-jp", "ja"),
        ("gbk", "zh"),
        ("euc-kr", "ko"),
        ("big5", "zh"),
        ("windows-1256", "ar fa ur"),
        ("windows-1254", "tr az"),
        ("windows-1253", "el"),
        ("windows-1255", "he yi"),
        ("windows-874", "th"),
        ("iso-8859-2", "cs pl hu ro hr sk sl bs sr"),
        ("iso-8859-7", "el"),
        ("koi8-u", "ru uk bg be"),
        ("iso-8859-5", "ru uk bg sr mk be"),
        ("ibm866", "ru uk bg be"),
        ("windows-1257", "lt lv et"),
        ("iso-8859-6", "ar fa ur"),
        ("windows-1258", "vi"),
    )
)


def guess(body: bytes) -> str:
    """Return the name of the most likely encoding of *body*; never fails, costs some 300 us if it must think."""
    zeros = body.count(0, 0, _SAMPLE_BYTES)
    if zeros > _ZERO_SHARE * min(len(body), _SAMPLE_BYTES):
        even = body[:_SAMPLE_BYTES:2].count(0)
        return "utf-16be" if even * 2 > zeros else "utf-16le"
    if body.isascii():
        return "iso-2022-jp" if _ASCII_ESCAPE in body and _ESCAPES.search(body) else DEFAULT_ENCODING
    if _is_utf8(body):
        return "utf-8"
    words, size = [], 0
    for match in _HIGH_WORDS.finditer(body):
        words.append(match[0][:_SAMPLE_BYTES])
        size += len(words[-1]) + 1
        if size > _SAMPLE_BYTES:
            break
    return _by_language(b" ".join(words))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # a last character that was cut off is no proof to the contrary
        return error.reason == "unexpected end of data" and not body[: error.start].isascii()
    return True


def _by_language(sample: bytes) -> str:
    detector = _detector()
    best, best_score = DEFAULT_ENCODING, 0.0
    for name, languages in _CANDIDATES:
        text = decode_as(sample, name)
        wrong = len(_IMPOSSIBLE.findall(text)) / (len(text) or 1)
        if wrong > _WRONG_SHARE:
            continue
        scores = detector.detect_details(text).scores
        score = max([s for language, s in scores.items() if language in languages], default=0.0)
        odd = len(_SYMBOLS.findall(text))
        if name not in _LATIN:
            odd += len(_MIXED.findall(text))
        score *= (1 - wrong) * (1 - min(1.0, odd / (len(_HIGH.findall(text)) or 1)))
        if score > best_score * _MARGIN:
            best, best_score = name, score
    return best


@lru_cache(maxsize=1)
def _detector() -> "eldc._Instance":
    eldc.init()
    detector = eldc.instance()
    detector.set_scores(20)
    return detector
