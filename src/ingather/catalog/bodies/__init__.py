"""Bodies and extracted texts, in WARC segments that any web-archive tool can read.

**Who appends: the gatherers, each to segments of its own.** A gatherer hands a response body and the
text that was extracted from it to its ``SegmentWriter`` (``segment``), which takes a fresh segment
number (``folder``), forms one ``response`` and one ``conversion`` record (``warc``), compresses
each into a gzip member of its own and appends both to ``body-NNNNNNNN.warc.gz``. The place
(``Stored``) goes into the outcome, and ``sync`` makes the bytes durable *before* the outcome is sent:
the catalog never names bytes that a power cut can take. The keeper never writes here, with one
exception: compaction.

At start ``cut_tails`` (``recovery``) cuts what no committed transaction points at: the tails of
gatherers that died between append and commit, and whole segments that nobody acknowledged.

Readers (snippets, explain, replay, re-index) take records back by place through ``SegmentReader``
(``reader``); each one is verified, and what does not read back as written is a
``CatalogDamagedError`` that names file and offset. Nothing is repaired silently.

When recrawls and deletions leave more than half of a segment dead, ``plan`` names it, ``compact``
copies what lives into the keeper's own segment, the caller moves the rows in one transaction and then
calls ``drop`` (``compaction``; ``reclaim`` does it all). Killed anywhere in between, either the old or the new place is valid,
and ``cut_tails`` removes the other one.
"""

from ingather.catalog.bodies.compaction import Compaction, Places, compact, dead_space, drop, plan, reclaim
from ingather.catalog.bodies.folder import SegmentNumbers, segment_name
from ingather.catalog.bodies.reader import Record, SegmentReader, SegmentReport
from ingather.catalog.bodies.recovery import Tails, cut_tails
from ingather.catalog.bodies.segment import SegmentWriter

__all__ = [
    "Compaction",
    "Places",
    "Record",
    "SegmentNumbers",
    "SegmentReader",
    "SegmentReport",
    "SegmentWriter",
    "Tails",
    "compact",
    "cut_tails",
    "dead_space",
    "drop",
    "plan",
    "reclaim",
    "segment_name",
]
