"""SimHash: 64 bits by which texts that are nearly alike are found (Charikar 2002; Manku, Jain, Das Sarma 2007).

Features of a short text are its shingles of three words, of a long one its different lines. Each has a 64-bit hash; a
bit of the fingerprint is set when most features have it set. So texts that share most features differ in few bits,
and texts that share none in about half.

No loop here runs over shingles or bits: the hashes of all words stand side by side in one large integer, shingles are
made by shifting it against itself, and bits are counted by full adders over its thirds, so that the work is done by the
interpreter's long arithmetic (``benchmarks/simhash.py`` measures time and precision). Where the library in C was built
(``walk/lines.h``, ``walk/shingles.h``, ``walk/majority.h``) it does the same.
"""

import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from xxhash import xxh3_64_digest

__all__ = ["LEAST_WORDS", "NEAR_BITS", "differing_bits", "fingerprint", "signed"]

LEAST_WORDS: Final = 40
"""Words that a text must have to get a fingerprint: of fewer one word changes too much."""
NEAR_BITS: Final = 3
"""Bits in which the fingerprints of near-duplicates differ at most."""

_LEAST_LINES: Final = 24
"""Different lines from which on they are a text's features."""
_MOST_WORDS: Final = 1_000
"""Words of a text with few lines that are looked at."""
_MOST_LINES: Final = 1_000
"""Lines that are counted: of more, those whose hash is small."""
_LANE: Final = 8
_REMEMBERED: Final = 50_000
_LONGEST_WORD: Final = 64
_MASK: Final = (1 << 64) - 1
_LIBRARY: Final = Path(__file__).parent / "walk" / "walk.so"


class _Words(dict[bytes, bytes]):
    """Hashes of words; those met first are remembered."""

    def __missing__(self, word: bytes) -> bytes:
        found = xxh3_64_digest(word)
        if len(self) < _REMEMBERED and len(word) < _LONGEST_WORD:
            self[word] = found
        return found


_words: Final = _Words()


def fingerprint(text: str) -> int:
    """Return the fingerprint of a text, 1 to 2^64 - 1; 0 = it is too short to have one.

    The same on every machine; letter case counts, white space does not.
    """
    body = text.encode("utf-8", "surrogatepass")
    compiled = _compiled()
    if compiled.lined is not None and (mark := compiled.lined(body, len(body), _LEAST_LINES, _MOST_LINES)):
        return mark
    lines = set(body.split(b"\n"))
    if len(lines) < _LEAST_LINES:
        if compiled.shingled is not None and (
            mark := compiled.shingled(body, len(body), LEAST_WORDS, _MOST_WORDS)
        ):
            return mark
        words = body.split(None, _MOST_WORDS)[:_MOST_WORDS]
        if len(words) < LEAST_WORDS:
            return 0
        count = len(words) - 2
        return _most(_shingles(words).to_bytes(_LANE * count, "little")) or 1
    hashes: Iterable[bytes] = map(xxh3_64_digest, lines)
    if len(lines) > _MOST_LINES:
        parts = 1 << (len(lines) // _MOST_LINES).bit_length()
        hashes = filter((256 // min(parts, 256)).to_bytes(2, "big")[1:].__gt__, hashes)
    return _most(b"".join(hashes)) or 1


def differing_bits(one: int, other: int) -> int:
    """Return in how many bits two fingerprints differ; signed or not, but both alike."""
    return ((one ^ other) & _MASK).bit_count()


def signed(value: int) -> int:
    """Return a fingerprint as SQLite keeps it: as a signed number of 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def _shingles(words: list[bytes]) -> int:
    """Return the hashes of all triples of words, side by side."""
    count = len(words) - 2
    row = int.from_bytes(b"".join(map(_words.__getitem__, words)), "little")
    # Lane n becomes h(n) ^ mix(h(n+1)) ^ mix'(h(n+2)): the order of words counts, because each is shifted differently.
    # A shift carries bits over into the next lane, whose word is one of the three anyway.
    return (row ^ (row >> 64 + 21) ^ (row >> 128 - 13)) & ((1 << 64 * count) - 1)


def _most(lanes: bytes) -> int:
    """Return which bits are set in more than half of the lanes."""
    majority, count = _compiled().majority, len(lanes) // _LANE
    return _majority(int.from_bytes(lanes, "little"), count) if majority is None else majority(lanes, count)


class _Compiled(NamedTuple):
    """Functions in C; ``None`` where none was built, or a library of an older release is there."""

    majority: Callable[[bytes, int], int] | None = None
    shingled: Callable[[bytes, int, int, int], int] | None = None
    lined: Callable[[bytes, int, int, int], int] | None = None


@cache
def _compiled() -> _Compiled:
    """Return what there is in C; it is looked for when a text is there, for most processes have none."""
    import ctypes

    if not _LIBRARY.exists() or sys.byteorder != "little":
        return _Compiled()
    try:
        library = ctypes.PyDLL(str(_LIBRARY))  # so short that others may wait
    except OSError:
        return _Compiled()
    found = []
    for name, numbers in (("walk_majority", 1), ("walk_shingled", 3), ("walk_lined", 3)):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_char_p, *[ctypes.c_size_t] * numbers)
            function.restype = ctypes.c_uint64
        found.append(function)
    return _Compiled(*found)


def _majority(lanes: int, count: int) -> int:
    """Return which bits are set in more than half of *count* lanes: counted by full adders over whole thirds of them."""
    half = count // 2
    planes: list[int] = []
    while count:
        carries = carried = 0
        while count > 1:
            third = -(-count // 3)
            bits = 64 * third
            mask = (1 << bits) - 1
            one, rest = lanes & mask, lanes >> bits
            two, three = rest & mask, rest >> bits
            odd = one ^ two
            carries |= (one & two | odd & three) << 64 * carried
            carried += third
            lanes, count = odd ^ three, third
        planes.append(lanes)
        lanes, count = carries, carried
    more, same = 0, _MASK
    for place in range(len(planes) - 1, -1, -1):
        if half >> place & 1:
            same &= planes[place]
        else:
            more |= same & planes[place]
            same &= ~planes[place]
    return more
