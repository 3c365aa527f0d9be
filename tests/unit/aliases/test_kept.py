"""What the catalog keeps of aliases, and what explain makes of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.hostaliases.explaining import alias_answer
from ingather.app.hostaliases.keeping import applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.alias import AliasState, HostAlias
from ingather.robot.wire import Folded, decode_to_keeper, frame
from ingather.testing.rig import Rig


@pytest.fixture
def place(home: Path) -> Home:
    Rig(home).init()
    found = Home.open(home)
    found.prepare()
    return found


@pytest.fixture
def writer(place: Home) -> Iterator[CatalogWriter]:
    writer = CatalogWriter(database_of(place))
    yield writer
    writer.close()


def test_what_the_heuristics_fold_is_noted_and_never_over_what_a_person_decided(
    writer: CatalogWriter,
) -> None:
    refused = HostAlias("www2.a.test", "www.a.test", AliasState.REFUSED, who="ann", at_s=1.0)
    writer.transaction(lambda w: w.aliases.put(refused))

    def fold(w: CatalogWriter, why: str, at_s: float) -> None:
        w.aliases.folded("www1.a.test", "www.a.test", why, at_s)
        w.aliases.folded("www2.a.test", "www.a.test", why, at_s)

    writer.transaction(lambda w: fold(w, "one address", 2.0))
    writer.transaction(lambda w: fold(w, "another address", 3.0))
    assert writer.aliases.all() == [
        HostAlias("www1.a.test", "www.a.test", AliasState.FOLDED, "another address", at_s=3.0), refused,
    ]  # fmt: skip
    assert applied(writer.aliases.all()) == {}
    assert writer.transaction(lambda w: w.aliases.forget("www1.a.test"))
    assert not writer.transaction(lambda w: w.aliases.forget("www1.a.test"))


def test_explain_names_the_key_as_long_as_the_alias_is_in_force(place: Home, writer: CatalogWriter) -> None:
    assert alias_answer(place, "http://a.test/x", smart=True) is None
    writer.transaction(lambda w: w.aliases.folded("www1.a.test", "www.a.test", "why", 5.0))
    writer.transaction(
        lambda w: w.aliases.put(HostAlias("www.a.test", "a.test", AliasState.APPLIED, who="ann", at_s=6.0))
    )
    writer.transaction(lambda w: w.aliases.put(HostAlias("b.test", "a.test", AliasState.PROPOSED, at_s=7.0)))
    keys = {
        (url, smart): (answer or {}).get("key")
        for url in ("http://www1.a.test/x?y", "https://www.a.test/", "http://b.test/", "http://a.test/")
        for smart in (True, False)
        for answer in (alias_answer(place, url, smart=smart),)
    }
    assert keys == {
        ("http://www1.a.test/x?y", True): "http://a.test/x?y", ("http://www1.a.test/x?y", False): None,
        ("https://www.a.test/", True): "https://a.test/", ("https://www.a.test/", False): "https://a.test/",
        ("http://b.test/", True): None, ("http://b.test/", False): None,
        ("http://a.test/", True): None, ("http://a.test/", False): None,
    }  # fmt: skip
    told = alias_answer(place, "https://www.a.test/", smart=False)
    assert told is not None
    assert (told["who"], told["state"], told["since"]) == ("ann", "applied", "1970-01-01T00:00:06Z")


def test_gatherers_tell_what_they_fold() -> None:
    folded = Folded("www1.a.test", "www.a.test", "both have the address 10.0.0.1")
    assert decode_to_keeper(frame(folded)[4:]) == folded
