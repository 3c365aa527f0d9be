"""Logging in at an identity provider: the whole way there and back, and everything that must not come off."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

import pytest
from starlette.testclient import TestClient

from ingather.app.access.oidc import OidcConf, Provider
from ingather.app.access.people import CatalogPeople
from ingather.app.clock import SystemClock
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import UsageError
from ingather.testing.provider import OidcProvider
from ingather.web import SearchParts, search_app

BASE = "http://search.example"
BACK = "http://localhost/login/return"
SECRET = "s3cret/with:odd chars"  # noqa: S105


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    from urllib.parse import quote

    with OidcProvider(client="ingather", secret=quote(SECRET, safe=""), back=BACK) as made:
        yield made


@pytest.fixture
def browser(provider: OidcProvider, tmp_path: Path, search_parts: SearchParts) -> Iterator[TestClient]:
    writer, clock = CatalogWriter(tmp_path / "catalog.db"), SystemClock()
    people = CatalogPeople(
        writer.path, lambda job: writer.transaction(lambda w: job(w, Applied(), clock.wall())), clock
    )
    conf = OidcConf(provider.issuer, "ingather", BACK, SECRET, groups="groups")
    parts = replace(search_parts, people=people, sign_on=Provider(conf, clock))
    with TestClient(search_app(parts), base_url=BASE, follow_redirects=False) as client:
        yield client
    people.close()
    writer.close()


def at_provider(address: str) -> str:
    """Return where the provider sends a browser that goes to *address*."""
    try:
        build_opener(ProxyHandler({}), _Stay).open(address, timeout=30).close()
    except HTTPError as error:
        with error:
            return str(error.headers.get("Location", error.code))
    return ""


def come_back(browser: TestClient, target: str = "/?q=travel") -> Any:
    away = browser.get("/login/provider", params={"target": target})
    assert away.status_code == 303
    back = urlsplit(at_provider(away.headers["location"]))
    return browser.get(f"/login/return?{back.query}")


def test_the_way_there_and_back_leads_to_a_session(browser: TestClient, provider: OidcProvider) -> None:
    provider.claims |= {"groups": ["red", "corp\\blue"]}
    provider.told = frozenset({"groups", "preferred_username"})
    assert 'href="/login/provider?target=/"' in browser.get("/login", headers={"accept": "text/html"}).text
    answer = come_back(browser)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=travel")
    cookies = answer.headers.get_list("set-cookie")
    assert all("httponly" in c.lower() and "samesite=lax" in c.lower() for c in cookies)
    said = browser.get("/api/v1/whoami").json()
    assert said["users"] == [{"name": "anna", "domain": "corp", "namespace": "Default"}]
    assert [(g["domain"], g["name"]) for g in said["groups"]] == [("", "red"), ("corp", "blue")]
    page = browser.get("/", headers={"accept": "text/html"}).text
    proof = page.partition('name="csrf" value="')[2].partition('"')[0]
    assert browser.post("/logout", data={"csrf": proof}, headers={"origin": BASE}).status_code == 303
    assert browser.get("/api/v1/whoami").status_code == 401


@pytest.mark.parametrize(
    "spoilt",
    [
        {"iss": "https://evil.example"}, {"aud": "somebody else"}, {"aud": ["ingather", "other"]},
        {"aud": ["ingather", "other"], "azp": "other"}, {"aud": None}, {"exp": 1}, {"exp": "later"}, {"exp": None},
        {"iat": 99_999_999_999}, {"nonce": "another"}, {"nonce": None}, {"sub": ""}, {"preferred_username": " "},
        {"preferred_username": 7}, {"groups": {"a": 1}},
    ],
)  # fmt: skip
def test_what_an_id_token_must_not_say(
    browser: TestClient, provider: OidcProvider, spoilt: dict[str, Any]
) -> None:
    provider.spoilt = spoilt
    answer = come_back(browser)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "provider-unavailable")
    assert browser.get("/api/v1/whoami").status_code == 401


def test_user_info_about_somebody_else_is_refused(browser: TestClient, provider: OidcProvider) -> None:
    provider.told = frozenset({"preferred_username"})
    provider.spoilt = {"sub": "2"}
    assert come_back(browser).status_code == 502


def test_only_the_browser_that_began_a_login_can_end_it(browser: TestClient, provider: OidcProvider) -> None:
    away = browser.get("/login/provider").headers["location"]
    back = urlsplit(at_provider(away)).query
    kept = dict(browser.cookies)
    browser.cookies.clear()
    assert browser.get(f"/login/return?{back}").status_code == 401
    browser.get("/login/provider")
    assert browser.get(f"/login/return?{back}").status_code == 401, "another login of the same browser"
    browser.cookies.clear()
    name, value = next(iter(kept.items()))
    for wrong in (value[:-2], "x" + value, "a.b", ".", "", "\u00b2.\u00b2".encode().hex()):
        browser.cookies.clear()
        browser.cookies.set(name, wrong)
        assert browser.get(f"/login/return?{back}").status_code == 401
    assert provider.exchanges == 0
    browser.cookies.clear()
    browser.cookies.set(name, value)
    assert browser.get(f"/login/return?error=access_denied&{back.partition('&')[2]}").status_code == 401
    assert browser.get(f"/login/return?{back}&iss=x").status_code == 400
    assert browser.get(f"/login/return?{back}").status_code == 303
    browser.cookies.set(name, value)
    assert browser.get(f"/login/return?{back}").status_code == 502, "a code is good once"


def test_what_is_asked_for_has_state_nonce_and_a_challenge(browser: TestClient) -> None:
    asked = parse_qs(urlsplit(browser.get("/login/provider").headers["location"]).query)
    assert {name: len(asked[name][0]) for name in ("state", "nonce", "code_challenge")} == {
        "state": 43, "nonce": 43, "code_challenge": 43,
    }  # fmt: skip
    assert asked["redirect_uri"] == [BACK]
    assert "secret" not in asked


def test_logins_lead_nowhere_else(browser: TestClient) -> None:
    assert come_back(browser, "//evil.example").headers["location"] == "/"
    assert come_back(browser, "/?q=" + "x" * 3_000).headers["location"] == "/"


def test_a_provider_that_is_gone_is_told_and_costs_nothing_else(
    search_parts: SearchParts, tmp_path: Path
) -> None:
    clock = SystemClock()
    CatalogWriter(tmp_path / "catalog.db").close()
    people = CatalogPeople(tmp_path / "catalog.db", lambda _: None, clock)
    conf = OidcConf("http://127.0.0.1:1", "ingather", BACK, SECRET)
    parts = replace(search_parts, people=people, sign_on=Provider(conf, clock))
    with TestClient(search_app(parts), base_url=BASE, follow_redirects=False) as client:
        assert client.get("/login/provider").status_code == 502
        assert client.get("/api/v1/search?q=travel").status_code == 200
    people.close()


@pytest.mark.parametrize(
    "conf",
    [
        OidcConf("http://idp.example", "c", BACK), OidcConf("https://idp.example", "c", "http://search.example/login/return"),
        OidcConf("https://idp.example", "", BACK), OidcConf("ftp://127.0.0.1", "c", BACK),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused_at_start(conf: OidcConf) -> None:
    with pytest.raises(UsageError):
        Provider(conf, SystemClock())
