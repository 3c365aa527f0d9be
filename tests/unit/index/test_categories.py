"""Categories: found by their name and by those above; as people type them."""

import pytest

from ingather.index import AnyOf, Category, Not, Word
from ingather.index.categories import category_term, category_terms
from ingather.search.language import parse, render

from .conftest import Index, made


def test_a_category_finds_what_is_in_it_and_below(index: Index) -> None:
    index.put(
        made(1, "alpha", categories=("Archive:Chat:January", "Staff")),
        made(2, "alpha", categories=("Archive:News",)),
        made(3, "alpha", categories=("Archived",)),
        made(4, "alpha"),
    )
    assert sorted(index.rows(Category("Archive"))) == [1, 2]
    assert index.rows(Category("archive:CHAT")) == [1]
    assert index.rows(Category("Archive:Chat:January")) == [1]
    assert index.rows(Category("Chat")) == []
    assert index.rows(Category("Archive:Cha")) == []
    assert index.rows(Category(":")) == []
    assert sorted(index.rows(Word("alpha"), Not(Category("Archive")))) == [3, 4]
    assert sorted(index.rows(AnyOf((Category("Staff"), Category("Archived"))))) == [1, 3]


def test_terms_are_bounded() -> None:
    assert category_terms(["A:B", "a:c", "", ":", "x" * 300]) == {"c:a", "c:a:b", "c:a:c"}
    assert len(category_terms(f"n{n}" for n in range(1000))) == 64
    assert category_term("A:") == ""


@pytest.mark.parametrize(
    ("typed", "node", "said"),
    [
        ("category:Archive:Chat", Category("Archive:Chat"), "category:Archive:Chat"),
        (
            'category:"Human  Resources : Leave"',
            Category("Human Resources:Leave"),
            'category:"Human Resources:Leave"',
        ),
        ("-category:Drafts", Not(Category("Drafts")), "-category:Drafts"),
    ],
)
def test_the_operator(typed: str, node: object, said: str) -> None:
    tree = parse(typed)
    assert tree.nodes == (node,)
    assert render(tree) == said
    assert parse(said) == tree


def test_an_empty_operator_is_passed_over() -> None:
    assert parse('category:":" x').nodes == (Word("x"),)
