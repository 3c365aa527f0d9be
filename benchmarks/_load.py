"""Questions at a steady rate, as many people ask them: nobody waits for another one's answer."""

import http.client
import json
import queue
import random
import re
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

__all__ = ["Answers", "ask", "three_words"]

_WORD = re.compile(r"[a-z]{3,15}")
_CLIENTS = 16


def three_words(folder: Path, count: int) -> list[str]:
    """Return *count* queries: three different words each, as they come in the text of one page of the site.

    Frequent words are drawn as often as they stand there, so most queries meet many documents. The same at each
    call; no two are equal.
    """
    drawn = random.Random(13)  # noqa: S311 - the same ones each time
    pages = (folder / "pages.txt").read_text().splitlines()
    found: dict[str, None] = {}
    while len(found) < count:
        tree = LexborHTMLParser((folder / "site" / drawn.choice(pages)).read_bytes())
        words = _WORD.findall(tree.body.text(separator=" ").lower()) if tree.body else []
        for _ in range(4):
            chosen = dict.fromkeys(drawn.choices(words, k=6)) if len(words) > 50 else {}
            if len(chosen) >= 3:
                found[" ".join(list(chosen)[:3])] = None
    return list(found)[:count]


@dataclass
class Answers:
    """What came back: *times_ms* from the moment at which a question was due to the last byte of its answer."""

    times_ms: list[float] = field(default_factory=list)
    took_ms: list[float] = field(default_factory=list)
    snippets: int = 0
    found: int = 0
    partial: int = 0
    bad: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Return the time within which that share of the answers came, ms."""
        ordered = sorted(self.times_ms)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def ask(host: str, queries: list[str], *, rate: float) -> Answers:
    """Ask ``/api/v1/search`` at *host* all *queries*, *rate* a second, each at its time whatever the others do."""
    due: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()
    answers, lock = Answers(), threading.Lock()
    begun = time.perf_counter() + 0.2
    for number, query in enumerate(queries):
        due.put((begun + number / rate, query))
    for _ in range(_CLIENTS):
        due.put(None)

    def client() -> None:
        connection = http.client.HTTPConnection(host, timeout=30)
        while (item := due.get()) is not None:
            at, query = item
            time.sleep(max(0.0, at - time.perf_counter()))
            _one(connection, query, at, answers, lock)
        connection.close()

    clients = [threading.Thread(target=client) for _ in range(_CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return answers


def _one(
    connection: http.client.HTTPConnection, query: str, at: float, answers: Answers, lock: threading.Lock
) -> None:
    try:
        connection.request("GET", f"/api/v1/search?{urllib.parse.urlencode({'q': query})}")
        response = connection.getresponse()
        body = response.read()
        spent_ms = (time.perf_counter() - at) * 1000
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        with lock:
            answers.bad.append(f"{query!r}: {error!r}")
        return
    with lock:
        if response.status != 200:
            answers.bad.append(f"{query!r}: {response.status} {body[:200]!r}")
            return
        said = json.loads(body)
        answers.times_ms.append(spent_ms)
        answers.took_ms.append(said["took_ms"])
        answers.found += bool(said["results"])
        answers.snippets += any(result["snippet"] for result in said["results"])
        answers.partial += bool(said["partial"])
