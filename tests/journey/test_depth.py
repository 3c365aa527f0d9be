"""The depth of a URL is the smallest over all paths, also when the longer one was gathered first."""

import threading
from contextlib import ExitStack

from ingather.model.lifecycle import State
from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site
from ingather.testing.web import Answer


def test_a_shorter_path_found_later_judges_the_url_again(rig: Rig) -> None:
    """Along the first site the third page is three links away; the second site, which answers when that is gathered, links to it directly."""
    with ExitStack() as stack:
        near, far = stack.enter_context(Site()), stack.enter_context(Site())
        near.page("/", "Start", "/one")
        near.page("/one", "One", "/two")
        near.page("/two", "Two", "/three")
        near.page("/three", "Three", "/four")
        near.page("/four", "Four", "/five")
        near.page("/five", "Five", "/six")
        seen: dict[str, State] = {}
        released = threading.Event()

        def when_the_long_path_is_gathered(_times: int) -> Answer:
            known = wait_until(lambda: rig.known().get(near.url("/four")))
            seen["four"] = known.state
            released.set()
            page = f'<title>Other start</title><a href="{near.url("/three")}">short cut</a>'
            return Answer(200, (("Content-Type", "text/html"),), page.encode())

        far.answer("/", when_the_long_path_is_gathered)
        ran = rig.crawl(near.url("/"), far.url("/"), flags=("--depth", "3"))
        assert ran.status == 0, ran.err
        assert released.is_set()
        known = rig.known()
        depths = {path: known[near.url(path)].depth for path in ("/two", "/three", "/four", "/five", "/six")}
        assert seen == {"four": State.EXCLUDED}
        assert depths == {"/two": 2, "/three": 1, "/four": 2, "/five": 3, "/six": 4}
        assert known[near.url("/five")].described
        assert known[near.url("/six")].state is State.EXCLUDED
        assert [near.asked(path) for path in ("/three", "/four", "/five", "/six")] == [1, 1, 1, 0]
        assert "depth" in rig.explained(near.url("/six")).partition("\n")[0]
        assert rig.complaints() == []


def test_a_cascade_that_a_kill_cut_off_goes_on_with_the_next_start(rig: Rig, site: Site) -> None:
    """What such a kill leaves behind: pages below are as deep as before, and the list says from where to go on."""
    for number in range(12):
        site.page(f"/{number or ''}", f"Page {number}", f"/{number + 1}")
    site.page("/12", "Last")
    rig.crawl(site.url("/"), flags=("--depth", "20"))
    known = rig.known()
    rig.alter("update url set depth = depth + 5 where depth > 3")
    rig.alter("insert into carry (id, depth) values (?, 3)", known[site.url("/3")].id)
    rig.crawl(site.url("/"), flags=("--depth", "20"))
    assert {url: page.depth for url, page in rig.known().items()} == {
        url: page.depth for url, page in known.items()
    }
    assert rig.rows("select count(*) from carry") == [(0,)]
