"""A Google adaptor against a running serve, set up as docs/how-to/run-a-google-adaptor.md says.

It lists, polls, updates, grants, revokes, moves and deletes while its documents are being visited; in the end searchers find what
the repository last said, and nobody finds more.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

from ingather.testing.adaptor import Adaptor, AdaptorDocument
from ingather.testing.connector import Connector
from ingather.testing.feeds import record
from ingather.testing.rig import Rig
from ingather.testing.running import Served, wait_until
from ingather.testing.site import html

pytestmark = pytest.mark.timeout(400)

SOURCE = "SharePoint_Intranet"
PEOPLE = ("", "joe", "ann")
FOLDERS = ("hr", "it")
DOCUMENTS, ROUNDS, ACTS = 16, 5, 6


@dataclass
class Kept:
    """One document of the repository: which version, and who may read it; nobody named = everybody."""

    version: int = 1
    readers: tuple[str, ...] = ()
    folder: str = ""

    def word(self, path: str) -> str:
        return f"v{self.version}of{path.strip('/')}"


class Repository:
    """What the adaptor serves, and what it pushes when something changed."""

    def __init__(self, adaptor: Adaptor, dice: random.Random) -> None:
        self.adaptor, self.dice = adaptor, dice
        self.kept: dict[str, Kept] = {}
        self.folders: dict[str, tuple[str, ...]] = {}
        self._made = 0

    def folder_url(self, name: str) -> str:
        return self.adaptor.url(f"/folder/{name}")

    def add(self) -> str:
        self._made += 1
        path = f"/doc{self._made}"
        self.put(path, Kept())
        self.change_rights(path)
        return path

    def put(self, path: str, kept: Kept) -> None:
        """Serve a document as it is kept: rights in the head, and by a folder that was pushed."""
        self.kept[path] = kept
        acl: dict[str, Any] | None = None
        if kept.readers or kept.folder:
            acl = {"entries": [{"access": "permit", "scope": "user", "name": name} for name in kept.readers]}
            if kept.folder:
                acl |= {"inherit_from": self.folder_url(kept.folder)}
        text = f"walrus {kept.word(path)}"
        self.adaptor.documents[path] = AdaptorDocument(html("Document", text=text).encode(), acl=acl)

    def change_rights(self, path: str) -> None:
        """Open a document, close it for some, or hang it below a folder."""
        kept, dice = self.kept[path], self.dice
        kept.readers = tuple(dice.sample(PEOPLE[1:], dice.randrange(3)))
        kept.folder = dice.choice(("", *FOLDERS))
        self.put(path, kept)

    def change_text(self, path: str) -> None:
        self.kept[path].version += 1
        self.put(path, self.kept[path])

    def delete(self, path: str) -> None:
        del self.kept[path], self.adaptor.documents[path]

    def change_folder(self, name: str) -> str:
        """Give a folder other readers; return the free ACL that says so, since a folder is no document."""
        self.folders[name] = tuple(self.dice.sample(PEOPLE[1:], self.dice.randrange(3)))
        entries = "".join(
            f'<principal scope="user" access="permit">{who}</principal>' for who in self.folders[name]
        )
        return f'<acl url="{self.folder_url(name)}" inheritance-type="child-overrides">{entries}</acl>'

    def act(self, slow: str) -> tuple[list[str], list[str]]:
        """Change this and that; return the paths that changed, and free ACLs. *slow* is being visited and stays."""
        changed, acls, dice = [slow], list[str](), self.dice
        for _ in range(ACTS):
            path = dice.choice(sorted(self.kept))
            act = dice.randrange(6)
            if act == 0:
                path = self.add()
            elif act == 1:
                acls.append(self.change_folder(dice.choice(FOLDERS)))
            elif act in {2, 3}:
                self.change_rights(path)
            elif act == 4 and path != slow:
                self.delete(path)
            else:
                self.change_text(path)
            changed.append(path)
        return changed, acls

    def expected(self, who: str) -> dict[str, str]:
        """Return what somebody finds: path to the word of its newest version."""

        def may(kept: Kept) -> bool:
            if not kept.readers and not kept.folder:
                return True
            return who in kept.readers or who in self.folders.get(kept.folder, ())

        return {path: kept.word(path) for path, kept in self.kept.items() if may(kept)}


def found(served: Served, who: str) -> dict[str, str]:
    """Return what somebody finds: path to the version that its excerpt shows."""
    connection = HTTPConnection(urlsplit(served.search_url).netloc, timeout=60)
    try:
        headers = {"X-Remote-User": who} if who else {}
        connection.request("GET", "/api/v1/search?q=walrus&num=100", headers=headers)
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    shown: dict[str, str] = {}
    for result in answer["results"]:
        words = [word for word in str(result).replace("<", " ").replace("\\n", " ").split() if "of" in word]
        shown[urlsplit(result["url"]).path] = next(
            (w.strip("'\",.}") for w in words if w.startswith("v")), ""
        )
    return shown


def shows(served: Served, repository: Repository, who: str) -> bool:
    """Whether somebody finds what the repository says by now."""
    return found(served, who) == repository.expected(who)


@pytest.fixture
def adaptor() -> Iterator[Adaptor]:
    with Adaptor() as made:
        yield made


@pytest.mark.parametrize("seed", [1, 2])
def test_an_adaptor_that_never_rests_is_found_as_it_last_was(rig: Rig, adaptor: Adaptor, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same story each time
    repository = Repository(adaptor, dice)
    host = urlsplit(adaptor.origin).netloc
    rig.toml(f'[source.{SOURCE}]\nown-hosts = ["{host}"]\ndeletion-confirm-after = "1s"\n')
    assert rig.call("feed", "trust", "127.0.0.1").status == 0
    rig.tune("access.proxies", "127.0.0.1,::1").tune("access.user-header", "X-Remote-User")
    for _ in range(DOCUMENTS):
        repository.add()
    with rig.serving() as served:
        connector = Connector(served, SOURCE)
        connector.push(*(repository.change_folder(name) for name in FOLDERS))
        connector.push(*(record(adaptor.url(path)) for path in repository.kept))
        for _ in range(ROUNDS):
            slow = dice.choice(sorted(repository.kept))
            adaptor.held[slow] = Event()
            connector.push(record(adaptor.url(slow), crawl_immediately="true"))
            changed, acls = repository.act(slow)
            if dice.randrange(2):
                repository.change_text(slow)  # while it is on its way
            connector.push(*acls, *(record(adaptor.url(path), crawl_immediately="true") for path in changed))
            adaptor.held.pop(slow).set()

        for who in PEOPLE:
            wait_until(partial(shows, served, repository, who), pause_s=0.2)
        assert (
            len({frozenset(repository.expected(who).items()) for who in PEOPLE}) > 1
        )  # rights tell them apart
        wait_until(lambda: connector.backlog() == 0)
    assert not rig.complaints(bodies=False)
