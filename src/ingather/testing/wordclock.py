"""What the time of an answer tells: words of hidden documents and words of none, asked in turns and told apart by how long it took.

A home of which each asker may see a half at most. Some words stand in hidden documents alone, in 1, 10, 100 and 1,000 of them; as many stand
nowhere. Who asks knows all words and how many of them are hidden, asks each as often as the others, in random order, and
takes those with the highest medians for the hidden ones. Nobody who asks over a network hears better: there is none in between.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, Self
from urllib.parse import urlencode

from ingather.app.feeds.process import FeedProcess
from ingather.testing.feeds import FeedRig, record
from ingather.testing.prose import WORDS, paragraph, topic
from ingather.testing.twins import Listener, answer, listening

__all__ = ["Heard", "WordClock"]

_LANGUAGES: Final = ("en", "en", "en", "de", "fr")
_A_PUSH: Final = 2_000
_PUBLIC: Final = ""
_TO_ANN: Final = '<acl><principal scope="user" access="permit">ann</principal></acl>'
_TO_ZOE: Final = '<acl><principal scope="user" access="permit">zoe</principal></acl>'
_API: Final = "/api/v1/search"
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """How well the words in so many hidden documents are told from words of none.

    Attributes:
        documents: hidden documents that have each of the words; 0 = a second set of words of none, which shows what is chance.
        right: of *words*, how many were put into the right half by their median.
        words: words of both kinds together.
        area: probability that a word of a hidden document has a higher median than one of none; .5 = time tells nothing.
        slower_us: by how many microseconds it takes longer, the median of the medians.
        usual_us: the median of words of none.
    """

    documents: int
    right: int
    words: int
    area: float
    slower_us: float
    usual_us: float


class WordClock:
    """A home with words that nobody sees, and its search listener; use as a context.

    Args:
        folder: where the home is made.
        seed: of documents, words and questions.
        documents: half of them are hidden from ``ann``, three quarters from nobody in particular.
        words: hidden words for each number of documents that have them.
        frequencies: in how many hidden documents a word stands.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        documents: int = 20_000,
        words: int = 30,
        frequencies: Sequence[int] = (1, 10, 100, 1_000),
    ) -> None:
        self._folder, self._documents = folder, documents
        self._dice = random.Random(seed)  # noqa: S311 - a test's dice
        taken = {*WORDS}
        self._nowhere = self._invented(words, taken)
        self._sets = {0: self._invented(words, taken)} | {
            n: self._invented(words, taken) for n in frequencies
        }
        self._warm = self._invented(2, taken)
        self._stack = ExitStack()
        self._listener: Listener | None = None
        self._reload: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            process = FeedProcess()
            stack.callback(process.stop)
            rig = FeedRig(self._folder / "home", process)
            stack.callback(rig.close)
            self._fill(rig)
            self._listener, self._reload = stack.enter_context(listening(rig))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _invented(self, number: int, taken: set[str]) -> list[str]:
        found: list[str] = []
        while len(found) < number:
            word = "".join(self._dice.choice(letters) for letters in ("bdfgklmnprst", "aeiou") * 4)
            if word not in taken:
                taken.add(word)
                found.append(word)
        return found

    def _fill(self, rig: FeedRig) -> None:
        hidden = self._documents // 2
        own: list[list[str]] = [[] for _ in range(hidden)]
        for frequency, words in self._sets.items():
            for word in words if frequency else ():
                for number in self._dice.sample(range(hidden), min(frequency, hidden)):
                    own[number].append(word)
        todo: list[tuple[str, list[str]]] = [(_TO_ZOE, more) for more in own]
        todo += [((_PUBLIC, _TO_ANN)[n % 2], []) for n in range(self._documents - hidden)]
        self._dice.shuffle(todo)
        for first in range(0, len(todo), _A_PUSH):
            batch = todo[first : first + _A_PUSH]
            rig.push(*(self._page(first + n, *one) for n, one in enumerate(batch)), datasource="clock")
        rig.local.index()

    def _page(self, number: int, acl: str, more: Sequence[str]) -> str:
        dice = self._dice
        title = topic(dice.getrandbits(40))
        if more and dice.random() < 0.2:  # noqa: PLR2004
            title += f" {more[0]}"
        text = f"{paragraph(dice.getrandbits(40), 80)} {' '.join(more)}"
        body = f"<html lang='{dice.choice(_LANGUAGES)}'><head><title>{title}</title></head><body><p>{text}</p></body></html>"
        return record(
            f"http://{'abc'[number % 3]}.clock.test/{number}", f"{acl}<content><![CDATA[{body}]]></content>"
        )

    def listen(
        self,
        rounds: int,
        *,
        user: str = "",
        fresh: bool = False,
        frame: str = "{}",
        by: Callable[[], float] = time.process_time,
    ) -> list[Heard]:
        """Ask each word once a round, and say what its times tell.

        Args:
            rounds: questions a word.
            user: who asks, ``""`` = nobody in particular.
            fresh: whether the index is at another state in each round, as it is while documents come.
            frame: what else is asked with each word.
            by: what is read before and after each question, in seconds.
        """
        asked = [("nowhere", word) for word in self._nowhere]
        asked += [(str(frequency), word) for frequency, words in self._sets.items() for word in words]
        took: dict[str, list[float]] = {word: [] for _, word in asked}
        for _ in range(rounds):
            if fresh:
                self._reload()
                for word in self._warm:
                    self._get(frame.format(word), user)
            self._dice.shuffle(asked)
            for _, word in asked:
                begun = by()
                self._get(frame.format(word), user)
                took[word].append(by() - begun)
        of = {word: 1e6 * median(times) for word, times in took.items()}
        none = [of[word] for word in self._nowhere]
        return [
            _told(frequency, [of[word] for word in words], none) for frequency, words in self._sets.items()
        ]

    def told(self, question: str, user: str = "", *, page: bool = False) -> bytes:
        """Return what *user* is told, headers included, by the page or by the API; without our words, times and what is each request's own."""
        assert self._listener is not None
        said = answer(self._listener, f"{'/' if page else _API}?{urlencode({'q': question})}", user)
        for words in (self._nowhere, *self._sets.values()):
            for word in words:
                said = said.replace(word.encode(), b"WORD")
        return said

    def found(self, user: str, question: str) -> int:
        """Return how many documents *user* finds."""
        return int(json.loads(self._get(question, user)[2])["total"])

    def words(self, documents: int) -> Sequence[str]:
        """Return the words that stand in so many hidden documents; 0 = in none at all."""
        return self._sets[documents]

    def _get(self, question: str, user: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        assert self._listener is not None
        return self._listener.get(f"{_API}?{urlencode({'q': question})}", user)


def _told(documents: int, theirs: Sequence[float], none: Sequence[float]) -> Heard:
    """Return what the medians of two sets of words tell."""
    slower = [(a > b) + _HALF * (a == b) for a in theirs for b in none]
    line = median([*theirs, *none])
    right = sum(a > line for a in theirs) + sum(b <= line for b in none)
    usual = median(none)
    return Heard(
        documents, right, len(theirs) + len(none), sum(slower) / len(slower), median(theirs) - usual, usual
    )
