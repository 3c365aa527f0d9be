"""Who searches: names and passwords, sessions, tokens, proxies; over a real catalog of users."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from ingather.access import ANONYMOUS, Visible
from ingather.app.access.accounts import Accounts
from ingather.app.access.passwords import Passwords
from ingather.app.access.people import CatalogPeople
from ingather.app.jobs import Job
from ingather.catalog.access.sqlite_users import SessionLife
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogError
from ingather.model.viewer import Viewer
from ingather.search import SearchRequest, SearchResults
from ingather.testing.clock import FakeClock
from ingather.web import AdminParts, SearchParts, admin_app, search_app
from ingather.web.auth import Proxies
from ingather.web.endpoint import Endpoint, Listener, Role
from ingather.web.routes import ROUTES

SEARCH = "http://search.example"
ADMIN = "http://127.0.0.1:8081"
ADMIN_TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105 - as in conftest
PAGE = {"accept": "text/html", "origin": SEARCH, "sec-fetch-site": "same-origin"}
RIGHT = "correct horse battery"
PROXY = Proxies((ip_network("10.1.0.0/16"),), "x-remote-user", "x-remote-groups")


@dataclass
class House:
    """People of a real catalog, and as whom the search service was asked last."""

    accounts: Accounts
    people: CatalogPeople
    clock: FakeClock
    parts: SearchParts
    admin: AdminParts
    asked: list[Viewer]

    def token(self, name: str, rights: str, days: str = "") -> str:
        made: str = self.accounts.add_token({"name": name, "rights": rights, "days": days})["token"]
        return made

    def browser(
        self, address: str = "192.0.2.9", *, proxies: Proxies | None = None, app: Any = None
    ) -> TestClient:
        parts = self.parts if proxies is None else replace(self.parts, proxies=proxies)
        app = search_app(parts) if app is None else app
        return TestClient(app, base_url=SEARCH, follow_redirects=False, client=(address, 50_000))


@pytest.fixture(scope="session")
def passwords() -> Passwords:
    return Passwords()


@pytest.fixture(scope="session")
def cheap_passwords() -> Passwords:
    """Where it is no matter what a look at a password costs."""
    made = Passwords()
    made._hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    made._nobodys = made._hasher.hash(b"nobody's")
    return made


@pytest.fixture
def house(
    tmp_path: Path,
    clock: FakeClock,
    cheap_passwords: Passwords,
    search_parts: SearchParts,
    admin_parts: AdminParts,
) -> Iterator[House]:
    writer = CatalogWriter(tmp_path / "catalog.db")

    def do(job: Job) -> Any:
        return writer.transaction(lambda w: job(w, Applied(), clock.wall()))

    people = CatalogPeople(writer.path, do, clock, passwords=cheap_passwords, life=SessionLife(3_600, 10_000))
    accounts = Accounts(lambda _p, _f, job: do(job), changed=people.refresh, passwords=cheap_passwords)
    asked: list[Viewer] = []

    def sees(viewer: Viewer) -> Visible:
        asked.append(viewer)
        return ANONYMOUS

    yield House(
        accounts,
        people,
        clock,
        replace(search_parts, people=people, sees=sees, clock=clock),
        replace(admin_parts, people=people, accounts=accounts),
        asked,
    )
    people.close()
    writer.close()


@pytest.fixture
def anna(house: House) -> House:
    house.accounts.add_user({"name": "Anna", "password": RIGHT, "domain": "CORP"})
    return house


def log_in(client: TestClient, name: str = "anna", password: str = RIGHT, **more: str) -> Any:
    return client.post("/login", data={"name": name, "password": password, **more}, headers=PAGE)


def csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found
    return found[1]


def who(client: TestClient, **headers: str) -> tuple[int, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = client.get("/api/v1/whoami", headers=named)
    return answer.status_code, answer.json()


# -- logging in -------------------------------------------------------------------------------------


def test_logging_in_leads_to_a_session_that_searches_as_the_user(anna: House) -> None:
    with anna.browser() as client:
        assert who(client)[0] == 401
        answer = log_in(client, target="/?q=travel")
        assert (answer.status_code, answer.headers["location"]) == (303, "/?q=travel")
        status, said = who(client)
        assert (status, said["name"], said["roles"]) == (200, "Anna", ["searcher"])
        assert said["users"] == [{"name": "Anna", "domain": "CORP", "namespace": "Default"}]
        assert client.get("/api/v1/search?q=travel").status_code == 200
        assert [v.users[0].name for v in anna.asked] == ["Anna"]
        assert "<bdi>Anna</bdi>" in client.get("/?q=travel", headers=PAGE).text


def test_the_cookie_is_none_that_scripts_or_other_sites_can_use(anna: House) -> None:
    with anna.browser() as client:
        cookie = log_in(client).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie
    assert "domain" not in cookie


def test_the_cookie_is_secure_where_tls_is_spoken_to_us_or_to_our_proxy(anna: House) -> None:
    over_tls = {**PAGE, "x-forwarded-proto": "https"}
    form = {"name": "anna", "password": RIGHT}
    with anna.browser("10.1.2.3", proxies=PROXY) as ours, anna.browser(proxies=PROXY) as stranger:
        assert "secure" in ours.post("/login", data=form, headers=over_tls).headers["set-cookie"].lower()
        assert (
            "secure" not in stranger.post("/login", data=form, headers=over_tls).headers["set-cookie"].lower()
        )


def test_each_login_gets_a_session_of_its_own_and_ends_the_one_before(anna: House) -> None:
    with anna.browser() as client:
        log_in(client)
        first = dict(client.cookies)
        form = client.get("/login", headers=PAGE).text
        assert log_in(client).status_code == 403, "a session wants its proof"
        assert log_in(client, csrf=csrf(form)).status_code == 303
        assert dict(client.cookies) != first
    with anna.browser() as thief:
        thief.cookies.update(first)
        assert who(thief)[0] == 401


def test_logging_out_ends_the_session_itself_and_wants_the_page_s_proof(anna: House) -> None:
    with anna.browser() as client:
        log_in(client)
        kept = dict(client.cookies)
        assert client.post("/logout", headers=PAGE).status_code == 403
        assert client.post("/logout", data={"csrf": "x"}, headers=PAGE).status_code == 403
        proof = csrf(client.get("/?q=a", headers=PAGE).text)
        foreign = {**PAGE, "origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        assert client.post("/logout", data={"csrf": proof}, headers=foreign).status_code == 403
        assert client.post("/logout", data={"csrf": proof}, headers=PAGE).status_code == 303
        client.cookies.update(kept)
        assert who(client)[0] == 401


def test_a_page_of_another_site_logs_nobody_in(anna: House) -> None:
    with anna.browser() as client:
        answer = client.post(
            "/login", data={"name": "anna", "password": RIGHT}, headers={"origin": "https://evil.example"}
        )
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example", "/login"])
def test_logging_in_leads_nowhere_else(anna: House, target: str) -> None:
    with anna.browser() as client:
        assert log_in(client, target=target).headers["location"] == "/"


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("anna", "wrong password"),
        ("nobody", RIGHT),
        ("gone", RIGHT),
        ("", RIGHT),
        ("anna", ""),
        ("x" * 2_000, RIGHT),
    ],
)
def test_whatever_is_wrong_with_a_login_the_answer_is_the_same(anna: House, name: str, password: str) -> None:
    anna.accounts.add_user({"name": "gone", "password": RIGHT})
    anna.accounts.set_disabled("gone", disabled=True)
    with anna.browser() as client:
        answer = log_in(client, name, password)
        reference = log_in(client, "somebody else", "wrong password")
    assert answer.status_code == 401
    assert answer.text == reference.text
    assert "set-cookie" not in answer.headers


def test_a_password_of_nobody_costs_as_much_work(passwords: Passwords) -> None:
    class Counting(Passwords):
        looks = 0

        def __init__(self) -> None:
            super().__init__()
            inner = self._hasher

            class Hasher:
                def verify(self, verifier: str, given: bytes) -> bool:
                    Counting.looks += verifier.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
                    return inner.verify(verifier, given)

            self._hasher = Hasher()  # type: ignore[assignment]

    counting = Counting()
    assert counting.fits(passwords.verifier(RIGHT), RIGHT)
    assert not counting.fits(passwords.verifier(RIGHT), "wrong password")
    assert not counting.fits(None, RIGHT)
    assert not counting.fits("$argon2id$broken", RIGHT)
    assert Counting.looks == 3


def test_composed_and_decomposed_letters_are_one_password(passwords: Passwords) -> None:
    assert passwords.fits(passwords.verifier("Zürich und Köln"), "Zu\u0308rich und Ko\u0308ln")


def test_guessing_is_slowed_down_by_name_and_address_and_forgiven(anna: House) -> None:
    app = search_app(anna.parts)
    with anna.browser(app=app) as client, anna.browser("192.0.2.77", app=app) as neighbour:
        codes = [log_in(client, "anna", "wrong password").status_code for _ in range(6)]
        assert codes == [401] * 5 + [429]
        refused = log_in(client)
        assert refused.status_code == 429, "right or wrong"
        unknown = [log_in(neighbour, "nobody", "wrong password") for _ in range(6)]
        assert [a.status_code for a in unknown] == codes, "the same for names of nobody"
        assert log_in(client, "ANNA").status_code == 429
        assert log_in(neighbour).status_code == 303
        anna.clock.advance(float(refused.headers["retry-after"]))
        assert log_in(client).status_code == 303


def test_other_spellings_of_a_name_are_no_other_name(anna: House) -> None:
    spellings = ["anna", "ANNA", "\uff21nna", "an\u200bna", "an\u00adna", "  anna "]
    with anna.browser() as client:
        codes = [log_in(client, name, "wrong password").status_code for name in spellings]
    assert codes == [401] * 5 + [429]


def test_many_names_from_one_network_are_too_many_failures(anna: House) -> None:
    app = search_app(anna.parts)
    with anna.browser("2001:db8::1", app=app) as one, anna.browser("2001:db8::2", app=app) as other:
        codes = [log_in(one, f"user{n}", "wrong password").status_code for n in range(19)]
        assert codes == [401] * 19
        assert log_in(other, "user19", "wrong password").status_code == 401
        assert log_in(other, "user20", "wrong password").status_code == 429


def test_behind_our_proxy_failures_count_for_who_is_behind_it(anna: House) -> None:
    with anna.browser("10.1.2.3", proxies=PROXY) as client:

        def attempt(chain: str, password: str) -> int:
            form = {"name": "anna", "password": password}
            return client.post("/login", data=form, headers={**PAGE, "x-forwarded-for": chain}).status_code

        codes = [attempt(f"198.51.100.{n}, 203.0.113.5, 10.1.0.1", "wrong password") for n in range(6)]
        assert codes == [401] * 5 + [429], "what the client wrote itself counts for nothing"
        assert attempt("203.0.113.6", RIGHT) == 303


# -- how sessions end ---------------------------------------------------------------------------------


def test_sessions_end_unused_and_of_old_age_and_with_a_clock_set_back(anna: House) -> None:
    with anna.browser() as client:
        log_in(client)
        for _ in range(3):
            anna.clock.advance(3_000)
            assert who(client)[0] == 200
        anna.clock.advance(1_500)
        assert who(client)[0] == 401, "of old age"
        log_in(client)
        anna.clock.advance(3_700)
        assert who(client)[0] == 401, "unused"
        log_in(client)
        anna.clock.jump(-100_000)
        assert who(client)[0] == 401, "born in the future"


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.set_disabled("anna", disabled=True),
        lambda a: a.delete_user("anna"),
        lambda a: a.set_password({"name": "ANNA", "password": "another password"}),
    ],
    ids=["disabled", "deleted", "password"],
)
def test_what_the_operator_does_ends_sessions_at_once(
    anna: House, change: Callable[[Accounts], object]
) -> None:
    with anna.browser() as client:
        log_in(client)
        assert who(client)[0] == 200
        change(anna.accounts)
        assert who(client)[0] == 401
        assert log_in(client).status_code == 401


def test_sessions_survive_a_restart(anna: House) -> None:
    with anna.browser() as client:
        log_in(client)
        kept = dict(client.cookies)
    with anna.browser() as again:
        again.cookies.update(kept)
        assert who(again)[0] == 200


def test_the_page_offers_a_login_only_where_somebody_can(house: House) -> None:
    with house.browser() as client:
        assert "Log in" not in client.get("/", headers=PAGE).text
        house.accounts.add_user({"name": "anna", "password": RIGHT})
        page = client.get("/?q=a&type=pdf", headers=PAGE).text
        assert 'href="/login?target=/%3Fq%3Da%26type%3Dpdf"' in page
        form = client.get("/login?target=/%3Fq%3Da", headers=PAGE)
    assert form.status_code == 200
    assert 'name="target" value="/?q=a"' in form.text
    assert "script" not in form.text


# -- tokens ---------------------------------------------------------------------------------------------


def test_a_token_with_the_right_searches_as_whom_it_names(house: House) -> None:
    token = {"authorization": f"Bearer {house.token('intranet', 'search-as')}"}
    with house.browser() as client:
        for ask in (
            {"headers": {**token, "x-ingather-as": "CORP\\b\u00e4rbel".encode()}},
            {"headers": token, "params": {"as": "CORP\\b\u00e4rbel"}},
        ):
            said = client.get("/api/v1/whoami", **ask).json()
            assert said["users"] == [{"name": "b\u00e4rbel", "domain": "CORP", "namespace": "Default"}]
        asked = client.get("/api/v1/whoami?as=eve&as-group=red&as-group=corp/blue", headers=token).json()
        assert [(g["domain"], g["name"]) for g in asked["groups"]] == [("", "red"), ("corp", "blue")]
        client.get("/api/v1/search?q=travel&as=eve", headers=token)
        assert [v.users[0].name for v in house.asked] == ["eve"]
        assert client.get("/api/v1/whoami", headers=token).json()["users"] == []


@pytest.mark.parametrize("query", ["as=", "as=%20", "as-group=red", "as=" + "x" * 2_000])
def test_if_it_is_not_clear_as_whom_nobody_searches(house: House, query: str) -> None:
    token = {"authorization": f"Bearer {house.token('intranet', 'search-as')}"}
    with house.browser() as client:
        assert client.get(f"/api/v1/search?q=a&{query}", headers=token).status_code == 400
        both = client.get("/api/v1/search?q=a&as=eve", headers={**token, "x-ingather-as": "mallory"})
    assert both.status_code == 400
    assert house.asked == []


def test_only_a_token_with_the_right_may_name_somebody(house: House) -> None:
    plain = {"authorization": f"Bearer {house.token('plain', 'searcher,administrator')}"}
    with house.browser() as client:
        assert client.get("/api/v1/search?q=a&as=eve", headers=plain).status_code == 403
        assert client.get("/api/v1/search?q=a&as=eve").status_code == 401
        assert client.get("/api/v1/search?q=a", headers={"x-ingather-as": "eve"}).status_code == 401
    assert house.asked == []


def test_tokens_that_are_not_in_force_are_refused_and_not_anonymous(house: House) -> None:
    revoked, expired = house.token("revoked", "searcher"), house.token("expired", "searcher", days="1")
    with house.browser() as client:
        for token in (revoked, expired):
            assert who(client, authorization=f"Bearer {token}")[0] == 200
        house.accounts.revoke_token("revoked")
        house.clock.advance(86_401)
        for token in (revoked, expired, revoked[:-1], "igt_", "x"):
            shown = {"authorization": f"Bearer {token}"}
            assert client.get("/api/v1/search?q=travel", headers=shown).status_code == 401
        passed_on = client.get("/api/v1/search?q=travel", headers={"authorization": "Basic YTpi"})
    assert passed_on.status_code == 200, "the proxy's own login is none of ours"


# -- proxies ------------------------------------------------------------------------------------------


def test_a_believed_proxy_says_who_searches_and_a_stranger_does_not(house: House) -> None:
    said = {"x-remote-user": "anna@corp", "x-remote-groups": "red, corp\\blue,"}
    with house.browser("10.1.9.9", proxies=PROXY) as ours, house.browser(proxies=PROXY) as stranger:
        answer = ours.get("/api/v1/whoami", headers=said).json()
        assert answer["users"] == [{"name": "anna", "domain": "corp", "namespace": "Default"}]
        assert [(g["domain"], g["name"]) for g in answer["groups"]] == [("", "red"), ("corp", "blue")]
        assert stranger.get("/api/v1/whoami", headers=said).status_code == 401
        assert stranger.get("/api/v1/search?q=travel", headers=said).status_code == 200
        forwarded = {**said, "x-forwarded-for": "10.1.9.9"}
        assert stranger.get("/api/v1/whoami", headers=forwarded).status_code == 401
        assert ours.get("/api/v1/whoami", headers={"x-remote-user": " "}).status_code == 401
    assert house.asked == []


def test_a_proxy_that_speaks_unclearly_is_told_so(house: House) -> None:
    with house.browser("10.1.9.9", proxies=PROXY) as ours:
        twice = ours.get("/api/v1/search?q=a", headers=[("x-remote-user", "a"), ("x-remote-user", "b")])
        right = ours.get("/api/v1/whoami", headers={b"x-remote-user": "b\u00e4rbel".encode()})
    assert twice.status_code == 400
    assert right.json()["name"] == "b\u00e4rbel"


def test_without_a_configured_header_a_proxy_names_nobody(house: House) -> None:
    with house.browser("10.1.9.9", proxies=replace(PROXY, user_header="")) as ours:
        assert ours.get("/api/v1/whoami", headers={"x-remote-user": "anna"}).status_code == 401


# -- what is shown ------------------------------------------------------------------------------------


def test_if_rights_cannot_be_read_nothing_is_shown(anna: House) -> None:
    def broken(_viewer: Viewer) -> Visible:
        raise CatalogError("the catalog cannot be read")

    parts = replace(anna.parts, sees=broken)
    with TestClient(search_app(parts), base_url=SEARCH, follow_redirects=False) as client:
        log_in(client)
        assert client.get("/api/v1/search?q=travel").status_code == 503
        client.cookies.clear()
        assert client.get("/api/v1/search?q=travel").status_code == 200


def test_the_request_carries_what_the_viewer_sees(anna: House) -> None:
    views: list[Visible] = []
    view = Visible.of({1, 7})

    def search(request: SearchRequest) -> SearchResults:
        views.append(request.viewer)
        return SearchResults("", 0)

    with TestClient(
        search_app(replace(anna.parts, sees=lambda _: view, search=search)), base_url=SEARCH
    ) as client:
        client.get("/api/v1/search?q=a")
        log_in(client)
        client.get("/api/v1/search?q=a")
    assert views[0] == ANONYMOUS
    assert views[-1] == view


# -- roles --------------------------------------------------------------------------------------------

SHOWN = ["nothing", "searcher", "feeder", "search-as", "administrator", "admin token"]
MEANT = {
    "nothing": {Role.ANONYMOUS},
    "searcher": {Role.ANONYMOUS, Role.SEARCHER},
    "search-as": {Role.ANONYMOUS, Role.SEARCHER},
    "feeder": {Role.ANONYMOUS, Role.FEEDER},
    "administrator": set(Role),
    "admin token": set(Role),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_every_route_of_the_operator_wants_its_role(house: House, shown: str) -> None:
    token = ADMIN_TOKEN if shown == "admin token" else ""
    if shown not in {"nothing", "admin token"}:
        token = house.token(shown, shown)
    headers = {"accept": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
    with TestClient(admin_app(house.admin), base_url=ADMIN, follow_redirects=False) as client:
        for endpoint in (e for e in ROUTES if e.listener is Listener.ADMIN):
            path = endpoint.path.format(id="3", name="page.css", path="x", run="3")
            status = client.request(endpoint.methods[0], path, headers=headers).status_code
            if endpoint.role in MEANT[shown]:
                assert status != 403, endpoint.path
                assert status != 401 or endpoint.path == "/login", endpoint.path
            else:
                assert status == (401 if shown == "nothing" else 403), endpoint.path


@pytest.mark.parametrize(
    "endpoint", [e for e in ROUTES if e.listener is Listener.SEARCH], ids=lambda e: f"{e.methods[0]} {e.path}"
)
def test_every_route_of_the_search_listener_wants_its_role(house: House, endpoint: Endpoint) -> None:
    feeder = {"authorization": f"Bearer {house.token('feeder', 'feeder')}"}
    with house.browser() as client:
        path, method = endpoint.path.format(id="3", name="page.css", run="3"), endpoint.methods[0]
        statuses = [client.request(method, path, headers=h).status_code for h in ({}, feeder)]
    if endpoint.role is Role.SEARCHER:
        assert statuses == [401, 403]
    else:
        assert 403 not in statuses


def test_a_feeder_reads_the_report_of_a_feed_and_nothing_else_of_feeds() -> None:
    roles = {(e.path, e.methods[0]): e.role for e in ROUTES if e.path.startswith("/api/v1/feeds")}
    may = {path for (path, _), role in roles.items() if role is Role.FEEDER}
    assert may == {"/api/v1/feeds/{name}", "/api/v1/feeds/{name}/records"}
    assert set(roles.values()) == {Role.FEEDER, Role.ADMINISTRATOR}


def test_explain_metrics_holds_and_status_are_the_administrator_s() -> None:
    wanted = ("explain", "metrics", "holds", "status", "users", "tokens", "remove", "config")
    lines = [e for e in ROUTES if any(word in e.path for word in wanted)]
    assert len(lines) > 12
    assert {e.role for e in lines} == {Role.ADMINISTRATOR}


def test_the_admin_token_and_a_searcher_s_session_are_nothing_at_the_other_door(anna: House) -> None:
    with anna.browser() as client:
        assert who(client, authorization=f"Bearer {ADMIN_TOKEN}")[0] == 401
        log_in(client)
        kept = dict(client.cookies)
    with TestClient(admin_app(anna.admin), base_url=ADMIN, follow_redirects=False) as operator:
        operator.cookies.update({"ingather-8081": next(iter(kept.values()))})
        assert operator.get("/api/v1/status", headers={"accept": "application/json"}).status_code == 401


# -- the operator's side ------------------------------------------------------------------------------


def test_the_operator_s_api_manages_users_and_tokens_and_shows_no_secret(house: House) -> None:
    with TestClient(admin_app(house.admin), base_url=ADMIN, follow_redirects=False) as operator:
        operator.headers["authorization"] = f"Bearer {ADMIN_TOKEN}"

        def post(path: str, **form: str) -> tuple[int, Any]:
            answer = operator.post(f"/api/v1/{path}", json=form)
            return answer.status_code, answer.json()

        assert post("users/add", name="Anna", password=RIGHT, domain="CORP") == (200, {"name": "Anna"})
        assert post("users/add", name="ANNA", password=RIGHT)[0] == 400
        assert post("users/add", name="short", password=RIGHT[:9])[0] == 400
        assert post("users/add", name="a\u200bb", password=RIGHT)[0] == 400
        assert post("users/disable", name="anna")[0] == 200
        listed = operator.get("/api/v1/users")
        assert [(u["name"], u["disabled"]) for u in listed.json()["users"]] == [("Anna", True)]
        assert "argon2" not in listed.text
        status, made = post("tokens/add", name="feeds", rights="feeder", days="3")
        assert status == 200
        assert post("tokens/add", name="feeds", rights="feeder")[0] == 400
        assert post("tokens/add", name="other", rights="king")[0] == 400
        assert post("tokens/add", name="other", rights="feeder", days="\u0663")[0] == 400
        assert post("tokens/revoke", name="feeds")[0] == 200
        assert post("tokens/revoke", name="feeds")[0] == 400
        tokens = operator.get("/api/v1/tokens")
        assert made["token"] not in tokens.text
        assert [(t["name"], t["rights"], bool(t["revoked"])) for t in tokens.json()["tokens"]] == [
            ("feeds", ["feeder"], True)
        ]
        assert post("users/delete", name="anna")[0] == 200
        assert post("users/delete", name="anna")[0] == 400


def test_neither_password_nor_cookie_nor_token_stands_in_the_catalog(anna: House, tmp_path: Path) -> None:
    token = anna.token("feeds", "feeder")
    with anna.browser() as client:
        log_in(client)
        cookie = next(iter(client.cookies.values()))
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("catalog.db*"))
    assert b"$argon2id$v=19$" in kept
    for secret in (RIGHT, token, cookie):
        assert secret.encode() not in kept
