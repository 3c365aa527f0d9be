"""The filter inside the index, held to the decision about each document: 10,000 random questions by random people.

One home, filled by feeds; between the rounds ACLs of documents and folders change and the rules are switched. What a question
finds must be what its words match and the explanation of access permits, for each document alone.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.app.homeparts import database_of
from ingather.app.searching import Seeing, search_service
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.client import FeedWriter, GroupWriter
from ingather.explain.access import AccessExplainer, AccessParts, DocumentFacts
from ingather.feeds.desk import FeedKind
from ingather.index import AllOf, AnyOf, Not, Question, Word
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.viewer import Viewer
from ingather.testing.feeds import FeedRig

DOCUMENTS, VIEWERS, ROUNDS, QUESTIONS = 60, 20, 4, 2_500
WORDS = ("bank", "castle", "clock", "bridge", "coast", "carpet", "candle", "bottle", "balance", "autumn")
USERS = [Principal(PrincipalScope.USER, f"u{n}") for n in range(6)]
GROUPS = [Principal(PrincipalScope.GROUP, f"g{n}") for n in range(5)]
FOLDERS = [f"http://folder.test/{n}" for n in range(8)]
POLICY = "odd.test/ group:g0 group:g1\ncontains:/7 group:g2 user:u3 user:u4 right=none\nodd.test/3 group:g3\n"


UNREADABLE = f'<acl url="{FOLDERS[0]}"><principal scope="odd" access="deny">u0</principal></acl>'
"""Whom it denies nobody knows, so nobody sees what inherits from it, whatever the rules say."""


def url_of(number: int) -> str:
    return f"http://{'odd' if number % 2 else 'even'}.test/{number}"


@dataclass
class World:
    """A home and what its documents say."""

    rig: FeedRig
    seed: int
    words: dict[str, frozenset[str]] = field(default_factory=dict)

    def acl(self, url: str) -> Acl:
        dice = self.dice
        entries = tuple(
            AclEntry(Right.DENY if dice.random() < 0.3 else Right.PERMIT, dice.choice(USERS + GROUPS))
            for _ in range(dice.randrange(4))
        )
        # The last two folders have no ACL most of the time: chains break and are whole again.
        parent = dice.choice(["", *FOLDERS]) if dice.random() < 0.7 else ""
        return Acl(url, entries, "" if parent == url else parent, dice.choice(list(Inheritance)))

    def feed(self, urls: list[str], folders: list[str]) -> None:
        """Push new rights, and once the texts; some documents have no ACL, some of those are secured."""
        out, dice = BytesIO(), self.dice
        with FeedWriter(out, "rights", "incremental") as feed:
            for url in urls:
                text = None
                if url not in self.words:
                    chosen = dice.sample(WORDS, dice.randint(1, 5))
                    self.words[url], text = frozenset(chosen), f"{' '.join(chosen)} {url.rpartition('/')[2]}"
                kind = dice.random()
                feed.add(
                    url, content=text, mimetype="text/plain", acl=self.acl(url) if kind < 0.7 else None,
                    authmethod="httpbasic" if 0.7 <= kind < 0.8 else "none" if kind >= 0.8 else "",
                )  # fmt: skip
            for folder in folders:
                feed.acl(self.acl(folder), delete=dice.random() < 0.3)
        self.rig.push(body=out.getvalue(), datasource="rights")
        self.rig.push(UNREADABLE, datasource="rights")

    def groups(self) -> None:
        out, dice = BytesIO(), self.dice
        with GroupWriter(out) as feed:
            for group in GROUPS:
                feed.add(group, dice.sample(USERS + GROUPS, dice.randrange(4)))
        self.rig.push(body=out.getvalue(), datasource="groups", kind=FeedKind.GROUPS, feedtype="full")

    def policy(self, *, rescues: bool) -> None:
        """Put policy rules in force, and say whether they rescue broken chains."""
        (self.rig.home.config / "policy-acl.txt").write_text(POLICY)
        settings = self.rig.home.path / "ingather.toml"
        line = f"[access]\npolicy-rescues-broken = {str(rescues).lower()}\n"
        settings.write_text(self.before.replace("[access]\n", line))
        self.rig.read = self.rig.home.settings(environment={})
        self.rig.reopen()

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)  # noqa: S311 - a test's dice
        self.before = (self.rig.home.path / "ingather.toml").read_text()


class Kept:
    """A reader that stays open after an answer."""

    def __init__(self, reader: AccessReader | GroupReader) -> None:
        self._reader = reader
        self.close = lambda: None

    def __getattr__(self, name: str) -> object:
        return getattr(self._reader, name)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    try:
        yield World(rig, random.randrange(1 << 30))  # noqa: S311 - a test's dice
    finally:
        rig.close()
        process.stop()


def tree_of(dice: random.Random) -> AllOf:
    nodes = []
    for _ in range(dice.randint(1, 3)):
        word, chance = Word(dice.choice(WORDS)), dice.random()
        either = AnyOf((word, Word(dice.choice(WORDS))))
        nodes.append(Not(word) if chance < 0.2 else either if chance < 0.5 else word)
    return AllOf(tuple(nodes))


def matches(node: object, words: frozenset[str]) -> bool:
    match node:
        case Word(text=text):
            return text in words
        case Not(node=inner):
            return not matches(inner, words)
        case AnyOf(nodes=nodes):
            return any(matches(one, words) for one in nodes)
        case AllOf(nodes=nodes):
            return all(matches(one, words) for one in nodes)
        case _:
            raise AssertionError(node)


def asked(world: World, round_: int) -> int:
    """Ask one round; return how many documents were found."""
    rig, dice = world.rig, world.dice
    rows = {url: rig.row(url) for url in world.words}
    ids = {row.id: url for url, row in rows.items() if row is not None and rig.described(url)}
    numbers = {url: number for number, url in ids.items()}
    path = database_of(rig.home)
    service, reader, texts = search_service(rig.home, rig.read.settings)
    seeing, acls, groups = Seeing(rig.home, service), AccessReader(path), GroupReader(path)
    explainer = AccessExplainer(
        AccessParts(
            acls=lambda: Kept(acls),  # type: ignore[arg-type,return-value]
            groups=lambda: Kept(groups),  # type: ignore[arg-type,return-value]
            document=lambda url: DocumentFacts(numbers[url], "rights", "", indexed=True, behind=0),
        )
    )
    found = 0
    try:
        snapshot = reader.snapshot()
        compilers = [snapshot.clauses(), snapshot.clauses(strict=True)]
        for _ in range(VIEWERS):
            users = (dice.choice(USERS),) if dice.random() < 0.9 else ()
            viewer = Viewer(users, tuple(dice.sample(GROUPS, dice.randrange(3))) if users else ())
            explain = partial(explainer.explain, users=viewer.users, groups=viewer.groups)
            may = {number for number, url in ids.items() if explain(url)["permitted"]}
            fence = service._fence(snapshot, seeing(viewer))
            for _ in range(QUESTIONS // VIEWERS):
                tree = tree_of(dice)
                wanted = sorted(number for number in may if matches(tree, world.words[ids[number]]))
                question = Question(tree, fence)
                compilers[1].learn(question, lambda: dice.random() < 0.5)
                for clauses in compilers:
                    got = snapshot.matching(clauses.compile(question))
                    assert got == wanted, (world.seed, round_, viewer, tree)
                    found += len(got)
    finally:
        for close in (seeing.close, acls.close, groups.close, texts.close):
            close()
    return found


@pytest.mark.timeout(400)
def test_what_the_index_lets_through_is_what_is_decided_about_each_document(world: World) -> None:
    urls = [url_of(number) for number in range(DOCUMENTS)]
    found = 0
    for round_ in range(ROUNDS):
        if round_ in {1, 3}:
            world.policy(rescues=round_ == 1)
        changed = urls if not round_ else world.dice.sample(urls, 10)
        world.feed(changed, world.dice.sample(FOLDERS, 5))
        world.groups()
        world.rig.local.index()
        found += asked(world, round_)
    assert found
