"""Searching, whole: bounds, access filter, ranking, facets, excerpts, and help when little is found."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from ingather.access import ANONYMOUS, FormKind, Rights, Visible
from ingather.errors import CatalogError, QueryError
from ingather.index import (
    RANKING,
    AllOf,
    ChainFilter,
    Clauses,
    Compiled,
    Filters,
    Found,
    Hit,
    Order,
    QueryLimits,
    Question,
    Snapshot,
    TantivyReader,
    Weights,
    Word,
    clean,
    terms,
)
from ingather.log import get
from ingather.model.acl import Principal
from ingather.ports.clock import Clock
from ingather.search.language import Classes, parse, render, site_of
from ingather.search.results import DATE_RANGES, Facets, Help, SearchRequest, SearchResult, SearchResults
from ingather.search.snippets import Fragment, Highlighter
from ingather.search.suggestions import correction

__all__ = ["Openings", "SearchService", "Texts", "chain_filter"]

Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Gives the kept texts of catalog rows; those that are not kept or damaged are left out."""

Openings = Callable[[Sequence[int], int], Mapping[int, tuple[str, bool]]]
"""Gives about so many bytes of the beginnings of kept texts, and whether each is the whole of it; as :data:`Texts`."""

_Counted = tuple[dict[str, dict[str, int]], list[int]]

_VIEWERS: Final = 256
_MAX_CORRECTED: Final = 4
_MAX_COMPLETIONS: Final = 10
_MIN_COMPLETED: Final = 2
_OPENING_BYTES: Final = 64 * 1024
_MOST_BYTES: Final = (
    320 * 1024
)  # of a text of a megabyte and more, inflating the rest took longer than the search


@lru_cache(_VIEWERS)
def chain_filter(viewer: Visible) -> ChainFilter:
    """Return the filter that lets exactly the chains through that *viewer* sees."""
    form = viewer.form()
    needs = None if viewer.everything else viewer.needs
    if form.kind is FormKind.ONLY:
        return ChainFilter(only=form.chains, needs=needs)
    return ChainFilter(only=None, without=form.chains, last=form.last, needs=needs)


class SearchService:
    """Answers searches; any number of threads may ask at once.

    Every question carries the access filter inside the index query: totals, facets, suggestions
    and excerpts come from documents that the viewer may see, and from no others. Revocations that the index has
    not followed yet are asked of the catalog when the question is put, so they act from their commit on.

    Args:
        reader: the index.
        texts: kept texts for excerpts; called with the rows of one page of results.
        clock: for the time limit and the date filters.
        openings: where the beginnings of texts come from, which most excerpts are made of; otherwise *texts* give all.
        limits: bounds on one query.
        weights: ranking.
        rights: who may see what; without it viewers see what their own view says, and the index is believed.
        strict: whether score and order may depend on nothing but what the viewer may see; asked for each question.
        classes: what metadata classes are; others are known by the values that the viewer may see.
        labels: what people see instead of the names of classes.
        withheld: rows that a viewer may not see any more although an index at a change would show them.
        pause: holds an answer back for so many seconds, so that its time does not tell of hidden documents.
    """

    def __init__(  # noqa: PLR0913 - its parts
        self,
        reader: TantivyReader,
        texts: Texts,
        clock: Clock,
        *,
        openings: Openings | None = None,
        limits: QueryLimits | None = None,
        weights: Weights = RANKING,
        rights: Rights | None = None,
        strict: Callable[[], bool] = lambda: False,
        classes: Classes = lambda _: "",
        labels: Callable[[str], str] = lambda name: name,
        withheld: Callable[[Visible, int], Collection[int]] = lambda _viewer, _applied: (),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pause = pause
        self._withheld = withheld
        self._classes = classes
        self._labels = labels
        self._rights = rights
        self._strict = strict
        self._reader = reader
        self._openings = openings or (
            lambda rows, _: {row: (text, True) for row, text in texts(rows).items()}
        )
        self._clock = clock
        self._limits = limits or QueryLimits()
        self._weights = weights
        self._log = get("search")

    def search(self, request: SearchRequest) -> SearchResults:
        """Answer *request*.

        Raises:
            QueryError: the query or the window is beyond its bounds; the text is fit for the searcher.
            IndexDamagedError: the index does not read as written.
        """
        start = self._clock.monotonic()
        self._check_window(request)
        snapshot = self._reader.snapshot()
        chains = self._fence(snapshot, request.viewer)
        tree = parse(request.query, self._limits, self._known(snapshot, chains))
        filters = self._filters(request)
        said = render(tree)
        empty = SearchResults(said, 0, offset=request.offset, limit=request.limit)
        if not tree.nodes:
            return replace(empty, took_ms=self._since(start))
        question = Question(tree, chains, filters)
        compiled, counted, found = self._ask(snapshot, question, request, start)
        words = [n for n in tree.nodes if isinstance(n, Word)]
        all_words = True
        guide = Help()
        if not found.total:
            guide = self._help(snapshot, question, words, start)
            if len(words) > 1 and not self._late(start):
                question = replace(question, least=1)
                compiled, counted, found = self._ask(snapshot, question, request, start)
                all_words = not found.total
        facets = Facets() if self._late(start) else self._facets(snapshot, question, compiled, counted)
        results = self._results(Highlighter(tree, every=all_words), found, request.offset, start)
        return SearchResults(
            said,
            found.total,
            results,
            request.offset,
            request.limit,
            all_words=all_words,
            facets=facets,
            help=guide,
            took_ms=self._since(start),
            partial=self._late(start),
            labels={name: self._labels(name) for result in results for name in result.classes},
        )

    def complete(self, query: str, viewer: Visible, *, limit: int = _MAX_COMPLETIONS) -> tuple[str, ...]:
        """Return *query* with its last word completed to words of visible titles, most frequent first."""
        head, _, last = query[: self._limits.chars].rpartition(" ")
        prefix = last.lstrip('-"')
        if len(prefix) < _MIN_COMPLETED or ":" in prefix:
            return ()
        snapshot = self._reader.snapshot()
        found = snapshot.words(prefix, self._fence(snapshot, viewer), self._limits.expansions)
        best = sorted(found, key=lambda pair: (-pair[1], pair[0]))[: max(0, min(limit, _MAX_COMPLETIONS))]
        front = f"{head} " if head else ""
        return tuple(f"{front}{last[: len(last) - len(prefix)]}{word}" for word, _ in best)

    @property
    def cut_domains(self) -> bool:
        """Whether a user's domain counts cut to its first label, too: his groups are looked up by the same rule."""
        return self._rights is None or self._rights.cut_domains

    def viewer(self, users: Sequence[Principal], groups: Collection[Principal] = ()) -> Visible:
        """Return what somebody may see as the rights are now, for a request; without principals what is public.

        Args:
            users: his principals, one for each namespace in which he is known.
            groups: his expanded groups.

        Raises:
            CatalogError: the rights could not be read: he is shown nothing.
        """
        if self._rights is None or not users:
            return ANONYMOUS
        return self._rights.visible(users, groups)

    # --- parts --------------------------------------------------------------------------------

    def _fence(self, snapshot: Snapshot, viewer: Visible) -> ChainFilter:
        """Return the access filter for one state of the index: what moved since then is judged as it is now."""
        chains = replace(chain_filter(viewer), now_s=int(self._clock.wall()))
        rows = set(self._withheld(viewer, snapshot.sequence))
        if self._rights is not None:
            rows.update(self._rights.revoked(viewer, snapshot.sequence))
        return replace(chains, rows=tuple(sorted(rows))) if rows else chains

    def _known(self, snapshot: Snapshot, chains: ChainFilter) -> Classes:
        """Return what says of a name which class it is, for one viewer: what is defined, or has a value that he may see."""

        def kind(name: str) -> str:
            return self._classes(name) or ("text" if snapshot.has_class(name, chains) else "")

        return kind

    def _clauses(self, snapshot: Snapshot) -> Clauses:
        return snapshot.clauses(self._weights, self._limits, strict=self._strict())

    def _check_window(self, request: SearchRequest) -> None:
        limits = self._limits
        if request.limit < 0 or request.limit > limits.page:
            raise QueryError(f"A page of results has 0 to {limits.page} of them")
        if request.offset < 0 or request.offset + request.limit > limits.window:
            raise QueryError(
                f"Only the first {limits.window:,} results can be looked at", hint="make the query narrower"
            )

    def _filters(self, request: SearchRequest) -> Filters:
        if request.date and request.date not in DATE_RANGES:
            raise QueryError(
                f"There is no date filter {request.date!r}", hint=f"choose one of {', '.join(DATE_RANGES)}"
            )
        since, until = request.since_s, request.until_s
        if request.date:
            youngest = int(self._clock.wall()) - DATE_RANGES[request.date]
            since = youngest if since is None else max(since, youngest)
        number = len(request.kinds) + len(request.sites) + len(request.databases) + len(request.classes)
        if number > self._limits.clauses:
            raise QueryError(
                f"There are too many filters: {number:,}", hint=f"{self._limits.clauses:,} is the most"
            )
        sites = tuple(site for s in request.sites if (site := site_of(s)))
        if request.sites and not sites:
            sites = ("",)  # no such place: nothing is found, instead of everything
        chosen: dict[str, tuple[str, ...]] = {}
        for name, value in request.classes:
            chosen[name] = (*chosen.get(name, ()), value)
        kinds = tuple(k.lower() for k in request.kinds)
        return Filters(kinds, sites, since, until, request.databases, tuple(chosen.items()))

    def _ask(
        self, snapshot: Snapshot, question: Question, request: SearchRequest, start: float
    ) -> tuple[Compiled, _Counted, Found]:
        """Return the question as a query, counts over all that it finds, and the best of it.

        *start*: when the answer was begun.

        Counting comes first: it tells cheaply whether there is anything, and in which languages to rank.
        """
        clauses = self._clauses(snapshot)
        compiled = clauses.compile(question)
        counted = snapshot.facets(compiled.matching, ("kind", "site", "slot"), self._starts())
        slots = counted[0]["slot"]
        if not slots:
            clauses.learn(question, partial(self._late, start))
        if clauses.missed:
            self._pause(max(0.0, start + self._limits.first_s - self._clock.monotonic()))
        if not slots:
            return compiled, counted, Found(0)
        found = snapshot.find(
            compiled,
            offset=request.offset,
            limit=request.limit,
            order=request.order,
            weights=self._weights,
            slots=slots,
        )
        return compiled, counted, found

    def _starts(self) -> list[int]:
        now = int(self._clock.wall())
        return [now - age for age in DATE_RANGES.values()]

    def _facets(
        self, snapshot: Snapshot, question: Question, compiled: Compiled, counted: _Counted
    ) -> Facets:
        """Count for the filters: each as if it were not set itself, so that another choice stays in sight."""
        filters = question.filters
        chosen = {
            "kinds": bool(filters.kinds),
            "sites": bool(filters.sites),
            "dates": filters.since_s is not None or filters.until_s is not None,
        }
        fields, dates = counted
        kinds, sites = fields["kind"], fields["site"]

        def without(but: str) -> Compiled:
            return self._clauses(snapshot).compile(question, but=but)

        if chosen["kinds"]:
            kinds = snapshot.facets(without("kinds").matching, ("kind",))[0]["kind"]
        if chosen["sites"]:
            sites = snapshot.facets(without("sites").matching, ("site",))[0]["site"]
        if chosen["dates"]:
            dates = snapshot.facets(without("dates").matching, (), self._starts())[1]
        classes = snapshot.class_facets(compiled.matching) if fields["slot"] else {}
        for name, _ in filters.classes:
            own = snapshot.class_facets(without(f"class:{name}").matching).get(name)
            if own:
                classes[name] = own
        return Facets(
            kinds,
            sites,
            {name: n for name, n in zip(DATE_RANGES, dates, strict=True) if n},
            classes,
            {name: self._labels(name) for name in classes},
        )

    def _results(
        self, highlighter: Highlighter, found: Found, offset: int, start: float
    ) -> tuple[SearchResult, ...]:
        rows = [hit.card.id for hit in found.hits if hit.card.snippet]
        texts: Mapping[int, tuple[str, bool]] = {}
        if rows and not self._late(start):
            try:
                texts = self._openings(rows, _OPENING_BYTES)
            except CatalogError as error:
                # A result without its excerpt is better than no results; `ingather catalog check` names the damage.
                self._log.warning("no-texts", detail=str(error))
        return tuple(
            self._result(highlighter, hit, rank, texts.get(hit.card.id, ("", True)), start)
            for rank, hit in enumerate(found.hits, start=offset + 1)
        )

    def _rest(self, row: int) -> str:
        try:
            return self._openings([row], _MOST_BYTES).get(row, ("", True))[0]
        except CatalogError as error:
            self._log.warning("no-texts", detail=str(error))
            return ""

    def _result(
        self, highlighter: Highlighter, hit: Hit, rank: int, opening: tuple[str, bool], start: float
    ) -> SearchResult:
        card = hit.card
        snippet: tuple[Fragment, ...] = ()
        if card.snippet and not self._late(start):
            text, whole = opening
            rest = None if whole else partial(self._rest, card.id)
            snippet = highlighter.fragments(text, card.language, rest=rest) if text else ()
            snippet = snippet or highlighter.lead(card.description or text)
        return SearchResult(
            rank=rank,
            id=card.id,
            url=card.url,
            title=card.title,
            title_segments=highlighter.mark(card.title, card.language),
            snippet=snippet,
            site=card.site,
            path=card.path,
            kind=card.kind,
            media_type=card.media_type,
            language=card.language,
            date_s=card.date_s,
            size=card.size,
            score=hit.score,
            source=card.source,
            display_url=card.display,
            title_original=card.title_original,
            classes=card.classes,
        )

    def _help(self, snapshot: Snapshot, question: Question, words: list[Word], start: float) -> Help:
        """Return ways on from nothing, looked for within what the viewer may see."""
        clauses = self._clauses(snapshot)
        unknown: list[str] = []
        for word in words:
            if self._late(start):
                return Help(unknown=tuple(unknown))
            if terms("xx", clean(word.text)) and not clauses.sees(word, question.chains):
                unknown.append(word.text)
        corrected: dict[str, str] = {}
        for said in unknown[:_MAX_CORRECTED]:
            if self._late(start):
                break
            better = correction(said, lambda prefix, limit: snapshot.words(prefix, question.chains, limit))
            if better:
                corrected[said] = better
        nodes = tuple(
            Word(corrected.get(n.text, n.text)) if isinstance(n, Word) else n for n in question.tree.nodes
        )
        return Help(
            did_you_mean=render(AllOf(nodes)) if corrected else "",
            unknown=tuple(unknown),
            without_filters=self._total(snapshot, replace(question, filters=Filters()))
            if question.filters
            else 0,
        )

    def _total(self, snapshot: Snapshot, question: Question) -> int:
        compiled = self._clauses(snapshot).compile(question)
        return snapshot.find(compiled, offset=0, limit=0, order=Order.RELEVANCE).total

    def _late(self, start: float) -> bool:
        return self._clock.monotonic() - start > self._limits.time_s

    def _since(self, start: float) -> float:
        return round((self._clock.monotonic() - start) * 1000, 1)
