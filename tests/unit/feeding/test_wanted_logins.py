"""A listed URL whose host wants a login: the receipt and ``explain`` say which settings it lacks, by the authmethod of its record."""

import time

import pytest

from ingather.app.explaining import explainer_of
from ingather.explain import as_text
from ingather.feeds.admitting import login_wanted
from ingather.feeds.receipts import Standing, Written, shown_state
from ingather.model.lifecycle import Outcome, State
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig, record

URL, LISTS = "https://dms.test:8443/wanted/a", "metadata-and-url"


KINDS = [
    ("httpbasic", 'kind = "basic" (authmethod httpbasic)'), ("HTTPBasic", 'kind = "basic" (authmethod httpbasic)'),
    ("ntlm", 'kind = "ntlm" (authmethod ntlm)'), ("negotiate", 'kind = "negotiate" (authmethod negotiate)'),
    ("httpsso", 'kind = "form" (authmethod httpsso)'), ("none", "the kind of login that the host asks for"),
    ("", "the kind of login that the host asks for"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "said"), KINDS)
def test_gsa_T40_a_401_says_which_credential_its_source_lacks(own: FeedRig, method: str, said: str) -> None:
    given = {"authmethod": method} if method else {}
    feed = own.push(record(URL, **given), datasource="Dms", feedtype=LISTS)
    FeedRobot(own).visit(URL, "", outcome=Outcome.REFUSED, status=401)
    shown = own.records(feed)[0]
    assert (shown["state"], shown["reason"]) == ("refused", "its host refuses access: HTTP 401")
    wanted = (
        f'it was asked for without a login; write [credential.NAME] with {said}, url = "https://dms.test:8443/" and the account, '
        'and credentials = ["NAME"] in [source.Dms]'
    )
    assert shown["needs"] == wanted
    assert shown["log"].endswith(wanted)
    answer = explainer_of(own.home, own.read.settings, own.read.sources).explain(URL)
    assert answer["needs"] == wanted
    assert f"needs      {wanted}" in as_text(answer).splitlines()


def test_who_is_sent_away_with_authmethod_httpsso_is_told_of_forms(own: FeedRig) -> None:
    feed = own.push(record(URL, authmethod="httpsso"), record(URL + "b"), datasource="dms", feedtype=LISTS)
    robot = FeedRobot(own)
    for url in (URL, URL + "b"):
        robot.visit(url, "", outcome=Outcome.REDIRECTED, status=302)
        own.clock.advance(60)
    first, second = own.records(feed)
    assert first["needs"].startswith(
        "if that is a page to log in at: it was asked for without a login; write"
    )
    assert 'kind = "form"' in first["needs"]
    assert "needs" not in second


@pytest.mark.parametrize("outcome", [None, *Outcome])
@pytest.mark.parametrize("status", [0, 200, 302, 401, 403, 404])
def test_nothing_else_is_said_to_want_a_login(outcome: Outcome | None, status: int) -> None:
    said = {
        method: bool(login_wanted(URL, "dms", method, outcome, status))
        for method in ("", "none", "ntlm", "httpsso")
    }
    refused = outcome is Outcome.REFUSED and status == 401
    assert said == dict.fromkeys(said, refused) | {"httpsso": refused or outcome is Outcome.REDIRECTED}


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("auth: credential x: the host refused it (HTTP 401)", "its login failed: auth: credential x: the host refused it (HTTP 401)"),
        ("proxy-login: http://p:3128", "its proxy does not let us in: proxy-login: http://p:3128"),
        ("proxy: none", "no proxy leads to its host: proxy: none"),
        ("tls: expired", "no secure connection to its host: tls: expired"),
        ("connect: refused", "its host did not answer: connect: refused"),
    ],
)  # fmt: skip
def test_a_host_is_not_blamed_for_what_lies_between(detail: str, said: str) -> None:
    now_s = time.time()
    of = Standing(
        int(Written.WAITING),
        asked=1,
        answered=1,
        state=State.WAITING,
        outcome=Outcome.FAILED,
        detail=detail,
        fetched_s=now_s,
    )
    assert shown_state(of).reason == said
