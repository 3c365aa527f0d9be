"""From a URL to the whole answer, a JSON-ready tree (``docs/reference/explain.md`` lists its members)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ingather.catalog.deletion.sqlite_tombstones import Observation, Stone
from ingather.catalog.sqlite_reader_more import PageExtra
from ingather.errors import CatalogDamagedError
from ingather.explain.forms import instant, short, step_form, told_form, verdict_form
from ingather.explain.headline import headline
from ingather.explain.proof import evidence_form, stone_form
from ingather.feeds.admitting import login_wanted
from ingather.fetch import RobotsKind
from ingather.fetch.robots import parse as parse_robots
from ingather.filters import Convert, Decision, Engine
from ingather.model.candidate import Candidate, Pushed
from ingather.model.description import DISPLAY_URL, LAYERS, Attributes
from ingather.model.page import Page
from ingather.model.resource import Failure, Request, Response
from ingather.model.url import spellings
from ingather.model.urlparts import split
from ingather.ports.catalog import CatalogReader, UrlRecord

__all__ = ["ExplainParts", "Explainer", "Reader"]


class Reader(CatalogReader, Protocol):
    """The catalog as explain reads it: the port and a few answers more."""

    def meant(self, text: str) -> str:
        """Return the canonical URL that a person means who types *text*; raises :class:`UrlError`."""

    def stored_response(self, url_id: int) -> Response | None:
        """Return the kept response, verified; ``None`` if its body is not kept."""

    def origin_host(self, origin: str) -> tuple[Any, ...] | None:
        """Return what is kept about an origin."""

    def stone(self, url_id: int) -> Stone | None:
        """Return its tombstone with who wanted it."""

    def evidence(self, url_id: int) -> list[Observation]:
        """Return what was seen of it that may cost it its description, since it was found last."""

    def held(self, url_id: int) -> str | None:
        """Return why its deletion is held."""

    def hold_of(self, url_id: int) -> int | None:
        """Return the hold that it is in."""

    def pushed(self, url_id: int) -> bool:
        """Whether the host of a URL needs no site, because a trusted sender named the URL or the page that led to it."""

    def access(self, url_id: int) -> str:
        """Return the access of its source: ``public`` or ``secure``."""

    def disabled(self, url_id: int) -> float | None:
        """Return since when its source is disabled, ``None`` = it is not."""

    def inlink(self, url_id: int) -> tuple[int, list[str]]:
        """Return how many pages link to it and what they call it."""

    def page_extra(self, url_id: int) -> PageExtra | None:
        """Return what is kept of a page beside its attributes, if anything is."""

    def likeness(self, url_id: int) -> dict[str, Any]:
        """Return ``fingerprint``, ``near``, ``canonical`` of a row."""

    def listings(self, url_id: int) -> list[dict[str, Any]]:
        """Return what feeds say of it, the owner first."""

    def last_sequence(self) -> int:
        """Return the newest change."""


@dataclass(frozen=True)
class ExplainParts:
    """What answering needs.

    Attributes:
        reader: makes a reader of one's own, or gives ``None`` when there is no catalog yet.
        engine: the filters of the present configuration; version: its number (0 = not published).
        agent: product token for robots.txt; obey: whether it is obeyed.
        indexed: whether the index holds a row, and its last sequence; ``None`` = no index.
        fetch: asks for a URL, for a source, through the egress gate (robots.txt first), for ``--fetch``.
        now_s: wall time.
        read_page, convert: make pages of stored responses, documents in a converter.
        summarize: runs a Harvest program over a stored response; gives nothing when it fails.
        overlay: what external metadata lays over a URL, and why; ``None`` = not asked.
        web_feeds: what web feeds say of a canonical URL, how it stands as a listed document, or the feed that it is; ``None`` = not asked.
        named: who names what belongs to a source: pushed feeds, web feeds, or nobody.
        alias: what is known of its host as another name of one; ``None`` = not asked.
        ways: of (source, URL) the source's ways that failed last and may be those to it; ``None`` = not asked.
    """

    reader: Callable[[], Reader | None]
    engine: Engine
    version: int
    agent: str
    obey: bool
    indexed: Callable[[int], tuple[bool, int] | None]
    fetch: Callable[[Request, str], Response | Failure] | None
    now_s: Callable[[], float]
    read_page: Callable[[Response], Page] | None = None
    convert: Callable[[Convert, Response], Page] | None = None
    summarize: Callable[[str, Response], Attributes] | None = None
    overlay: Callable[[str], dict[str, Any]] | None = None
    web_feeds: Callable[[str], dict[str, Any] | None] | None = None
    listed: Callable[[str], bool] = lambda _source: False
    alias: Callable[[str], dict[str, Any] | None] | None = None
    ways: Callable[[str, str], list[dict[str, Any]]] | None = None


class Explainer:
    """Answers one question at a time; several threads may each have one."""

    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    def explain(self, text: str, *, fetch: bool = False) -> dict[str, Any]:
        """Return everything that is known and decided about a URL.

        Args:
            text: a URL, canonical or not.
            fetch: for what is not stored, ask the network (nothing is kept).

        Raises:
            UrlError: *text* is no URL.
        """
        typed = text if "://" in text else f"https://{text}"
        reader = self._parts.reader()
        try:
            url = spellings(typed)[-1] if reader is None else reader.meant(typed)
            return self._answer(text, url, reader, fetch=fetch)
        finally:
            if reader is not None:
                reader.close()

    def _answer(self, asked: str, url: str, reader: Reader | None, *, fetch: bool) -> dict[str, Any]:
        record = reader.find(url) if reader is not None else None
        answer: dict[str, Any] = {"url": url, "asked": asked, "known": record is not None}
        response: Response | Failure | None = None
        if reader is not None and record is not None:
            answer.update(self._known(reader, record))
            response = self._stored(reader, record, answer)
        answer["robots"] = self._robots(reader, url)
        if response is None and fetch and self._parts.fetch is not None:
            owner = record.source if record is not None else self._decide(url, None, None).source or "web"
            response = self._fetched(url, owner, answer)
        decision = self._decide(
            url,
            record,
            response if isinstance(response, Response) else None,
            self._pushed(reader, record, answer),
        )
        answer["decision"] = _decision_form(decision, version=self._parts.version)
        answer["index"] = self._index(reader, record)
        if self._parts.overlay is not None:
            answer["overlay"] = self._parts.overlay(url)
        listed = self._parts.web_feeds(url) if self._parts.web_feeds is not None else None
        if listed is not None:
            answer["web_feeds"] = listed
        if record is not None and self._parts.ways is not None:
            answer["ways"] = self._parts.ways(record.source, url)
        if record is not None:
            owned = next((listing["authmethod"] for listing in answer["feeds"] if listing["owner"]), "")
            wanted = login_wanted(url, record.source, owned, record.outcome, record.status)
            answer |= {"needs": wanted} if wanted else {}
        alias = self._parts.alias(url) if self._parts.alias is not None else None
        if alias is not None:
            answer["alias"] = alias
        answer["answer"] = headline(answer)
        return answer

    def _known(self, reader: Reader, record: UrlRecord) -> dict[str, Any]:
        referrers = reader.referrers(record.id)
        description, alike = reader.description(record.id), reader.likeness(record.id)
        links, anchors = reader.inlink(record.id)
        known: dict[str, Any] = {
            "id": record.id, "source": record.source, "access": reader.access(record.id), "disabled": instant(reader.disabled(record.id)), "state": record.state.name.lower(),
            "outcome": record.outcome.name.lower() if record.outcome is not None else None, "status": record.status or None,
            "detail": record.detail, "where": record.where, "config_version": record.config_version or None,
            "depth": record.depth, "described": record.described, "size": record.size, "flags": list(record.flags),
            "last_visit": instant(record.fetched_s), "next_visit": instant(record.due_s), "etag": record.etag,
            "last_modified": record.last_modified, "digest": record.digest, "redirects_to": record.redirects_to or None,
            "duplicate_of": record.duplicate_of or None, "found": {"referrers": referrers, "starting_point": referrers[-1] if referrers else record.url},
            "visits": [
                {"at": instant(v.at_s), "outcome": v.outcome.name.lower(), "status": v.status or None, "detail": v.detail, "where": v.where}
                for v in reader.visits(record.id)
            ],
            "tombstone": stone_form(reader.stone(record.id)), "evidence": evidence_form(reader.evidence(record.id)),
            "held": reader.held(record.id), "hold": reader.hold_of(record.id), "linked_from": links, "anchors": anchors, **alike,
        }  # fmt: skip
        if description is not None:
            known["layers"] = {
                layer: {name: [short(v) for v in values] for name, values in sorted(description.layers[layer].items())}
                for layer in LAYERS if layer in description.layers
            }  # fmt: skip
            known["origins"] = {name: description.origin(name) for name in sorted(description.effective())}
            known.update(told_form(reader.page_extra(record.id)))
            known["shown_as"] = next(iter(description.effective().get(DISPLAY_URL, ())), record.url)
        known["feeds"] = [
            {**listing, "at": instant(listing["at"]) if listing["at"] is not None else None}
            for listing in reader.listings(record.id)
        ]
        return known

    def _stored(self, reader: Reader, record: UrlRecord, answer: dict[str, Any]) -> Response | None:
        try:
            return reader.stored_response(record.id)
        except CatalogDamagedError as error:
            answer["damaged"] = error.text
            return None

    def _robots(self, reader: Reader | None, url: str) -> dict[str, Any]:
        origin = split(url).origin
        kept = reader.origin_host(origin) if reader is not None else None
        if not self._parts.obey:
            return {"allowed": True, "detail": "robots.txt is not obeyed (enable-robots-txt in robot.conf)"}
        if kept is None or not kept[1]:
            return {"allowed": None, "detail": "robots.txt was never asked for"}
        kind, detail, at, body = kept[1], kept[2], kept[3], kept[7]
        found: dict[str, Any] = {"kind": kind, "detail": detail, "read": instant(at)}
        if kind == RobotsKind.UNREACHABLE:
            return found | {"allowed": False, "why": "unreachable: nothing may be fetched until it answers"}
        verdict = parse_robots(body).decide(self._parts.agent, url) if kind == RobotsKind.RULES else None
        if verdict is None:
            return found | {"allowed": True}
        return found | {
            "allowed": verdict.allowed,
            "line": verdict.line or None,
            "text": verdict.text,
            "agent": verdict.agent,
            "why": verdict.reason,
        }

    def _fetched(self, url: str, source: str, answer: dict[str, Any]) -> Response | Failure | None:
        if self._parts.fetch is None:
            return None
        got = self._parts.fetch(Request(url), source)
        if isinstance(got, Failure):
            answer["fetched"] = {"failure": str(got.kind), "detail": got.detail}
        else:
            answer["fetched"] = {
                "status": got.status,
                "bytes": len(got.body),
                "content_type": got.header("content-type"),
            }
        return got

    def _pushed(self, reader: Reader | None, record: UrlRecord | None, answer: dict[str, Any]) -> Pushed:
        """Return how the URL's owner came to it: hosts that feeds name need no site."""
        owner = next((listing for listing in answer.get("feeds", ()) if listing["owner"]), None)
        if owner is not None and not owner["web"]:
            return Pushed.CONTENT
        if record is None or reader is None:
            return Pushed.NO
        if self._parts.listed(record.source):
            return Pushed.LISTED
        return Pushed.URL if reader.pushed(record.id) else Pushed.NO

    def _decide(
        self, url: str, record: UrlRecord | None, response: Response | None, pushed: Pushed = Pushed.NO
    ) -> Decision:
        candidate = Candidate(
            url=url,
            depth=record.depth if record else 0,
            source=record.source if record else "web",
            pushed=pushed,
        )
        return self._parts.engine.decide(
            candidate,
            response,
            trace=True,
            read_page=self._parts.read_page,
            convert=self._parts.convert,
            summarize=self._parts.summarize,
            now_s=self._parts.now_s(),
        )

    def _index(self, reader: Reader | None, record: UrlRecord | None) -> dict[str, Any]:
        found = self._parts.indexed(record.id) if record is not None else self._parts.indexed(0)
        if found is None:
            return {"indexed": False, "detail": "there is no index"}
        behind = reader.last_sequence() - found[1] if reader is not None else 0
        return {"indexed": found[0], "sequence": found[1], "behind": max(behind, 0)}


def _decision_form(decision: Decision, *, version: int) -> dict[str, Any]:
    return {
        "version": version, "site": decision.site, "source": decision.source, "enumeration": verdict_form(decision.enumeration),
        "generation": verdict_form(decision.generation), "links": len(decision.links), "over_max": decision.over_max, "flags": list(decision.flags),
        "steps": [step_form(step) for step in decision.trace],
    }  # fmt: skip
