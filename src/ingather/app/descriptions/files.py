"""Resource descriptions in and out of a home: what ``ingather rd`` does, as streams."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from typing import Any, Final, Protocol

from ingather.app.clock import SystemClock
from ingather.app.configuration import Configuration
from ingather.app.descriptions.selecting import Choice, Chosen, Unwritten, choose, soif_of
from ingather.app.descriptions.store import Preparing, RdWriter, SiteSources, Tally, groups_of
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.searching import search_service
from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.conf.rd.rdm import Submit
from ingather.conf.rd.rdschema import moment_of
from ingather.conf.rd.soif_reader import SoifReader
from ingather.errors import UsageError
from ingather.model.description import Attributes
from ingather.ports.clock import Clock
from ingather.search import SearchRequest

__all__ = ["EXPIRE_DAYS", "Descriptions", "Export", "Sink", "form_of"]

EXPIRE_DAYS: Final = 90
"""How long a description lives that was brought in without a date: the vendor's rule (specification 12.4)."""
_DAY_S: Final = 86_400.0
_PAGE: Final = 100
_WINDOW: Final = 10_000
_TELL: Final = 10_000


class Sink(Protocol):
    """What is written to."""

    def write(self, data: bytes, /) -> int | None:
        """Take all of *data*."""


@dataclass(slots=True)
class Export:
    """What an export wrote."""

    documents: int = 0
    unwritten: Unwritten = field(default_factory=Unwritten)


class Descriptions:
    """The resource descriptions of one home; reads beside a running ``serve``, changes through it."""

    def __init__(self, home: Home, configuration: Configuration, *, clock: Clock | None = None) -> None:
        self._home, self._configuration = home, configuration
        self._clock = clock or SystemClock()
        self.schema = configuration.loaded.rd_schema

    # -- reading ------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[DescriptionReader]:
        """Open a reader for as long as it is needed."""
        reader = DescriptionReader(database_of(self._home), self._home.bodies)
        try:
            yield reader
        finally:
            reader.close()

    def chosen(self, choice: Choice) -> Iterator[Chosen]:
        """Yield what is chosen; names of the view may be aliases.

        Raises:
            UsageError: the choice makes no sense, or names a database that is not there.
        """
        self.check_database(choice.database)
        aliases = self.schema.aliases
        choice = replace(choice, view=tuple(aliases.get(name, name) for name in choice.view))
        with self.reading() as reader:
            yield from choose(reader, choice, find=self._found)

    def _found(self, words: str) -> Iterator[int]:
        service, _, texts = search_service(self._home, self._configuration.settings)
        try:
            for offset in range(0, _WINDOW, _PAGE):
                page = service.search(SearchRequest(words, offset, _PAGE))
                yield from (result.id for result in page.results)
                if len(page.results) < _PAGE:
                    return
        finally:
            texts.close()

    def databases(self) -> dict[str, int]:
        """Return how many descriptions each database has."""
        with self.reading() as reader:
            return reader.databases()

    def export(self, choice: Choice, sink: Sink, *, charset: str) -> Export:
        """Write what is chosen as SOIF."""
        done = Export()
        for one in self.chosen(choice):
            sink.write(soif_of(one.row.url, one.attributes, done.unwritten, charset=charset))
            done.documents += 1
        return done

    # -- changing -----------------------------------------------------------------------------

    def writer(self) -> RdWriter:
        """Return what carries changes out; use it with ``with``."""
        conf = self._configuration
        return RdWriter(self._home, conf.settings, SiteSources(conf.loaded, conf.sources))

    def check_source(self, name: str) -> None:
        """Refuse a source that no settings declare: its documents would be shown to nobody.

        Raises:
            UsageError: there is no such source.
        """
        if name and name not in self._configuration.sources:
            raise UsageError(
                f"there is no source {name!r}",
                hint=f"those of ingather.toml are: {', '.join(self._configuration.sources)}",
            )

    def check_database(self, name: str) -> None:
        """Refuse a database that nothing was ever put into.

        Raises:
            UsageError: there is no such database.
        """
        if not name:
            return
        with self.reading() as reader:
            names = reader.database_names()
        if name not in names:
            raise UsageError(f"there is no database {name!r}", hint=f"those there are: {', '.join(names)}")

    def submit(
        self, submit: Submit, reader: SoifReader, preparing: Preparing, *, tell: Callable[[int], None]
    ) -> Tally:
        """Carry out *submit* for every document that *reader* gives, group by group.

        A document that is not a ``@DOCUMENT`` is refused; what cannot be read is among the reader's findings.
        """
        tally = Tally()
        with self.writer() as writer:
            done = told = 0
            for group in groups_of(submit, _documents(reader, tally)):
                prepared = preparing.prepared(group, tally)
                if prepared.documents:
                    tally.add(writer.write(prepared))
                done += len(group.documents)
                if done - told >= _TELL:
                    told = done
                    tell(done)
        return tally

    def change(self, submit: Submit, documents: Iterator[tuple[str, Attributes]]) -> Tally:
        """Carry out *submit* for *documents*."""
        tally = Tally()
        with self.writer() as writer:
            for group in groups_of(submit, documents):
                prepared = Preparing(self.schema).prepared(group, tally)
                if prepared.documents:
                    tally.add(writer.write(prepared))
        return tally

    def expired(self, *, database: str = "", days: int = EXPIRE_DAYS) -> Iterator[str]:
        """Yield the URLs of descriptions whose time is over.

        That is said by ``rd-expires``. One that was brought in without it lives *days* from then on (0 = for
        ever); one that the robot or a feed keeps up does not end by itself.
        """
        now_s = self._clock.wall()
        now, oldest_s = datetime.fromtimestamp(now_s, UTC), now_s - days * _DAY_S
        with self.reading() as reader:
            for walked in reader.walk():
                rows = [row for row in walked if not database or row.database == database]
                brought = reader.brought_in([row.id for row in rows]) if days else {}
                for row, description in reader.descriptions(rows):
                    stated = description.effective().get("rd-expires", ())
                    moments = [moment for moment in map(moment_of, stated) if moment is not None]
                    if any(moment <= now for moment in moments) or (
                        not any(stated) and brought.get(row.id, inf) <= oldest_s
                    ):
                        yield row.url


def _documents(reader: SoifReader, tally: Tally) -> Iterator[tuple[str, Attributes]]:
    for one in reader:
        if one.template not in {"DOCUMENT", "FILE"}:
            tally.refuse(f"E-RD-TEMPLATE: byte {one.offset}: @{one.template} is not a description")
            continue
        yield one.url, one.texts()


def form_of(one: Chosen) -> Mapping[str, Any]:
    """Return a description as JSON shows it."""
    layers = {
        name: {k: list(v) for k, v in values.items()} for name, values in one.description.layers.items()
    }
    return {
        "url": one.row.url,
        "source": one.row.source,
        "access": one.row.access,
        "database": one.row.database,
        "shown": one.row.shown,
        "attributes": {name: list(values) for name, values in one.attributes.items()},
        "layers": layers,
    }
