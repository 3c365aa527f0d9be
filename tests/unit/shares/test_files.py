"""Trees of this machine: below the roots and nowhere else, whatever links, names and other processes do."""

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.shares.conftest import Clock, answer, failure, run, tree

from ingather.fetch.limits import Limits
from ingather.fetch.shares.file_threads import FileThreads
from ingather.fetch.shares.files import FileFetcher, FileReach
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
FILES = Scope(source="files", schemes=frozenset({"file"}))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tree(tmp_path / "docs")


def fetcher(*roots: Path, never: tuple[str, ...] = (), **more: Any) -> Callable[[], FileFetcher]:
    reach = FileReach(roots=tuple(map(str, roots)), **more)
    types = {"txt": "text/plain", "html": "text/html"}
    return lambda: FileFetcher(
        Limits(), clock=Clock(), reach=lambda _: reach, never=never, type_of=lambda name: types.get(name.rpartition(".")[2])
    )  # fmt: skip


def url(path: Path | str, end: str = "") -> str:
    return f"file://{quote(str(path))}{end}"


def links(got: Response) -> list[str]:
    return [piece.partition('"')[0] for piece in got.body.decode().split('<a href="')[1:]]


def test_folders_and_files(docs: Path) -> None:
    async def ask(fetch: Fetch) -> None:
        folder = answer(await fetch(Request(url(docs, "/pub/")), FILES), 200)
        assert (folder.listing, folder.authorized) == (True, True)
        assert links(folder) == ["./a.txt", "./big.bin", "./page.html", "./sub%20dir/"]
        answer(await fetch(Request(folder.url, etag=folder.header("etag")), FILES), 304)
        got = answer(await fetch(Request(url(docs, "/pub/a.txt")), FILES), 200)
        assert (got.body, got.authorized, got.listing) == (b"hello", True, False)
        assert (got.header("content-type"), got.header("content-length")) == ("text/plain", "5")
        assert got.header("last-modified") == "Tue, 14 Nov 2023 22:13:20 GMT"
        answer(await fetch(Request(got.url, etag=got.header("etag")), FILES), 304)
        (docs / "pub" / "a.txt").write_text("HELLO")
        os.utime(docs / "pub" / "a.txt", (1_700_000_001, 1_700_000_001))
        assert answer(await fetch(Request(got.url, etag=got.header("etag")), FILES), 200).body == b"HELLO"
        head = answer(await fetch(Request(got.url, method="HEAD"), FILES), 200)
        assert (head.body, head.header("content-length")) == (b"", "5")
        odd = await fetch(Request(url(docs, "/pub/sub%20dir/%C3%A4%3Bb.txt")), FILES)
        assert answer(odd, 200).body == b"umlaut"
        moved = answer(await fetch(Request(url(docs, "/pub")), FILES), 301)
        assert moved.header("location") == url(docs, "/pub/")
        answer(await fetch(Request(url(docs, "/pub/a.txt/")), FILES), 404)
        answer(await fetch(Request(url(docs, "/pub/a.txt/x")), FILES), 404)
        answer(await fetch(Request(url(docs, "/nothing")), FILES), 404)
        asked = answer(await fetch(Request(url(docs, "/pub/a.txt?b")), FILES), 301)
        assert asked.header("location") == got.url

    run(fetcher(docs), ask)


def test_a_file_that_changed_a_moment_ago_has_no_validators(docs: Path) -> None:
    (docs / "new.txt").write_text("new")

    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(url(docs, "/new.txt")), FILES), 200)
        assert got.body == b"new"
        assert got.header("etag") == got.header("last-modified") == ""

    moment = (docs / "new.txt").stat().st_mtime

    class Then(Clock):
        def wall(self) -> float:
            return moment

    reach = FileReach(roots=(str(docs),))
    run(lambda: FileFetcher(Limits(), clock=Then(), reach=lambda _: reach), ask)


def test_limits(docs: Path) -> None:
    async def ask(fetch: Fetch) -> None:
        large = failure(await fetch(Request(url(docs, "/pub/big.bin"), max_wire_bytes=1000), FILES))
        assert large.kind is FailureKind.TOO_LARGE
        cut = answer(
            await fetch(Request(url(docs, "/pub/big.bin"), max_wire_bytes=1000, cut=True), FILES), 200
        )
        assert (len(cut.body), cut.cut) == (1000, True)

    run(fetcher(docs), ask)


def test_nothing_outside_the_roots(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "docs2").mkdir()
    (tmp_path / "docs2" / "x").write_text("x")

    async def ask(fetch: Fetch) -> None:
        for path in ("/etc/passwd", tmp_path, f"{docs}2/x", "/", docs.parent / "docs2" / "x"):
            assert failure(await fetch(Request(url(path)), FILES)).kind is FailureKind.EGRESS
        for path in (
            f"{url(docs)}/../docs2/x",
            f"{url(docs)}/%2e%2e/docs2/x",
            f"{url(docs)}/%2F..%2Fx",
            f"{url(docs)}/%00",
        ):
            assert failure(await fetch(Request(path), FILES)).kind in {
                FailureKind.EGRESS,
                FailureKind.PROTOCOL,
            }
        other = await fetch(Request(f"file://server{docs}/pub/a.txt"), FILES)
        assert failure(other).kind is FailureKind.EGRESS
        web = await fetch(Request(url(docs, "/pub/a.txt")), Scope(source="web"))
        assert failure(web).kind is FailureKind.EGRESS

    run(fetcher(docs), ask)
    run(fetcher(), ask)  # no root: nothing at all


def test_links_are_left_out_and_never_walked_through(docs: Path, tmp_path: Path) -> None:
    (docs / "way").symlink_to("pub")
    (docs / "out").symlink_to(tmp_path)
    (tmp_path / "secret.txt").write_text("secret")

    async def ask(fetch: Fetch) -> None:
        assert links(answer(await fetch(Request(url(docs, "/")), FILES), 200)) == [
            "./empty/",
            "./pub/",
            "./robots.txt",
        ]
        for path in ("/pub/link", "/way/a.txt", "/way/", "/out/secret.txt", "/out/"):
            answer(await fetch(Request(url(docs, path)), FILES), 403)

    run(fetcher(docs), ask)


def test_links_that_are_followed_lead_to_the_real_name_below_a_root(docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "o.txt").write_text("other")
    (docs / "way").symlink_to("pub")
    (docs / "pub" / "up").symlink_to("../pub/sub dir")
    (docs / "whole").symlink_to(docs / "pub" / "a.txt")
    (docs / "out").symlink_to("../../../etc/passwd")
    (docs / "across").symlink_to("../other/o.txt")
    (docs / "loop").symlink_to(".")
    (docs / "ring").symlink_to("ring")

    async def ask(fetch: Fetch) -> None:
        for path, leads in (
            ("/way/a.txt", url(docs, "/pub/a.txt")),
            ("/way/", url(docs, "/pub/")),
            ("/pub/up", url(docs, "/pub/sub%20dir")),
            ("/whole", url(docs, "/pub/a.txt")),
            ("/loop/loop/pub/", url(docs, "/loop/pub/")),
            ("/ring", url(docs, "/ring")),
            ("/across", url(other, "/o.txt")),
        ):
            assert answer(await fetch(Request(url(docs, path)), FILES), 301).header("location") == leads
        answer(await fetch(Request(url(docs, "/out")), FILES), 403)
        answer(await fetch(Request(url(docs, "/pub/link")), FILES), 403)
        assert "./way" in links(answer(await fetch(Request(url(docs, "/")), FILES), 200))

    run(fetcher(docs, other, links=True), ask)


def test_what_is_no_file_is_not_opened(docs: Path) -> None:
    os.mkfifo(docs / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(docs / "s"))

        async def ask(fetch: Fetch) -> None:
            for path in ("/pipe", "/s"):
                answer(await fetch(Request(url(docs, path)), FILES), 403)
            assert links(answer(await fetch(Request(url(docs, "/")), FILES), 200)) == [
                "./empty/",
                "./pub/",
                "./robots.txt",
            ]

        run(fetcher(docs), ask)

    async def device(fetch: Fetch) -> None:
        answer(await fetch(Request("file:///dev/null"), FILES), 403)

    run(fetcher(Path("/dev")), device)


def test_hidden_names_are_read_when_a_pattern_says_so(docs: Path) -> None:
    (docs / ".git").mkdir()
    (docs / ".git" / "config").write_text("secret")
    (docs / ".well-known").mkdir()
    (docs / ".well-known" / "x.txt").write_text("x")

    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(url(docs, "/.git/config")), FILES), 403)
        answer(await fetch(Request(url(docs, "/.well-known/x.txt")), FILES), 200)
        found = links(answer(await fetch(Request(url(docs, "/")), FILES), 200))
        assert "./.well-known/" in found
        assert "./.git/" not in found

    run(fetcher(docs, hidden=(".well-known",)), ask)


def test_our_own_home_is_never_read(docs: Path) -> None:
    home = docs / "home"
    (home / "catalog").mkdir(parents=True)
    (home / "catalog" / "catalog.db").write_text("secret")

    async def ask(fetch: Fetch) -> None:
        for path in ("/home/", "/home/catalog/catalog.db"):
            answer(await fetch(Request(url(docs, path)), FILES), 403)
        answer(await fetch(Request(url(docs, "/pub/a.txt")), FILES), 200)

    run(fetcher(docs, never=(str(home),)), ask)

    async def inside(fetch: Fetch) -> None:
        answer(await fetch(Request(url(home, "/catalog/catalog.db")), FILES), 403)

    run(fetcher(home, never=(str(home),)), inside)
    run(fetcher(home / "catalog", never=(str(home),)), inside)


def test_a_root_that_is_gone_or_empty_says_nothing_of_its_files(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()

    async def ask(fetch: Fetch) -> None:
        for root in ("nowhere", "mount"):
            got = failure(await fetch(Request(url(tmp_path / root, "/a.txt")), FILES))
            assert got.kind is FailureKind.CLOSED
            assert f"root {tmp_path / root}" in got.detail
        answer(await fetch(Request(url(docs, "/a.txt")), FILES), 404)

    run(fetcher(tmp_path / "nowhere", tmp_path / "mount", docs), ask)


def test_owner_group_and_mode_are_told_when_asked_for(docs: Path) -> None:
    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(url(docs, "/pub/a.txt")), FILES), 200)
        said = got.header("x-gsa-external-metadata")
        assert "file-mode=0644" in said
        assert "file-owner=" in said
        assert "file-group=" in said

    run(fetcher(docs, metadata=True), ask)

    async def silent(fetch: Fetch) -> None:
        got = answer(await fetch(Request(url(docs, "/pub/a.txt")), FILES), 200)
        assert "x-gsa-external-metadata" not in got.by_name()

    run(fetcher(docs), silent)


def test_a_folder_that_becomes_a_link_leads_nowhere(docs: Path, tmp_path: Path) -> None:
    """Somebody swaps a folder for a link, again and again, while it is read: what is outside is never answered."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("SECRET")
    real, link, aside = docs / "pub", tmp_path / "link", tmp_path / "aside"
    link.symlink_to(outside)
    swaps = 0
    over = threading.Event()

    def swap() -> None:
        nonlocal swaps
        while not over.is_set():
            real.rename(aside)
            link.rename(real)
            real.rename(link)
            aside.rename(real)
            swaps += 1

    swapper = threading.Thread(target=swap)

    async def ask(fetch: Fetch) -> None:
        asked = 0
        while asked < 100 or swaps < 10:
            asked += 1
            for end in ("/pub/a.txt", "/pub/"):
                got = await fetch(Request(url(docs, end)), FILES)
                assert b"SECRET" not in getattr(got, "body", b"")
                assert not isinstance(got, Response) or got.status in {200, 403, 404}

    swapper.start()
    try:
        run(fetcher(docs), ask)
    finally:
        over.set()
        swapper.join(30)


def test_a_call_that_hangs_holds_its_thread_and_nobody_else() -> None:
    hang = threading.Event()

    async def main() -> None:
        threads = FileThreads(2)
        assert await threads.run(hang.wait, 0.01) is None
        assert await threads.run(lambda: "well", 30) == "well"
        assert await threads.run(hang.wait, 0.01) is None
        assert await threads.run(lambda: "no thread left", 0.01) is None
        hang.set()
        assert await threads.run(lambda: "again", 30) == "again"
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0, 30)

    asyncio.run(main())


@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "pub", "%2e%2e", "%2E.", "a%2Fb", "..%2F", "//", "link", "", "%00", "\\"]
        ),
        max_size=6,
    )
)
def test_no_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    base = tmp_path_factory.getbasetemp() / "no-path-leads-out"
    if not base.exists():
        tree(base / "docs")
        (base / "a.txt").write_text("SECRET")

    async def ask(fetch: Fetch) -> None:
        got = await fetch(Request(f"{url(base)}/docs/{'/'.join(parts)}"), FILES)
        assert b"SECRET" not in getattr(got, "body", b"")
        if isinstance(got, Response) and got.status == 200:
            assert got.listing

    run(fetcher(base / "docs", links=True), ask)
