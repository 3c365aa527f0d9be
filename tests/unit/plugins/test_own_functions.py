"""Functions of one's own (robot specification, DEC-38): answers, failures, loading."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingather.conf import Loaded
from ingather.errors import ConfigurationError
from ingather.filters import Decision, Engine
from ingather.model.candidate import Candidate
from ingather.model.diagnostic import Diagnostic
from ingather.model.page import Link, Page
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion
from ingather.plugins import PlugIns
from ingather.plugins import examples as shipped_examples

Plug = Callable[..., PlugIns]
Configure = Callable[..., Loaded]
Make = Callable[..., Engine]

URL = "http://www.example.com/a"
PAGE = Page(
    url=URL,
    media_type="text/html",
    title="A",
    metas={"topic": ["x, y", "z"]},
    links=[Link("http://b.example/")],
)


def decide(engine: Engine, *, url: str = URL, page: Page = PAGE) -> Decision:
    response = Response(url, 200, (("Content-Type", "text/html"),), b"<p>body", address="192.0.2.1")
    return engine.decide(Candidate(url), response, read_page=lambda _: page, now_s=1.0)


def codes(loaded: Loaded) -> list[str]:
    return [d.code for d in loaded.diagnostics if d.is_error]


ANSWERS = """
@raf(phases={Phase.METADATA, Phase.DATA, Phase.GENERATE, Phase.ENUMERATE}, parameters=[ParameterSpec("what")])
def answer(params, filter, resource):
    what = params.get("what")
    if what == "raise":
        raise RuntimeError("no luck")
    if what == "odd":
        return 7
    return {"deny": DENY("a draft"), "aborted": ABORTED("no answer"), "bare": DENY, "exit": EXIT("enough"),
            "proceed": PROCEED, "noaction": NOACTION, "none": None}[what]
"""


@pytest.mark.parametrize("phase", ["MetaData", "Data", "Generate"])
@pytest.mark.parametrize(
    ("what", "category", "reason"),
    [
        ("proceed", None, ""),
        ("noaction", None, ""),
        ("none", None, ""),
        ("deny", Exclusion.FILTER_RULES, "answer: a draft"),
        ("bare", Exclusion.FILTER_RULES, "answer: denied"),
        ("aborted", Exclusion.ERROR, "answer no answer"),
        ("raise", Exclusion.ERROR, "answer failed: RuntimeError: no luck"),
        ("odd", Exclusion.ERROR, "answer failed: TypeError"),
    ],
)
def test_an_answer_becomes_a_verdict(  # noqa: PLR0913, PLR0917 - the parts of a table
    plug: Plug, engine: Make, phase: str, what: str, category: Exclusion | None, reason: str
) -> None:
    made = engine(plug(mine=ANSWERS), f"{phase} fn=answer what={what}")
    verdict = decide(made).generation
    assert verdict.category is category
    assert verdict.allowed is (category is None)
    assert verdict.reason.startswith(reason)
    assert verdict.where == ("" if category is None else "filter.conf:6")
    assert made.stop_asked == ""


def test_exit_lets_the_resource_pass_and_asks_to_stop(plug: Plug, engine: Make) -> None:
    made = engine(plug(mine=ANSWERS), "Data fn=answer what=exit\nData fn=answer what=proceed")
    assert decide(made).generation.allowed
    assert made.stop_asked == "answer at filter.conf:6: enough"


AGAIN = """
calls = []

@raf(phases={Phase.METADATA, Phase.DATA, Phase.ENUMERATE, Phase.GENERATE})
def once(params, filter, resource):
    calls.append((filter.phase.value, resource.restarted))
    if resource.get("seen") is None:
        resource.set("seen", "yes")
        return RESTART
    return PROCEED

@raf(phases={Phase.METADATA, Phase.DATA, Phase.ENUMERATE, Phase.GENERATE})
def always(params, filter, resource):
    calls.append((filter.phase.value, resource.restarted))
    return RESTART
"""


@pytest.mark.parametrize("phase", ["MetaData", "Data", "Generate"])
def test_restart_judges_again_from_metadata_once(plug: Plug, engine: Make, phase: str) -> None:
    plugins = plug(mine=AGAIN)
    lines = f"MetaData fn=generate-by-exact src=seen match=yes dst=early value=it\n{phase} fn=once\n"
    lines += "Generate fn=extract-source src=early\nGenerate fn=extract-html-meta"
    found = decide(engine(plugins, lines))
    assert found.generation.allowed
    assert found.attributes["early"] == ("it",)
    assert found.attributes["title"] == ("A",)
    module: Any = plugins.plugins[0].module
    assert module.calls == [(phase, False), (phase, True)]
    assert "restart" in [step.verdict for step in found.trace]


@pytest.mark.parametrize("phase", ["MetaData", "Data", "Generate"])
def test_a_second_restart_denies_as_an_error(plug: Plug, engine: Make, phase: str) -> None:
    plugins = plug(mine=AGAIN)
    verdict = decide(engine(plugins, f"{phase} fn=always")).generation
    assert (verdict.allowed, verdict.category, verdict.where) == (False, Exclusion.ERROR, "filter.conf:6")
    module: Any = plugins.plugins[0].module
    assert len(module.calls) == 2


def test_restart_of_the_enumeration_filter_leaves_each_link_once(plug: Plug, engine: Make) -> None:
    made = engine(
        plug(mine=AGAIN),
        "",
        enumeration="Enumerate fn=enumerate-urls\nEnumerate fn=once\nEnumerate fn=enumerate-urls",
    )
    assert [link.url for link in decide(made).links] == ["http://b.example/"]


def test_a_crawl_takes_the_same_way(plug: Plug, engine: Make) -> None:
    made = engine(plug(mine=AGAIN), "Data fn=once\nGenerate fn=once\nGenerate fn=extract-html-meta")
    ev = made.evaluation(Candidate(URL))
    assert made.metadata(ev)
    made.respond(ev, Response(URL, 200, (("Content-Type", "text/html"),), b"x"), lambda: PAGE)
    assert made.data(ev) is None
    assert made.generate(ev, now_s=1.0)["title"] == ("A",)
    assert ev.generation.allowed


def test_copy_mv_the_shipped_example(plug: Plug, engine: Make) -> None:
    text = (Path(shipped_examples.__file__).parent / "copy_mv.py").read_text("utf-8")
    made = engine(
        plug(copy_mv=text),
        "Generate fn=copy_mv src=topic dst=classification\nGenerate fn=copy-mv src=none dst=x",
    )
    assert decide(made).attributes == {"classification": ("x", "y", "z")}


def test_parameters_are_checked_like_a_built_ins(plug: Plug, configured: Configure) -> None:
    text = """
@raf(phases={Phase.DATA}, once=True, requires="generate-md5", parameters=[
    ParameterSpec("least", Kind.INTEGER, required=True, low=1, high=9), ParameterSpec("soft", Kind.SWITCH, default=False)])
def measure(params, filter, resource):
    return PROCEED
"""
    plugins = plug(mine=text)

    def found(lines: str) -> list[str]:
        return [
            d.code
            for d in configured(plugins, lines).diagnostics
            if d.code not in {"W-REQUIRES", "W-EMPTY-FILTER"}
        ]

    md5 = "Data fn=generate-md5\n"
    assert found(f"{md5}Data fn=measure least=3") == []
    assert found(f"{md5}Data fn=measure") == ["E-PARAM-MISSING"]
    assert found(f"{md5}Data fn=measure least=10") == ["E-RANGE"]
    assert found(f"{md5}Data fn=measure least=x") == ["E-TYPE"]
    assert found(f"{md5}Data fn=measure least=1 soft=maybe") == ["E-TYPE"]
    assert found(f"{md5}Data fn=measure least=1 hard=yes") == ["W-PARAM-UNKNOWN"]
    assert found("Data fn=measure least=1") == ["E-REQUIRES"]
    assert found(f"{md5}MetaData fn=measure least=1") == ["W-ORDER", "E-PHASE"] or found(
        f"{md5}MetaData fn=measure least=1"
    ) == ["E-PHASE"]
    assert found(f"{md5}Data fn=measure least=1\nData fn=measure least=1") == ["E-ONCE"]
    assert found("Data fn=mesure least=1") == ["E-FN-UNKNOWN"]


def test_what_a_function_is_handed(plug: Plug, engine: Make) -> None:
    text = """
seen = []

@raf(phases={Phase.METADATA, Phase.GENERATE})
def look(params, filter, resource):
    seen.append((filter.name, filter.role.value, filter.phase.value, filter.where, resource.url, resource.depth, resource.fetched,
                 resource.status, resource.body, resource.page.title if resource.page else "", resource.first("HOST")))
    resource.set("Topic", ["a", "b"])
    if filter.phase is Phase.GENERATE:
        resource.rd["Author"] = "Ann"
        resource.rd["TAGS"] = ["a", "b"]
        del resource.rd["tags"]
"""
    plugins = plug(mine=text)
    made = engine(plugins, "MetaData fn=look\nGenerate fn=look\nGenerate fn=extract-source src=topic")
    assert decide(made).attributes == {"author": ("Ann",), "topic": ("a", "b")}
    module: Any = plugins.plugins[0].module
    before, after = module.seen
    assert before == (
        "generation-default", "generation", "MetaData", "filter.conf:6", URL, 0, False, 0, b"", "", "www.example.com",
    )  # fmt: skip
    assert after[6:10] == (True, 200, b"<p>body", "A")


@pytest.mark.parametrize(
    "does", ["resource.rd['x'] = 'y'", "resource.set('x', [1])", "resource.set('', 'x')", "params['x'] = 1"]
)
def test_what_must_not_be_written_denies_and_changes_nothing(plug: Plug, engine: Make, does: str) -> None:
    text = f"\n@raf(phases={{Phase.DATA}})\ndef write(params, filter, resource):\n    {does}\n"
    assert decide(engine(plug(mine=text), "Data fn=write")).generation.category is Exclusion.ERROR


SETUP = """
seen = []

@raf(phases={Phase.SETUP, Phase.SHUTDOWN}, parameters=[ParameterSpec("fail", Kind.SWITCH, default=False)])
def prepare(params, filter, resource):
    seen.append((filter.phase.value, resource))
    return ABORTED("no table") if params["fail"] else PROCEED
"""


def test_setup_and_shutdown_run_once(plug: Plug, engine: Make) -> None:
    plugins = plug(mine=SETUP)
    made = engine(plugins, "Setup fn=prepare\nShutdown fn=prepare fail=true\nShutdown fn=prepare")
    decide(made)
    made.shut_down()
    made.shut_down()
    module: Any = plugins.plugins[0].module
    assert module.seen == [("Setup", None), ("Shutdown", None), ("Shutdown", None)]


def test_a_failing_setup_stops_the_start(plug: Plug, configured: Configure) -> None:
    loaded = configured(plug(mine=SETUP), "Setup fn=prepare fail=true")
    with pytest.raises(ConfigurationError, match=r"filter\.conf:6.*E-SETUP.*prepare no table"):
        Engine(loaded)


def test_the_messages_about_plug_ins_are_those_of_the_reference(plug: Plug, configured: Configure) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "diagnostics.md").read_text("utf-8")
    with pytest.raises(ConfigurationError) as caught:
        Engine(configured(plug(mine=SETUP), "Setup fn=prepare fail=true"))
    (setup,) = caught.value.diagnostics
    assert isinstance(setup, Diagnostic)
    assert (setup.code, setup.line) == ("E-SETUP", 6)
    line = "Init fn=load-modules module=my_rafs funcs=generate_md5"
    loaded = configured(plug(my_rafs=PLAIN), "", outside=line)
    (twice,) = [found for found in loaded.diagnostics if found.code == "E-FN-DUP"]
    for found in (setup, twice):
        assert f"\n{found}\n" in page


# --- Init fn=load-modules ---------------------------------------------------------------------------

PLAIN = """
def tag_hr(params, filter, resource):
    resource.rd.add("tags", params.get("tag", "hr"))

def generate_md5(params, filter, resource):
    resource.set("md5", "mine")
"""


def test_unmarked_functions_are_loaded_by_name(plug: Plug, engine: Make) -> None:
    made = engine(
        plug(my_rafs=PLAIN),
        "Generate fn=tag-hr tag=people\nGenerate fn=tag_hr",
        outside='Init fn=load-modules module=my_rafs funcs="tag_hr"',
    )
    assert decide(made).attributes == {"tags": ("people", "hr")}


@pytest.mark.parametrize("where", ["my_rafs.py", "deep/my_rafs.py"])
def test_a_file_of_the_folder_is_loaded(
    plug: Plug, configured: Configure, tmp_path: Path, where: str
) -> None:
    plugins = plug(my_rafs=PLAIN)
    deep = tmp_path / "plugins" / "deep"
    deep.mkdir(mode=0o755)
    (deep / "my_rafs.py").write_text(PLAIN, "utf-8")
    loaded = configured(
        plugins, "Generate fn=tag_hr", outside=f"Init fn=load-modules shlib={where} funcs=tag_hr"
    )
    assert codes(loaded) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("module=nobody funcs=a", "E-FILE"),
        ("module=os funcs=system", "E-FILE"),
        ("module=broken funcs=a", "E-FILE"),
        ("shlib=nobody.py funcs=a", "E-FILE"),
        ("shlib=../outside.py funcs=evil", "E-FILE"),
        ("shlib=link.py funcs=evil", "E-FILE"),
        ("shlib=my_rafs.so funcs=tag_hr", "E-FILE"),
        ("shlib=open.py funcs=evil", "E-FILE"),
        ('module=my_rafs funcs="tag_hr, tag_hrr"', "E-FN-UNKNOWN"),
        ("module=my_rafs funcs=generate_md5", "E-FN-DUP"),
        ("module=my_rafs funcs=generate_md5 override=maybe", "E-TYPE"),
        ("module=my_rafs shlib=my_rafs.py funcs=tag_hr", "E-PARAM-MISSING"),
        ("funcs=tag_hr", "E-PARAM-MISSING"),
        ("module=my_rafs", "E-PARAM-MISSING"),
    ],
)
def test_what_cannot_be_loaded_is_said(
    plug: Plug, configured: Configure, tmp_path: Path, line: str, code: str
) -> None:
    plug(my_rafs=PLAIN, broken="raise SystemExit(3)", open="def evil(p, f, r): pass")
    (tmp_path / "outside.py").write_text("raise RuntimeError('ran')")
    (tmp_path / "plugins" / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "plugins" / "my_rafs.so").write_bytes(b"")
    (tmp_path / "plugins" / "open.py").chmod(0o666)
    loaded = configured(PlugIns(tmp_path / "plugins", points=()), "", outside=f"Init fn=load-modules {line}")
    assert codes(loaded) == [code]


def test_a_built_in_is_replaced_when_that_is_said(plug: Plug, engine: Make) -> None:
    plugins = plug(my_rafs=PLAIN)
    made = engine(
        plugins,
        "Data fn=generate-md5\nGenerate fn=extract-source src=md5",
        outside="Init fn=load-modules module=my_rafs funcs=generate_md5 override=true",
    )
    assert decide(made).attributes == {"md5": ("mine",)}
    assert decide(engine(plugins, "Data fn=generate-md5\nGenerate fn=extract-source src=md5")).attributes != {
        "md5": ("mine",)
    }


def test_a_line_of_init_in_a_filter_is_out_of_place(plug: Plug, configured: Configure) -> None:
    assert configured(plug(my_rafs=PLAIN), "Init fn=load-modules module=my_rafs funcs=tag_hr").ok is False
    assert codes(configured(plug(my_rafs=PLAIN), "", outside="Init fn=generate-md5")) == ["E-PHASE"]


# --- what is installed ------------------------------------------------------------------------------

STATES = {
    "fine": "@raf(phases={Phase.DATA})\ndef mine(p, f, r): pass\n@converter('Application/X-Thing')\ndef thing(body, name): pass",
    "broken": "1/0",
    "later": "@raf(phases={Phase.DATA})\ndef mine(p, f, r): pass",
    "taken": "@raf('generate-md5', phases={Phase.DATA})\ndef other(p, f, r): pass\n@raf(phases={Phase.DATA})\ndef good(p, f, r): pass",
}


def test_every_plug_in_is_listed_with_its_state(plug: Plug) -> None:
    found = {p.name: p for p in plug(**STATES)}
    assert {name: p.state for name, p in found.items()} == {
        "fine": "loaded", "broken": "failed", "later": "partly", "taken": "partly",
    }  # fmt: skip
    assert found["fine"].functions == ("mine",)
    assert found["fine"].converters == ("application/x-thing",)
    assert "ZeroDivisionError" in found["broken"].trouble
    assert "fine.py" in found["later"].trouble
    assert "override=true" in found["taken"].trouble
    assert found["taken"].functions == ("good",)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert PlugIns(tmp_path / "none", points=()).plugins == ()
    assert PlugIns(None, points=()).plugins == ()


def test_others_may_not_write_what_runs(plug: Plug, tmp_path: Path) -> None:
    plug(mine=SETUP)
    (tmp_path / "plugins" / "mine.py").chmod(0o664)
    (only,) = PlugIns(tmp_path / "plugins", points=()).plugins
    assert (only.state, only.functions) == ("failed", ())
    assert "chmod go-w" in only.trouble
    (tmp_path / "plugins" / "mine.py").chmod(0o644)
    (tmp_path / "plugins").chmod(0o777)
    (only,) = PlugIns(tmp_path / "plugins", points=()).plugins
    assert "its folder" in only.trouble
