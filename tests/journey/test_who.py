"""``ingather serve`` with documents that not everybody may see: who logs in, is named by a proxy or a front end, finds his."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.testing.provider import OidcProvider
from ingather.testing.rig import Rig, Served, wait_until
from ingather.testing.site import Site

ANNA = Principal(PrincipalScope.USER, "anna", "corp", case_sensitive=False)
BOARD = Principal(PrincipalScope.GROUP, "board")
RIGHT = "correct horse battery"


def asked(
    served: Served, method: str, path: str, body: str = "", headers: Mapping[str, str | bytes] | None = None
) -> tuple[int, str, dict[str, str]]:
    """Ask the search listener through a plain connection; header values may be any bytes."""
    connection = HTTPConnection(urlsplit(served.search_url).netloc, timeout=30)
    try:
        connection.putrequest(method, path)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body:
            connection.putheader("Content-Type", "application/x-www-form-urlencoded")
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        found = {k.lower(): ", ".join(answer.headers.get_all(k, [])) for k in answer.headers}
        return answer.status, answer.read().decode(), found
    finally:
        connection.close()


def found(served: Served, headers: Mapping[str, str | bytes] | None = None) -> set[str]:
    status, text, _ = asked(served, "GET", "/api/v1/search?q=wombat", headers=headers)
    assert status == 200, text
    answer = json.loads(text)
    urls = {urlsplit(result["url"]).path for result in answer["results"]}
    assert answer["total"] == len(urls)
    return urls


def put(acl: Acl, writer: CatalogWriter) -> bool:
    return writer.access.put_acl(acl, Applied())


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A home with three pages: for everybody, for Anna, for the board."""
    rig = Rig(tmp_path_factory.mktemp("who") / "home").init()
    with Site() as site:
        site.page("/", "Start", "/open", "/anna", "/board")
        for path in ("/open", "/anna", "/board"):
            site.page(path, f"Wombat {path}", text=f"The wombat of {path}")
        rig.site(site.origin)
        ran = rig.crawl(f"{site.origin}/")
        assert ran.status == 0, ran.err
        writer = CatalogWriter(rig.database)
        try:
            for path, who in (("/anna", ANNA), ("/board", BOARD)):
                acl = Acl(site.url(path), (AclEntry(Right.PERMIT, who),))
                writer.transaction(partial(put, acl))
        finally:
            writer.close()
        rig.tune("access.proxies", "127.0.0.1,::1").tune("access.user-header", "X-Remote-User")
        yield rig


@pytest.fixture
def secured(gathered: Rig, home: Path) -> Rig:
    """A copy of the home with three pages."""
    return gathered.copy(home)


def test_everybody_finds_what_he_may_see_and_nothing_else(secured: Rig) -> None:
    with secured.serving() as served:
        secured.tune("listen.admin", served.admin_url.removeprefix("http://"))
        wait_until(lambda: found(served) == {"/open"})
        form = {"name": "Anna", "password": RIGHT, "domain": "CORP"}
        assert served.admin("/api/v1/users/add", form) == (200, {"name": "Anna"})

        status, _, headers = asked(
            served, "POST", "/login", urlencode({"name": "anna", "password": "wrong password"})
        )
        assert (status, "set-cookie" in headers) == (401, False)
        status, _, headers = asked(served, "POST", "/login", urlencode({"name": "anna", "password": RIGHT}))
        assert status == 303
        cookie = headers["set-cookie"].partition(";")[0]
        assert {"httponly", "samesite=lax"} <= {
            part.strip().lower() for part in headers["set-cookie"].split(";")
        }
        assert found(served, {"Cookie": cookie}) == {"/open", "/anna"}

        assert found(served, {"X-Remote-User": "CORP\\ANNA"}) == {"/open", "/anna"}
        assert found(served, {"X-Remote-User": "bert"}) == {"/open"}
        assert (
            asked(served, "GET", "/api/v1/search?q=wombat", headers={"X-Remote-User": b"b\xe4rbel"})[0] == 400
        )

        made = secured.call("token", "add", "intranet", "--right", "search-as")
        bearer = f"Bearer {made.out.strip()}"
        assert found(served, {"Authorization": bearer}) == {"/open"}
        assert found(served, {"Authorization": bearer, "X-Ingather-As": "anna@corp"}) == {"/open", "/anna"}
        front = {"Authorization": bearer, "X-Ingather-As": "bert", "X-Ingather-As-Group": "board"}
        assert found(served, front) == {"/open", "/board"}
        assert secured.call("token", "revoke", "intranet").status == 0
        assert asked(served, "GET", "/api/v1/search?q=wombat", headers={"Authorization": bearer})[0] == 401

        assert secured.call("user", "disable", "anna").out == "user anna disabled\n"
        assert found(served, {"Cookie": cookie}) == {"/open"}
        for path in ("/api/v1/explain", "/api/v1/holds", "/metrics", "/api/v1/users"):
            assert asked(served, "GET", path)[0] == 404, "nothing of the operator's is on this listener"


def test_the_owner_of_the_home_searches_as_anybody_and_strangers_headers_count_for_nothing(
    secured: Rig,
) -> None:
    secured.tune("access.proxies", "192.0.2.1")
    with secured.serving() as served:
        wait_until(lambda: found(served) == {"/open"})
        assert found(served, {"X-Remote-User": "CORP\\anna"}) == {"/open"}
    plain = secured.call("search", "--json", "wombat").json
    anna = secured.call("search", "--json", "--user", "CORP\\anna", "wombat").json
    assert (plain["total"], anna["total"]) == (1, 2)
    ran = secured.call("search", "--user", " ", "wombat")
    assert (ran.status, ran.err.count("\n")) == (2, 1)


def test_people_of_an_identity_provider_find_theirs(secured: Rig) -> None:
    back = "http://localhost/login/return"
    (secured.path / "oidc-secret").write_text("s3cret\n")
    with OidcProvider(client="ingather", secret="s3cret", back=back) as provider:  # noqa: S106
        provider.claims |= {"preferred_username": "CORP\\anna", "groups": ["board"]}
        for key, value in {
            "issuer": provider.issuer, "client": "ingather", "secret-file": "oidc-secret", "return": back, "groups": "groups",
        }.items():  # fmt: skip
            secured.tune(f"access.oidc-{key}", value)
        with secured.serving() as served:
            wait_until(lambda: found(served) == {"/open"})
            status, _, headers = asked(served, "GET", "/login/provider?target=/")
            assert status == 303
            kept, away = headers["set-cookie"].partition(";")[0], urlsplit(headers["location"])
            connection = HTTPConnection(away.netloc, timeout=30)
            connection.request("GET", f"{away.path}?{away.query}")
            answer = connection.getresponse()
            location = urlsplit(answer.headers["Location"])
            connection.close()
            status, _, headers = asked(
                served, "GET", f"{location.path}?{location.query}", headers={"Cookie": kept}
            )
            assert (status, headers["location"]) == (303, "/")
            session = next(c for c in headers["set-cookie"].split(", ") if "-login=" not in c).partition(";")[
                0
            ]
            assert found(served, {"Cookie": session}) == {"/open", "/anna", "/board"}


def test_users_and_tokens_on_a_home_that_nobody_owns(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{RIGHT}\nnot read"))
    added = rig.call("user", "add", "Anna", "--password-stdin")
    assert (added.status, added.out) == (0, "user Anna added\n"), added.err
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    refused = rig.call("user", "passwd", "anna", "--password-stdin")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert rig.call("user", "list").out == "Anna  Anna\n"
    assert rig.call("user", "disable", "bert").status == 2
    made = rig.call("token", "add", "feeds", "--right", "feeder", "--days", "7", "--json").json
    assert made["rights"] == ["feeder"]
    assert made["token"].startswith("igt_")
    assert "feeds  feeder" in rig.call("token", "list").out
    assert made["token"] not in rig.call("token", "list", "--json").out
    assert rig.call("user", "delete", "Anna").status == 0
    assert rig.call("user", "list", "--json").json == []
