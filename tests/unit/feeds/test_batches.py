"""Batches: bytes between processes, and a cursor at which any other process goes on."""

from pathlib import Path
from typing import Any

import pytest

from ingather.errors import FeedError
from ingather.feeds.batches import Batch, decode_batch, make_batch
from ingather.feeds.cursor import FeedCursor
from ingather.feeds.limits import FeedLimits
from ingather.model.feed import FeedRejection
from ingather.testing.feedtext import SEED, feed, read

REASON = "its reader ended: died"


def spooled(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def many(count: int) -> str:
    return feed(*(f'<record url="http://x/{n}"><content>{n}</content></record>' for n in range(count)))


def batches(path: Path, cursor: FeedCursor | None = None, **options: Any) -> list[Batch]:
    made = [decode_batch(make_batch(path, kind="xml", cursor=cursor or FeedCursor(), **options))]
    while made[-1].end is None:
        made.append(decode_batch(make_batch(path, kind="xml", cursor=made[-1].cursor, **options)))
    return made


def test_batches_are_the_feed_and_go_on_at_every_cursor(tmp_path: Path) -> None:
    path = spooled(tmp_path / "feed", many(1_203))
    made = batches(path)
    assert [len(batch.items) for batch in made] == [501, 500, 203]
    whole = [item for batch in made for item in batch.items]
    assert [*whole, made[-1].end] == read(many(1_203))
    assert batches(path, made[0].cursor) == made[1:]


def test_limits_reach_the_reader(tmp_path: Path) -> None:
    (seed,) = batches(spooled(tmp_path / "seed", SEED), limits=FeedLimits(url_chars=5))
    assert [type(item).__name__ for item in seed.items] == ["FeedHeader"] + ["FeedRejection"] * 3


def test_a_feed_that_is_refused_has_no_batch(tmp_path: Path) -> None:
    with pytest.raises(FeedError, match="declares entities"):
        batches(spooled(tmp_path / "bad", "<!DOCTYPE gsafeed [<!ENTITY a 'b'>]><gsafeed/>"))


@pytest.mark.parametrize("deadly", [0, 7, 599])
def test_a_record_is_passed_over_without_being_parsed(tmp_path: Path, deadly: int) -> None:
    path = spooled(tmp_path / "feed", many(600))
    cursor = FeedCursor()
    if deadly:
        cursor = decode_batch(make_batch(path, kind="xml", cursor=cursor, most_items=deadly)).cursor
    data = make_batch(path, kind="xml", cursor=cursor, most_items=1, pass_over=REASON)
    made = decode_batch(data)
    lost = made.items[-1]
    assert isinstance(lost, FeedRejection)
    assert (lost.line, lost.url, lost.reason, lost.denies) == (
        5 + deadly,
        f"http://x/{deadly}",
        REASON,
        True,
    )
    assert made.cursor.items == deadly + 1


def test_a_batch_ends_when_its_contents_are_large(tmp_path: Path) -> None:
    text = feed(*(f'<record url="http://x/{n}"><content>{"a" * 1000}</content></record>' for n in range(10)))
    data = make_batch(spooled(tmp_path / "f", text), kind="xml", cursor=FeedCursor(), most_bytes=3000)
    batch = decode_batch(data)
    assert len(batch.items) == 4
    assert batch.end is None
    assert batch.cursor.items == 3
