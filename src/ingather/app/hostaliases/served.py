"""Site probes and host aliases under ``ingather serve``, for the threads of the admin listener."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ingather.app.hostaliases.desk import AliasDesk
from ingather.app.jobs import Job
from ingather.app.siteprobe.desk import HomeProbe
from ingather.catalog.sqlite_changes import Applied
from ingather.errors import UsageError
from ingather.model.decided import By

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["ServedHosts"]


class ServedHosts:
    """What the admin listener may ask about hosts; implements :class:`ingather.web.hosts_board.HostsBoard`.

    Args:
        gathering: whose home it is.
        ask: runs a coroutine on the keeper's loop and returns its answer.
    """

    def __init__(self, gathering: "Gathering", ask: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._gathering, self._ask = gathering, ask
        self._desk = AliasDesk(gathering.home, gathering.sources, self._do)

    def probe(
        self, names: Sequence[str], *, dns: bool, redirects: bool, domains: bool
    ) -> list[dict[str, Any]]:
        """Look at hosts; see :meth:`ingather.app.siteprobe.desk.HomeProbe.probe`."""
        gathering = self._gathering
        own = HomeProbe(
            gathering.home, gathering.settings, dict(gathering.sources), own_ports=gathering.plan.own_ports
        )
        return own.probe(names, dns=dns, redirects=redirects, domains=domains)

    def aliases(self) -> list[dict[str, Any]]:
        """Return the host aliases."""
        return self._desk.listed()

    def decide(self, verb: str, fields: Mapping[str, str], by: By) -> dict[str, Any]:
        """Propose, apply, refuse or remove an alias.

        Raises:
            UsageError: a field is wrong or missing, or it must not be.
        """
        if verb == "propose":
            return self._desk.propose()
        alias = fields.get("alias", "")
        if verb == "apply":
            return self._desk.apply(alias, fields.get("host", ""), by)
        if verb == "refuse":
            return self._desk.refuse(alias, by)
        if verb == "remove":
            return self._desk.remove(alias, by)
        raise UsageError(f"{verb!r} is nothing that can be done with an alias")

    def _do(self, path: str, _form: Mapping[str, str] | None, job: Job) -> Any:
        """Run a job on the keeper; if aliases may be others then, gatherers begin anew with them."""
        gathering = self._gathering
        keeper, clock = gathering.keeper, gathering.clock
        if path.endswith("/propose"):

            def note(writer: Any, applied: Applied) -> Any:
                return job(writer, applied, clock.wall())

            return self._ask(keeper.write(note))

        def work(writer: Any, applied: Applied) -> tuple[Any, list[Any]]:
            return job(writer, applied, clock.wall()), writer.aliases.all()

        def adopt(done: tuple[Any, list[Any]]) -> tuple[tuple[object, ...], int]:
            gathering.names.adopt(done[1])
            return (gathering.blueprint,), gathering.version

        answer, _ = self._ask(keeper.switch(work, adopt))
        return answer
