"""What people want of host aliases: see them, have them looked for, choose, refuse, take back."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, Final

from ingather.app.credentials import read_credentials
from ingather.app.home import Home
from ingather.app.homeparts import database_of, load_checked
from ingather.app.hostaliases.finding import FIRST_LOOK, SAMPLE, Likeness, compare, pairs_to_compare
from ingather.app.hostaliases.judging import Side, authority_of, chain_refusal, refusal
from ingather.app.jobs import Job
from ingather.app.operating import Operations
from ingather.app.runsites import remembered_sites
from ingather.catalog.likeness.sqlite_aliases import AliasReader
from ingather.conf import Loaded
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError
from ingather.explain.forms import instant
from ingather.model.alias import AliasState, HostAlias
from ingather.model.decided import NOBODY, By
from ingather.model.source_name import BySource

__all__ = ["AliasDesk", "HomeAliases"]

_PATH: Final = "sites/aliases"
_MOST_ORIGINS: Final = 20_000
_SCHEMES: Final = ("http", "https")
_POLICY_PATHS: Final = 50
Do = Callable[[str, Mapping[str, str] | None, Job], Any]
"""Runs a job of (path, form) in a transaction, or has it run by who owns the home. Whoever gathers goes on with its aliases afterwards."""


class AliasDesk:
    """The host aliases of a home; every answer is JSON-ready. Any thread may ask.

    Args:
        home: whose; its catalog need not be there yet.
        sources: of ``ingather.toml``.
        do: see :data:`Do`.
    """

    def __init__(self, home: Home, sources: Mapping[str, SourceConf], do: Do) -> None:
        self._home, self._do = home, do
        self._sources = BySource({"web": SourceConf()}).with_(sources)

    def listed(self) -> list[dict[str, Any]]:
        """Return the aliases: ``alias``, ``host``, ``state``, ``evidence``, ``who``, ``at``."""
        with closing(self._reader()) as reader:
            return [_form(one) for one in reader.aliases()]

    def propose(self) -> dict[str, Any]:
        """Look for hosts that show the same and keep each pair as proposed; ``proposed``: the new ones, ``refused``: (pair, why) that must not be.

        What people decided before stands; a host that is proposed, applied or refused already is left alone.
        """
        found, refused = [], []
        with closing(self._reader()) as reader:
            known = {one.alias: one for one in reader.aliases()}
            loaded = self._loaded()
            for alias, host, likeness in _alike(reader):
                if alias in known or (host in known and known[host].host == alias):
                    continue
                why = refusal(*self._sides(reader, loaded, alias, host)) or chain_refusal(
                    alias, host, known.values()
                )
                if why:
                    refused.append({"alias": alias, "host": host, "why": why})
                else:
                    found.append(HostAlias(alias, host, AliasState.PROPOSED, likeness.told()))

        def job(writer: Any, _applied: Any, now_s: float) -> list[dict[str, Any]]:
            now_known = {one.alias for one in writer.aliases.all()}
            fresh = [
                HostAlias(one.alias, one.host, one.state, one.evidence, at_s=now_s)
                for one in found
                if one.alias not in now_known
            ]
            for one in fresh:
                writer.aliases.put(one)
            return [_form(one) for one in fresh]

        answer = self._do(f"{_PATH}/propose", {}, job)
        if isinstance(answer, dict):  # who owns the home has looked itself
            return answer
        return {"proposed": answer, "refused": refused}

    def apply(self, alias: str, host: str, by: By = NOBODY) -> dict[str, Any]:
        """Give URLs of *alias* the keys of *host*; ``visits``: URLs of the alias that are looked at again, and find their counterparts.

        Raises:
            UsageError: one is no host, or they must not become one.
        """
        one, two = _named(alias), _named(host)
        with closing(self._reader()) as reader:
            known = reader.aliases()
            sides = self._sides(reader, self._loaded(), one, two)
            why = chain_refusal(one, two, known) or refusal(*sides)
            likeness = _likeness(reader, one, two)
            origins = [origin for _, origin in reader.origins() if _authority(origin) == one]
        if why:
            raise UsageError(
                f"{one} cannot be an alias of {two}: {why}",
                hint="see docs/how-to/merge-two-names-of-a-host.md",
            )

        def job(writer: Any, applied: Any, now_s: float) -> dict[str, Any]:
            if late := chain_refusal(one, two, writer.aliases.all()):
                return {"problem": f"{one} cannot be an alias of {two}: {late}"}
            kept = HostAlias(
                one, two, AliasState.APPLIED, likeness.told() if likeness.common else "", by.author, now_s
            )
            writer.aliases.put(kept)
            visits = writer.registry.revisit(origins, applied) if origins else 0
            return {**_form(kept), "visits": visits}

        return _done(self._do(f"{_PATH}/apply", {"alias": one, "host": two, **_said(by)}, job))

    def refuse(self, alias: str, by: By = NOBODY) -> dict[str, Any]:
        """Refuse a proposal, or an alias that is applied: it is not proposed again.

        Raises:
            UsageError: there is none.
        """
        return self._end(alias, by, "refuse")

    def remove(self, alias: str, by: By = NOBODY) -> dict[str, Any]:
        """Forget an alias in whatever state; it may be proposed again.

        Raises:
            UsageError: there is none.
        """
        return self._end(alias, by, "remove")

    def _end(self, alias: str, by: By, verb: str) -> dict[str, Any]:
        name = _named(alias)

        def job(writer: Any, applied: Any, now_s: float) -> dict[str, Any]:
            one = next((one for one in writer.aliases.all() if one.alias == name), None)
            if one is None:
                return {"problem": f"{name} is no alias"}
            if verb == "refuse":
                writer.aliases.put(
                    HostAlias(name, one.host, AliasState.REFUSED, one.evidence, by.author, now_s)
                )
            else:
                writer.aliases.forget(name)
            waiting = writer.registry.rejudge_excluded(applied) if one.state is AliasState.APPLIED else 0
            return {**_form(one), "state": "refused" if verb == "refuse" else "removed", "visits": waiting}

        return _done(self._do(f"{_PATH}/{verb}", {"alias": name, **_said(by)}, job))

    def _loaded(self) -> Loaded:
        return load_checked(self._home).with_sites(remembered_sites(self._home))

    def _reader(self) -> AliasReader:
        database = database_of(self._home)
        if not database.exists():
            raise UsageError("nothing was gathered yet: there is no catalog", hint="run: ingather crawl")
        return AliasReader(database, self._home.bodies)

    def _sides(self, reader: AliasReader, loaded: Loaded, alias: str, host: str) -> tuple[Side, Side]:
        ids = {
            name: [number for number, origin in reader.origins() if _authority(origin) == name]
            for name in (alias, host)
        }
        paths = sorted(
            {"/"} | {path for number in ids[alias] for path in reader.sample(number, _POLICY_PATHS)}
        )
        beginnings = self._beginnings()
        return (
            self._side(reader, loaded, alias, ids[alias], paths, beginnings),
            self._side(reader, loaded, host, ids[host], paths, beginnings),
        )

    def _side(  # noqa: PLR0913, PLR0917 - what a side is made of
        self, reader: AliasReader, loaded: Loaded, name: str, ids: list[int], paths: list[str], beginnings: list[str]
    ) -> Side:  # fmt: skip
        audiences, own, documents = set(), 0, 0
        for number in ids:
            documents += reader.documents(number)
            for source, access, rights in reader.audiences(number):
                audiences.add((access, tuple(self._sources[source].acl) if source in self._sources else ()))
                own += rights
        if not audiences:
            owner = self._sources.get(_source_of(loaded, name), self._sources["web"])
            audiences.add((owner.access, tuple(owner.acl)))
        policy = loaded.policy
        rules = () if policy is None else tuple(
            tuple(rule.entries for rule in policy.match(f"{scheme}://{name}{path}")) for path in paths for scheme in _SCHEMES
        )  # fmt: skip
        own_places = tuple(
            url for url in beginnings if any(url.startswith(f"{scheme}://{name}/") for scheme in _SCHEMES)
        )
        return Side(name, frozenset(audiences), documents, own, rules, own_places)

    def _beginnings(self) -> list[str]:
        """Return the beginnings of URLs for which there are credentials."""
        tables = {conf.url for source in self._sources.values() for conf in source.reach.logins}
        return sorted(tables | {entry.prefix for entry in read_credentials(self._home.path)})


class HomeAliases(Operations):
    """The host aliases of a home, whoever has it: what ``ingather site aliases`` does."""

    def __init__(self, home: Home, settings: Settings, sources: Mapping[str, SourceConf]) -> None:
        super().__init__(home, settings, sources)
        self.desk = AliasDesk(home, sources, self._do)


def _alike(reader: AliasReader) -> list[tuple[str, str, Likeness]]:
    """Return (alias, host, what they have in common) of hosts that show the same; the host is the one with more documents."""
    origins = dict(reader.origins()[:_MOST_ORIGINS])
    found: dict[frozenset[str], tuple[str, str, Likeness]] = {}
    for one, two in pairs_to_compare((number, reader.sample(number, FIRST_LOOK)) for number in origins):
        names = _authority(origins[one]), _authority(origins[two])
        if names[0] == names[1] or origins[one].partition(":")[0] != origins[two].partition(":")[0]:
            continue
        likeness = compare(reader.sample(one, SAMPLE), reader.sample(two, SAMPLE))
        if likeness.alike and frozenset(names) not in found:
            sizes = reader.documents(one), reader.documents(two)
            first = (-sizes[0], len(names[0]), names[0]) <= (-sizes[1], len(names[1]), names[1])
            alias, host = (names[1], names[0]) if first else names
            found[frozenset(names)] = alias, host, likeness
    return sorted(found.values())


def _likeness(reader: AliasReader, alias: str, host: str) -> Likeness:
    """Return what two hosts have in common, summed over their schemes."""
    by_origin = {origin: number for number, origin in reader.origins()}
    found = [
        compare(reader.sample(one, SAMPLE), reader.sample(two, SAMPLE))
        for scheme in _SCHEMES
        if (one := by_origin.get(f"{scheme}://{alias}")) is not None
        and (two := by_origin.get(f"{scheme}://{host}")) is not None
    ]
    return Likeness(sum(x.common for x in found), sum(x.equal for x in found), any(x.roots for x in found))


def _source_of(loaded: Loaded, name: str) -> str:
    url = f"http://{name}/"
    fitting = [site for site in loaded.rules.sites if site.covers(url)]
    best = max(fitting, key=lambda site: (not site.domain, len(site.host)), default=None)
    return "web" if best is None else best.source


def _authority(origin: str) -> str:
    return origin.partition("://")[2]


def _named(text: str) -> str:
    name = authority_of(text.strip())
    if not name:
        raise UsageError(
            f"{text!r} is no host", hint="write a name as in URLs, with :port if it has one of its own"
        )
    return name


def _done(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a job's answer; what it would not do is raised here, outside of its transaction."""
    if problem := answer.get("problem"):
        raise UsageError(str(problem), hint="list them with: ingather site aliases list")
    return answer


def _said(by: By) -> dict[str, str]:
    return {name: value for name, value in (("author", by.author), ("note", by.note)) if value}


def _form(one: HostAlias) -> dict[str, Any]:
    return {
        "alias": one.alias, "host": one.host, "state": str(one.state), "evidence": one.evidence, "who": one.who,
        "at": instant(one.at_s) if one.at_s else "",
    }  # fmt: skip
