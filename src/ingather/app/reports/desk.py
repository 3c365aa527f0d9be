"""All reports by name, for the CLI and the admin listener. Each answer opens a reader of its own and closes it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Final

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.reports import about, documents, hosts, runs, traps, visits
from ingather.app.reports.table import Ask, Context, Report, Table
from ingather.app.reports.writing import as_csv, tree
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.conf.settings.values import Settings
from ingather.errors import UnknownNameError, UsageError

__all__ = ["OPTIONS", "REPORTS", "HomeReports"]

OPTIONS: Final = ("run", "host", "reason", "class", "what", "group", "near", "after")
"""What a report may take beside ``limit``."""

REPORTS: Final[Mapping[str, Report]] = {
    "overview": Report("where the robot stands: state, newest run, what waits, what is kept", about.overview),
    "version": Report("versions of everything that takes part", about.version),
    "configuration": Report("parameters of robot.conf with their origins, filters, sites", about.configuration),
    "performance": Report("how fast the last runs were", visits.performance, ("after",)),
    "database": Report("sizes and counts of the catalog", about.database),
    "libnet": Report("the network library: protocols and features", about.libnet),
    "modules": Report("functions of filters, readers of documents, plug-ins", about.modules),
    "dns-cache": Report("addresses of servers at their last visit", hosts.dns_cache, ("after",)),
    "servers": Report("all servers found", hosts.servers, ("after",)),
    "queue": Report("what is next and when, per host; a host's URLs in their order", hosts.queue, ("host",)),
    "ready": Report("URLs that wait, those first that may be asked for now", documents.ready),
    "rechecks": Report("the next visits that are planned", hosts.rechecks),
    "pending": Report("changes that the index has not followed yet", documents.pending),
    "excluded": Report(
        "what a run excluded, by reason; a reason's URLs", visits.excluded, ("run", "reason", "after")
    ),
    "errors": Report(
        "errors by class and host; the URLs of one", visits.errors, ("run", "class", "host", "after")
    ),
    "robots": Report("URLs lost to robots.txt, by host and line; a host's URLs", visits.robots, ("host", "after")),
    "rds": Report(
        "descriptions that a run made, changed, found unchanged, removed", visits.descriptions, ("run", "what", "after")
    ),
    "duplicates": Report("groups of equal bodies, or of near-duplicates; the members of one", documents.duplicates, ("group", "near")),
    "canonical": Report("canonical links: obeyed, or why not", traps.canonicals, ("after",)),
    "traps": Report("crawler traps, and what the rules that stop them would cost", traps.traps, ("host",)),
    "slow-hosts": Report("hosts whose answers take longest", hosts.slow_hosts),
    "crawl-delay": Report("hosts that robots.txt slows down, with the estimated time", hosts.crawl_delay),
    "budgets": Report("budgets that refused URLs", hosts.budgets),
    "largest": Report("the largest documents", documents.largest),
    "orphans": Report("documents to which no link leads any more", documents.orphans, ("after",)),
    "sitemaps": Report(
        "listed in a sitemap but not in the index, and why; unlisted: the opposite; files: the sitemaps", documents.listed,
        ("what", "after"),
    ),
}  # fmt: skip

_MOST = 10_000


class HomeReports:
    """The reports of a home; any thread may ask, whoever has the home.

    Args:
        live: the robot's status of the moment; must not raise.
        now: wall clock.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        live: Callable[[], Mapping[str, Any]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._home, self._settings, self._live, self._now = home, settings, live, now

    @contextmanager
    def context(self) -> Iterator[Context]:
        """Open what reports are made of.

        Raises:
            CatalogError: there is no catalog yet, or it cannot be read.
        """
        reader = ReportReader(database_of(self._home))
        try:
            yield Context(self._home, self._settings, reader, self._now(), self._live)
        finally:
            reader.close()

    @staticmethod
    def named(name: str, options: Mapping[str, str]) -> Report:
        """Return a report.

        Raises:
            UsageError: there is none of that name, or it does not take one of *options*.
        """
        report = REPORTS.get(name)
        if report is None:
            near = get_close_matches(name, REPORTS, 1)
            raise UnknownNameError(
                f"there is no report {name!r}", kind="report", name=name,
                hint=f"did you mean {near[0]}?" if near else f"one of: {', '.join(REPORTS)}",
            )  # fmt: skip
        for option in options:
            if option not in report.options:
                takes = f"it takes {', '.join(report.options)}" if report.options else "it takes limit alone"
                raise UsageError(f"the report {name} takes no {option}", hint=takes)
        return report

    def catalogue(self) -> dict[str, Any]:
        """Return ``reports``: ``name``, ``about``, ``options``."""
        return {
            "reports": [{"name": name, "about": r.about, "options": list(r.options)} for name, r in REPORTS.items()]
        }  # fmt: skip

    def report(self, name: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return a report as one value; *fields*: ``limit`` (at most 10,000) and its options, as text.

        Raises:
            UsageError: there is no such report, or a field is wrong.
        """
        report, ask = self._asked(name, fields)
        with self.context() as context:
            return tree(name, report.make(context, ask), limit=ask.limit, now_s=context.now_s)

    def csv(self, name: str, fields: Mapping[str, str]) -> str:
        """Return a report as CSV; as :meth:`report`."""
        report, ask = self._asked(name, fields)
        with self.context() as context:
            return "".join(as_csv(report.make(context, ask), limit=ask.limit))

    def history(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the runs, newest first; ``limit``, ``after`` (only older ones)."""
        ask = asked({name: value for name, value in fields.items() if value}, most=_MOST)
        with self.context() as context:
            return tree("runs", runs.history(context, ask), limit=ask.limit, now_s=context.now_s)

    def run(self, number: str) -> dict[str, Any]:
        """Return one run with its figures; ``last`` = the newest.

        Raises:
            UsageError: there is none, or that is no number.
        """
        with self.context() as context:
            return runs.run_form(context, run_number(number))

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """Return two runs side by side.

        Raises:
            UsageError: there is no such run, or that is no number.
        """
        with self.context() as context:
            one, other = (visits.run_named(context, run_number(text)).number for text in (first, second))
            return tree("compare", runs.compared(context, one, other), limit=0, now_s=context.now_s)

    def table(self, context: Context, name: str, ask: Ask, options: Mapping[str, str]) -> Table:
        """Return a report to be read while *context* is open; *options* are those that were given."""
        return self.named(name, options).make(context, ask)

    def _asked(self, name: str, fields: Mapping[str, str]) -> tuple[Report, Ask]:
        given = {key: value for key, value in fields.items() if value}
        report = self.named(name, {key: value for key, value in given.items() if key != "limit"})
        return report, asked(given, most=_MOST)


def asked(fields: Mapping[str, str], *, most: int = 0) -> Ask:
    """Return what fields ask for; *most* rows, 0 = no bound.

    Raises:
        UsageError: a number is none.
    """
    limit = _number(fields, "limit", 100)
    if most and not 0 < limit <= most:
        raise UsageError(f"limit {limit} is out of range", hint=f"1 to {most}; go on with after")
    options = {name: fields[name] for name in OPTIONS if name in fields and name != "after"}
    run = run_number(fields["run"]) if "run" in fields else 0
    return Ask(limit, _number(fields, "after", 0), run, options)


def run_number(text: str) -> int:
    """Return the number of a run, 0 for ``last``.

    Raises:
        UsageError: it is neither.
    """
    word = text.strip().lower()
    if word == "last":
        return 0
    if not (word.isascii() and word.isdigit() and 0 < int(word) < 1 << 62):
        raise UnknownNameError(
            f"{text!r} is no number of a run",
            kind="run",
            name=text,
            hint="a number of ingather runs list, or last",
        )
    return int(word)


def _number(fields: Mapping[str, str], name: str, default: int) -> int:
    text = fields.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):  # noqa: PLR2004 - what SQLite counts up to
        raise UsageError(f"{name} {text!r} is no number", hint=f"write {name} as a whole number, 0 or more")
    return int(text)
