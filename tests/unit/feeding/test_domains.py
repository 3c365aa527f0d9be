"""``access.cut-domains``: whether joe@corp.example.com is corp\\joe (GSA feeds specification, section 11.3)."""

from collections.abc import Iterator

import pytest

from ingather.app.access.accessing import HomeAccess
from ingather.app.access.groups import HomeGroups
from ingather.app.feeds.process import FeedProcess
from ingather.app.searching import search_service, seen_by
from ingather.feeds.desk import FeedKind
from ingather.search import SearchRequest
from ingather.testing.feeds import FeedRig, content, record

OWN, GROUP = "http://cut.test/own", "http://cut.test/group"


@pytest.fixture(params=[True, False], ids=["cut", "whole"])
def cut(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FeedRig, bool]]:
    process = FeedProcess()
    written = {"access.cut-domains": str(request.param).lower()}
    rig = FeedRig(tmp_path_factory.mktemp("domains") / "home", process, written=written)
    yield rig, request.param
    rig.close()
    process.stop()


def test_the_setting_decides_for_search_groups_and_explain(cut: tuple[FeedRig, bool]) -> None:
    rig, wanted = cut
    acl = '<acl><principal scope="{}" access="permit">{}</principal></acl>'
    rig.push(
        record(OWN, acl.format("user", "corp\\joe") + content("needle one")),
        record(GROUP, acl.format("group", "eng") + content("needle two")),
        datasource="cut",
    )
    member = "<membership><principal scope='GROUP'>eng</principal><members><principal scope='USER'>corp\\joe</principal></members></membership>"
    rig.push(body=f"<xmlgroups>{member}</xmlgroups>".encode(), datasource="groups", kind=FeedKind.GROUPS)
    rig.local.index()
    settings = rig.read.settings
    service, _, texts = search_service(rig.home, settings)
    try:
        for user, seen in (("corp\\joe", True), ("joe@corp.example.com", wanted)):
            viewer = seen_by(rig.home, service, user)
            assert service.search(SearchRequest("needle", viewer=viewer)).total == (2 if seen else 0)
            groups = HomeGroups(rig.home, settings, rig.read.sources).reading().shown(user=user)["groups"]
            assert [one["text"] for one in groups] == (["eng"] if seen else [])
            desk = HomeAccess(rig.home, cut_domains=settings.flag("access.cut-domains"))
            assert [desk.explain(url, user)["verdict"] == "permit" for url in (OWN, GROUP)] == [seen, seen]
    finally:
        texts.close()
