"""RDM: queries see what searchers see, submit requests change layers, and any bytes are answered."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.app_rd.conftest import Import, Rdm

from ingather.conf.soif import write_object

Open = Callable[[], Rdm]
A, B, SECRET = "http://www.siroe.com/a", "http://www.siroe.com/b", "http://www.siroe.com/secret"


@pytest.fixture
def filled(bring: Import, rdm: Open) -> Rdm:
    bring(
        (A, {"title": "Wombats", "classification": ("Animals:Wombats", "Zoo"), "full-text": "wombats dig"}),
        (B, {"title": "Weasels", "description": "no wombats here"}),
        (SECRET, {"title": "Secret wombats", "readacl": "group=keepers"}),
    )
    return rdm()


def test_a_query_gives_what_a_search_finds_with_the_attributes_wanted(filled: Rdm) -> None:
    head, *documents = filled.query("rd-request", scope="wombats", view_attributes="title,Classification")
    assert head.first("rdm-type") == "rd-response"
    assert head.first("rdm-response-interpret") == "2 results out of 2 hits"
    assert {d.url: d.texts() for d in documents} == {
        A: {"title": ("Wombats",), "classification": ("Animals:Wombats", "Zoo")},
        B: {"title": ("Weasels",)},
    }


@pytest.mark.parametrize("scope", ["", "*"])
def test_a_query_for_everything_leaves_out_what_nobody_may_see(filled: Rdm, scope: str) -> None:
    _, *documents = filled.query("rd-request", scope=scope)
    assert [d.url for d in documents] == [A, B]
    _, *second = filled.query("rd-request", scope=scope, view_hits="2..2")
    assert [d.url for d in second] == [B]


def test_an_access_list_that_the_index_does_not_know_yet_counts_at_once(filled: Rdm) -> None:
    request = write_object("REQUEST", "", {"submit-operation": "update", "submit-type": "persistent"})
    (answer,) = filled.ask(request, write_object("DOCUMENT", A, {"readacl": "x"}))
    assert answer.first("submit-merged") == "1"
    _, *documents = filled.query("rd-request", scope="wombats")
    assert [d.url for d in documents] == [B]


def test_descriptions_of_server_schema_status_and_taxonomy(filled: Rdm) -> None:
    head, server = filled.query("server-description-request")
    assert (head.first("rdm-type"), server.template) == ("server-description-response", "RDMSERVER")
    head, *lines = filled.query("schema-description-request")
    assert {"title", "readacl"} <= {line.first("name") for line in lines}
    head, status = filled.query("status-request")
    assert (status.first("rd-count"), status.all("database")) == ("3", ("default 3",))
    head, *taxonomy = filled.query("taxonomy-description-request")
    assert head.first("rdm-type") == "taxonomy-description-response"
    assert taxonomy


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("rd-request", {"view_hits": "many"}),
        ("rd-request", {"scope": "x " * 5_000}),
        ("rd-request", {"scope": "wombats", "view_hits": "20000..20010"}),
        ("rd-delete-request", {}),
        ("", {}),
    ],
)
def test_what_cannot_be_answered_is_said(filled: Rdm, kind: str, query: dict[str, str]) -> None:
    (head,) = filled.query(kind, status=400, **query)
    assert head.first("error-message")


def submit(operation: str, kind: str = "persistent", **more: str) -> bytes:
    fields = {"submit-operation": operation, "submit-type": kind, "submit-csid": "x-catalog://a"}
    return write_object("REQUEST", "", fields | {f"submit-{name}": value for name, value in more.items()})


def test_submit_inserts_merges_deletes_and_retrieves(filled: Rdm) -> None:
    url = "http://www.siroe.com/new"
    (answer,) = filled.ask(
        submit("insert", database="archive"), write_object("DOCUMENT", url, {"title": "New", "author": "me"})
    )
    assert (answer.template, answer.first("submit-added"), answer.first("submit-csid")) == (
        "RESPONSE",
        "1",
        "x-catalog://a",
    )
    filled.ask(
        submit("insert", "nonpersistent"), write_object("DOCUMENT", url, {"title": "Robot", "phone": "1"})
    )
    filled.ask(
        submit("update", view="title"), write_object("DOCUMENT", url, {"title": "Newer", "author": "you"})
    )

    def retrieved(kind: str) -> dict[str, tuple[str, ...]]:
        _, document = filled.ask(submit("retrieve", kind), write_object("DOCUMENT", url, {}))
        return document.texts()

    assert retrieved("persistent") == {"title": ("Newer",), "author": ("me",)}
    assert retrieved("nonpersistent") == {"title": ("Robot",), "phone": ("1",)}
    assert retrieved("merged") == {"title": ("Newer",), "author": ("me",), "phone": ("1",)}
    (answer,) = filled.ask(submit("delete", "persistent"), write_object("DOCUMENT", url, {}))
    assert answer.first("submit-deleted") == "1"
    assert retrieved("merged") == {"title": ("Robot",), "phone": ("1",)}
    filled.ask(submit("delete", "merged"), write_object("DOCUMENT", url, {}))
    (answer,) = filled.ask(submit("retrieve", "merged"), write_object("DOCUMENT", url, {}))
    assert (answer.first("submit-retrieved"), answer.first("submit-unknown")) == ("0", "1")


def test_submit_says_why_documents_are_refused(filled: Rdm) -> None:
    (answer,) = filled.ask(
        submit("update"),
        write_object("DOCUMENT", "http://nobody/", {"title": "x"}),
        write_object("DOCUMENT", "no url", {}),
    )
    assert answer.first("submit-refused") == "2"
    assert "no description" in answer.all("submit-refusal")[1]
    (answer,) = filled.ask(submit("update", layer="editor"), write_object("DOCUMENT", A, {"md5": "x"}))
    assert "E-RD-EDIT" in answer.first("submit-refusal")
    (answer,) = filled.ask(submit("drop"), status=400)
    assert "submit-operation" in answer.first("error-message")
    (answer,) = filled.ask(submit("insert"), write_object("RDMHEADER", "", {}), status=400)
    assert "@RDMHEADER" in answer.first("error-message")


HEADS = st.sampled_from(
    [b"@RDMHEADER { -\n", b"@REQUEST { -\n", b"@RDMQUERY { -\n", b"@DOCUMENT { http://x/\n", b"@X { -\n"]
)
LINES = st.builds(
    lambda name, value: b"%b{%d}:\t%b\n" % (name, len(value), value),
    st.sampled_from([b"rdm-type", b"scope", b"view-hits", b"view-attributes", b"submit-operation", b"submit-type", b"submit-database", b"catalog-service-id", b"title"]),
    st.sampled_from([b"rd-request", b"status-request", b"insert", b"retrieve", b"delete", b"merged", b"1-5", b'"', b"*", b"\0", b"a\nb"]) | st.binary(max_size=20),
)  # fmt: skip
OBJECTS = st.builds(lambda head, lines: head + b"".join(lines) + b"}\n", HEADS, st.lists(LINES, max_size=4))


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(st.one_of(st.binary(max_size=200), st.lists(OBJECTS, max_size=4).map(b"".join)))
def test_any_bytes_are_answered(filled: Rdm, data: bytes) -> None:
    answer = filled.service.answer(data)
    assert answer.status in {200, 400}
    assert b"Secret" not in answer.body
