"""Two worlds that differ only in documents that the viewer may not see, although others may: strict ranking."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ingather.access import ANONYMOUS, Visible
from ingather.index import IndexFolder, QueryLimits
from ingather.ports.index import IndexDocument
from ingather.search import Order, SearchRequest, SearchService, results_form
from ingather.testing.clock import FakeClock

Doc = Callable[..., IndexDocument]
VIEWER = Visible.of({1, 3}, last_evaluated=9)
SEED = 20
QUERIES = 300


def world(
    path: Path, documents: Sequence[IndexDocument], *, strict: bool = True, cut: int = 0
) -> SearchService:
    folder = IndexFolder(path)
    writer = folder.writer()
    writer.put(documents[cut:])
    writer.commit(1)
    writer.put(documents[:cut])  # another order of arrival, in other segments
    writer.commit(2)
    writer.close()
    texts = {d.id: d.body for d in documents}

    def kept(rows: Sequence[int]) -> Mapping[int, str]:
        return {row: texts[row] for row in rows}

    limits = QueryLimits(work=5_000)
    return SearchService(
        folder.reader(), kept, FakeClock(), limits=limits, strict=lambda: strict, pause=lambda _: None
    )


def documents(doc: Doc, dice: random.Random, ids: range, chains: Sequence[int]) -> list[IndexDocument]:
    def words(number: int) -> str:
        return " ".join(f"w{min(int(dice.paretovariate(0.7)), 60)}" for _ in range(number))

    return [
        doc(
            number, words(dice.randint(3, 40)), title=f"Title {words(3)}", headings=words(4), marked=words(2), chain=dice.choice(chains),
            kind=dice.choice(["html", "pdf"]), site=dice.choice(["a.test", "b.test"]), date_s=dice.choice([None, 5, 9]),
            path=f"/{words(2).replace(' ', '/')}/{number}",
        )
        for number in ids
    ]  # fmt: skip


def query(dice: random.Random) -> str:
    def word() -> str:
        return dice.choice([f"w{dice.randint(1, 60)}", f"w{dice.randint(1, 9)}", "nothing", "hiddenword"])

    shapes: list[Callable[[], str]] = [
        word, lambda: f"{word()} {word()}", lambda: f"{word()} {word()} {word()}", lambda: f'"{word()} {word()}"',
        lambda: f"{word()} OR {word()}", lambda: f"{word()} -{word()}", lambda: f"title:{word()}", lambda: f"{word()} site:a.test",
        lambda: f"{word()} filetype:pdf", lambda: f"hiddenwrod {word()}",
    ]  # fmt: skip
    return dice.choice(shapes)()


@pytest.mark.parametrize("viewer", [VIEWER, ANONYMOUS], ids=["somebody", "anonymous"])
def test_strict_ranking_answers_alike_to_the_byte(tmp_path: Path, doc: Doc, viewer: Visible) -> None:
    dice = random.Random(SEED)  # noqa: S311 - the same worlds every time
    seen = documents(doc, dice, range(1, 300), [1, 3] if viewer is VIEWER else [1])
    hidden = documents(doc, dice, range(1_000, 1_500), [2, 4, 9])
    hidden.append(doc(2_000, "hiddenword " * 5, title="Hiddenword", chain=2))
    one = world(tmp_path / "one", seen)
    two = world(tmp_path / "two", [*seen, *hidden], cut=350)
    for _ in range(QUERIES):
        asked = query(dice)
        window = dice.choice([{}, {"offset": 190, "limit": 20}, {"kinds": ("pdf",)}, {"order": Order.DATE}])
        request = SearchRequest(asked, viewer=viewer, **window)  # type: ignore[arg-type]
        forms = [
            json.dumps(results_form(service.search(request))) for service in (one, two, one, two)
        ]  # the second time it is known what is hidden
        assert forms == forms[:1] * 4, asked
        prefix = asked[: dice.randint(2, 6)]
        assert one.complete(prefix, viewer) == two.complete(prefix, viewer)


def test_bm25_agrees_on_all_but_order_and_score(tmp_path: Path, doc: Doc) -> None:
    dice = random.Random(SEED)  # noqa: S311 - the same worlds every time
    seen = documents(doc, dice, range(1, 80), [1, 3])
    hidden = documents(doc, dice, range(1_000, 1_200), [2, 4, 9])
    one = world(tmp_path / "one", seen, strict=False)
    two = world(tmp_path / "two", [*seen, *hidden], strict=False)
    for _ in range(40):
        request = SearchRequest(query(dice), viewer=VIEWER, limit=100)
        forms = [results_form(service.search(request)) for service in (one, two)]
        found = [sorted(str(result["url"]) for result in form.pop("results")) for form in forms]
        assert found[0] == found[1]
        assert forms[0] == forms[1]
