"""Changing resource descriptions: submit requests become transactions, directly or by the home's owner.

What arrives is prepared first (:class:`Preparing`: canonical URLs, aliases, the view, the schema), then carried out in
groups (:func:`submit_job`), so that a million descriptions need no more memory than five hundred.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ingather.app.access.policing import use_policy_of
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.jobs import Job
from ingather.app.operating import follow_directly
from ingather.app.owner import owner_address
from ingather.catalog.descriptions.sqlite_descriptions import NewDescription, Parts, Put
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import Loaded
from ingather.conf.rd.rdm import Submit, write_submit
from ingather.conf.rd.rdschema import RdSchema
from ingather.conf.rd.soif_reader import read_soif
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import HomeLockedError, IngatherError, UrlError, UsageError
from ingather.filters.sites import SiteTable
from ingather.model.description import Attributes
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["GROUP", "Preparing", "RdWriter", "SiteSources", "SourceOf", "Tally", "groups_of", "submit_job"]

GROUP: Final = 500
_GROUP_CHARS: Final = 2 << 20
_REFUSALS: Final = 100
_PATIENCE_S: Final = 300.0
_MOST_SENT: Final = 8 << 20
SourceOf = Callable[[str], tuple[str, str]]
"""Gives the source (name, access) of a URL that nobody knows yet."""


@dataclass(slots=True)
class Tally:
    """What became of documents: *counts* by outcome, the first reasons why some were refused, warnings."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)
    warned: int = 0
    warnings: list[str] = field(default_factory=list)

    def refuse(self, text: str) -> None:
        """Note that a document was not taken."""
        self.counts["refused"] += 1
        if len(self.refusals) < _REFUSALS:
            self.refusals.append(text)

    def warn(self, text: str) -> None:
        """Note something odd."""
        self.warned += 1
        if len(self.warnings) < _REFUSALS:
            self.warnings.append(text)

    def add(self, other: "Tally") -> None:
        """Add what another one counted."""
        self.counts.update(other.counts)
        self.warned += other.warned
        self.refusals += other.refusals[: max(_REFUSALS - len(self.refusals), 0)]
        self.warnings += other.warnings[: max(_REFUSALS - len(self.warnings), 0)]


@dataclass(frozen=True, slots=True)
class Preparing:
    """What is done to documents before they are stored.

    Attributes:
        schema: names aliases and types.
        aliases: whether aliases are replaced.
        check: whether values are compared with the schema (warnings; for the editor's layer: refusals).
    """

    schema: RdSchema
    aliases: bool = True
    check: bool = True

    def prepared(self, submit: Submit, tally: Tally) -> Submit:
        """Return *submit* with what can be stored; the rest is in *tally*."""
        documents = []
        for url, given in submit.documents:
            try:
                known = canonical(url)
            except UrlError as error:
                tally.refuse(f"E-RD-URL: {error.text if url else 'a document has no URL'}")
                continue
            attributes = self._attributes(submit, given)
            faults = self._faults(submit, attributes)
            if faults and submit.layer == "editor":
                tally.refuse(f"E-RD-EDIT: {known}: {faults[0]}")
                continue
            for fault in faults:
                tally.warn(f"W-RD-TYPE: {known}: {fault}")
            documents.append((known, attributes))
        return replace(submit, documents=documents)

    def _attributes(self, submit: Submit, given: Mapping[str, tuple[str, ...]]) -> Attributes:
        found = self.schema.renamed(given) if self.aliases else dict(given)
        found.pop("url", None)  # it is the document's own
        if submit.operation == "update":  # an empty value takes the attribute away
            found = {name: () if values == ("",) else values for name, values in found.items()}
        return {n: v for n, v in found.items() if n in submit.view} if submit.view else found

    def _faults(self, submit: Submit, attributes: Attributes) -> list[str]:
        if not self.check or submit.operation == "delete":
            return []
        found = []
        for name, values in attributes.items():
            attribute = self.schema.attribute(name)
            if submit.layer == "editor" and not attribute.editable:
                found.append(f"{name} cannot be edited (rd-schema.conf)")
            elif values and (fault := attribute.fault(values)):
                found.append(fault)
        return found


def submit_job(submit: Submit, source_of: SourceOf) -> Job:
    """Return the work of a prepared request; its answer is a :class:`Tally`."""

    def job(writer: CatalogWriter, applied: Applied, now_s: float) -> Tally:
        tally = Tally()
        for url, attributes in submit.documents:
            if submit.operation == "delete":
                reason = f"description deleted by hand ({submit.type} data)"
                gone = writer.descriptions.delete(url, Parts(submit.type), reason, now_s, applied)
                tally.counts["deleted" if gone else "unknown"] += 1
                continue
            source, access = (submit.source, "") if submit.source else source_of(url)
            new = NewDescription(
                url,
                "page" if submit.type == "nonpersistent" else submit.layer,
                attributes,
                source,
                access,
                merge=submit.operation == "update",
                known=submit.operation == "update",
                database=submit.database,
            )
            put = writer.descriptions.put(new, now_s, applied)
            if put in _REFUSED:
                tally.refuse(f"{url}: {_REFUSED[put]}")
            else:
                tally.counts[put.value] += 1
        return tally

    return job


_REFUSED: Final[Mapping[Put, str]] = {
    Put.UNKNOWN: "there is no description to change",
    Put.REMOVED: "it was removed by hand; bring it back with: ingather undelete",
    Put.COLLISION: "its key belongs to another URL",
}


def groups_of(submit: Submit, documents: Iterable[tuple[str, Attributes]]) -> Iterator[Submit]:
    """Cut *documents* into requests that fit into memory and into a transaction."""
    group: list[tuple[str, Attributes]] = []
    size = 0
    for url, attributes in documents:
        chars = len(url) + sum(len(n) + sum(map(len, v)) for n, v in attributes.items())
        if group and (len(group) >= GROUP or size + chars > _GROUP_CHARS):
            yield replace(submit, documents=group)
            group, size = [], 0
        group.append((url, attributes))
        size += chars
    if group:
        yield replace(submit, documents=group)


class SiteSources:
    """The source of a URL by the sites of the configuration, else ``web``, as a visit would have it."""

    def __init__(self, loaded: Loaded, sources: Mapping[str, SourceConf]) -> None:
        self._sites = SiteTable(loaded.rules, depth=loaded.robot.depth)
        self._sources = sources

    def __call__(self, url: str) -> tuple[str, str]:
        """Return (source, access)."""
        site = self._sites.site_of(split(url).host)
        name = site.site.source if site is not None else "web"
        conf = self._sources.get(name)
        return name, "" if conf is None else str(conf.access)


class RdWriter:
    """Carries requests out on a home, one transaction a group; ``with`` from first to last.

    Nobody owns the home: done here, and the index follows at the end. A running ``serve`` owns it: each group
    is a submit request to its admin listener.
    """

    def __init__(self, home: Home, settings: Settings, source_of: SourceOf) -> None:
        self._home, self._settings, self._source_of = home, settings, source_of
        self._clock = SystemClock()
        self._lock: Any = None
        self._writer: CatalogWriter | None = None
        self._locked: HomeLockedError | None = None
        self._sequence = 0

    def __enter__(self) -> Self:
        try:
            self._lock = self._home.lock("ingather rd")
        except HomeLockedError as locked:
            self._locked = locked
            return self
        try:
            self._writer = CatalogWriter(Path(database_of(self._home)))
            use_policy_of(self._writer, self._home)
        except BaseException:
            self._lock.release()
            raise
        self._sequence = self._writer.applier.sequence
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            sequence = writer.applier.sequence
            writer.close()
            if sequence > self._sequence:
                follow_directly(follower_of(self._home, self._settings, self._clock), sequence)
        finally:
            self._lock.release()

    def write(self, submit: Submit) -> Tally:
        """Carry out one prepared group; durable when this returns.

        Raises:
            HomeLockedError: the owner has no listener (a crawl), or does not answer.
            IngatherError: the owner refuses.
        """
        if self._writer is None:
            return self._sent(submit)
        applied = Applied()
        now_s = self._writer.applier.now_s = self._clock.wall()
        job = submit_job(submit, self._source_of)
        tally: Tally = self._writer.transaction(lambda w: job(w, applied, now_s))
        return tally

    def _sent(self, submit: Submit) -> Tally:
        """Ask the owner, in messages that are not longer than it takes."""
        message = write_submit(submit)
        if len(message) <= _MOST_SENT:
            return self._ask(message)
        tally = Tally()
        if len(submit.documents) == 1:
            url, _ = submit.documents[0]
            tally.refuse(f"{url}: longer than {_MOST_SENT} bytes; bring it in while serve does not run")
            return tally
        half = len(submit.documents) // 2
        for part in (submit.documents[:half], submit.documents[half:]):
            tally.add(self._sent(replace(submit, documents=part)))
        return tally

    def _ask(self, message: bytes) -> Tally:
        locked = self._locked
        if locked is None:
            raise UsageError("the writer is closed")
        host, port = owner_address(self._home, self._settings, locked)
        connection = HTTPConnection(host, port, timeout=_PATIENCE_S)
        try:
            headers = {
                "Authorization": f"Bearer {self._home.admin_token()}",
                "Content-Type": "application/index.obj",
            }
            connection.request("POST", "/api/v1/rdm", body=message, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException) as error:
            raise locked from error
        finally:
            connection.close()
        objects, _ = read_soif(body)
        if answer.status != 200 or not objects or objects[0].template != "RESPONSE":  # noqa: PLR2004 - RFC 9110
            said = objects[0].first("error-message") if objects else ""
            raise IngatherError(said or f"the owner of the home answered {answer.status}")
        tally = Tally()
        for name, values in objects[0].texts().items():
            if name == "submit-refusal":
                tally.refusals += values
            elif name.startswith("submit-") and values[0].isdigit() and name != "submit-csid":
                tally.counts[name.removeprefix("submit-")] += int(values[0])
        return tally
