"""A sitemap of documents of data, from the sitemap to search: fields are found, and people are led to doc_url."""

import json
from pathlib import Path

from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

XML = (("Content-Type", "text/xml; charset=utf-8"),)
DATA = (
    '<?xml version="1.0"?><esdocument xmlns="http://smartsite.nl/namespaces/documentdata/1.0"><doc_title>Walrus</doc_title>'
    "<doc_body>She eats clams.</doc_body><doc_url>https://zoo.example/walrus</doc_url>"
    "<doc_keywords><value>ice</value><value>pinniped</value></doc_keywords></esdocument>"
)


def test_fields_are_found_and_the_address_is_that_of_the_document(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home").init()
    with SyntheticServer(SyntheticWeb(1, WebShape())) as server:
        origin = server.origins[0]
        entry = f"<url><loc>{origin}/7.xml</loc></url>"
        server.override(f"{origin}/map.xml", Answer(200, XML, f"<urlset>{entry}</urlset>".encode()))
        server.override(f"{origin}/7.xml", Answer(200, XML, DATA.encode()))
        host = origin.removeprefix("http://")
        added = rig.call(
            "rss",
            "add",
            f"{origin}/map.xml",
            "addresses=127.0.0.0/8",
            f"own-hosts={host}",
            "--source",
            "maps",
            "--yes",
        )
        assert added.status == 0, added.err
        ran = rig.run("crawl")
        assert ran.status == 0, ran.err
    explained = json.loads(rig.call("explain", f"{origin}/7.xml", "--json").out)
    assert explained.get("layers", {}).get("header", {}).get("doc_keywords") == ["ice", "pinniped"]
    assert explained["answer"].startswith("In search: indexed at")
    found = rig.call("search", "clams").out
    assert "https://zoo.example/walrus" in found
    assert "7.xml" not in found
