"""Fingerprints of texts: counted as the definition says, near for near texts, far for others."""

from random import Random

import pytest
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from ingather.extract.simhash import (
    LEAST_WORDS,
    NEAR_BITS,
    _compiled,
    _majority,
    differing_bits,
    fingerprint,
    signed,
)

NOT_BUILT = "the compiled walk was not built (hatch_build.py; needs cc)"
WORDS = [f"word{number}" for number in range(4_000)]


def _text(seed: int, words: int, *, a_line: int = 10) -> str:
    dice = Random(seed)  # noqa: S311 - texts
    chosen = [dice.choice(WORDS) for _ in range(words)]
    return "\n".join(" ".join(chosen[at : at + a_line]) for at in range(0, words, a_line))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 50, 333])
def test_bits_are_counted_as_one_by_one(count: int) -> None:
    dice = Random(count)  # noqa: S311 - texts
    lanes = [dice.getrandbits(64) for _ in range(count)]
    row = sum(lane << 64 * place for place, lane in enumerate(lanes))
    more = [sum(lane >> bit & 1 for lane in lanes) > count // 2 for bit in range(64)]
    assert _majority(row, count) == sum(1 << bit for bit, most in enumerate(more) if most)


def test_short_texts_have_none() -> None:
    assert fingerprint("") == 0
    assert fingerprint(_text(1, LEAST_WORDS - 1)) == 0
    assert fingerprint(_text(1, LEAST_WORDS)) != 0


@pytest.mark.parametrize("words", [150, 400, 5_000, 30_000])
def test_one_changed_word_of_many_leaves_texts_near(words: int) -> None:
    text = _text(7, words)
    near = [
        differing_bits(fingerprint(text), fingerprint(text.replace(word, "changed", 1)))
        for word in WORDS[:40]
        if word in text
    ]
    assert sum(bits <= 2 * NEAR_BITS for bits in near) > len(near) / 2
    assert max(near, default=0) < 16


@pytest.mark.parametrize("words", [100, 400, 5_000])
def test_different_texts_are_far(words: int) -> None:
    marks = [fingerprint(_text(seed, words)) for seed in range(40)]
    least = min(differing_bits(one, other) for at, one in enumerate(marks) for other in marks[at + 1 :])
    assert least > 10


def test_the_order_of_words_counts() -> None:
    text = _text(3, 100, a_line=100)
    assert differing_bits(fingerprint(text), fingerprint(" ".join(reversed(text.split())))) > NEAR_BITS


def test_white_space_does_not_count_and_the_value_is_the_same_everywhere() -> None:
    text = _text(3, 100, a_line=100)
    assert fingerprint(text) == fingerprint(text.replace(" ", "  "))
    assert f"{fingerprint(text):016x}" == "4acc16276cc13faa"
    assert signed((1 << 64) - 1) == -1
    assert signed(5) == 5


def test_hostile_texts_are_taken() -> None:
    assert fingerprint("\ud800 " * 100) != 0
    assert fingerprint("x" * 2_000_000) == 0
    assert fingerprint("a\n" * 5_000) == fingerprint("a\n" * 5_000)


@pytest.mark.skipif(_compiled().majority is None, reason=NOT_BUILT)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 63, 64, 999, 5_000])
def test_bits_are_counted_in_c_as_in_python(count: int) -> None:
    compiled = _compiled().majority
    assert compiled is not None
    for lanes in (Random(count).randbytes(8 * count), bytes(8 * count), b"\xff" * 8 * count):  # noqa: S311 - texts
        assert compiled(lanes, count) == _majority(int.from_bytes(lanes, "little"), count)


SPACES = " \t\n\v\f\r"
"""What parts words; other white space of Unicode and of ASCII is part of one."""


@pytest.mark.skipif(_compiled().shingled is None, reason=NOT_BUILT)
@pytest.mark.parametrize("longest", [1, 3, 8, 16, 32, 64, 96, 128, 400])
def test_words_are_hashed_in_c_as_in_python(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = Random(longest)  # noqa: S311 - texts
    letters = "abcxyz0\0äß\x1c\x85\xa0\u20ac\U0001f600\ud800"
    texts = [
        "".join(
            dice.choice(SPACES) * dice.randint(1, 2)
            + "".join(dice.choices(letters, k=dice.randint(1, longest)))
            for _ in range(count)
        )
        for count in (LEAST_WORDS - 1, LEAST_WORDS, LEAST_WORDS + 1, 300, 999, 1_000, 1_001)
    ]
    lone = [text.replace("\n", " ") for text in texts]  # few lines: words are what is looked at
    in_c = [fingerprint(text) for text in lone]
    monkeypatch.setattr("ingather.extract.simhash._compiled", type(_compiled()))
    assert in_c == [fingerprint(text) for text in lone]
    assert in_c[0] == 0
    assert all(in_c[1:])


@pytest.mark.skipif(_compiled().lined is None, reason=NOT_BUILT)
@pytest.mark.parametrize("lines", [23, 24, 300, 1_000, 1_001, 4_096, 300_000])
def test_lines_are_hashed_in_c_as_in_python(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = Random(lines)  # noqa: S311 - texts
    letters = "abcxyz0\0äß\x1c\x85\xa0\u20ac\U0001f600\ud800 "
    sizes = [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1_023, 1_024, 1_025, 2_048, 2_049, 5_000] * 2
    longest = 12 if lines > 1_000 else 400
    drawn = ["".join(dice.choices(letters, k=dice.randint(1, longest))) for _ in range(lines - len(sizes))]
    drawn += ["x" * size for size in sizes if size <= 100 * longest]
    texts = ["\n".join(drawn), "\n".join(drawn) + "\n", "\n".join(drawn * 2), "\n".join(drawn[:23] * 3)]
    in_c = [fingerprint(text) for text in texts]
    monkeypatch.setattr("ingather.extract.simhash._compiled", type(_compiled()))
    assert in_c == [fingerprint(text) for text in texts]
    assert len(set(in_c[:3])) <= 2


@pytest.mark.skipif(_compiled().lined is None, reason=NOT_BUILT)
def test_lines_of_every_length_have_the_hash_that_xxhash_gives() -> None:
    lined = _compiled().lined
    assert lined is not None
    for size in [*range(1_200), 2_047, 2_048, 2_049, 3_333, 65_536]:
        line = Random(size).randbytes(size).replace(b"\n", b" ")  # noqa: S311 - texts
        assert lined(line, size, 1, 1_000) == (int.from_bytes(xxh3_64_digest(line), "little") or 1)


@pytest.mark.skipif(_compiled().lined is None, reason=NOT_BUILT)
def test_lines_that_were_chosen_to_meet_in_the_table_are_told_apart_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meeting = [f"{number:x}" for number in range(200_000) if not xxh3_64_intdigest(b"%x" % number) & 0x3FF]
    text = "\n".join(meeting * 2)
    in_c = fingerprint(text)
    monkeypatch.setattr("ingather.extract.simhash._compiled", type(_compiled()))
    assert in_c == fingerprint(text)
    assert len(meeting) > 150
