"""``conf explain`` and ``conf new-site`` on a home."""

from pathlib import Path

from ingather.conf import load
from ingather.testing.rig import Rig


def test_explain_and_new_site(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home").init()
    told = rig.call("conf", "explain")
    assert told.out.startswith("enumeration-default (filter.conf:")
    assert "\n\ngeneration-default (filter.conf:" in told.out
    assert rig.call("conf", "explain", "generation-default").out.startswith("generation-default")
    missing = rig.call("conf", "explain", "generation-defalt")
    assert (missing.status, "generation-default" in missing.err) == (2, True), missing
    assert rig.call("conf", "new-site", "intranet.example", "--depth", "3").status == 0
    (site,) = load(rig.path / "config").rules.sites
    assert (site.host, site.depth) == ("intranet.example", 3)
    assert rig.call("conf", "new-site", "intranet.example").status == 2
    assert not list((rig.path / "config").glob("*.new"))
