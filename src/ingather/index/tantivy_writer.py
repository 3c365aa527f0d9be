"""Writing the index: documents into fields, one commit a batch, the applied sequence inside it."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, Protocol, TypeVar
from urllib.parse import unquote

import tantivy
import xxhash

from ingather.errors import IndexingError
from ingather.index.anchors import MAX_ANCHORS
from ingather.index.card import pack
from ingather.index.categories import category_terms
from ingather.index.classes import amount_terms, facet_term, value_terms
from ingather.index.languages import CJK, PLAIN, cjk_lines, clean, exact, nfc, read_body, slots_for
from ingather.index.tantivy_analysers import register
from ingather.index.tantivy_schema import MARKER_KEY, RESTRICTED, boost_term, key_of, need_term
from ingather.ports.index import IndexDocument, IndexWriter

__all__ = ["HEAP_BYTES", "Run", "TantivyWriter", "newest_of", "places_of", "run_here"]

T = TypeVar("T")

HEAP_BYTES: Final = 64 << 20
"""Memory of the one indexing thread: 15 MB doubles the work of a bulk load, 256 MB saves nothing."""

_TITLE_TIMES: Final = 3
# What a page sets off near its beginning says what it is about; the rest says less and costs more.
_MARKED_CHARS: Final = 400

_MAX_PLACE_CHARS: Final = 512
_MAX_PLACE_LEVELS: Final = 6
_MAX_LANG_CHARS: Final = 32
_MAX_RAW_CHARS: Final = 255
_TITLE_PARTS: Final = re.compile(r" [-|\u2013\u2014\u00b7:\u00bb]{1,2} |: ")
# Scores are multiplied by log2(2 + tie), tie in [0, 0.001): too little to be seen, enough to choose
# the same candidates among equals in every index of the same documents.
_TIE_SPAN: Final = 1e-3
_MARK_BITS: Final = 20
_NO_DATE: Final = -(1 << 42)


def newest_of(date_s: int | None, mark: int) -> int:
    """Return what a document is ordered by among dates: the date, then 20 bits of *mark*; without a date last.

    Orders by a field know no second key, and equal dates must not be ordered by arrival.
    """
    date = _NO_DATE if date_s is None else max(_NO_DATE + 1, min(date_s, -_NO_DATE))
    return (date << _MARK_BITS) + (mark >> (64 - _MARK_BITS))


def places_of(site: str, path: str) -> list[str]:
    """Return what ``site:`` may say to find a document: host, its parents, host with leading path levels."""
    folder = path.rpartition("/")[0]
    known, hosts = _folder_places(site, folder)
    if len(path) <= len(folder) + 1 or len(path) > _MAX_PLACE_CHARS:
        return [*known]
    return [*known, *[host + path for host in hosts]]


@lru_cache(maxsize=1024)
def _folder_places(site: str, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (places of all that lies in *folder*, hosts under which a file in it is a place of its own)."""
    names, hosts = _names_of(site)
    if not folder:
        return names, hosts
    found = list(names)
    at = 0
    for left in reversed(range(_MAX_PLACE_LEVELS)):
        end = folder.find("/", at + 1)
        where = folder if end < 0 else folder[:end]
        if len(where) <= at + 1 or len(where) > _MAX_PLACE_CHARS:
            break
        found += [host + where for host in hosts]
        if end < 0:
            return tuple(found), hosts if left else ()
        at = end
    return tuple(found), ()


@lru_cache(maxsize=4096)
def _names_of(site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (all names of *site*, names that paths are appended to): with and without port."""
    host, _, port = ("", "", "") if site.endswith("]") else site.rpartition(":")
    hosts = (host, site) if host and port.isdigit() else (site,)
    labels = [] if hosts[0].startswith("[") or hosts[0].replace(".", "").isdigit() else hosts[0].split(".")
    return (*(".".join(labels[i:]) for i in range(1, len(labels))), *hosts), hosts


class Run(Protocol):
    """Where work is done that starts threads."""

    def __call__(self, work: Callable[[], T]) -> T:
        """Do *work*; return what it returns, raise what it raises."""


def run_here(work: Callable[[], T]) -> T:
    """See :class:`Run`: in the caller's thread."""
    return work()


class TantivyWriter:
    """:class:`ingather.ports.index.IndexWriter` on a folder; belongs to one thread.

    Documents of chain 0 are shown to nobody and are therefore not put at all: what is not in
    the index can move neither scores nor counts of what is.

    Args:
        folder: an existing index of our schema.
        heap_bytes: memory of the indexing thread, at least 15 MB.
        fresh: the folder has just been made: rows never put need no deletion before they are.
        run: calls what starts threads of the index, and returns its result; where it does so is its own affair.

    Raises:
        IndexingError: another writer holds the folder, or it cannot be read.
    """

    def __init__(
        self, folder: Path, *, heap_bytes: int = HEAP_BYTES, fresh: bool = False, run: Run = run_here
    ) -> None:
        self._folder = folder
        self._heap_bytes = heap_bytes
        self._run = run
        self._put: bytearray | None = bytearray() if fresh else None
        self._changed = False
        self._writer: tantivy.IndexWriter | None = None
        try:
            self._index = tantivy.Index.open(str(folder))
            register(self._index)
            self._index.config_reader("manual")
            self._sequence = _read_sequence(self._index)
        except (ValueError, OSError) as error:
            msg = f"the index in {folder} cannot be opened: {error}"
            raise IndexingError(msg, hint="run: ingather index rebuild") from error
        self._open()

    def sequence(self) -> int:
        """Return the last sequence of the last commit, 0 for an empty index."""
        return self._sequence

    def put(self, documents: Iterable[IndexDocument]) -> None:
        """Add or replace documents; one of chain 0 only removes what was there.

        Raises:
            IndexingError: nothing of the open commit is kept.
        """
        writer = self._open()
        try:
            for document in documents:
                self._delete(writer, document.id)
                if document.chain > 0:
                    writer.add_document(_fields(document))
                    self._note(document.id)
                self._changed = True
        except Exception as error:
            raise self._failed("a document could not be added", error) from error

    def remove(self, ids: Iterable[int]) -> None:
        """Remove documents by catalog row; absent ids are no error.

        Raises:
            IndexingError: nothing of the open commit is kept.
        """
        writer = self._open()
        try:
            for row in ids:
                self._delete(writer, row)
                self._changed = True
        except Exception as error:
            raise self._failed("documents could not be removed", error) from error

    def commit(self, sequence: int) -> None:
        """Make everything since the last commit visible, durably, together with *sequence*.

        Raises:
            IndexingError: nothing of the commit is kept; the next call starts a new one.
        """
        if not self._changed and sequence == self._sequence:
            return
        writer = self._open()
        try:
            writer.delete_documents_by_term("key", MARKER_KEY)
            marker = tantivy.Document()
            marker.add_text("key", MARKER_KEY)
            marker.add_unsigned("sequence", sequence)
            writer.add_document(marker)
            self._run(writer.commit)  # threads that write are started anew
        except Exception as error:
            raise self._failed("the index could not be committed", error) from error
        self._sequence = sequence
        self._changed = False

    def rollback(self) -> None:
        """Drop what was not committed; the writer can be used on."""
        if self._writer is None or not self._changed:
            return
        try:
            self._run(self._writer.rollback)
        except (ValueError, OSError):
            self._writer = None
        self._changed = False

    def close(self) -> None:
        """Release the writer and wait for its threads; what was not committed is dropped."""
        self.rollback()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.wait_merging_threads()

    def _open(self) -> tantivy.IndexWriter:
        """Return the writer, a new one if the last died of a failure (a full disk kills its threads)."""
        if self._writer is None:
            try:
                self._writer = self._run(partial(self._index.writer, self._heap_bytes, 1))
            except (ValueError, OSError) as error:
                msg = f"the index in {self._folder} cannot be written: {error}"
                raise IndexingError(
                    msg, hint="one process writes an index; is another one running?"
                ) from error
        return self._writer

    def _failed(self, what: str, error: Exception) -> IndexingError:
        self._changed = True
        self.rollback()  # also replaces the threads that a failure (a full disk) ended
        return IndexingError(f"{what}: {error}")

    def _delete(self, writer: tantivy.IndexWriter, row: int) -> None:
        if self._put is not None:
            byte, bit = row >> 3, 1 << (row & 7)
            if byte >= len(self._put) or not self._put[byte] & bit:
                return
        writer.delete_documents_by_term("key", key_of(row))

    def _note(self, row: int) -> None:
        if self._put is None:
            return
        byte = row >> 3
        if byte >= len(self._put):
            self._put.extend(bytes(byte + 8192 - len(self._put)))
        self._put[byte] |= 1 << (row & 7)


def _read_sequence(index: tantivy.Index) -> int:
    index.reload()
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, "key", MARKER_KEY, "basic")
    hits = searcher.search(query, 1).hits
    if not hits:
        return 0
    return int(searcher.doc(hits[0][1]).get_first("sequence") or 0)


def _fields(document: IndexDocument) -> tantivy.Document:
    """Return the fields of *document*; the hot path of indexing."""
    made = tantivy.Document()
    text = made.add_text
    title = clean(document.title)
    anchors = [clean(a) for a in document.anchors[:MAX_ANCHORS]]
    meta = {name: [clean(v) for v in values] for name, values in document.meta.items()}
    path = nfc(document.path)
    _add_said(made, document, title, anchors, meta)
    for term in _whole_terms(document) if document.categories or document.boost else ():
        text("exact", term)
    text("key", key_of(document.id))
    for place in places_of(nfc(document.site), path):
        text("place", place)
    words = _url_words(path)
    if words:
        text("url", words)
    for name, value in (
        ("kind", document.kind), ("site", document.site), ("source", document.source), ("database", document.database),
    ):  # fmt: skip
        if value:
            text(name, nfc(value[:_MAX_RAW_CHARS]))
    text("lang", nfc(document.language[:_MAX_LANG_CHARS]).lower() or PLAIN)
    made.add_unsigned("doc", document.id)
    made.add_unsigned("chain", document.chain)
    made.add_unsigned("size", document.size)
    mark = xxhash.xxh3_64_intdigest(document.url.encode("utf-8", "replace"))
    if document.date_s is not None:
        made.add_integer("date", document.date_s)
    made.add_integer("newest", newest_of(document.date_s, mark))
    made.add_float("tie", mark / (1 << 64) * _TIE_SPAN)
    _add_limits(made, document)
    if meta:
        made.add_json("meta", meta)
    made.add_bytes("card", pack(document))
    return made


def _add_said(
    made: tantivy.Document,
    document: IndexDocument,
    title: str,
    anchors: list[str],
    meta: Mapping[str, list[str]],
) -> None:
    """Add what is said of the document: titles, text, anchors, metadata."""
    text = made.add_text
    titles = [title, *map(clean, document.titles)] if document.titles else [title]
    more = [*anchors, *(value for values in meta.values() for value in values)]
    if document.title_original:
        more.append(clean(document.title_original))
    if document.more:
        more += map(clean, document.more)
    _add_text(made, document, titles, more)
    for one in titles:
        if one:
            text("title_words", one)
    for whole in set().union(*(_exact(one, anchors) for one in titles)):
        text("exact", whole)
    if document.classes:
        _add_classes(made, document)


def _add_limits(made: tantivy.Document, document: IndexDocument) -> None:
    """Add who may see it beside its chain, and until when."""
    if document.expires_s is not None:
        made.add_integer("expires", document.expires_s)
    for number, list_of_needs in enumerate(document.needs):
        for need in (RESTRICTED, *list_of_needs):
            made.add_text("need", need_term(number, need))


def _whole_terms(document: IndexDocument) -> set[str]:
    raised = {boost_term(document.boost)} if document.boost else set()
    return category_terms(document.categories) | raised


def _add_classes(made: tantivy.Document, document: IndexDocument) -> None:
    """Add the values of metadata classes: words, whole values of facets, numbers."""
    text = made.add_text
    for name, values in document.classes.items():
        for value in values:
            text("class", value_terms(name, value))
        if name in document.facets:
            for value in values:
                text("value", facet_term(name, value))
    for name, amount in document.amounts:
        for term in amount_terms(name, amount):
            text("amount", term)


def _add_text(made: tantivy.Document, document: IndexDocument, titles: list[str], more: list[str]) -> None:
    """Add the text families in the slots of the document's languages; *more* counts as text."""
    text = made.add_text
    title = titles[0]
    headings, (body, slots) = clean(document.headings), read_body(document.language, document.body)
    marked = clean(document.marked[:_MARKED_CHARS])
    if not body:
        slots = slots_for(document.language, title)
    if len(slots) == 1 and not title.isascii():
        slots = tuple(dict.fromkeys((*slots, *slots_for(document.language, title))))
    main = body or headings
    values = [value for value in (*titles * _TITLE_TIMES, *more) if value]
    for slot in slots:
        field = f"text_{slot}"
        for value in values:
            text(field, value)
        if taken := cjk_lines(main) if slot == CJK and len(slots) > 1 else main:
            text(field, taken)
        for family, value in (*(("title", one) for one in titles), ("head", headings), ("marked", marked)):
            if value:
                text(f"{family}_{slot}", value)
        text("slot", slot)


def _url_words(path: str) -> str:
    """Return the words of a URL's path: no suffix, escapes read, underscores as blanks."""
    slash, dot = path.rfind("/"), path.rfind(".")
    words = path[:dot] if dot > slash else path
    if "%" in words:
        words = clean(unquote(words, errors="replace"))
    return words.replace("_", " ").strip("/ ")


def _exact(title: str, anchors: list[str]) -> set[str]:
    """Return what the query must be, whole, to mean this document: its title, a link's text."""
    wholes = {f"a:{exact(anchor)}" for anchor in anchors}
    if title:
        wholes.add(f"t:{exact(title)}")
        # Titles often end with the name of the site: the part before it counts as a title too.
        first = _TITLE_PARTS.split(title, maxsplit=1)[0]
        if first != title:
            wholes.add(f"t:{exact(first)}")
    return {whole for whole in wholes if len(whole) > 2}  # noqa: PLR2004 - the letter and its colon


_proof: type[IndexWriter] = TantivyWriter
