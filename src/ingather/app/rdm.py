"""RDM over HTTP: queries and submit requests answered from catalog and index (specification 12.2, 12.3).

What a query is told is what a searcher who did not sign in would find: the access filter is the search
page's own. Any bytes get an answer in SOIF; what cannot be understood is answered with ``error-message``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Final

from ingather.app.operating import Job
from ingather.app.rdselect import Choice, Chosen, Unwritten, choose, data_of, soif_of
from ingather.app.rdstore import Preparing, SourceOf, Tally, submit_job
from ingather.catalog.sqlite_description_reader import DescriptionReader
from ingather.catalog.sqlite_descriptions import Parts
from ingather.conf.rdm import VERSION, RdmQuery, Submit, header, read_query, read_submit, response
from ingather.conf.rdschema import RdSchema
from ingather.conf.soif import SoifObject, write_object
from ingather.conf.soif_reader import SoifReader
from ingather.conf.taxonomy import Taxonomy, write_taxonomy
from ingather.errors import QueryError, UsageError
from ingather.index import Order
from ingather.search import SearchRequest, SearchResults

__all__ = ["RdmAnswer", "RdmService"]

_PAGE: Final = 100
_WINDOW: Final = 10_000
_MOST_OUT: Final = 16 << 20
"""Bytes of one answer; what does not fit is left out and said so."""
_DATE_ORDERS: Final = frozenset({"date", "-date", "-last-modified", "last-modified desc"})


@dataclass(frozen=True, slots=True)
class RdmAnswer:
    """SOIF, and the HTTP status that fits."""

    body: bytes
    status: int = 200


@dataclass(frozen=True, slots=True)
class RdmService:
    """Answers one message at a time; any number of threads may ask.

    Attributes:
        reader: opens a reader of the catalog, closed by whoever asked.
        search: answers a search.
        write: carries a job out in the writer's next transaction and returns its answer.
        source_of: gives what finds the source of new URLs by the configuration in force.
        taxonomy: gives the taxonomy in force.
        schema: gives the schema of descriptions in force.
        address: where the search page is.
    """

    reader: Callable[[], DescriptionReader]
    search: Callable[[SearchRequest], SearchResults]
    write: Callable[[Job], Tally]
    source_of: Callable[[], SourceOf]
    taxonomy: Callable[[], Taxonomy]
    schema: Callable[[], RdSchema]
    address: str = ""

    def answer(self, body: bytes) -> RdmAnswer:
        """Answer a message; bytes of any kind are no exception."""
        reading = SoifReader(BytesIO(body))
        objects = list(reading)
        broken = next((str(found) for found in reading.findings if found.is_error), "")
        csid = objects[0].first("catalog-service-id")[:512] if objects else ""
        try:
            return self._answered(objects, broken)
        except (UsageError, QueryError) as error:
            said = header("error-response", csid, error_message=str(error))
            if objects and objects[0].template == "REQUEST":
                said = write_object("RESPONSE", "", {"error-message": str(error)})
            return RdmAnswer(said, 400)

    def _answered(self, objects: Sequence[SoifObject], broken: str) -> RdmAnswer:
        if broken:
            raise UsageError(f"the message cannot be read: {broken}")
        if not objects:
            raise UsageError("the message is empty", hint="send an @RDMHEADER or a @REQUEST object")
        match objects[0].template:
            case "RDMHEADER":
                return self._query(read_query(objects))
            case "REQUEST":
                return self._submit(read_submit(objects))
            case other:
                raise UsageError(
                    f"the message begins with @{other}", hint="send an @RDMHEADER or a @REQUEST object"
                )

    # -- queries ------------------------------------------------------------------------------

    def _query(self, query: RdmQuery) -> RdmAnswer:
        match query.type.removesuffix("-request"):
            case "rd" | "rd-update":
                return RdmAnswer(self._descriptions(query))
            case "status":
                return RdmAnswer(header("status-response", query.csid) + self._status())
            case "server-description":
                return RdmAnswer(header("server-description-response", query.csid) + self._server())
            case "schema-description":
                return RdmAnswer(header("schema-description-response", query.csid) + self._schema())
            case "taxonomy-description":
                taxonomy = write_taxonomy(self.taxonomy())
                return RdmAnswer(header("taxonomy-description-response", query.csid) + taxonomy)
            case _:
                raise UsageError(
                    f"rdm-type {query.type[:40]!r} is none that we know",
                    hint="rd-request, status-request, server-description-request, schema-description-request or "
                    "taxonomy-description-request",
                )

    def _descriptions(self, query: RdmQuery) -> bytes:
        if query.language not in {"search", "compass", ""}:
            raise UsageError(
                f"rdm-query-language {query.language[:40]!r} is none that we know", hint="search"
            )
        aliases = self.schema().aliases
        view = tuple(aliases.get(name, name) for name in query.attributes)
        unwritten = Unwritten()
        written: list[bytes] = []
        size = 0
        total: int | None = None
        window: Iterator[Chosen]
        reader = self.reader()
        try:
            if query.scope in {"", "*"}:
                found = choose(reader, Choice(view=view, public=True), find=self._rows)
                window = islice(found, query.first - 1, query.first - 1 + query.hits)
            else:
                total, ids = self._found(query)
                known = reader.described(ids)
                rows = [known[one] for one in ids if one in known]
                # The index may lag behind a change of rights by a moment; the catalog does not.
                rows = [row for row in rows if row.access == "public" and row.shown]
                window = (
                    Chosen(row, description, data_of(description, Parts.MERGED, view))
                    for row, description in reader.descriptions(rows)
                )
            cut = False
            for chosen in window:
                one = soif_of(chosen.row.url, chosen.attributes, unwritten)
                if size + len(one) > _MOST_OUT:
                    cut = True
                    break
                size += len(one)
                written.append(one)
        finally:
            reader.close()
        many = "" if total is None else f" out of {total} hits"
        said = f"{len(written)} results{many}" + (", the rest would make this answer too long" if cut else "")
        return header("rd-response", query.csid, rdm_response_interpret=said) + b"".join(written)

    def _found(self, query: RdmQuery) -> tuple[int, list[int]]:
        order = Order.DATE if query.order in _DATE_ORDERS else Order.RELEVANCE
        ids: list[int] = []
        total = 0
        while len(ids) < query.hits or not query.hits:
            offset = query.first - 1 + len(ids)
            limit = max(0, min(_PAGE, query.hits - len(ids), _WINDOW - offset))
            page = self.search(SearchRequest(query.scope, offset, limit, order=order))
            total = page.total
            ids += [result.id for result in page.results]
            if not page.results:
                break
        return total, ids

    def _rows(self, words: str) -> Iterator[int]:
        for offset in range(0, _WINDOW, _PAGE):
            page = self.search(SearchRequest(words, offset, _PAGE))
            yield from (result.id for result in page.results)
            if len(page.results) < _PAGE:
                return

    def _status(self) -> bytes:
        reader = self.reader()
        try:
            databases = reader.databases()
            sequence = reader.last_sequence()
        finally:
            reader.close()
        return write_object(
            "RDMSTATUS",
            "",
            {
                "status": "ok",
                "rd-count": str(sum(databases.values())),
                "change": str(sequence),
                "database": [f"{name} {count}" for name, count in databases.items()],
            },
        )

    def _server(self) -> bytes:
        return write_object(
            "RDMSERVER",
            self.address,
            {
                "server-name": "Ingather",
                "rdm-version": VERSION,
                "rdm-query-language": "search",
                "rdm-type": [
                    "rd-request", "status-request", "server-description-request", "schema-description-request",
                    "taxonomy-description-request",
                ],
            },
        )  # fmt: skip

    def _schema(self) -> bytes:
        written = []
        for one in self.schema().attributes.values():
            fields: dict[str, str | tuple[str, ...]] = {
                "name": one.name,
                "description": one.description,
                "aliases": one.aliases,
                "editable": str(one.editable).lower(),
                "indexable": str(one.indexable).lower(),
                "score-multiplier": str(one.score),
                "data-type": one.type.value,
                "multi-valued": str(one.multi).lower(),
            }
            written.append(
                write_object("RDMSCHEMA", "", {name: value for name, value in fields.items() if value})
            )
        return b"".join(written)

    # -- submit requests ----------------------------------------------------------------------

    def _submit(self, submit: Submit) -> RdmAnswer:
        if submit.operation == "retrieve":
            return RdmAnswer(self._retrieved(submit))
        tally = Tally()
        prepared = Preparing(self.schema()).prepared(submit, tally)
        if prepared.documents:
            tally.add(self.write(submit_job(prepared, self.source_of())))
        counts = dict(tally.counts)
        if tally.warned:
            counts["warnings"] = tally.warned
        return RdmAnswer(response(submit.csid, counts, tally.refusals))

    def _retrieved(self, submit: Submit) -> bytes:
        """Only administrators get here, and a submit request is for them: nothing is hidden but what is deleted."""
        unwritten = Unwritten()
        written = []
        missing = size = 0
        reader = self.reader()
        try:
            for url, _ in submit.documents:
                choice = Choice(
                    "by_url", url.rstrip("*"), submit.database or "", Parts(submit.type), submit.view
                )
                found = list(choose(reader, choice, find=self._rows))
                missing += not found
                for chosen in found:
                    one = soif_of(chosen.row.url, chosen.attributes, unwritten)
                    size += len(one)
                    if size > _MOST_OUT:
                        raise UsageError(
                            f"the answer would be longer than {_MOST_OUT} bytes",
                            hint="ask for fewer documents",
                        )
                    written.append(one)
        finally:
            reader.close()
        return response(submit.csid, {"retrieved": len(written), "unknown": missing}) + b"".join(written)
