"""Judged queries out of books: a manual's own printed index names, for each entry, the pages that treat it.

Reads four manuals of the benchmark site (``benchmarks/site.py`` builds it): PostgreSQL, Python,
Octave, SQLite. An entry of two to six words is a query, the pages it points to are its answers; the
index pages themselves are left out of the collection.
"""

import posixpath
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ingather.index import IndexFolder, TantivyReader, counts, informative, write_prior
from ingather.ports.index import IndexDocument

QUERIES = 400
_MAX_TARGETS = 5
_WORDS = range(2, 7)
_SKIPPED_WORDS = frozenset({"in", "module", "class", "method", "attribute"})


@dataclass(frozen=True)
class Manual:
    """Where a manual lies in the site, its index page, and pages that are no text."""

    name: str
    folder: str
    index: str
    left_out: str


MANUALS = (
    Manual(
        "PostgreSQL",
        "postgresql-doc-15/doc/postgresql-doc-15/html",
        "bookindex.html",
        r"bookindex|/index\.html",
    ),
    Manual(
        "Python",
        "python3.11-doc/doc/python3.11/html",
        "genindex-all.html",
        r"genindex|/(py-modindex|search|contents)\.html",
    ),
    Manual("Octave", "octave-doc/doc/octave/octave.html", "Concept-Index.html", r"XREF|index-|_Index|-Index"),
    Manual(
        "SQLite",
        "sqlite3-doc/doc/sqlite3",
        "keyword_index.html",
        r"keyword_index|keyword_crossref|sitemap|doclist|toc\.",
    ),
)


@dataclass
class Collection:
    """Documents with their rows, links, and queries with the rows that answer them."""

    documents: list[IndexDocument] = field(default_factory=list)
    linking: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    queries: dict[str, set[int]] = field(default_factory=dict)

    def build(self, folder: Path) -> TantivyReader:
        index = IndexFolder(folder)
        writer = index.writer()
        writer.put(self.documents)
        writer.commit(1)
        writer.close()
        write_prior(folder, counts((row, len(pages)) for row, pages in self.linking.items()))
        return index.reader()


def read(site: Path, manual: Manual) -> Collection:
    base = site / manual.folder
    names = [
        name
        for name in sorted(str(f.relative_to(base)) for f in base.rglob("*.html") if not f.is_symlink())
        if not re.search(manual.left_out, f"/{name}")
    ]
    rows = {name: row for row, name in enumerate(names, start=1)}
    found = Collection()
    anchors: dict[int, list[str]] = defaultdict(list)
    targets: dict[str, set[int]] = defaultdict(set)
    for name, row in rows.items():
        page = _parsed(base / name)
        for link in page.css("a[href]"):
            to = rows.get(_target(name, link.attributes.get("href") or ""))
            if to is not None and to != row:
                found.linking[to].add(row)
                said = _folded(link.text())
                anchors[to].append(said)
                targets[said.lower()].add(to)
        found.documents.append(_document(manual, name, row, page))
    for document in found.documents:
        own = [a for a in anchors[document.id] if len(targets[a.lower()]) <= _MAX_TARGETS]
        document.anchors = informative(own)
    queries: dict[str, set[int]] = defaultdict(set)
    for entry, href in _entries(manual, _parsed(base / manual.index)):
        to = rows.get(_target(manual.index, href))
        if to is not None and len(re.findall(r"\w+", entry)) in _WORDS:
            queries[entry].add(to)
    chosen = sorted(queries)
    random.Random(5).shuffle(chosen)  # noqa: S311 - the same choice each time
    found.queries = {query: queries[query] for query in chosen[:QUERIES]}
    return found


def _document(manual: Manual, name: str, row: int, page: Any) -> IndexDocument:
    title = page.css_first("title")
    headings = "\n".join(_folded(h.text()).rstrip("\u00b6") for h in page.css("h1,h2,h3,h4,h5,h6"))
    marked = " ".join(_folded(n.text()) for n in page.css("dt,strong,b,th,em,code"))
    site = f"{manual.name.lower()}.example"
    return IndexDocument(
        row,
        f"https://{site}/{name}",
        1,
        title=_folded(title.text()) if title else "",
        headings=headings,
        marked=marked,
        body=re.sub(r"\s*\n\s*", "\n", page.body.text(separator="\n")) if page.body else "",
        language="en",
        kind="html",
        site=site,
        path=f"/{name}",
    )


def _entries(manual: Manual, page: Any) -> Iterator[tuple[str, str]]:
    """Yield (entry, href) of an index page; each manual sets its own in another way."""
    if manual.name == "PostgreSQL":
        for term in page.css("dt"):
            entry = _folded(term.text()).split(", ")[0]
            above = term.parent.parent
            if above is not None and above.tag == "dd":
                head = above.prev
                while head is not None and head.tag != "dt":
                    head = head.prev
                entry = f"{_folded(head.text()).split(', ')[0]} {entry}" if head is not None else entry
            for link in term.css("a.indexterm"):
                yield _plain(entry), link.attributes["href"]
        return
    for link in page.css("li a, td a"):
        href = link.attributes.get("href") or ""
        if href and not href.startswith("#") and "://" not in href:
            words = (
                re.sub(r"[().]", " ", link.text()).split() if manual.name == "Python" else link.text().split()
            )
            yield (
                _plain(" ".join(w for w in words if manual.name != "Python" or w not in _SKIPPED_WORDS)),
                href,
            )


def _plain(entry: str) -> str:
    return re.sub(r"\(see.*", "", entry).strip(" ,")


def _parsed(page: Path) -> Any:
    parsed = LexborHTMLParser(page.read_bytes().decode("utf-8", "replace"))
    for node in parsed.css("script,style,template"):
        node.decompose()
    return parsed


def _target(page: str, href: str) -> str:
    path = href.partition("#")[0].partition("?")[0]
    return (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if path and "://" not in path
        else ""
    )


def _folded(text: str) -> str:
    return " ".join(text.split())
