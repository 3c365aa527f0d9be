"""Two sources of one host, one through a proxy that is dead for a while: it rests, the other one is gathered, and then it goes on."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from ingather.testing.proxy import KitProxy
from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

PAGES = 6


def test_a_dead_proxy_rests_its_source_and_the_host_is_gathered_for_the_other(rig: Rig, site: Site) -> None:
    near, far = ([f"/{name}/{n}" for n in range(PAGES)] for name in ("near", "far"))
    for path in (*near, *far):
        site.page(path, path.strip("/").replace("/", " "), *(near if path in near else ()))
    port = free_port()
    proxy = f"proxy http://127.0.0.1:{port}"
    with Site() as feeds:
        items = "".join(f"<item><link>{site.url(path)}</link></item>" for path in far)
        feeds.put(
            "/feed.xml",
            f'<rss version="2.0"><channel><title>x</title>{items}</channel></rss>',
            kind="application/rss+xml",
        )
        rig.site(
            site.origin, source="near", lines="".join(f'Start url="{site.url(path)}"\n' for path in near)
        )
        rig.toml(
            f'[source.far]\nkind = "rss"\nfeeds = ["{feeds.url("/feed.xml")}"]\naddresses = ["127.0.0.0/8"]\n'
            f'proxy = ["http://127.0.0.1:{port}"]\nno-proxy = ["{feeds.origin[7:]}"]\n'
        )
        with rig.serving() as served:
            wait_until(lambda: {site.url(path) for path in near} <= rig.shown())
            ways = wait_until(lambda: served.status["ways"])
            assert {(way["source"], way["way"]) for way in ways} == {("far", proxy)}
            assert not served.status["left_alone"]
            assert not [seen for seen in site.server.requests if seen.path in far]
            asked = f"/api/v1/explain?url={quote(site.url(far[-1]), safe='')}"
            wait_until(lambda: f"{proxy} of its source far failed" in served.admin(asked)[1]["answer"])
            assert f"{proxy} of source far: " in rig.call("robot", "status").out
        with rig.serving() as served:  # a restart knows it
            assert [way["source"] for way in served.status["ways"]] == ["far"]
            with proxying(port):
                wait_until(lambda: {site.url(path) for path in far} <= rig.shown())
                wait_until(lambda: not served.status["ways"])
    assert rig.complaints() == []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def proxying(port: int) -> Iterator[None]:
    """Have a proxy listen at *port*, in a thread of its own."""
    up, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        async with KitProxy(port=port):
            loops.append(asyncio.get_running_loop())
            up.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    try:
        assert up.wait(60)
        yield
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(60)
