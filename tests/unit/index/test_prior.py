"""Link counts beside the index, and the anchors that are worth keeping."""

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import IndexDamagedError
from ingather.index import PRIOR_NAME, Word, counts, informative, read_prior, write_prior
from ingather.ports.index import IndexDocument

Doc = Callable[..., IndexDocument]


@given(st.dictionaries(st.integers(0, 3000), st.integers(0, 2**33), max_size=50))
def test_counts_hold_what_was_counted(pairs: dict[int, int]) -> None:
    made = counts(pairs.items())
    for row, number in pairs.items():
        assert made[row] == min(number, 2**32 - 1)
    assert sum(made) == sum(min(n, 2**32 - 1) for n in pairs.values())


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    assert len(read_prior(tmp_path)) == 0
    write_prior(tmp_path, array("I", [0, 7, 2**32 - 1]))
    assert list(read_prior(tmp_path)) == [0, 7, 2**32 - 1]
    assert [p.name for p in tmp_path.iterdir()] == [PRIOR_NAME]


@pytest.mark.parametrize("change", ["cut", "flip", "other", "empty"])
def test_a_damaged_file_is_refused(tmp_path: Path, change: str) -> None:
    write_prior(tmp_path, array("I", range(100)))
    place = tmp_path / PRIOR_NAME
    data = bytearray(place.read_bytes())
    if change == "flip":
        data[-3] ^= 1
    place.write_bytes(bytes({"cut": data[:-4], "flip": data, "other": b"X" + data[1:], "empty": b""}[change]))
    with pytest.raises(IndexDamagedError, match=PRIOR_NAME):
        read_prior(tmp_path)


def test_links_raise_a_document_at_the_next_reload_without_indexing_it_again(index: Any, doc: Doc) -> None:
    index.put(*(doc(n, "alpha beta") for n in range(1, 6)))
    for favourite in (4, 2):
        write_prior(index.folder.path, counts([(favourite, 50)]))
        index.reader.reload()
        assert index.rows(Word("alpha"))[0] == favourite


def test_a_damaged_prior_costs_the_prior_and_not_the_search(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"), doc(2, "alpha"))
    write_prior(index.folder.path, counts([(2, 50)]))
    (index.folder.path / PRIOR_NAME).write_bytes(b"broken")
    index.reader.reload()
    assert sorted(index.rows(Word("alpha"))) == [1, 2]


def test_anchors_that_say_nothing_are_left_out() -> None:
    texts = [
        "here",
        "Click here!",
        "42",
        "https://example.com/x",
        "  Next ",
        "",
        "…",
        "Holiday  form",
        "hier",
    ]
    assert informative(texts) == ("Holiday form",)


def test_anchors_come_most_used_first_and_once() -> None:
    assert informative(["b", "a", "Form", "form", "FORM "]) == ("FORM", "a", "b")
    assert len(informative(str(n) + "x" for n in range(100))) == 32


@given(st.lists(st.text(max_size=12), max_size=20), st.randoms(use_true_random=False))
def test_anchors_do_not_depend_on_the_order_of_links(texts: list[str], chance: Any) -> None:
    shuffled = list(texts)
    chance.shuffle(shuffled)
    assert informative(shuffled) == informative(texts)
