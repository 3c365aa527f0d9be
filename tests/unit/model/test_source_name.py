"""Names of sources: they keep their case, and are compared without it."""

import pickle

import pytest

from ingather.model.source_name import BySource, same_source, source_key, spelled


def test_names_are_compared_without_their_case() -> None:
    assert same_source("SharePoint", "sharepoint")
    assert not same_source("SharePoint", "share-point")
    assert source_key("Share_Point-1") == "share_point-1"


def test_a_name_is_spelled_as_it_is_known() -> None:
    assert spelled("sharepoint", ["web", "SharePoint"]) == "SharePoint"
    assert spelled("sharepoint", ["SharePoint", "sharepoint"]) == "sharepoint"
    assert spelled("Wiki", ["SharePoint"]) == "Wiki"


@pytest.mark.parametrize("name", ["SharePoint", "sharepoint", "SHAREPOINT"])
def test_a_table_is_asked_in_any_case(name: str) -> None:
    table = BySource({"SharePoint": 1, "wiki": 2})
    assert name in table
    assert table[name] == table.get(name) == 1
    assert table.written(name) == "SharePoint"
    assert list(table) == ["SharePoint", "wiki"]


def test_the_very_name_counts_before_one_in_another_case() -> None:
    table = BySource([("SharePoint", 1), ("sharepoint", 2)])
    assert (table["SharePoint"], table["sharepoint"], table["SHAREPOINT"]) == (1, 2, 1)


def test_what_is_not_there_is_not_found() -> None:
    table = BySource({"wiki": 1})
    assert "SharePoint" not in table
    assert table.get("SharePoint") is None
    assert table.get("SharePoint", 5) == 5
    with pytest.raises(KeyError):
        table["SharePoint"]


def test_it_goes_to_another_process_whole() -> None:
    again = pickle.loads(pickle.dumps(BySource({"SharePoint": 1})))  # noqa: S301 - our own
    assert again["sharepoint"] == 1


def test_more_values_take_the_place_of_those_of_the_same_source() -> None:
    table = BySource({"web": 0, "SharePoint": 1}).with_({"sharepoint": 7, "wiki": 2})
    assert dict(table) == {"web": 0, "SharePoint": 7, "wiki": 2}


def test_a_source_that_is_taken_out_is_gone_in_any_case() -> None:
    table = BySource([("SharePoint", 1), ("sharepoint", 2)])
    del table["SharePoint"]
    assert table["SharePoint"] == 2
    del table["SHAREPOINT"]
    assert "sharepoint" not in table


def test_lists_grow_under_one_name() -> None:
    table: BySource[list[int]] = BySource()
    table.listed("SharePoint").append(1)
    table.listed("sharepoint").append(2)
    assert dict(table) == {"SharePoint": [1, 2]}
