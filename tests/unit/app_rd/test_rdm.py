"""RDM: queries see what searchers see, submit requests change layers, and any bytes are answered."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.app_rd.conftest import Import, Rdm

from ingather.conf.rd.soif import write_object

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


UNANSWERED: list[tuple[str, dict[str, str]]] = [
    ("rd-request", {"view_hits": "many"}),
    ("rd-request", {"scope": "x " * 5_000}),
    ("rd-request", {"scope": "wombats", "view_hits": "20000..20010"}),
    ("rd-request", {"view_template": "IMAGE"}),
    ("rd-request", {"scope": "wombats", "view_hits": "-1"}),
    ("rd-delete-request", {}),
    ("rd-delete-request", {"scope": "*"}),
    ("rd-delete-request", {"scope": "wombats", "view_attributes": "title"}),
    ("rd-delete-request", {"scope": "wombats", "view_order": "title"}),
    ("schema-description-request", {"scope": "nothing"}),
    ("taxonomy-description-request", {"scope": "No:Where"}),
    ("rd-response", {}),
    ("", {}),
]


def test_what_cannot_be_answered_is_said(filled: Rdm) -> None:
    for kind, query in UNANSWERED:
        (head,) = filled.query(kind, status=400, **query)
        assert head.first("error-message"), (kind, query)


ORDERS = [
    ("title", [B, A]),
    ("-title", [A, B]),
    ("dc.title desc", [A, B]),
    ("description,title", [B, A]),
    ("-content-length", [B, A]),
    ("content-length, -title", [A, B]),
    ("last-modified", [B, A]),
    ("url", [A, B]),
]


def test_view_order_sorts_by_attributes(bring: Import, rdm: Open) -> None:
    bring(
        (A, {"title": "Wombats", "content-length": "9", "last-modified": "2020-01-01T00:00:00Z", "full-text": "weasels"}),
        (B, {"title": "weasels", "content-length": "10", "description": "x", "last-modified": "Tue, 01 Jan 2019 00:00:00 GMT"}),
        (SECRET, {"title": "Secret wombats", "readacl": "group=keepers"}),
    )  # fmt: skip
    service = rdm()
    for scope in ("*", "wombats OR weasels"):
        for order, urls in ORDERS:
            head, *documents = service.query("rd-request", scope=scope, view_order=order)
            assert [d.url for d in documents] == urls, (scope, order)
            assert head.first("rdm-response-interpret") == "2 results out of 2 hits"


def test_a_published_sample_is_answered(filled: Rdm) -> None:
    """Blanks for tabs, no tab at all, names in other case: as the vendor's guide printed it."""
    head, first, second = filled.ask(
        b"@RDMHEADER { -\n\n    rdm-version{3}: 1.0\n    rdm-type{10}: rd-request\n    rdm-query-language{6}:  search\n"
        b"    catalog-service-ID{39}: x-catalog://budgie.siroe.com:80/finance\n}\n@RDMQUERY { -\n    scope{7}:wombats\n"
        b"    view-attributes{30}: url,title,author,last-modified\n    view-hits{2}: 10\n    view-order{5}: title\n}\n"
    )
    assert head.first("catalog-service-id") == "x-catalog://budgie.siroe.com:80/finance"
    assert first.texts() == {"url": (B,), "title": ("Weasels",)}
    assert second.texts() == {"url": (A,), "title": ("Wombats",)}


def test_the_window_of_an_order(filled: Rdm) -> None:
    _, *documents = filled.query(
        "rd-request", scope="*", view_order="title", view_hits="2..5", view_template="document"
    )
    assert [d.url for d in documents] == [A]


def test_what_a_message_has_beside_the_protocol_is_named(filled: Rdm) -> None:
    head, *_ = filled.ask(
        write_object("RDMHEADER", "", {"rdm-version": "1.0", "rdm-type": "rd request", "x-key": "1"}),
        write_object("RDMQUERY", "", {"scope": "wombats", "view-colour": "red"}),
        write_object("DOCUMENT", A, {}),
    )
    assert head.all("rdm-ignored") == ("x-key", "@DOCUMENT", "view-colour")
    (head,) = filled.ask(
        write_object("RDMHEADER", "", {"rdm-version": "2.0", "rdm-type": "rd-request"}), status=400
    )
    assert "rdm-version" in head.first("error-message")


def test_parts_of_schema_and_taxonomy(filled: Rdm) -> None:
    _, line = filled.query("schema-description-request", scope="DC.Title")
    assert line.first("name") == "title"
    _, *lines = filled.query("schema-description-request", scope="DOCUMENT")
    assert len(lines) > 20


def delete(*parts: bytes) -> tuple[bytes, ...]:
    return (
        write_object(
            "RDMHEADER",
            "",
            {"rdm-type": "rd-delete-request", "rdm-version": "1.0", "catalog-service-id": "x"},
        ),
        *parts,
    )


def test_an_rd_delete_request_takes_the_documents_that_it_names(filled: Rdm) -> None:
    (head,) = filled.ask(
        *delete(
            write_object("DOCUMENT", SECRET, {}),
            write_object("DOCUMENT", "http://nobody/", {}),
            write_object("DOCUMENT", "no url", {}),
        )
    )
    assert (head.first("rdm-type"), head.first("catalog-service-id")) == ("rd-delete-response", "x")
    assert head.first("rdm-response-interpret") == "1 deleted, 1 unknown, 1 refused"
    assert "E-RD-URL" in head.first("submit-refusal")
    (_, status) = filled.query("status-request")
    assert status.first("rd-count") == "2"
    (head,) = filled.ask(
        *delete(write_object("RDMQUERY", "", {"scope": "x"}), write_object("DOCUMENT", A, {})), status=400
    )
    assert "not both" in head.first("error-message")


def test_an_rd_delete_request_takes_what_its_scope_finds(filled: Rdm) -> None:
    (head,) = filled.query("rd-delete-request", scope="wombats", view_hits="1")
    assert head.first("rdm-response-interpret") == "1 deleted, 0 unknown, 0 refused"
    (head,) = filled.query("rd-delete-request", scope="wombats OR weasels")
    assert head.first("rdm-response-interpret") == "1 deleted, 0 unknown, 0 refused"
    (_, document) = filled.ask(submit("retrieve", "merged"), write_object("DOCUMENT", SECRET, {}))
    assert document.first("title") == "Secret wombats", "a scope finds what anybody may see"


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
