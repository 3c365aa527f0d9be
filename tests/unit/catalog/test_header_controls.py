"""What hosts say in the heads of their answers, in the transaction of the visit."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.feeds.sqlite_feeds import Listing
from ingather.catalog.sqlite_changes import Applied
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.controls import Controls
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.robot.settling.committing import Batch, Committed, Committer
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.robot.settling.settle import SettleRules
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

DOC = "http://h.test/doc"
JOE = Acl(DOC, (AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, "joe")),))
ANN = Acl(DOC, (AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, "ann")),))
NOBODY, PUBLIC = 0, 1
HOUR_S = 3600.0


class Answers:
    """Answers of hosts, committed as the keeper does."""

    def __init__(self, catalog: SqliteUnderTest, visitor: Visitor) -> None:
        self.catalog, self.visitor = catalog, visitor
        self.access = AccessReader(catalog.writer.path)
        self._committer = Committer(
            catalog.writer, rules=SettleRules(), policies=lambda _: DeletionPolicy(), dice=random.Random(1),  # noqa: S311 - jitter
            now_s=lambda: visitor.now_s, clock_trusted=lambda: True,
        )  # fmt: skip

    def start(self, kind: str = "gsa", url: str = DOC) -> None:
        self.catalog.writer.transaction(lambda w: w.applier.source("src", kind, "public"))
        self.visitor.start(url, source="src")

    def describe(self, controls: Controls | None = None, body: str = "walrus", url: str = DOC) -> Committed:
        row = self.visitor.claim(url)
        return self._commit(
            msgspec.structs.replace(self.visitor.report(row, url, body), controls=controls), url
        )

    def answer(
        self,
        outcome: Outcome,
        status: int,
        controls: Controls | None = None,
        detail: str = "",
        url: str = DOC,
    ) -> Committed:
        row = self.visitor.claim(url)
        report = Report(row.id, int(outcome), status, self.visitor.now_s, 1, controls=controls, detail=detail)
        return self._commit(report, url)

    def _commit(self, report: Report, url: str) -> Committed:
        sent = msgspec.msgpack.decode(msgspec.msgpack.encode(report), type=Report)
        return self._committer.commit(Batch(visits=[(sent, self.visitor.claim(url))]))

    def chain(self, url: str = DOC) -> int:
        number = self.visitor.id(url)
        return self.access.chains_of([number])[number]

    def acl(self) -> Acl | None:
        return self.access.acl(DOC)

    def attributes(self) -> dict[str, tuple[str, ...]]:
        found = self.visitor.reader.description(self.visitor.id(DOC))
        assert found is not None
        return found.effective()


@pytest.fixture
def answers(catalog: SqliteUnderTest, visitor: Visitor) -> Iterator[Answers]:
    made = Answers(catalog, visitor)
    yield made
    made.access.close()


def test_the_acl_comes_with_the_page_and_replaces_the_one_that_a_feed_brought(answers: Answers) -> None:
    answers.start()
    feed = answers.catalog.writer
    feed.transaction(lambda w: w.access.put_acl(ANN, Applied(), source=w.applier.source("src")))
    answers.describe(Controls(acl=JOE, secured=True))
    assert answers.acl() == JOE
    assert answers.chain() > PUBLIC


def test_gsa_T45_no_acl_leaves_the_word_to_serve_security(answers: Answers) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, secured=True))
    answers.describe(Controls(no_acl=True, secured=True))
    assert (answers.acl(), answers.chain()) == (None, NOBODY)
    answers.describe(Controls(no_acl=True, secured=False))
    assert answers.chain() == PUBLIC


def test_gsa_T44_an_answer_without_new_content_moves_acl_and_metadata_and_tells_the_index(
    answers: Answers,
) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, secured=True, metadata=(("author", "one"), ("author", "two"))))
    assert answers.attributes()["author"] == ("one", "two")
    done = answers.answer(Outcome.UNCHANGED, 204, Controls(acl=ANN, secured=True, metadata=(("topic", "x"),)))
    assert answers.acl() == ANN
    assert "author" not in answers.attributes()
    assert answers.attributes()["topic"] == ("x",)
    assert done.applied.changes
    done = answers.answer(Outcome.UNCHANGED, 304)
    assert (answers.acl(), answers.attributes()["topic"]) == (ANN, ("x",))
    assert not done.applied.changes


def test_metadata_of_the_head_replaces_those_of_feeds_and_absent_ones_leave_them(answers: Answers) -> None:
    answers.start()
    number = answers.visitor.id(DOC)
    fed = {"author": ("fed",), "topic": ("fed",), "display-url": ("http://shown.test/",)}
    answers.catalog.writer.transaction(lambda w: w.feeds.put_metadata(number, fed, Applied()))
    answers.describe(Controls(secured=False))
    assert answers.attributes()["topic"] == ("fed",)
    answers.describe(Controls(secured=False, metadata=(("author", "head"), ("readacl", ""))))
    found = answers.attributes()
    assert (found["author"], found["display-url"], "topic" in found) == (("head",), fed["display-url"], False)
    assert answers.chain() == NOBODY, "a readacl closes a document"
    answers.describe(Controls(secured=False, metadata=(), display_url="javascript:x"))
    found = answers.attributes()
    assert "author" not in found
    assert found["display-url"] == fed["display-url"]


def test_a_document_with_rights_is_never_the_copy_of_a_public_one(answers: Answers) -> None:
    answers.start()
    twin = "http://h.test/twin"
    answers.visitor.start(twin, source="src")
    answers.describe(url=twin)
    answers.describe(Controls(acl=JOE, secured=True))
    assert answers.visitor.record(DOC).duplicate_of == ""
    assert (answers.chain(twin), answers.chain() > PUBLIC) == (PUBLIC, True)


def test_three_refusals_over_a_day_withhold_a_known_document_until_it_is_given_again(
    answers: Answers,
) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, secured=True))
    chain = answers.chain()
    for status in (403, 401):
        answers.visitor.now_s += 12 * HOUR_S
        done = answers.answer(Outcome.REFUSED, status)
        assert answers.chain() == chain
        assert done.settled[0].due_s == answers.visitor.now_s + 12 * HOUR_S
    answers.visitor.now_s += 12 * HOUR_S
    answers.answer(Outcome.REFUSED, 403)
    assert answers.chain() == NOBODY
    assert answers.acl() == JOE
    answers.answer(Outcome.UNCHANGED, 304)
    assert answers.chain() == chain


def test_many_refusals_in_short_time_withhold_once_a_day_is_over(answers: Answers) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, secured=True))
    for _ in range(20):
        answers.visitor.now_s += HOUR_S
        answers.answer(Outcome.REFUSED, 403)
        assert answers.chain() > PUBLIC
    answers.visitor.now_s += 5 * HOUR_S
    answers.answer(Outcome.REFUSED, 403)
    assert answers.chain() == NOBODY
    answers.describe()
    assert answers.chain() > PUBLIC


def test_a_refusal_of_what_no_feed_and_no_adaptor_brought_hides_nothing(answers: Answers) -> None:
    answers.start(kind="site")
    answers.describe()
    for _ in range(4):
        answers.visitor.now_s += 24 * HOUR_S
        answers.answer(Outcome.REFUSED, 403)
    assert answers.chain() == PUBLIC


def test_a_head_over_the_limit_hides_at_once(answers: Answers) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, secured=True))
    answers.answer(
        Outcome.FAILED, 0, Controls(withheld="head-too-large: 400000 bytes"), "head-too-large: ..."
    )
    assert answers.chain() == NOBODY
    answers.describe(Controls(acl=ANN, secured=True))
    assert answers.chain() > PUBLIC


def test_on_other_sources_a_head_closes_and_never_opens(answers: Answers) -> None:
    answers.start(kind="site")
    answers.describe(Controls(acl=JOE, secured=True, metadata=(("author", "x"),)))
    assert answers.acl() == JOE
    assert "author" not in answers.attributes()
    answers.describe(Controls(no_acl=True, secured=False))
    assert answers.acl() == JOE
    answers.describe(Controls(no_acl=True, secured=False, heeded=True))
    assert (answers.acl(), answers.chain()) == (None, PUBLIC)


def test_a_url_that_a_feed_names_is_heeded_whoever_found_it(answers: Answers) -> None:
    answers.start(kind="site")
    number = answers.visitor.id(DOC)
    answers.catalog.writer.transaction(
        lambda w: w.feeds.put_listing(number, Listing(w.applier.source("src"), web=True))
    )
    answers.describe(Controls(acl=JOE, secured=True, metadata=(("author", "x"),), once=True))
    assert answers.attributes()["author"] == ("x",)
    assert answers.visitor.record(DOC).due_s is None
    answers.answer(Outcome.REFUSED, 403)
    assert answers.visitor.record(DOC).due_s is not None, "what is refused is asked again, crawl-once or not"


def test_the_acl_of_metadata_goes_with_the_metadata_when_the_host_says_public(answers: Answers) -> None:
    answers.start()
    answers.describe(Controls(acl=JOE, acl_from_metas=True, metadata=(), secured=True))
    answers.describe(Controls(metadata=()))
    assert answers.acl() == JOE
    answers.describe(Controls(metadata=(), secured=False))
    assert (answers.acl(), answers.chain()) == (None, PUBLIC)
