"""Documents that only a plug-in reads: simulate and replay read them as the crawl did."""

from pathlib import Path

from ingather.testing.rig import Rig
from ingather.testing.site import Site

DOORS = """
from ingather.model.page import Converted, Page
from ingather.plugins import converter, extractor

@converter("application/x-thing")
def thing(body, name):
    return Converted(text="made of " + body.decode())

@extractor("text/x-note")
def note(body, url):
    return Page(title="A note", text=body.decode(), media_type="text/html")
"""


def test_simulate_and_replay_have_the_plug_ins_of_the_home(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home").init()
    folder = rig.path / "plugins"
    folder.mkdir(mode=0o755, exist_ok=True)
    (folder / "doors.py").write_text(DOORS, "utf-8")
    filters = rig.path / "config" / "filter.conf"
    line = "Data fn=convert-to-html type=application/pdf"
    text = filters.read_text()
    assert line in text
    filters.write_text(text.replace(line, f"Data fn=convert-to-html type=application/x-thing\n{line}"))
    with Site() as site:
        site.page("/", "Start", "/thing", "/note")
        site.put("/thing", "wood", kind="application/x-thing")
        site.put("/note", "remember", kind="text/x-note")
        rig.site(site.origin)
        assert rig.run("crawl", "--quiet").status == 0
        simulated = rig.call("simulate", site.url("/thing"), site.url("/note"), "--data", "--json").json
    replayed = rig.call("replay", "--config", str(rig.path / "config"), "--all", "--json").json
    documents = replayed["documents"]
    assert (documents["total"], documents["unchanged"]) == (3, 3)
    thing, note = (found["rd"] for found in simulated["urls"])
    assert "made of wood" in str(thing)
    assert "remember" in str(note)
