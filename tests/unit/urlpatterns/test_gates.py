"""follow.txt and donotfollow.txt before the MetaData phase: crawl, explanation, feeds with content, versions."""

from pathlib import Path

import pytest

from ingather.app.rehearsal.shape import judging, shaping
from ingather.conf import Loaded, load, load_bodies
from ingather.filters import Engine
from ingather.model.candidate import Candidate, Pushed
from ingather.model.verdict import Exclusion
from ingather.robot.visit.discovering import Discoverer

FILTERS = "".join(
    f'<Filter name="{role}-default">\nMetaData fn=filter-by-exact src=host deny=denied.test\n</Filter>\n'
    for role in ("enumeration", "generation")
)


def loaded(**lists: str) -> Loaded:
    bodies = {"filter.conf": FILTERS, "robot.conf": ""}
    for name, text in lists.items():
        file = name.removesuffix("_wiki")
        bodies[f"sources/wiki/{file}.txt" if name != file else f"{file}.txt"] = text
    return load_bodies({name: body.encode() for name, body in bodies.items()})


def engine(**lists: str) -> Engine:
    found = loaded(**lists)
    assert found.ok, [str(d) for d in found.diagnostics]
    return Engine(found)


def passes(made: Engine, url: str, **more: object) -> bool:
    return made.decide(Candidate(url=url, **more)).allowed  # type: ignore[arg-type]


def test_an_absent_file_is_no_gate_and_one_without_patterns_lets_nothing_pass() -> None:
    assert passes(engine(), "http://a.test/")
    assert not passes(engine(follow="# nothing yet\n"), "http://a.test/")
    assert passes(engine(donotfollow=""), "http://a.test/")


def test_the_verdict_names_file_and_line_and_text() -> None:
    made = engine(follow="a.test/\n", donotfollow="# old\n/private/\n")
    decision = made.decide(Candidate(url="http://a.test/private/x"))
    assert not decision.allowed
    for verdict in (decision.enumeration, decision.generation):
        assert (verdict.where, verdict.reason) == ("donotfollow.txt:2", "Do Not Follow: /private/")
        assert verdict.category is Exclusion.FILTER_RULES
    assert [step.verdict for step in decision.trace] == ["deny", "deny"]
    decision = made.decide(Candidate(url="http://a.test/x"))
    assert (decision.trace[0].where, decision.trace[0].directive) == ("follow.txt:1", "a.test/")
    decision = made.decide(Candidate(url="http://b.test/"))
    assert (decision.generation.where, decision.generation.reason) == (
        "follow.txt",
        "no Follow pattern matches it",
    )


def test_a_discovery_carries_the_denial() -> None:
    found = Discoverer(engine(follow="a.test/\n-a.test/old/\n"), version=7, seed=0).discover(
        "http://a.test/old/1", depth=1, max_depth=None, source="web"
    )
    assert found.denial is not None
    assert (found.denial.where, found.denial.version) == ("follow.txt:2", 7)


def test_the_lists_come_before_the_directives_which_still_count() -> None:
    assert not passes(engine(follow="/\n"), "http://denied.test/")


def test_both_levels_must_pass_and_a_source_has_its_own() -> None:
    made = engine(follow="/\n", follow_wiki="/pages/\n")
    assert passes(made, "http://wiki.test/pages/1", source="wiki")
    assert not passes(made, "http://wiki.test/edit/1", source="wiki")
    assert passes(made, "http://wiki.test/edit/1", source="web")
    assert not passes(engine(follow="other.test/\n", follow_wiki="/\n"), "http://wiki.test/", source="wiki")


def test_content_is_exempt_from_follow_and_not_from_do_not_follow() -> None:
    made = engine(follow="a.test/\n", donotfollow="/secret/\n")
    assert passes(made, "googleconnector://c.localhost/doc?docid=1", pushed=Pushed.CONTENT)
    assert not passes(made, "googleconnector://c.localhost/secret/1", pushed=Pushed.CONTENT)
    refused = made.refusal(Candidate(url="http://b.test/secret/", pushed=Pushed.CONTENT))
    assert refused is not None
    assert refused.banned
    refused = made.refusal(Candidate(url="http://b.test/", pushed=Pushed.URL))
    assert refused is not None
    assert not refused.banned


@pytest.mark.parametrize("name", ["follow", "donotfollow", "follow_wiki"])
def test_an_error_in_a_list_refuses_the_configuration(name: str) -> None:
    found = loaded(**{name: "a.test/\nindex.html\n"})
    assert not found.ok
    wrong = next(d for d in found.diagnostics if d.is_error)
    assert (wrong.code, wrong.line, wrong.column) == ("E-NO-SLASH", 2, 1)
    assert wrong.file.endswith(".txt")


def test_the_lists_belong_to_the_version(tmp_path: Path) -> None:
    (tmp_path / "filter.conf").write_text(FILTERS)
    (tmp_path / "robot.conf").write_text("")
    before = load(tmp_path)
    (tmp_path / "sources" / "wiki").mkdir(parents=True)
    (tmp_path / "sources" / "wiki" / "donotfollow.txt").write_text("/x/\n")
    (tmp_path / "follow.txt").write_text("/\n")
    (tmp_path / "policy-acl.txt").write_text("a.test/ eng\n")
    after = load(tmp_path)
    assert before.digest != after.digest
    assert {"follow.txt", "sources/wiki/donotfollow.txt", "policy-acl.txt"} <= after.files.keys()
    again = load_bodies(after.bodies)
    assert again.digest == after.digest
    assert again.gates.refusal("http://h/x/", "wiki") is not None
    assert again.policy is not None
    assert len(again.policy) == 1


def test_a_list_that_cannot_be_read_refuses_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "filter.conf").write_text(FILTERS)
    (tmp_path / "donotfollow.txt").symlink_to(tmp_path / "gone")
    found = load(tmp_path)
    assert "E-FILE" in [d.code for d in found.diagnostics]
    assert not found.ok


def test_a_replay_knows_that_other_lists_judge_otherwise_and_describe_alike() -> None:
    one, other = loaded(follow="/\n"), loaded(follow="/\n", donotfollow="/x/\n")
    assert judging(one) != judging(other)
    assert shaping(one) == shaping(other)
