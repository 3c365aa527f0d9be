"""The engine: one code path for crawl, explain and simulate.

A caller makes an :class:`Evaluation` of a URL, runs :meth:`Engine.metadata`, fetches, attaches the
response, runs :meth:`Engine.data` (converting whenever it asks), then :meth:`Engine.enumerate` and
:meth:`Engine.generate`. :meth:`Engine.decide` does all of it for people who ask why, through the
same bound functions, and writes down each step.
"""

from collections.abc import Callable, Mapping
from functools import partial

from ingather.conf.collector import collector_rests
from ingather.conf.loading import Loaded, StartingPoint
from ingather.conf.sites.rules import Rules
from ingather.conf.urlpatterns import Crawled
from ingather.errors import ConfigurationError
from ingather.filters.classifying import Classifier
from ingather.filters.deciding import Converter, PageReader, Summarizer, decide
from ingather.filters.denying import with_tables
from ingather.filters.evaluation import Evaluation, State
from ingather.filters.gating import Gatekeeper
from ingather.filters.judgements import Judgements
from ingather.filters.page_rules import obey_page
from ingather.filters.plan import Plan, Step, apart, pair, plan
from ingather.filters.rafs import builtin_registry
from ingather.filters.rafs.limiting import Counters
from ingather.filters.running import Wanted, run_both, run_once, run_steps
from ingather.filters.sites import SiteTable
from ingather.filters.trace import Decision, TraceStep
from ingather.model.candidate import Candidate
from ingather.model.description import Attributes
from ingather.model.diagnostic import Diagnostic, Place
from ingather.model.page import Link, Page
from ingather.model.phase import Phase, Role
from ingather.model.resource import Response
from ingather.model.verdict import Verdict
from ingather.plugins import Registry

__all__ = ["Engine", "PageReader"]

_DEFAULT_AGENT = "ingather"


class Engine:
    """Both selected filters, compiled.

    Not thread-safe; one a process. Judging one URL never raises for what the URL, the response or a
    function did: what fails denies (category ``error``).

    Args:
        configuration: what ``ingather.conf.load`` gave.
        digests: digest -> URL of the described head of its group, if duplicates are to be denied
            here; by default the catalog settles them.
        registry: functions; default the built-in ones.
        logs: somebody takes ``judgements`` and writes filter.log.
        counted_elsewhere: somebody else counts hosts and objects (filter-by-max): questions are given back.

    Raises:
        ConfigurationError: the configuration was refused, or has no such filters.
    """

    def __init__(
        self,
        configuration: Loaded,
        *,
        digests: Mapping[str, str] | None = None,
        registry: Registry | None = None,
        counted_elsewhere: bool = False,
        logs: bool = False,
    ) -> None:
        one, other = configuration.enumeration, configuration.generation
        if not configuration.ok or one is None or other is None:
            missing = Diagnostic(
                "E-FILTER-UNDEF", Place("filter.conf", 1), "the selected filters are not defined"
            )
            raise ConfigurationError(
                configuration.diagnostics if not configuration.ok else (missing,), bodies=configuration.bodies
            )
        self.configuration = configuration
        self.robot = robot = configuration.robot
        self.digests = digests
        self._ended = False
        self._classifier = (
            Classifier(configuration.classification, robot.max_categories)
            if configuration.classification.rules
            else None
        )
        self.counters = Counters()
        self._counted_elsewhere = counted_elsewhere
        noted = Judgements(one, other) if logs else None
        self.judgements = noted if noted is not None and noted.wanted else None
        """What is noted for filter.log; ``None`` = nothing ever is."""
        self._tables: dict[int, SiteTable] = {}
        self._constants = {
            "csid": str(robot.csid),
            "enumeration-filter": one.name,
            "generation-filter": other.name,
        }
        self.agent = (str(robot.user_agent).split("/")[0].split() or [_DEFAULT_AGENT])[0].lower()
        functions = registry or builtin_registry()
        with collector_rests():
            a = self._enumeration = plan(one, Role.ENUMERATION, functions, robot, self)
            b = self._generation = plan(other, Role.GENERATION, functions, robot, self)
            tables = partial(with_tables, undefined_source=robot.undefined_source, functions=functions)
            join = apart if self.judgements is not None and self.judgements.any_verbose else pair
            self._metadata = join(a, b, a.metadata, b.metadata).changed(tables)
            self._data = join(a, b, a.data, b.data).changed(tables)
            self._data_alone = (tables(a.data), tables(b.data))
        self._gates = configuration.gates
        self._gatekeeper = Gatekeeper(configuration, self.table)
        self._moved: dict[tuple[Verdict, str], Verdict] = {}
        self.stop_asked = ""
        """Which line asked to end the run in order (``EXIT``), ``""`` if none did."""
        self._set_up()

    def _set_up(self) -> None:
        """Run the Setup directives, once; the enumeration filter's first.

        Raises:
            ConfigurationError: one of them failed (``E-SETUP``).
        """
        for chosen in (self._enumeration, self._generation):
            for step in chosen.setup:
                failed = run_once(step)
                if failed:
                    found = Diagnostic("E-SETUP", step.directive.place, failed)
                    raise ConfigurationError((found,), bodies=self.configuration.bodies)

    def shut_down(self) -> None:
        """Run the Shutdown directives, once, also when one of them fails; more calls do nothing."""
        for chosen in () if self._ended else (self._enumeration, self._generation):
            for step in chosen.shutdown:
                run_once(step)
        self._ended = True

    def ask_stop(self, who: str) -> None:
        """Note that *who* wants the run to end in order; the first one counts."""
        self.stop_asked = self.stop_asked or who

    def table(self, rules: Rules) -> SiteTable:
        """Return the compiled form of *rules*, made once."""
        table = self._tables.get(id(rules))
        if table is None:
            table = self._tables[id(rules)] = SiteTable(rules, depth=self.robot.depth)
        return table

    # --- a run ---

    @property
    def starting_points(self) -> tuple[StartingPoint, ...]:
        """Starting points of the enabled sites and of robot.conf."""
        return self.configuration.starting_points

    @property
    def body_limit(self) -> int | None:
        """Bytes above which neither filter lets a body pass (filter-by-max src=content-length), or ``None``."""
        one, other = self._enumeration.body_limit, self._generation.body_limit
        return None if one is None or other is None else max(one, other)

    def start_run(self) -> None:
        """Reset what filter-by-max counts."""
        self.counters.reset()

    # --- one URL ---

    def evaluation(
        self,
        candidate: Candidate,
        *,
        ip: str | Callable[[], str | None] | None = None,
        answers: Mapping[str, bool] | None = None,
    ) -> Evaluation:
        """Return the state of *candidate* before any directive ran.

        Args:
            candidate: the URL with its circumstances.
            ip: address of its host, or how to find it.
            answers: the turn of this URL has come: by role, what is known about how many may pass; for an engine
                that does not count itself.
        """
        ev = Evaluation(candidate, ip, self._constants)
        if self._counted_elsewhere:
            ev.answers, ev.asking = dict(answers or {}), answers is not None
        return ev

    @staticmethod
    def rehearse(ev: Evaluation, trace: list[TraceStep] | None) -> None:
        """Have *ev* count nothing, and write each step of both filters into *trace* if there is one."""
        for state in (ev.enumerating, ev.generating):
            state.dry = True
            state.trace = trace

    def metadata(self, ev: Evaluation) -> bool:
        """Run the MetaData directives of both filters; tell whether one of them lets the URL pass."""
        passed = self._before_fetch(ev)
        if self.judgements is not None and not (ev.asked or ev.enumerating.dry):
            self.judgements.note(ev, Phase.METADATA)
        return passed

    def _before_fetch(self, ev: Evaluation) -> bool:
        if self._gates and not self._gatekeeper.passes(ev):
            return False
        one, other = ev.enumerating, ev.generating
        common = self._metadata
        if one.trace is not None:
            run_steps(one, self._enumeration.metadata)
            run_steps(other, self._generation.metadata)
        else:
            run_both(one, other, common, self._moved)
            if one.verdict.allowed and common.enumeration:
                run_steps(one, common.enumeration)
            if other.verdict.allowed and common.generation:
                run_steps(other, common.generation)
        if one.again is not None:
            self._once_more(one, self._enumeration)
        if other.again is not None:
            self._once_more(other, self._generation)
        return one.verdict.allowed or other.verdict.allowed

    def refusal(self, candidate: Candidate) -> Crawled | None:
        """Return why the URL patterns refuse *candidate*, ``None`` if they let it pass."""
        return self._gatekeeper.refusal(candidate) if self._gates else None

    @staticmethod
    def _once_more(state: State, chosen: Plan) -> bool:
        """Judge again from MetaData, because a step asked for it; tell whether the Data directives may follow."""
        while state.again is not None:
            if state.restarted:
                state.verdict = state.again.failed(RuntimeError("asked twice to begin again"))
                state.again = None
                return False
            state.restart()
            run_steps(state, chosen.metadata)
        return state.verdict.allowed

    def _data_of(self, state: State, steps: tuple[Step, ...], chosen: Plan) -> Wanted | None:
        """Run the Data directives of one filter: *steps*, or all of *chosen* once it began again."""
        if not state.verdict.allowed:
            return None
        wanted = run_steps(state, chosen.data if state.anew else steps, state.at)
        while state.again is not None:
            wanted = None
            if self._once_more(state, chosen):
                state.anew = True
                wanted = run_steps(state, chosen.data)
        return wanted

    def _last_of(self, ev: Evaluation, state: State, chosen: Plan, given: Attributes) -> None:
        """Run the Enumerate or Generate directives, from MetaData again if one of them asks for it."""
        state.attributes.update(given)
        run_steps(state, chosen.last)
        while state.again is not None:
            if not self._once_more(state, chosen):
                return
            wanted = run_steps(state, chosen.data)
            while wanted is not None:  # it is too late for a conversion that was not wanted before
                state.tried = True
                wanted = run_steps(state, chosen.data, state.at)
            if state.again is None and state.verdict.allowed:
                self._page_rule(ev, state)
            if state.again is None and state.verdict.allowed:
                state.attributes.update(given)
                run_steps(state, chosen.last)

    def respond(self, ev: Evaluation, response: Response, page_reader: Callable[[], Page] | None) -> None:
        """Attach the response; the page is read when a directive wants it, at most once."""
        ev.respond(response, page_reader)

    def data(self, ev: Evaluation) -> Wanted | None:
        """Run the Data directives until the end, or until one wants something.

        A ``Convert``: convert the body, call ``ev.converted(page)`` or ``ev.conversion_failed(reason)``, and
        call this again. A ``Count``: put the answer into ``ev.answers`` under its role, and call this again.
        """
        one, other = ev.enumerating, ev.generating
        if ev.stage == _BEGIN:
            ev.shared = (
                one.verdict.allowed and other.verdict.allowed and one.trace is None and one.own is other.own
            )
            one.at = other.at = 0
            if ev.shared:
                run_both(one, other, self._data, self._moved)
                one.at = other.at = 0
            ev.stage = _ENUMERATION
        if ev.stage == _ENUMERATION:
            alone = self._data_alone[0] if one.trace is None else self._enumeration.data
            steps = self._data.enumeration if ev.shared else alone
            wanted = self._data_of(one, steps, self._enumeration)
            if wanted is not None:
                return wanted
            ev.stage = _GENERATION
        if ev.stage < _END:
            alone = self._data_alone[1] if other.trace is None else self._generation.data
            steps = self._data.generation if ev.shared else alone
            wanted = self._data_of(other, steps, self._generation)
            if wanted is not None:
                return wanted
            ev.stage = _END
            self._page_rule(ev, one)
            self._page_rule(ev, other)
            if self.judgements is not None and not one.dry:
                self.judgements.note(ev, Phase.DATA)
        return None

    def _page_rule(self, ev: Evaluation, state: State) -> None:
        """Deny what the page itself forbids, before any Enumerate or Generate directive runs."""
        if self.robot.enable_robots_txt and ev.response is not None and state.verdict.allowed:
            obey_page(state, ev.response, self.agent)

    def enumerate(self, ev: Evaluation) -> list[Link]:
        """Return the links to follow, in order, each URL once; none if the filter denies."""
        if not ev.enumeration.allowed:
            return []
        state = ev.enumerating
        self._last_of(ev, state, self._enumeration, {})
        if self.judgements is not None and not state.dry:
            self.judgements.note_last(ev, state, Phase.ENUMERATE)
        if not state.verdict.allowed:
            return []
        if ev.over_max:
            return [link for link in state.links.values() if link is not None]
        return list(state.links.values())

    def generate(self, ev: Evaluation, *, now_s: float, ip: str = "") -> Attributes:
        """Return the page layer of the description; empty if the filter denies, also while generating.

        Args:
            ev: an evaluation whose Data phase has ended.
            now_s: wall time.
            ip: address that was connected to, for attribute ``ip`` (robot.conf ``enable-ip``).
        """
        if not ev.generation.allowed:
            return {}
        state = ev.generating
        state.now_s = now_s
        given: Attributes = {"ip": (ip,)} if ip and self.robot.enable_ip else {}
        self._last_of(ev, state, self._generation, given)
        if self.judgements is not None and not state.dry:
            self.judgements.note_last(ev, state, Phase.GENERATE)
        if self._classifier is not None and state.verdict.allowed:
            self._classifier.classify(state)
        return state.attributes if state.verdict.allowed else {}

    @property
    def programs(self) -> tuple[str, ...]:
        """Summarizers whose output the Generate directives want: run them, and say so by :meth:`summarized`."""
        return self._generation.programs

    @staticmethod
    def summarized(ev: Evaluation, summaries: Mapping[str, Mapping[str, tuple[str, ...]]]) -> None:
        """Give the attributes that summarizers printed, by name of the program; one that failed is left out."""
        ev.summaries = summaries

    def decide(  # noqa: PLR0913 - a library face, as the function
        self,
        candidate: Candidate,
        response: Response | None = None,
        *,
        trace: bool = True,
        read_page: PageReader | None = None,
        convert: Converter | None = None,
        summarize: Summarizer | None = None,
        ip: str | Callable[[], str | None] | None = None,
        now_s: float | None = None,
    ) -> Decision:
        """Judge a URL, with its response if there is one, and tell each step: :func:`ingather.filters.deciding.decide`."""
        return decide(
            self, candidate, response, trace=trace, read_page=read_page, convert=convert, summarize=summarize, ip=ip, now_s=now_s
        )  # fmt: skip


_BEGIN, _ENUMERATION, _GENERATION, _END = range(4)
