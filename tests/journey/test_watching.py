"""A served home watched from outside: /ready, and the metrics that dashboard and alerts name."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

pytestmark = pytest.mark.timeout(300)
DEPLOY = Path(__file__).parents[2] / "deploy"
_METRIC = re.compile(r"\bingather_[a-z_]+\b")


def named() -> set[str]:
    """Return every metric that the dashboard's and the alerts' expressions name."""
    board = json.loads((DEPLOY / "grafana" / "ingather.json").read_text("utf-8"))
    found = {
        name
        for panel in board["panels"]
        for target in panel.get("targets", ())
        for name in _METRIC.findall(target["expr"])
    }
    rules = (DEPLOY / "prometheus" / "ingather.rules.yml").read_text("utf-8")
    return found | {name for line in re.findall(r"expr: (.+)", rules) for name in _METRIC.findall(line)}


def test_dashboard_and_alerts_name_metrics_that_a_served_home_has(rig: Rig, site: Site) -> None:
    site.page("/", "Walrus", text="walrus")
    rig.site(site.origin)
    with rig.serving() as served:
        wait_until(lambda: site.asked("/"))
        status, text = served.admin("/metrics")
        assert status == 200
        ready = {"ready": True, "reasons": [], "notes": []}
        assert served.admin("/ready") == served.get("/ready") == (200, ready)
    families = list(text_string_to_metric_families(text))
    states = {
        sample.labels["state"]: sample.value
        for family in families
        if family.name == "ingather_robot_state"
        for sample in family.samples
    }
    assert sorted(states) == ["idle", "off", "paused", "running"]
    assert sorted(states.values()) == [0, 0, 0, 1]
    known = {sample.name for family in families for sample in family.samples}
    # What has labels has no sample before its first event; its family is there all the same.
    endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
    known |= {family.name + end for family in families for end in endings.get(family.type, ("",))}
    assert named() - known == set()
