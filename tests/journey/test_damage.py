"""Files that do not read back as written: the damage is named, the rest works, a way back is offered."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingather.testing.rig import Rig
from ingather.testing.site import Site

WORDS = {"/": "quetzal", "/one": "toucan", "/two": "hoatzin"}


def build(site: Site) -> None:
    site.page("/", "Start", "/one", "/two", text=WORDS["/"])
    site.page("/one", "One", text=WORDS["/one"])
    site.page("/two", "Two", text=WORDS["/two"])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Site]]:
    """A home with three documents, gathered once."""
    rig = Rig(tmp_path_factory.mktemp("template") / "home").init()
    with Site() as site:
        build(site)
        assert rig.crawl(site.url("/")).status == 0
        yield rig, site


@pytest.fixture
def site(template: tuple[Rig, Site]) -> Site:
    """The site, as it was gathered."""
    build(template[1])
    return template[1]


@pytest.fixture
def gathered(template: tuple[Rig, Site], home: Path) -> Rig:
    """A home of one's own with the three documents."""
    return template[0].copy(home)


def flip(path: Path, at: int, size: int = 64) -> None:
    """Turn *size* bytes of a file round."""
    body = bytearray(path.read_bytes())
    at = at if at >= 0 else len(body) + at
    body[at : at + size] = bytes(byte ^ 0xFF for byte in body[at : at + size])
    path.write_bytes(body)


def ends_in_one_message(rig: Rig, *arguments: str, words: tuple[str, ...]) -> None:
    ran = rig.call(*arguments)
    assert ran.status == 1, (arguments, ran)
    said = ran.err + ran.out
    assert "Traceback" not in said, (arguments, said)
    assert all(word in said for word in words), (arguments, said)


def spoil_header(path: Path) -> None:
    flip(path, 0, 100)


def spoil_pages(path: Path) -> None:
    for page in range(1, path.stat().st_size // 4096):
        flip(path, page * 4096, 200)


def make_empty_text(path: Path) -> None:
    path.write_text("this is no database\n" * 500)


@pytest.mark.parametrize("spoil", [spoil_header, spoil_pages, make_empty_text])
def test_a_damaged_catalog_is_named_by_every_command_and_search_goes_on(
    gathered: Rig, site: Site, spoil: Callable[[Path], None]
) -> None:
    spoil(gathered.database)
    ends_in_one_message(gathered, "catalog", "check", words=("catalog.db",))
    ends_in_one_message(gathered, "crawl", site.url("/"), words=("catalog.db", "damaged"))
    ends_in_one_message(gathered, "serve", words=("catalog.db", "damaged"))
    ends_in_one_message(gathered, "explain", site.url("/"), words=("catalog.db", "damaged"))
    ends_in_one_message(gathered, "catalog", "stats", words=("catalog.db", "damaged"))
    assert gathered.found("toucan") == [site.url("/one")]
    ran = gathered.call("search", "toucan")
    assert (ran.status, "Traceback" in ran.err) == (0, False)
    assert site.url("/one") in ran.out
    ran = gathered.run("search", "--json", "toucan")
    assert [found["url"] for found in ran.json["results"]] == [site.url("/one")]
    assert "catalog.db is damaged" in ran.err


def test_a_catalog_of_a_newer_program_is_refused(gathered: Rig, site: Site) -> None:
    gathered.alter("pragma user_version=99")
    ends_in_one_message(gathered, "crawl", site.url("/"), words=("newer",))
    assert gathered.found("toucan") == [site.url("/one")]


def place_of(rig: Rig, url: str) -> tuple[Path, int, int]:
    number = rig.known()[url].id
    ((segment, offset, text_offset),) = rig.rows("select seg, off, toff from url where id = ?", number)
    return next((rig.path / "bodies").glob(f"*{segment}.warc.gz")), offset, text_offset


def test_a_damaged_body_is_named_with_its_url_and_the_others_are_sound(gathered: Rig, site: Site) -> None:
    path, offset, _ = place_of(gathered, site.url("/one"))
    flip(path, offset + 30, 20)
    ran = gathered.call("catalog", "check")
    assert ran.status == 1
    assert [site.url(name) in ran.out for name in ("/one", "/", "/two)")] == [True, True, False] or site.url(
        "/two"
    ) not in ran.out
    assert path.name in ran.out
    assert gathered.found("toucan") == [site.url("/one")]
    assert "Traceback" not in gathered.call("explain", site.url("/one")).err
    # The next crawl of a page that changed brings a good body again.
    site.page("/one", "One", text="motmot")
    assert gathered.crawl(site.url("/")).status == 0
    assert gathered.call("catalog", "check").status == 0


def test_damaged_bodies_are_forgotten_on_request_and_fetched_again_unchanged(
    gathered: Rig, site: Site
) -> None:
    path, offset, _ = place_of(gathered, site.url("/one"))
    flip(path, offset + 30, 20)
    found = gathered.call("catalog", "check")
    assert "ingather catalog repair" in found.err
    assert gathered.call("catalog", "repair").status == 2
    ran = gathered.call("catalog", "repair", "--forget-bodies", "--json")
    assert ran.status == 0
    assert site.url("/one") in [item["url"] for item in ran.json]
    assert gathered.call("catalog", "check").status == 0
    assert gathered.found("toucan") == [site.url("/one")], "the description stands meanwhile"
    assert "reads back" in gathered.call("catalog", "repair", "--forget-bodies").out
    assert gathered.crawl(site.url("/")).status == 0
    assert gathered.known()[site.url("/one")].digest
    assert gathered.complaints() == []


def test_a_damaged_text_costs_its_snippet_and_the_index_is_rebuilt_without_it(
    gathered: Rig, site: Site
) -> None:
    path, _, offset = place_of(gathered, site.url("/one"))
    flip(path, offset + 30, 20)
    ran = gathered.call("search", "toucan")
    assert (ran.status, "Traceback" in ran.err) == (0, False)
    assert site.url("/one") in ran.out
    ran = gathered.call("index", "rebuild")
    assert "Traceback" not in ran.err
    assert ran.status == 0, ran.err
    assert gathered.found("hoatzin") == [site.url("/two")]
    assert gathered.complaints(bodies=False) == []


def test_bodies_that_are_gone_altogether_stop_nobody(gathered: Rig, site: Site) -> None:
    for path in (gathered.path / "bodies").glob("*.warc.gz"):
        path.unlink()
    assert gathered.call("catalog", "check").status == 1
    assert gathered.call("search", "toucan").status == 0
    assert "Traceback" not in gathered.call("explain", site.url("/one")).err
    site.page("/three", "Three", text="motmot")
    site.page("/", "Start", "/one", "/two", "/three")
    assert gathered.crawl(site.url("/")).status == 0
    assert gathered.found("motmot") == [site.url("/three")]


def largest_segment(rig: Rig) -> Path:
    return max(
        (rig.path / "index").glob("g*/*.*"),
        key=lambda path: path.stat().st_size if path.suffix in {".store", ".idx", ".term", ".pos"} else 0,
    )


def spoil_segment(rig: Rig) -> None:
    path = largest_segment(rig)
    flip(path, path.stat().st_size // 2, 40)


def lose_segment(rig: Rig) -> None:
    largest_segment(rig).unlink()


def spoil_meta(rig: Rig) -> None:
    for path in (rig.path / "index").glob("g*/meta.json"):
        path.write_text("{")


@pytest.mark.parametrize("spoil", [spoil_segment, lose_segment, spoil_meta])
def test_a_damaged_index_is_named_and_made_anew_from_the_catalog(
    gathered: Rig, site: Site, spoil: Callable[[Rig], None]
) -> None:
    spoil(gathered)
    ran = gathered.call("index", "check")
    assert ran.status == 1
    assert "ingather index rebuild" in ran.out
    assert "Traceback" not in ran.err
    ran = gathered.call("search", "toucan")
    assert "Traceback" not in ran.err
    assert ran.status == 0 or "ingather index rebuild" in ran.err
    site.page("/three", "Three", text="motmot")
    site.page("/", "Start", "/one", "/two", "/three")
    crawled = gathered.crawl(site.url("/"))
    assert "Traceback" not in crawled.err
    assert gathered.known()[site.url("/three")].described
    assert gathered.call("index", "rebuild").status == 0
    assert gathered.complaints() == []
    assert gathered.found("motmot") == [site.url("/three")]


def test_an_index_that_is_gone_is_written_anew_by_the_next_crawl(gathered: Rig, site: Site) -> None:
    for path in sorted((gathered.path / "index").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert gathered.crawl(site.url("/")).status == 0
    assert gathered.complaints() == []
    assert gathered.found("toucan") == [site.url("/one")]


def test_a_row_that_does_not_read_as_written_is_an_error_with_its_place(gathered: Rig, site: Site) -> None:
    gathered.alter("update url set state = 99 where path = '/one'")
    ends_in_one_message(gathered, "catalog", "stats", words=("catalog.db is damaged", "99"))
    ends_in_one_message(
        gathered, "explain", site.url("/one"), words=("catalog.db is damaged", site.url("/one"))
    )


def test_a_flipped_bit_in_a_value_is_named_by_the_check_and_refused_by_backup(
    gathered: Rig, tmp_path: Path
) -> None:
    body = bytearray(gathered.database.read_bytes())
    at = body.rindex(b"/two")  # SQLite has no way to know that another path stood there
    body[at] ^= 1
    gathered.database.write_bytes(body)
    ran = gathered.call("catalog", "check")
    assert (ran.status, "rotted on the disk" in ran.out) == (1, True), ran
    ends_in_one_message(gathered, "backup", str(tmp_path / "copy"), words=("catalog.db is damaged", "page"))
