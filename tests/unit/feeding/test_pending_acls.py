"""An ACL that is pushed acts at once where it narrows; where it widens it waits for the visit that brings the content it is for."""

import pytest

from ingather.app.access.accessing import HomeAccess
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.controls import Controls
from ingather.model.lifecycle import Outcome
from ingather.model.report import Row
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig, content, record

LISTS = "metadata-and-url"
URL = "http://rights.test/a"
USERS = ("", "ann", "joe", "zoe")


def acl(*names: str, parent: str = "") -> str:
    entries = "".join(f'<principal scope="user" access="permit">{name}</principal>' for name in names)
    return f'<acl inherit-from="{parent}">{entries}</acl>' if parent else f"<acl>{entries}</acl>"


def permits(*names: str) -> Controls:
    entries = tuple(AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, name)) for name in names)
    return Controls(acl=Acl(URL, entries), secured=True, heeded=True)


def who(rig: FeedRig) -> str:
    access = HomeAccess(rig.home)
    return "+".join(user or "all" for user in USERS if access.explain(URL, user)["permitted"]) or "nobody"


def push(rig: FeedRig, inner: str = "", **attributes: str) -> None:
    rig.push(record(URL, inner, **attributes), feedtype=LISTS)


def claim(robot: FeedRobot) -> Row:
    row = robot.claim(URL)
    assert row is not None
    return row


CASES = [
    # before, pushed, who sees it until the visit, who after
    ("", acl("joe"), "joe", "joe"),
    (acl("ann", "joe"), acl("joe"), "joe", "joe"),
    (acl("joe"), acl("ann", "joe"), "joe", "ann+joe"),
    (acl("joe"), acl("ann"), "nobody", "ann"),
    (acl("joe", "ann", parent="http://rights.test/"), acl("ann"), "ann", "ann"),
    (acl("ann"), acl("ann", "zoe", parent="http://rights.test/"), "ann", "ann+zoe"),
    (
        acl("ann", parent="http://rights.test/"),
        acl("ann", "zoe", parent="http://rights.test/"),
        "ann",
        "ann+zoe",
    ),
    (
        acl("ann", parent="http://rights.test/"),
        acl("ann", "zoe", parent="http://rights.test/x"),
        "nobody",
        "ann+zoe",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_until_its_visit_old_and_new_must_permit(
    own: FeedRig, robot: FeedRobot, case: tuple[str, str, str, str]
) -> None:
    before, pushed, meanwhile, after = case
    folders = [f'<acl url="http://rights.test/{x}" inheritance-type="child-overrides"/>' for x in ("", "x")]
    own.push(*folders, record(URL, before), feedtype=LISTS)
    robot.visit(URL, "old")
    push(own, pushed)
    assert who(own) == meanwhile
    push(own, pushed)  # said again it is no wider
    assert who(own) == meanwhile
    robot.visit(URL, "", outcome=Outcome.SERVER_ERROR, status=500)
    assert who(own) == meanwhile
    push(own, crawl_immediately="true")
    assert robot.visit(URL, "new")
    assert who(own) == after


def test_a_visit_that_was_claimed_before_the_push_gives_nothing_back(own: FeedRig, robot: FeedRobot) -> None:
    push(own)
    robot.visit(URL, "old", controls=permits("ann", "joe"))
    push(own, crawl_immediately="true")
    row = claim(robot)
    push(own, acl("joe"))
    assert who(own) == "joe"
    robot.settle((robot.report(row, "of before", controls=permits("ann", "joe", "zoe")), row))
    assert who(own) == "joe"
    push(own, acl("zoe"))
    assert who(own) == "zoe"  # the older visit's answer permits her
    assert robot.visit(URL, "new", controls=permits("zoe"))
    assert who(own) == "zoe"


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.NOINDEX], ids=lambda outcome: outcome.name)
def test_an_older_answer_whose_body_is_not_taken_gives_nothing_back_either(
    own: FeedRig, robot: FeedRobot, outcome: Outcome
) -> None:
    push(own)
    robot.visit(URL, "old", controls=permits("ann", "joe"))
    push(own, crawl_immediately="true")
    row = claim(robot)
    push(own, acl("joe"))
    robot.settle((robot.report(row, "", outcome=outcome, controls=permits("ann", "joe", "zoe")), row))
    assert who(own) in {"joe", "nobody"}
    push(own, acl("joe", "ann"))
    assert robot.visit(URL, "", outcome=Outcome.FAILED, controls=permits("zoe"))
    assert who(own) in {"zoe", "nobody"}  # the head speaks, though the body could not be read


def test_an_older_answer_without_rights_makes_no_restricted_document_public(
    own: FeedRig, robot: FeedRobot
) -> None:
    push(own)
    row = claim(robot)
    push(own, acl("joe"))
    robot.settle(
        (robot.report(row, "of before", controls=Controls(no_acl=True, secured=False, heeded=True)), row)
    )
    assert who(own) == "joe"
    assert robot.visit(URL, "new", controls=Controls(no_acl=True, secured=False, heeded=True))
    assert who(own) == "all+ann+joe+zoe"  # the host's last word


def test_gsa_13_a_free_acl_is_not_undone_by_a_visit_under_way(own: FeedRig, robot: FeedRobot) -> None:
    push(own)
    row = claim(robot)
    own.push(acl("joe").replace("<acl>", f'<acl url="{URL}">'), feedtype=LISTS)
    robot.settle((robot.report(row, "of before", controls=permits("ann", "joe")), row))
    assert who(own) == "joe"
    assert robot.claim(URL) is None  # no reason to fetch at once
    own.clock.advance(900)
    assert robot.visit(URL, "of before", controls=permits("ann"))
    assert who(own) == "ann"


def test_what_authmethod_closed_is_not_opened_before_its_visit(own: FeedRig, robot: FeedRobot) -> None:
    push(own, authmethod="httpbasic")
    robot.visit(URL, "old")
    assert who(own) == "nobody"
    push(own, authmethod="none")
    assert who(own) == "nobody"
    assert robot.visit(URL, "new")
    assert who(own) == "all+ann+joe+zoe"


def test_an_older_answer_that_says_public_opens_nothing_that_was_closed_since(
    own: FeedRig, robot: FeedRobot
) -> None:
    public = Controls(secured=False, heeded=True)
    push(own)
    robot.visit(URL, "old", controls=public)
    push(own, crawl_immediately="true")
    row = claim(robot)
    push(own, authmethod="httpbasic")
    assert who(own) == "nobody"
    robot.settle((robot.report(row, "of before", controls=public), row))
    assert who(own) == "nobody"
    assert robot.visit(URL, "new", controls=public)
    assert who(own) == "all+ann+joe+zoe"  # the host's last word


def test_gsa_T29_an_acl_of_a_crawl_once_document_is_not_undone_by_a_visit_under_way(
    own: FeedRig, robot: FeedRobot
) -> None:
    push(own, crawl_once="true")
    robot.visit(URL, "old", controls=permits("ann", "joe"))
    push(own, crawl_once="true", crawl_immediately="true")
    row = claim(robot)
    push(own, acl("joe"), crawl_once="true")
    robot.settle((robot.report(row, "of before", controls=permits("ann", "joe")), row))
    assert who(own) == "joe"
    assert robot.visit(URL, "new", controls=permits("ann"))
    assert who(own) == "ann"
    push(own, acl("zoe"), crawl_once="true")  # no visit is to come: it counts alone
    assert who(own) == "zoe"
    assert robot.claim(URL) is None


def test_visits_of_what_no_feed_names_ask_nothing_more(own: FeedRig, robot: FeedRobot) -> None:
    push(own)
    row = claim(robot)
    statements: list[str] = []
    db = own.local.writer._db

    def noted(_cursor: object, sql: str, _values: object) -> bool:
        statements.append(sql)
        return True

    db.exec_trace = noted
    robot.settle((robot.report(row, "new"), row))
    db.exec_trace = None
    assert statements
    assert not [sql for sql in statements if "acl_pending" in sql or ("asked" in sql and "due" not in sql)]


def test_content_of_a_feed_comes_with_its_own_rights(own: FeedRig, robot: FeedRobot) -> None:
    push(own, acl("joe"))
    robot.visit(URL, "old")
    push(own, acl("ann"))
    assert who(own) == "nobody"
    own.push(record(URL, content("new")))
    assert who(own) == "ann"


def test_a_deleted_url_leaves_no_pending_acl(own: FeedRig, robot: FeedRobot) -> None:
    push(own, acl("joe"))
    robot.visit(URL, "old")
    push(own, acl("ann"))
    own.push(record(URL, action="delete"), feedtype=LISTS)
    push(own, acl("ann"))
    assert robot.visit(URL, "new")
    assert who(own) == "ann"
    own.reopen()
    assert who(own) == "ann"
    assert not own.local.writer.pending_acls.some
