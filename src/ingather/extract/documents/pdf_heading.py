"""What stands largest on a page of PDF: its heading, for documents that name no title."""

import ctypes
from collections import Counter
from itertools import groupby
from typing import Any

import pypdfium2.raw as pdfium

__all__ = ["heading_of"]

_LOOKED_AT = 3_000
_LARGER = 1.15
_FEWEST_LETTERS, _LONGEST = 3, 200


def heading_of(text: Any, count: int) -> str:
    """Return the first lines in the largest letters of a page, ``""`` when most of it is as large.

    Args:
        text: the page's text as pdfium has it.
        count: how many characters it has.
    """
    letters = [_letter(text, index) for index in range(min(count, _LOOKED_AT))]
    # White space and line ends carry no size of their own: they belong to what stands before them.
    sized: list[tuple[float, str]] = []
    for size, character in letters:
        sized.append((sized[-1][0] if sized and character.isspace() else size, character))
    sizes = Counter(size for size, character in sized if not character.isspace())
    if not sizes:
        return ""
    usual = sizes.most_common(1)[0][0]
    runs = [
        (size, "".join(character for _, character in run))
        for size, run in groupby(sized, key=lambda one: one[0])
    ]
    told = [(size, words) for size, words in runs if sum(map(str.isalpha, words)) >= _FEWEST_LETTERS]
    largest = max((size for size, _ in told), default=0.0)
    if largest < usual * _LARGER:
        return ""
    found = " ".join(next(words for size, words in told if size == largest).split())
    return found if len(found) <= _LONGEST else ""


def _letter(text: Any, index: int) -> tuple[float, str]:
    """Return the size as it is seen, in half points, and the character at *index*."""
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(text, index, ctypes.byref(matrix)):
        scale = (float(matrix.c) ** 2 + float(matrix.d) ** 2) ** 0.5
    size = float(pdfium.FPDFText_GetFontSize(text, index)) * scale
    unit = int(pdfium.FPDFText_GetUnicode(text, index))
    return round(2 * size) / 2, chr(unit) if 0 < unit <= 0x10FFFF else " "  # noqa: PLR2004 (what Unicode has)
