"""RDM over HTTP: queries and submit requests answered from catalog and index (specification 12.2, 12.3).

What a query is told is what a searcher who did not sign in would find: the access filter is the search
page's own. Any bytes get an answer in SOIF; what cannot be understood is answered with ``error-message``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from ingather.app.descriptions.query import Finding
from ingather.app.descriptions.selecting import Choice, Unwritten, choose, soif_of
from ingather.app.descriptions.server import (
    REQUESTS,
    schema_objects,
    server_object,
    status_object,
    taxonomy_objects,
)
from ingather.app.descriptions.store import Preparing, SourceOf, Tally, submit_job
from ingather.app.jobs import Job
from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.catalog.descriptions.sqlite_descriptions import Parts
from ingather.conf.rd.rdm import RdmQuery, Submit, header, read_query, read_submit, response
from ingather.conf.rd.rdschema import RdSchema
from ingather.conf.rd.soif import SoifObject, write_object
from ingather.conf.rd.soif_reader import SoifReader
from ingather.conf.rd.taxonomy import Taxonomy
from ingather.errors import QueryError, UsageError
from ingather.search import SearchRequest, SearchResults

__all__ = ["RdmAnswer", "RdmService"]

_MOST_OUT: Final = 16 << 20
"""Bytes of one answer; what does not fit is left out and said so."""


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
        match query.type:
            case "rd" | "rd-update":
                return RdmAnswer(self._descriptions(query))
            case "rd-delete":
                return RdmAnswer(self._deleted(query))
            case "status":
                reader = self.reader()
                try:
                    body = status_object(reader)
                finally:
                    reader.close()
            case "server-description":
                body = server_object(self.address)
            case "schema-description":
                body = schema_objects(self.schema(), query.scope)
            case "taxonomy-description":
                body = taxonomy_objects(self.taxonomy(), query.scope)
            case _:
                raise UsageError(
                    f"rdm-type {query.type[:40]!r} is none that we know", hint=", ".join(REQUESTS)
                )
        return RdmAnswer(self._header(query, f"{query.type}-response") + body)

    def _header(self, query: RdmQuery, kind: str, **more: str | tuple[str, ...]) -> bytes:
        """Whoever asked for something that does not exist learns so in ``rdm-ignored``."""
        return header(kind, query.csid, **more, rdm_ignored=query.ignored)

    def _descriptions(self, query: RdmQuery) -> bytes:
        self._check_language(query)
        unwritten = Unwritten()
        written: list[bytes] = []
        size = 0
        cut = False
        reader = self.reader()
        try:
            found = Finding(reader, self.search, self.schema()).found(query)
            for chosen in found.chosen:
                url = chosen.row.url
                own = {"url": (url,)} if "url" in query.attributes else {}
                one = soif_of(url, {**own, **chosen.attributes}, unwritten)
                if size + len(one) > _MOST_OUT:
                    cut = True
                    break
                size += len(one)
                written.append(one)
        finally:
            reader.close()
        many = "" if found.total is None else f" out of {found.total} hits"
        said = f"{len(written)} results{many}" + (", the rest would make this answer too long" if cut else "")
        return self._header(query, "rd-response", rdm_response_interpret=said) + b"".join(written)

    def _check_language(self, query: RdmQuery) -> None:
        if query.language not in {"search", "compass", ""}:
            raise UsageError(
                f"rdm-query-language {query.language[:40]!r} is none that we know", hint="search"
            )

    def _deleted(self, query: RdmQuery) -> bytes:
        """Delete whole descriptions, as a submit request for merged data does: tombstones, in one transaction."""
        self._check_language(query)
        if query.attributes or query.order:
            raise UsageError(
                "an rd-delete-request takes whole descriptions in no order",
                hint="leave out view-attributes and view-order; a submit request deletes parts",
            )
        if query.urls and query.scope:
            raise UsageError(
                "an rd-delete-request has a scope or @DOCUMENT objects, not both", hint="send two messages"
            )
        urls: Sequence[str] = query.urls
        if not urls:
            reader = self.reader()
            try:
                urls = Finding(reader, self.search, self.schema()).urls(query)
            finally:
                reader.close()
        tally = self._carried_out(Submit("delete", "merged", documents=[(url, {}) for url in urls]))
        said = ", ".join(f"{tally.counts[name]} {name}" for name in ("deleted", "unknown", "refused"))
        refusals = tuple(tally.refusals)
        return self._header(query, "rd-delete-response", rdm_response_interpret=said, submit_refusal=refusals)

    # -- submit requests ----------------------------------------------------------------------

    def _submit(self, submit: Submit) -> RdmAnswer:
        if submit.operation == "retrieve":
            return RdmAnswer(self._retrieved(submit))
        tally = self._carried_out(submit)
        counts = dict(tally.counts)
        if tally.warned:
            counts["warnings"] = tally.warned
        return RdmAnswer(response(submit.csid, counts, tally.refusals))

    def _carried_out(self, submit: Submit) -> Tally:
        tally = Tally()
        prepared = Preparing(self.schema()).prepared(submit, tally)
        if prepared.documents:
            tally.add(self.write(submit_job(prepared, self.source_of())))
        return tally

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
                found = list(choose(reader, choice, find=lambda _: iter(())))
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
