"""What the lists do to the URLs that are known: ``matched-nothing``, ``policy-on-public``."""

import json
from pathlib import Path

from ingather.access import NOBODY
from ingather.catalog.frontier.sqlite_known_reader import known_urls
from ingather.catalog.sqlite_changes import Applied
from ingather.conf import load_bodies
from ingather.conf.policyacl import PolicyAcl
from ingather.conf.urlpatterns.usage import KnownUrl, findings_over
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor
from ingather.testing.feeds import FeedRig, content, record
from ingather.testing.rig import Rig

OPEN = KnownUrl("http://a.example/open/1", "web", public=True)
SHUT = KnownUrl("http://a.example/shut/1", "intra", public=False)
FILTERS = b'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n</Filter>\n'


def found(known: list[KnownUrl], **lists: str) -> list[tuple[str, str, int]]:
    files = {f"{name.replace('__', '/')}.txt": text.encode() for name, text in lists.items()}
    loaded = load_bodies({"robot.conf": b"", "filter.conf": FILTERS, **files})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    assert all(not d.is_error for d in findings_over(known, loaded.gates, loaded.policy))
    return [(d.code, d.file, d.line) for d in findings_over(known, loaded.gates, loaded.policy)]


def test_patterns_and_exceptions_that_no_known_url_matches() -> None:
    follow = "# all of it\na.example/\nb.example/\n-a.example/shut/\n-a.example/never/\n"
    assert found([OPEN, SHUT], follow=follow, donotfollow=".pdf$\n") == [
        ("W-MATCHED-NOTHING", "donotfollow.txt", 1),
        ("W-MATCHED-NOTHING", "follow.txt", 3),
        ("W-MATCHED-NOTHING", "follow.txt", 5),
    ]
    assert found([], follow="a.example/\n") == [("W-MATCHED-NOTHING", "follow.txt", 1)]
    assert found([OPEN]) == []


def test_lists_of_a_source_are_held_against_its_urls_alone() -> None:
    assert found([OPEN, SHUT], sources__intra__follow="a.example/open/\na.example/shut/\n") == [
        ("W-MATCHED-NOTHING", "sources/intra/follow.txt", 1)
    ]


def test_a_rule_that_closes_public_documents_says_how_many() -> None:
    rules = "a.example/ hr\na.example/open/ eng\nb.example/ eng\n"
    policy, _ = PolicyAcl.parse(rules, "policy-acl.txt")
    loaded = load_bodies({"robot.conf": b"", "filter.conf": FILTERS})
    other = KnownUrl("http://a.example/open/2", "web", public=True)
    said = findings_over([OPEN, SHUT, other], loaded.gates, policy)
    assert [(d.code, d.line) for d in said] == [("W-POLICY-ON-PUBLIC", 2), ("W-MATCHED-NOTHING", 3)]
    assert said[0].text == "it closes 2 public documents, http://a.example/open/1 first"


def test_known_are_excluded_urls_too_and_public_is_what_rules_alone_would_close(
    catalog: SqliteUnderTest, visitor: Visitor
) -> None:
    for name in ("open", "listed"):
        visitor.start(f"http://h.example/{name}")
        visitor.visit(f"http://h.example/{name}", "text")
    visitor.start("http://h.example/waits")
    who = AclEntry(Right.PERMIT, Principal(PrincipalScope.GROUP, "hr"))
    catalog.writer.transaction(lambda w: w.access.put_acl(Acl("http://h.example/listed", (who,)), Applied()))
    assert {url.rpartition("/")[2]: public for url, _, public in known_urls(catalog.writer.path)} == {
        "open": True,
        "listed": False,
        "waits": False,
    }


def test_conf_check_known_reads_the_store_of_the_home(tmp_path: Path) -> None:
    rig = FeedRig(tmp_path / "home")
    try:
        rig.push(record("http://a.example/open/1", content("open")), datasource="known")
        (rig.home.config / "policy-acl.txt").write_text(
            "http://a.example/ group:eng\nhttp://b.example/ group:eng\n"
        )
        rig.reopen()
        assert rig.chain("http://a.example/open/1") not in {NOBODY, None}
    finally:
        rig.close()
    call = Rig(rig.home.path).call
    assert json.loads(call("conf", "check", "--json").out)["findings"] == []
    checked = call("conf", "check", "--known", "--json")
    assert checked.status == 0
    assert [(d["code"], d["file"], d["line"]) for d in json.loads(checked.out)["findings"]] == [
        ("W-POLICY-ON-PUBLIC", "policy-acl.txt", 1),
        ("W-MATCHED-NOTHING", "policy-acl.txt", 2),
    ]
