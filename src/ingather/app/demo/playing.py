"""A temporary home, the product running in it, the scenes, and nothing left behind."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from ingather.app.crawling import Wanted, plan_crawl
from ingather.app.demo.hosting import StaticServer
from ingather.app.demo.newsroom import Newsroom
from ingather.app.demo.scenes import SCENES, Player, Stage
from ingather.app.demo.site import DRAFTS, documentation_folder, documentation_site
from ingather.app.home import Home
from ingather.app.keeper import Gathering
from ingather.app.listening import Listeners
from ingather.app.serving import Serving
from ingather.errors import IngatherError

__all__ = ["play"]

_QUERIES = ("undo a deletion", "tombstone filetype:pdf", "disk reserve filetype:docx")
_SETTINGS = {
    "listen.search": '"127.0.0.1:0"', "listen.admin": '"127.0.0.1:0"',
    "feeds.listen": '"127.0.0.1"', "feeds.port": "0", "feeds.tls-port": "0",
    "disk.reserve": '"64MiB"', "disk.reserve-share": '"0%"',
}  # fmt: skip
_LONGEST = 60
"""Characters of a folder's path in which the keeper's socket still finds room (107 bytes, the kernel's limit)."""


async def play(urls: Sequence[str], player: Player, *, once: bool) -> None:
    """Play all scenes over *urls* (none = the documents of this project), then stay up until *stop* is set.

    Args:
        urls: a site to gather instead.
        player: the terminal.
        once: end when the last scene has been played.

    Raises:
        UsageError: a URL cannot be gathered, or there are no documents here.
        IngatherError: a scene did not come off.
    """
    with _content(urls) as (starts, own_hosts, asides), _folder() as folder, ExitStack() as open_for:
        home = Home.create(folder / "home", written=_SETTINGS)
        newsroom = None if urls else open_for.enter_context(Newsroom())
        if newsroom is not None:
            newsroom.follow(home)
        read = home.settings()
        plan, resolved = plan_crawl(home, read.sources, Wanted(urls=starts, own_hosts=own_hosts))
        for item in resolved if urls else ():
            player.say(f"{item.host}: {item.trouble or ', '.join(item.addresses)}")
        listeners = Listeners(read.settings)
        plan = replace(plan, kind="serve", own_ports=listeners.own_ports)
        gathering = Gathering(home, read.settings, plan)
        serving = Serving(gathering, home, read.settings, listeners)
        gathering.on_index_commit(serving.index_committed)
        async with gathering, serving:
            search, admin = listeners.urls
            player.say(f"home         {home}")
            player.say(f"search page  {player.mark(search)}")
            player.say(f"gathering    {', '.join(starts)}")
            queries = () if urls else _QUERIES
            stage = Stage(player, serving, starts, queries, asides, newsroom)
            for scene in SCENES:
                if not player.stop.is_set():
                    await scene(stage)
            player.say(f"\nsearch page  {player.mark(search)}")
            if not once and not player.stop.is_set():
                player.say(f"admin page   {admin}  (token: {home.admin_token()})")
                player.say("Ctrl-C ends the demo and takes everything away")
            await _stay(gathering, player.stop, once=once)


async def _stay(gathering: Gathering, stop: asyncio.Event, *, once: bool) -> None:
    while not once and not stop.is_set():
        if gathering.keeper.failed is not None:
            raise IngatherError(f"the keeper failed: {gathering.keeper.failed}")
        try:
            await asyncio.wait_for(stop.wait(), 1.0)
        except TimeoutError:
            continue


@contextmanager
def _content(urls: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Give (starting points, own hosts, pages to ask about): the given site, or our documents on a server of their own."""
    if urls:
        yield urls, (), ()
        return
    with StaticServer(documentation_site(documentation_folder())) as server:
        yield (server.url,), (server.address,), (f"{server.url}{DRAFTS}",)


@contextmanager
def _folder() -> Iterator[Path]:
    parent = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(
        prefix="ingather-demo-", dir="/tmp" if len(parent) > _LONGEST else parent, ignore_cleanup_errors=True  # noqa: S108 - a private folder below it
    ) as name:  # fmt: skip
        yield Path(name)
