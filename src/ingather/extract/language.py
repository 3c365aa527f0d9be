"""The language of a document as a BCP 47 tag: what it declares, else what its words look like."""

import re
from functools import lru_cache
from typing import Any, Final

__all__ = ["detect_language", "language_tag"]

_TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_SAMPLE_CHARS: Final = 1000
_SKIP_CHARS: Final = 200
_ENOUGH_CHARS: Final = 24
_REGION_CHARS: Final = 2
_SCRIPT_CHARS: Final = 4
_UNDETERMINED: Final = frozenset({"und", "mul", "zxx", "mis"})
_WORDS: Final = {
    "english": "en",
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
}


@lru_cache(maxsize=512)
def language_tag(declared: str) -> str:
    """Return *declared* in the usual spelling (``de-AT``, ``zh-Hant-TW``), ``""`` if it is no language tag.

    Of a list (``en, de``) the first counts; ``en_US`` and ``en_US.UTF-8`` are understood.
    """
    word = declared.partition(",")[0].partition(";")[0].partition(".")[0].strip().replace("_", "-")
    word = _WORDS.get(word.lower(), word)
    if not _TAG.fullmatch(word):
        return ""
    primary, *rest = word.split("-")
    if primary.lower() in _UNDETERMINED:
        return ""
    tag = [primary.lower()]
    for part in rest:
        if len(part) == _REGION_CHARS and len(tag[-1]) > 1:
            tag.append(part.upper())
        elif len(part) == _SCRIPT_CHARS and part.isalpha():
            tag.append(part.title())
        else:
            tag.append(part.lower())
    return "-".join(tag)


def detect_language(text: str) -> str:
    """Return the primary tag of the language that a sample of *text* is written in, ``""`` if unsure.

    Looks at some thousand characters (5 to 10 us); the start of a long text, often a menu, is passed over.
    """
    start = _SKIP_CHARS if len(text) > _SKIP_CHARS + _SAMPLE_CHARS else 0
    sample = text[start : start + _SAMPLE_CHARS]
    if len(sample) < _ENOUGH_CHARS:
        return ""
    try:
        language = _engine().detect(sample)
    except UnicodeEncodeError:  # a lone surrogate, from a caller's text
        language = _engine().detect(sample.encode("utf-8", "replace").decode("utf-8"))
    return "" if language == "und" else str(language)


@lru_cache(maxsize=1)
def _engine() -> Any:
    import eldc

    eldc.init()
    return eldc.instance()
