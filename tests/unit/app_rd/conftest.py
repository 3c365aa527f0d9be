"""A home with descriptions, and RDM answered over it without a listener."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingather.app.configuration import read_configuration
from ingather.app.descriptions.rdm import RdmService
from ingather.app.descriptions.store import SiteSources, Tally
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.jobs import Job
from ingather.app.searching import search_service
from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.rd.soif import SoifObject, write_object
from ingather.conf.rd.soif_reader import read_soif
from ingather.testing.rig import Rig

Import = Callable[..., None]
START_S = 1_750_000_000.0


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home).init()


@pytest.fixture
def bring(rig: Rig, tmp_path: Path) -> Import:
    """Import documents given as (URL, attributes)."""

    def bring(
        *documents: tuple[str, dict[str, str | tuple[str, ...]]],
        options: tuple[str, ...] = (),
        verb: str = "import",
    ) -> None:
        file = tmp_path / "in.soif"
        file.write_bytes(b"".join(write_object("DOCUMENT", url, values) for url, values in documents))
        done = rig.call("rd", verb, str(file), *options)
        assert done.status == 0, done.err

    return bring


class Rdm:
    """Sends messages, gives back what was answered."""

    def __init__(self, rig: Rig) -> None:
        home = Home.open(rig.path)
        configuration = read_configuration(home).require()
        service, _, self._texts = search_service(home, configuration.settings)
        self._writer = CatalogWriter(database_of(home))
        self.service = RdmService(
            reader=lambda: DescriptionReader(database_of(home), home.bodies),
            search=service.search,
            write=self._write,
            source_of=lambda: SiteSources(configuration.loaded, configuration.sources),
            taxonomy=lambda: configuration.loaded.classification.taxonomy,
            schema=lambda: configuration.loaded.rd_schema,
            address="http://localhost:7070/",
        )

    def _write(self, job: Job) -> Tally:
        tally: Tally = self._writer.transaction(lambda w: job(w, Applied(), START_S))
        return tally

    def ask(self, *parts: bytes, status: int = 200) -> list[SoifObject]:
        answer = self.service.answer(b"".join(parts))
        objects, findings = read_soif(answer.body)
        assert not findings
        assert answer.status == status, objects[0].texts()
        return objects

    def query(self, kind: str, status: int = 200, **query: str) -> list[SoifObject]:
        body = write_object("RDMQUERY", "", {name.replace("_", "-"): value for name, value in query.items()})
        return self.ask(
            write_object("RDMHEADER", "", {"rdm-version": "1.0", "rdm-type": kind}), body, status=status
        )

    def close(self) -> None:
        self._texts.close()
        self._writer.close()


@pytest.fixture
def rdm(rig: Rig) -> Iterator[Callable[[], Rdm]]:
    """Open RDM over the home as it is now."""
    made: list[Rdm] = []

    def make() -> Rdm:
        made.append(Rdm(rig))
        return made[-1]

    yield make
    for one in made:
        one.close()
