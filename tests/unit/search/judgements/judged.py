"""The judged corpus: reading it, indexing it, measuring how well questions are answered.

Loaded by path from the tests of the room and from ``benchmarks/relevance.py``.

``corpus.txt``: pages of an invented company's intranet; ``=== PATH LANGUAGE``, ``title:``,
``links: PATH "ANCHOR"; ...``, ``## headings`` and text. ``queries.txt``: ``QUERY | PATH PATH ...``.
"""

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingather.index import IndexFolder, TantivyReader, counts, informative, write_prior
from ingather.ports.index import IndexDocument

HERE = Path(__file__).parent
SITE = "intranet.norvik.example"
_MINUTES = 80
_LINK = re.compile(r'(\S+) "([^"]*)"')


@dataclass
class Page:
    path: str
    language: str
    title: str = ""
    headings: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Judged:
    """A query and the grades of the pages that answer it."""

    query: str
    grades: Mapping[str, int]


@dataclass(frozen=True)
class Quality:
    """Means over all queries."""

    mrr: float
    ndcg: float


def pages() -> list[Page]:
    found: list[Page] = []
    for line in (HERE / "corpus.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("=== "):
            path, language = line[4:].split()
            found.append(Page(path, language))
        elif line.startswith("title: "):
            found[-1].title = line[7:]
        elif line.startswith("links: "):
            found[-1].links = [(path, anchor) for path, anchor in _LINK.findall(line[7:])]
        elif line.startswith("## "):
            found[-1].headings.append(line[3:])
            found[-1].body.append(line[3:])
        elif line:
            found[-1].body.append(line)
    return [*found, *_minutes(found)]


def _minutes(of: Sequence[Page]) -> list[Page]:
    """Return minutes of meetings: they name everything, several times, and answer nothing."""
    draw = random.Random(1911)  # noqa: S311 - the same noise each time
    made = []
    for number in range(1, _MINUTES + 1):
        page = Page(f"/minutes/{number:03}.html", "en", f"Minutes of meeting {number}")
        page.links = [("/index.html", "Intranet")]
        for topic in draw.sample([p for p in of if p.language == "en"], 4):
            name = draw.choice(
                [anchor for p in of for path, anchor in p.links if path == topic.path] or [topic.title]
            )
            page.body += [
                f"{name}: {draw.choice(topic.body)}",
                f"Questions about {name.lower()}; {name} again next time.",
            ]
        made.append(page)
    return made


def judgements() -> list[Judged]:
    found = []
    for line in (HERE / "queries.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            query, _, paths = line.partition(" | ")
            found.append(Judged(query, {path: max(1, 3 - place) for place, path in enumerate(paths.split())}))
    return found


def url_of(path: str) -> str:
    return f"https://{SITE}{path}"


def documents(of: Sequence[Page], *, anchored: bool = True) -> list[IndexDocument]:
    """Return index documents; without anchors they know only what stands on their own page."""
    anchors: dict[str, list[str]] = defaultdict(list)
    for page in of:
        for path, anchor in page.links:
            anchors[path].append(anchor)
    return [
        IndexDocument(
            number,
            url_of(page.path),
            1,
            title=page.title,
            headings="\n".join(page.headings),
            # A page's text holds the texts of its links, as on any page with navigation.
            body="\n".join([page.title, *page.body, *(anchor for _, anchor in page.links)]),
            anchors=informative(anchors[page.path]) if anchored else (),
            language=page.language,
            media_type="text/html",
            kind="html",
            site=SITE,
            path=page.path,
            date_s=1_770_000_000 + number * 86_400,
            size=1_000 + number,
            source="web",
        )
        for number, page in enumerate(of, start=1)
    ]


def texts(of: Sequence[Page]) -> dict[int, str]:
    return {document.id: document.body for document in documents(of)}


def build(folder: Path, *, anchored: bool = True) -> TantivyReader:
    """Index the corpus with its link counts and return a reader."""
    of = pages()
    index = IndexFolder(folder)
    writer = index.writer()
    writer.put(documents(of, anchored=anchored))
    writer.commit(len(of))
    writer.close()
    linking: dict[str, set[str]] = defaultdict(set)
    for page in of:
        for path, _ in page.links:
            if path != page.path:
                linking[path].add(page.path)
    write_prior(folder, counts((number, len(linking[page.path])) for number, page in enumerate(of, start=1)))
    return index.reader()


def quality(ask: Callable[[str], Sequence[str]], judged: Sequence[Judged]) -> Quality:
    """Return the quality of *ask* (query -> URLs, best first, ten count)."""
    mrr = ndcg = 0.0
    for one in judged:
        grades = {url_of(path): grade for path, grade in one.grades.items()}
        answer = list(ask(one.query))[:10]
        mrr += next((1 / place for place, url in enumerate(answer, start=1) if url in grades), 0.0)
        ndcg += _gain([grades.get(url, 0) for url in answer]) / _gain(sorted(grades.values(), reverse=True))
    return Quality(mrr / len(judged), ndcg / len(judged))


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 1) for place, grade in enumerate(grades, start=1))
