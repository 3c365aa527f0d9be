"""Descriptions brought in while ``serve`` owns the home, and RDM asked over its admin listener."""

from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from ingather.conf.rd.soif import SoifObject, write_object
from ingather.conf.rd.soif_reader import read_soif
from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

URL = "http://www.siroe.com/{}"


def test_descriptions_come_in_through_the_owner_and_are_found_and_asked_for(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "in.soif"
    documents = [(str(n), {"title": f"Wombat {n}", "description": "x" * 500}) for n in range(700)]
    documents.append(("secret", {"title": "Wombat 9999", "readacl": "x"}))
    documents += [(f"long{n}", {"title": "long", "full-text": "\u4e00" * 1_500_000}) for n in range(3)]
    documents.append(("longest", {"full-text": "x" * (9 << 20)}))
    written = [write_object("DOCUMENT", URL.format(path), values) for path, values in documents]
    file.write_bytes(b"".join(written) + b"@DOCUMENT { no url\n}\n")
    token = (rig.path / "admin-token").read_text().strip()

    with rig.serving() as served:
        address = served.admin_url + "/api/v1/rdm"

        def ask(body: bytes, key: str = token) -> tuple[int, list[SoifObject]]:
            request = Request(address, body, {"Authorization": f"Bearer {key}"})  # noqa: S310 - loopback
            try:
                with build_opener(ProxyHandler({})).open(request, timeout=30) as got:
                    return got.status, read_soif(got.read())[0]
            except HTTPError as error:
                with error:
                    return error.code, read_soif(error.read())[0]

        rig.tune("listen.admin", served.admin_url.removeprefix("http://"))
        done = rig.call("rd", "import", "--database", "zoo", str(file))
        assert (done.status, done.out) == (1, "704 added, 2 refused\n"), done.err
        assert "E-RD-URL" in done.err
        assert "longest: longer than" in done.err
        assert rig.call("rd", "edit", URL.format(5), "--set", "title=Weasel").out == "1 merged\n"
        assert rig.call("rd", "delete", URL.format(6)).out == "1 deleted\n"
        wait_until(lambda: served.found("weasel") == [URL.format(5)])
        wait_until(
            lambda: served.found('"wombat 6"') == []
        )  # a change of its own, and a commit of its own perhaps
        assert served.found('"wombat 9999"') == []

        query = write_object("RDMHEADER", "", {"rdm-type": "rd-request"})
        scope = write_object("RDMQUERY", "", {"scope": "weasel", "view-attributes": "title"})
        status, (head, found) = ask(query + scope)
        assert (status, head.first("rdm-type"), found.texts()) == (200, "rd-response", {"title": ("Weasel",)})
        assert ask(query, key="wrong")[0] == 401
        assert ask(b"\0" * 70_000)[0] == 400
    assert not rig.complaints()


def test_gathered_data_goes_with_its_text_and_comes_back_with_the_next_visit(rig: Rig, site: Site) -> None:
    site.page("/", "Zoo", text="wombats dig burrows")
    root = site.url("/")
    assert rig.crawl(root).status == 0
    assert rig.found("burrows") == [root]
    assert rig.call("rd", "edit", root, "--set", "title=The zoo").out == "1 merged\n"
    assert rig.call("rd", "delete", root, "--non-persistent").out == "1 deleted\n"
    assert rig.found("burrows") == []
    assert rig.found("zoo") == [root]
    assert not rig.complaints()
    assert rig.crawl(root).status == 0
    assert rig.found("burrows zoo") == [root]
    assert "title (editor): The zoo" in rig.call("rd", "show", root).out


def test_a_schema_that_is_published_counts_for_what_comes_afterwards(rig: Rig, tmp_path: Path) -> None:
    def bring(path: str) -> None:
        file = tmp_path / "in.soif"
        file.write_bytes(
            write_object("DOCUMENT", URL.format(path), {"title": f"wombat {path}", "colour": "mauve"})
        )
        assert rig.call("rd", "import", str(file)).status == 0

    with rig.serving() as served:
        rig.tune("listen.admin", served.admin_url.removeprefix("http://"))
        bring("before")
        wait_until(lambda: served.found("mauve") == [URL.format("before")])
        schema = rig.path / "config" / "rd-schema.conf"
        schema.write_text(schema.read_text() + "\nAttribute name=colour indexable=false\n")
        code, _ = served.admin("/api/v1/config/reload", {})
        assert code == 200
        bring("after")
        wait_until(lambda: served.found("after") == [URL.format("after")])
        assert served.found("mauve") == [URL.format("before")]
    assert rig.call("index", "rebuild").status == 0
    assert rig.found("mauve") == []
