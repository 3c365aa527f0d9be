"""Finding documents: what the index takes, what it answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["IndexDocument", "IndexWriter"]


@dataclass(slots=True)
class IndexDocument:
    """One document as the index takes it, made in one place (``ingather.index.mapping``).

    Attributes:
        id: catalog row of the URL.
        url: canonical URL; ``site`` its host, ``path`` without query.
        chain: access chain id; 1 = public, 0 = nobody. No document lacks one.
        title, headings, marked, body: text, NFC is the index's business.
        anchors: distinct anchor texts of links on public pages that lead here.
        language: BCP 47 primary tag or ``""``.
        media_type: ``text/html``; ``kind`` short name for people and ``filetype:`` (``html``, ``pdf``, ``docx``).
        date_s: epoch seconds of the document's date, ``None`` if unknown.
        size: bytes of the body.
        meta: RD attributes for fielded search (lower-case name -> values).
        source: owning source.
        database: named partition of descriptions.
        categories: ``Archive:Chat:January``, the top first.
        titles: further titles that an editor gave, searched like the one that is shown.
        title_original: the page's own title where another one is shown; it is searched as text.
        classes: values of metadata classes, by name with case; ``shown`` of them are shown with a result, ``facets`` counted.
        amounts: (class, number) of classes that are numbers or dates (epoch seconds).
        more: values of classes that are content: searched as text.
        expires_s: epoch seconds from which on nobody finds it, ``None`` = never.
        needs: lists of principals, of each of which a searcher must be one beside what the chain says; an empty list
            is nobody.
        display: the address that searchers are led to, ``""`` = *url*.
        boost: steps by which its source raises it, 0 to 4.
        snippet: ``False`` if the page forbids excerpts of its text (``nosnippet``).
    """

    id: int
    url: str
    chain: int
    title: str = ""
    headings: str = ""
    marked: str = ""
    body: str = ""
    anchors: Sequence[str] = ()
    language: str = ""
    media_type: str = ""
    kind: str = ""
    site: str = ""
    path: str = ""
    date_s: int | None = None
    size: int = 0
    meta: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    snippet: bool = True
    database: str = "default"
    categories: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    title_original: str = ""
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    facets: frozenset[str] = frozenset()
    amounts: tuple[tuple[str, float], ...] = ()
    more: tuple[str, ...] = ()
    expires_s: int | None = None
    needs: tuple[tuple[str, ...], ...] = ()
    display: str = ""
    boost: int = 0


class IndexWriter(Protocol):
    """The one writer; belongs to one thread. Follows the change log, may lag, never leads.

    Nothing is visible before :meth:`commit`; a commit is atomic and carries the last applied
    sequence, which :meth:`sequence` tells after any crash. Putting an id again replaces it.
    """

    def sequence(self) -> int:
        """Return the last sequence of the last commit, 0 for an empty index."""

    def put(self, documents: Iterable[IndexDocument]) -> None:
        """Add or replace documents.

        Raises:
            IndexingError: nothing of the open commit is kept.
        """

    def remove(self, ids: Iterable[int]) -> None:
        """Remove documents by catalog row; absent ids are no error."""

    def commit(self, sequence: int) -> None:
        """Make everything since the last commit visible, durably, together with *sequence*."""

    def close(self) -> None:
        """Release the writer; what was not committed is dropped."""
