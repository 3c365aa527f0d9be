"""How soon a 404 deletes: confirm-looks and confirm-after act as they read; a connector's word is confirmed after a minute."""

import pytest

from ingather.app.sourcerules import policies_of
from ingather.conf.settings.file import read_settings
from ingather.robot.settling.deletion import DeletionLimits
from ingather.testing.revisiting import Revisits

CRAWLED = frozenset({"web", "intranet"})


@pytest.mark.parametrize(
    ("text", "source", "confirm_s"),
    [
        ("", "web", 3600.0),
        ("", "SharePoint", 60.0),
        ("", "feed-web", 3600.0),
        ("[source.sharepoint]\naccess = 'secure'\n", "SharePoint", 60.0),
        ("[source.intranet]\naccess = 'secure'\n", "intranet", 3600.0),
        ("[source.news]\nkind = 'rss'\nfeeds = ['http://n.test/f']\n", "news", 3600.0),
        ("[source.sharepoint]\ndeletion-confirm-after = '2h'\n", "SharePoint", 7200.0),
        ("[deletion]\nconfirm-after = '5m'\n", "SharePoint", 300.0),
        ("[deletion]\nconfirm-after = '1h'\n", "SharePoint", 3600.0),
    ],
)
def test_a_connector_s_404_is_confirmed_after_a_minute_unless_a_time_is_written(
    text: str, source: str, confirm_s: float
) -> None:
    found = read_settings(text.encode())
    assert not found.diagnostics
    limits = policies_of(found.settings, found.sources, CRAWLED)(source).limits
    assert (limits.confirm_s, limits.confirm_looks) == (confirm_s, 2)


@pytest.mark.parametrize(
    ("confirm_s", "looks", "minutes", "asked"),
    [(60.0, 2, 1, 2), (60.0, 1, 1, 2), (0.0, 1, 0, 1), (60.0, 3, 2, 3), (300.0, 2, 5, 2)],
)
def test_a_page_that_is_missing_goes_when_the_settings_say(
    robot: Revisits, confirm_s: float, looks: int, minutes: int, asked: int
) -> None:
    pages = robot.site(20)
    robot.limits = {"web": DeletionLimits(confirm_s=confirm_s, confirm_looks=looks)}
    del robot.web[pages[0]]
    robot.asked.clear()
    robot.look([pages[0]])
    for _ in range(minutes):
        assert robot.found([pages[0]]), "not before its time"
        robot.pass_time(1 / 60, step=1 / 60)
    assert robot.found(pages) == pages[1:]
    assert len([url for _, url in robot.asked if url == pages[0]]) == asked


def test_a_wave_of_missing_pages_is_held_however_soon_they_are_confirmed(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.limits = {"web": DeletionLimits(confirm_s=60.0)}
    for url in pages:
        del robot.web[url]
    robot.look(pages)
    robot.pass_time(0.1, step=1 / 60)
    assert robot.found(pages) == pages
    assert robot.catalog.writer.deletions.facts(1, robot.visitor.now_s).held == len(pages)


def test_a_page_that_answers_again_in_between_stays(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.limits = {"web": DeletionLimits(confirm_s=60.0)}
    gone = robot.web.pop(pages[0])
    robot.look([pages[0]])
    robot.web[pages[0]] = gone
    robot.pass_time(0.1, step=1 / 60)
    assert robot.found(pages) == pages
