"""How precise near-duplicates are, and what a fingerprint costs: SimHash against the true likeness of texts.

``python benchmarks/simhash.py FOLDER [--pages N]`` reads N HTML files (default 4,000, by a fixed seed) below FOLDER, takes
the fingerprint of each text, and compares the pairs of pages that fingerprints call near-duplicates with the Jaccard
likeness of their sets of three-word shingles. Pairs with equal texts are counted apart: any method finds those.
"""

import argparse
import random
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from xxhash import xxh3_64_intdigest

from ingather.extract import read_page
from ingather.extract.simhash import NEAR_BITS, differing_bits, fingerprint
from ingather.robot.indexing.likeness import near_pairs

_SMALLEST = 24
_SHOWN = (3, 4, 6)


def main() -> None:
    """Read, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=4_000)
    options = parser.parse_args()
    files = sorted(path for path in options.folder.rglob("*.html") if path.is_file())
    random.seed(20)
    texts = []
    for path in random.sample(files, min(options.pages, len(files))):
        page = read_page(path.read_bytes(), url=f"http://site.test/{path.name}", content_type="text/html")
        texts.append(page.text)
    began = time.process_time()
    marks = [fingerprint(text) for text in texts]
    spent = time.process_time() - began
    kept = [number for number, mark in enumerate(marks) if mark]
    print(f"{len(texts)} texts, {len(kept)} with a fingerprint, {spent / len(texts) * 1e6:.0f} us a text")
    shingles = {number: _shingles(texts[number]) for number in kept}
    likeness = _alike(shingles)
    equal = {pair for pair in likeness if texts[pair[0]] == texts[pair[1]]}
    true = {pair: value for pair, value in likeness.items() if pair not in equal}
    found = {(min(a, b), max(a, b)): bits for a, b, bits in near_pairs([(marks[n], n) for n in kept])}
    missed = sum(pair not in found for pair in equal)
    print(f"equal texts: {len(equal)} pairs, not found {missed}")
    named = {pair: bits for pair, bits in found.items() if pair not in equal}
    values = [true.get(pair) or _jaccard(shingles[pair[0]], shingles[pair[1]]) for pair in named]
    print(f"called near (at most {NEAR_BITS} bits): {len(named)} pairs")
    for least in (0.7, 0.8, 0.9):
        good = sum(value >= least for value in values)
        print(f"  precision at likeness {least}: {good / max(len(values), 1):.3f}")
    for least in (0.8, 0.9, 0.95, 0.98):
        pairs = [pair for pair, value in true.items() if value >= least]
        line = ", ".join(
            f"{most} bits {sum(differing_bits(marks[a], marks[b]) <= most for a, b in pairs) / max(len(pairs), 1):.3f}"
            for most in _SHOWN
        )
        print(f"  recall of likeness {least} and above ({len(pairs)} pairs): {line}")


def _shingles(text: str) -> frozenset[int]:
    words = text.encode("utf-8", "surrogatepass").split()
    return frozenset(
        xxh3_64_intdigest(b" ".join(part)) for part in zip(words, words[1:], words[2:], strict=False)
    )


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


def _alike(shingles: dict[int, frozenset[int]]) -> dict[tuple[int, int], float]:
    """Return the likeness of all pairs from 0.7 on; pairs that alike share one of their smallest hashes nearly certainly."""
    by_hash: dict[int, list[int]] = defaultdict(list)
    for number, own in shingles.items():
        for value in sorted(own)[:_SMALLEST]:
            by_hash[value].append(number)
    found: dict[tuple[int, int], float] = {}
    for group in by_hash.values():
        for pair in combinations(group, 2):
            if pair not in found:
                found[pair] = _jaccard(shingles[pair[0]], shingles[pair[1]])
    return {pair: value for pair, value in found.items() if value >= 0.7}


if __name__ == "__main__":
    main()
