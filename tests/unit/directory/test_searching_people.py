"""People of a directory log in to the search page, search with their groups, and are nobody once it forgot them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from ingather.access import ANONYMOUS, Visible
from ingather.app.access.accounts import Accounts
from ingather.app.access.directory import GroupLookup, KnownPeople, directory_of
from ingather.app.access.people import CatalogPeople
from ingather.app.home import Home
from ingather.app.jobs import Job
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.cli.access import command
from ingather.conf.settings.file import load_settings
from ingather.errors import DirectoryError, UsageError
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.viewer import NOBODY_KNOWN, Viewer
from ingather.search import SearchRequest, SearchResults
from ingather.testing.clock import FakeClock
from ingather.testing.company import BASE, ENTRIES, GROUPS, JOE, READER, READERS, RIGHT, directory_at
from ingather.testing.directory import ScriptedDirectory
from ingather.web import Health, HttpMetrics, SearchParts, search_app

SEARCH = "http://search.example"
PAGE = {"accept": "text/html", "origin": SEARCH, "sec-fetch-site": "same-origin"}


@pytest.fixture
def server() -> Iterator[ScriptedDirectory]:
    with ScriptedDirectory(ENTRIES) as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def known(server: ScriptedDirectory, clock: FakeClock) -> KnownPeople:
    return KnownPeople(directory_at(server, domain="corp"), clock, fresh_s=60, last_s=600)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CatalogWriter]:
    made = CatalogWriter(tmp_path / "catalog.db")
    yield made
    made.close()


def doing(writer: CatalogWriter, clock: FakeClock) -> Callable[[Job], Any]:
    return lambda job: writer.transaction(lambda w: job(w, Applied(), clock.wall()))


def user(name: str, domain: str = "") -> Principal:
    return Principal(PrincipalScope.USER, name, domain)


def log_in(client: TestClient, name: str, password: str) -> Any:
    return client.post("/login", data={"name": name, "password": password}, headers=PAGE)


def test_the_directory_s_people_log_in_and_search_with_their_groups(
    server: ScriptedDirectory, known: KnownPeople, writer: CatalogWriter, clock: FakeClock
) -> None:
    do = doing(writer, clock)
    people = CatalogPeople(writer.path, do, clock, directory=known)
    accounts = Accounts(lambda _p, _f, job: do(job), changed=people.refresh)
    accounts.add_user({"name": "local", "password": "correct horse"})
    lookup, asked = GroupLookup(writer.path, known), list[Viewer]()

    def sees(viewer: Viewer) -> Visible:
        asked.append(lookup(viewer))
        return ANONYMOUS

    def search(wanted: SearchRequest) -> SearchResults:
        return SearchResults(query=wanted.query, total=0)

    metrics = HttpMetrics(CollectorRegistry())
    parts = SearchParts(search=search, health=Health, metrics=metrics, people=people, sees=sees, clock=clock)
    with TestClient(search_app(parts), base_url=SEARCH, follow_redirects=False) as client:
        assert log_in(client, "joe", "wrong").status_code == 401
        assert log_in(client, "joe", "").status_code == 401
        assert log_in(client, "joe", RIGHT).status_code == 303
        assert client.get("/api/v1/whoami").json()["name"] == "corp\\Joe"
        assert client.get("/api/v1/search?q=x").status_code == 200
        assert asked[-1].users == (user("Joe", "corp"),)
        assert {group.name for group in asked[-1].groups} == GROUPS
        # It cannot be asked: first what was known last, then nothing at all, and it is said.
        server.code = 52
        clock.advance(500)
        assert client.get("/api/v1/search?q=x").status_code == 200
        assert {group.name for group in asked[-1].groups} == GROUPS
        clock.advance(200)
        answer = client.get("/api/v1/search?q=x")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "directory-unavailable")
    with TestClient(search_app(parts), base_url=SEARCH, follow_redirects=False) as client:
        assert log_in(client, "nobody", "x").status_code == 503
        binds = len(server.binds)
        assert log_in(client, "local", "wrong").status_code == 401
        assert len(server.binds) == binds  # a local user's password goes nowhere
    people.close()


def test_whoever_left_the_directory_is_nobody_and_local_users_stay(
    server: ScriptedDirectory, known: KnownPeople, writer: CatalogWriter, clock: FakeClock
) -> None:
    do = doing(writer, clock)
    Accounts(lambda _p, _f, job: do(job)).add_user({"name": "local", "password": "correct horse"})
    lookup = GroupLookup(writer.path, known)
    assert lookup(Viewer((user("joe"),))).known
    del server.entries[JOE]
    clock.advance(61)
    assert lookup(Viewer((user("joe"),))) == NOBODY_KNOWN
    assert lookup(Viewer((user("local"),))).users == (user("local"),)
    elsewhere = Viewer((user("joe", "other"),))
    assert lookup(elsewhere) == elsewhere
    server.code = 52
    clock.advance(61)
    with pytest.raises(DirectoryError):
        lookup(Viewer((user("fresh"),)))


# -- settings and the command ------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, server: ScriptedDirectory) -> Home:
    made = Home.create(tmp_path / "home")
    (made.path / "ldap-password").write_text(READERS + "\n")
    (made.path / "ldap-password").chmod(0o600)
    made.settings_file.write_text(
        f'[directory]\nservers = ["{server.url}"]\nstart-tls = false\nbase = "{BASE}"\ndomain = "corp"\n'
        f'bind-dn = "{READER}"\nbind-password-file = "ldap-password"\n'
    )
    return made


def run(home: Home, *arguments: str, typed: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(
        command, ["ldap", "test", "--home", str(home), *arguments], input=typed, standalone_mode=False
    )
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.output


def test_the_command_says_what_works(home: Home, server: ScriptedDirectory) -> None:
    assert run(home) == (0, f"{server.url}: works\n")
    code, said = run(home, "--user", "joe", "--password-stdin", typed=RIGHT + "\n")
    assert code == 0
    assert all(text in said for text in (JOE, "5 groups", "    eng\n", "password: right"))
    code, said = run(home, "--user", "joe", "--password-stdin", typed="canary-1\n")
    assert (code, "password: wrong" in said, "canary" in said) == (1, True, False)
    assert run(home, "--user", "nobody")[0] == 1
    server.code = 52
    code, said = run(home)
    assert (code, "unavailable (52)" in said) == (1, True)


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ('servers = ["ldap://dc.example"]\nstart-tls = false', "in clear"),
        ('servers = ["http://dc.example"]', "no server"),
        ('servers = ["ldaps://joe:secret@dc.example"]', "no server"),
        ('user-filter = "(uid=x"', "no LDAP filter at character"),
        ('ca-file = "missing.pem"', "cannot be read"),
        ('bind-password-file = "missing"', "cannot be read"),
        ('bind-dn = ""', "go together"),
        ('base = ""', "wants directory.base"),
    ],
)
def test_wrong_settings_are_named(home: Home, line: str, trouble: str) -> None:
    keys = {one.split(" = ")[0] for one in line.split("\n")}
    kept = [one for one in home.settings_file.read_text().splitlines() if one.split(" = ")[0] not in keys]
    home.settings_file.write_text("\n".join([*kept, line]) + "\n")
    with pytest.raises(UsageError, match=trouble):
        directory_of(home, load_settings(home.settings_file, environment={}).settings, FakeClock())


def test_a_password_file_that_others_may_read_is_refused(home: Home) -> None:
    (home.path / "ldap-password").chmod(0o640)
    with pytest.raises(UsageError, match="others may read") as caught:
        directory_of(home, load_settings(home.settings_file, environment={}).settings, FakeClock())
    assert READERS not in str(caught.value)
