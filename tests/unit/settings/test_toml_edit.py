"""Feeds added to lists in a TOML file: what people wrote stays."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.conf.text.toml_edit import NotEditableError, add_to_list, toml_text

TABLE = ("source", "news")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[source.news]\n", '[source.news]\nfeeds = ["n"]\n'),
        ("[source.news]", '[source.news]\nfeeds = ["n"]\n'),
        ("[source.news] # mine\nkind = 'rss'\n", "[source.news] # mine\nfeeds = [\"n\"]\nkind = 'rss'\n"),
        ("[source.news]\r\nkind = 'rss'\r\n", "[source.news]\r\nfeeds = [\"n\"]\r\nkind = 'rss'\r\n"),
        ("[source.news]\nfeeds = []\n", '[source.news]\nfeeds = ["n"]\n'),
        ("[source.news]\nfeeds = ['a'] # one\n", "[source.news]\nfeeds = ['a', \"n\"] # one\n"),
        ("[source.news]\nfeeds = ['a',]\n", "[source.news]\nfeeds = ['a', \"n\",]\n"),
        ("[source.news]\nfeeds = [\n  'a', # ]\n  'b'\n]\nx = 1\n", "[source.news]\nfeeds = [\n  'a', # ]\n  'b',\n  \"n\"\n]\nx = 1\n"),
        ("[source.news]\nfeeds = [\n  'a',\n  'b', # of b\n  # none\n]\n", "[source.news]\nfeeds = [\n  'a',\n  'b', # of b\n  \"n\",\n  # none\n]\n"),
        ("[source.news]\r\nfeeds = [\r\n\t'a'\r\n]\r\n", "[source.news]\r\nfeeds = [\r\n\t'a',\r\n\t\"n\"\r\n]\r\n"),
        ("[source.news]\nfeeds = ['a',\n 'b']\n", "[source.news]\nfeeds = ['a',\n 'b', \"n\"]\n"),
        ('[source]\nnews = { feeds = ["a"] }\n', '[source]\nnews = { feeds = ["a", "n"] }\n'),
        ("[source]\nnews.feeds = ['a']\n", "[source]\nnews.feeds = ['a', \"n\"]\n"),
        ("[other]\nfeeds = []\n[source.'news']\nfeeds = ['a]']\n", "[other]\nfeeds = []\n[source.'news']\nfeeds = ['a]', \"n\"]\n"),
    ],
)  # fmt: skip
def test_a_value_is_added_and_all_else_stays(before: str, after: str) -> None:
    assert add_to_list(before, TABLE, "feeds", ["n"]) == after


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[source]\nnews = 1\n",
        "source = { news = {} }\n",
        "[source.news]\nfeeds = 'a'\n",
        "[source.news]\nfeeds = 5\n",
    ],
)
def test_what_has_no_safe_place_is_refused(body: str) -> None:
    with pytest.raises(NotEditableError):
        add_to_list(body, TABLE, "feeds", ["n"])


_TEXTS = st.lists(st.text(max_size=8), max_size=4)


@given(
    old=_TEXTS,
    new=st.lists(st.text(max_size=8), min_size=1, max_size=3),
    lines=st.booleans(),
    comma=st.booleans(),
)
def test_any_list_grows_by_what_is_added(*, old: list[str], new: list[str], lines: bool, comma: bool) -> None:
    gap = "\n  " if lines else " "
    inside = f",{gap}".join(map(toml_text, old)) + ("," if comma and old else "")
    body = f'# top\n[source.news]\nfeeds = [{gap}{inside}{gap}]\nkind = "rss"\n'
    made = tomllib.loads(add_to_list(body, TABLE, "feeds", new))
    assert made == {"source": {"news": {"feeds": old + new, "kind": "rss"}}}
