"""The engine: one code path for crawl, explain and simulate.

A caller makes an :class:`Evaluation` of a URL, runs :meth:`Engine.metadata`, fetches, attaches the
response, runs :meth:`Engine.data` (converting whenever it asks), then :meth:`Engine.enumerate` and
:meth:`Engine.generate`. :meth:`Engine.decide` does all of it for people who ask why, through the
same bound functions, and writes down each step.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from ingather.conf.collector import collector_rests
from ingather.conf.loading import Loaded, StartingPoint
from ingather.conf.rulesconf import Rules
from ingather.conf.urlpatterns import Crawled
from ingather.errors import ConfigurationError
from ingather.filters.classifying import Classifier
from ingather.filters.denying import DenySteps, with_tables
from ingather.filters.evaluation import Convert, Evaluation, State
from ingather.filters.page_rules import forbidden
from ingather.filters.plan import ConvertSteps, Pair, Plan, Step, pair, plan
from ingather.filters.rafs import builtin_registry
from ingather.filters.rafs.limiting import Counters
from ingather.filters.sites import SiteTable
from ingather.filters.sources import Value
from ingather.filters.trace import Decision, TraceStep
from ingather.model.candidate import Candidate, Pushed
from ingather.model.description import Attributes
from ingather.model.diagnostic import Diagnostic, Place
from ingather.model.page import Link, Page
from ingather.model.phase import Phase, Role
from ingather.model.resource import Response
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import AGAIN, Registry, installed_page_reader

__all__ = ["Engine", "PageReader"]

PageReader = Callable[[Response], Page]
Converter = Callable[[Convert, Response], Page]
Summarizer = Callable[[str, Response], Mapping[str, tuple[str, ...]]]

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

    Raises:
        ConfigurationError: the configuration was refused, or has no such filters.
    """

    def __init__(
        self,
        configuration: Loaded,
        *,
        digests: Mapping[str, str] | None = None,
        registry: Registry | None = None,
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
        self._tables: dict[int, SiteTable] = {}
        self._constants = {
            "csid": str(robot.csid),
            "enumeration-filter": one.name,
            "generation-filter": other.name,
        }
        self._agent = (str(robot.user_agent).split("/")[0].split() or [_DEFAULT_AGENT])[0].lower()
        functions = registry or builtin_registry()
        with collector_rests():
            a = self._enumeration = plan(one, Role.ENUMERATION, functions, robot, self)
            b = self._generation = plan(other, Role.GENERATION, functions, robot, self)
            tables = partial(with_tables, undefined_source=robot.undefined_source, functions=functions)
            self._metadata = pair(a, b, a.metadata, b.metadata).changed(tables)
            self._data = pair(a, b, a.data, b.data).changed(tables)
            self._data_alone = (tables(a.data), tables(b.data))
        self._gates = configuration.gates
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
                failed = _once(step)
                if failed:
                    found = Diagnostic("E-SETUP", step.directive.place, failed)
                    raise ConfigurationError((found,), bodies=self.configuration.bodies)

    def shut_down(self) -> None:
        """Run the Shutdown directives, once, also when one of them fails; more calls do nothing."""
        for chosen in () if self._ended else (self._enumeration, self._generation):
            for step in chosen.shutdown:
                _once(step)
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
        self, candidate: Candidate, *, ip: str | Callable[[], str | None] | None = None
    ) -> Evaluation:
        """Return the state of *candidate* before any directive ran; *ip* may be asked for on demand."""
        return Evaluation(candidate, ip, self._constants)

    @staticmethod
    def rehearse(ev: Evaluation, trace: list[TraceStep] | None) -> None:
        """Have *ev* count nothing, and write each step of both filters into *trace* if there is one."""
        for state in (ev.enumerating, ev.generating):
            state.dry = True
            state.trace = trace

    def metadata(self, ev: Evaluation) -> bool:
        """Run the MetaData directives of both filters; tell whether one of them lets the URL pass."""
        if self._gates and not self._pass_gates(ev):
            return False
        one, other = ev.enumerating, ev.generating
        common = self._metadata
        if one.trace is not None:
            _run(one, self._enumeration.metadata)
            _run(other, self._generation.metadata)
        else:
            self._both(one, other, common)
            if one.verdict.allowed and common.enumeration:
                _run(one, common.enumeration)
            if other.verdict.allowed and common.generation:
                _run(other, common.generation)
        if one.again is not None:
            self._once_more(one, self._enumeration)
        if other.again is not None:
            self._once_more(other, self._generation)
        return one.verdict.allowed or other.verdict.allowed

    def refusal(self, candidate: Candidate) -> Crawled | None:
        """Return why the URL patterns refuse *candidate*, ``None`` if they let it pass."""
        if not self._gates:
            return None
        content = candidate.pushed is Pushed.CONTENT
        return self._gates.refusal(candidate.url, self._source_of(candidate), content=content)

    def _source_of(self, candidate: Candidate) -> str:
        """Return the source whose lists concern *candidate*: that of its site, if it belongs to one."""
        rules = self.configuration.rules
        if not self._gates.of_source or candidate.pushed is Pushed.CONTENT or not rules.sites:
            return candidate.source
        authority = candidate.url.partition("://")[2].partition("/")[0]
        host, colon, port = authority.rpartition(":")
        compiled = self.table(rules).site_of(host if colon and port.isdigit() else authority)
        return (compiled.site.source if compiled is not None else "") or candidate.source

    def _pass_gates(self, ev: Evaluation) -> bool:
        """Judge by the URL patterns, which come before all directives; tell whether the URL passes."""
        candidate = ev.candidate
        content = candidate.pushed is Pushed.CONTENT
        found = self._gates.verdicts(candidate.url, self._source_of(candidate), content=content)
        for state in (ev.enumerating, ev.generating):
            for said in found:
                if state.trace is not None and said.where:
                    verdict = "continue" if said.passed else "deny"
                    text = said.hit.text if said.hit is not None else said.file
                    state.trace.append(
                        TraceStep(state.role, Phase.METADATA, text, said.where, "url", ev.url, verdict, said.reason)
                    )  # fmt: skip
            if not found[-1].passed:
                state.verdict = Verdict(
                    allowed=False, reason=found[-1].reason, category=Exclusion.FILTER_RULES,
                    where=found[-1].where, phase=Phase.METADATA,
                )  # fmt: skip
        return found[-1].passed

    @staticmethod
    def _once_more(state: State, chosen: Plan) -> bool:
        """Judge again from MetaData, because a step asked for it; tell whether the Data directives may follow."""
        while state.again is not None:
            if state.restarted:
                state.verdict = state.again.failed(RuntimeError("asked twice to begin again"))
                state.again = None
                return False
            state.restart()
            _run(state, chosen.metadata)
        return state.verdict.allowed

    def _data_of(self, state: State, steps: tuple[Step, ...], chosen: Plan) -> Convert | None:
        """Run the Data directives of one filter: *steps*, or all of *chosen* once it began again."""
        if not state.verdict.allowed:
            return None
        wanted = _run(state, chosen.data if state.anew else steps, state.at)
        while state.again is not None:
            wanted = None
            if self._once_more(state, chosen):
                state.anew = True
                wanted = _run(state, chosen.data)
        return wanted

    def _last_of(self, ev: Evaluation, state: State, chosen: Plan, given: Attributes) -> None:
        """Run the Enumerate or Generate directives, from MetaData again if one of them asks for it."""
        state.attributes.update(given)
        _run(state, chosen.last)
        while state.again is not None:
            if not self._once_more(state, chosen):
                return
            wanted = _run(state, chosen.data)
            while wanted is not None:  # it is too late for a conversion that was not wanted before
                state.tried = True
                wanted = _run(state, chosen.data, state.at)
            if state.again is None and state.verdict.allowed:
                self._page_rule(ev, state)
            if state.again is None and state.verdict.allowed:
                state.attributes.update(given)
                _run(state, chosen.last)

    def _both(self, one: State, other: State, phase: Pair) -> None:
        """Run the steps that both filters share, once, and let the generation filter have the outcome."""
        if not phase.common:
            return
        _run(one, phase.common)
        other.borrow(one)
        if not one.verdict.allowed:
            other.verdict = self._twin(one, phase)

    def _twin(self, one: State, phase: Pair) -> Verdict:
        """Return the verdict of the enumeration filter as the generation filter's line says it."""
        verdict = one.verdict
        ran, same = phase.common[one.at], phase.twins[one.at]
        step, twin = ran, same
        if isinstance(ran, DenySteps) and isinstance(same, DenySteps):
            step, twin = ran.steps[ran.active], same.steps[ran.active]
        if verdict.where != step.where:
            return verdict
        if verdict.category is Exclusion.ERROR:
            return replace(verdict, where=twin.where)
        key = (verdict, twin.where)
        moved = self._moved.get(key)
        if moved is None:
            moved = self._moved[key] = replace(verdict, where=twin.where)
        return moved

    def respond(self, ev: Evaluation, response: Response, page_reader: Callable[[], Page] | None) -> None:
        """Attach the response; the page is read when a directive wants it, at most once."""
        ev.respond(response, page_reader)

    def data(self, ev: Evaluation) -> Convert | None:
        """Run the Data directives until the end, or until one wants the body converted.

        In the second case convert, call ``ev.converted(page)`` or ``ev.conversion_failed(reason)``,
        and call this again.
        """
        one, other = ev.enumerating, ev.generating
        if ev.stage == _BEGIN:
            ev.shared = (
                one.verdict.allowed and other.verdict.allowed and one.trace is None and one.own is other.own
            )
            one.at = other.at = 0
            if ev.shared:
                self._both(one, other, self._data)
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
        return None

    def _page_rule(self, ev: Evaluation, state: State) -> None:
        """Deny what the page itself forbids, before any Enumerate or Generate directive runs."""
        if not self.robot.enable_robots_txt or ev.response is None or not state.verdict.allowed:
            return
        word = "nofollow" if state.role is Role.ENUMERATION else "noindex"
        found = self._forbidden(ev, state)
        if word not in found:
            return
        reason = f"robots: the page says {word}"
        state.verdict = Verdict(allowed=False, reason=reason, category=Exclusion.ROBOTS, phase=Phase.DATA)
        if state.trace is not None:
            said = ", ".join(sorted(found))
            state.trace.append(TraceStep(state.role, Phase.DATA, "", "", "robots", said, "deny", reason))

    def _forbidden(self, ev: Evaluation, state: State) -> frozenset[str]:
        if ev.response is None:
            return frozenset()
        try:
            return forbidden(ev.response, state.page(), self._agent)
        except Exception:  # noqa: BLE001 - a page that cannot be read forbids everything
            return frozenset({"nofollow", "noindex"})

    def enumerate(self, ev: Evaluation) -> list[Link]:
        """Return the links to follow, in order, each URL once; none if the filter denies."""
        if not ev.enumeration.allowed:
            return []
        state = ev.enumerating
        self._last_of(ev, state, self._enumeration, {})
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

    # --- for people ---

    def decide(  # noqa: PLR0913 - everything that a crawl would have at hand
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
        """Judge a URL, with its response if there is one, and tell each step.

        Nothing is counted or stored. Steps after a denial do not run, as in a crawl.

        Args:
            candidate: the URL with its circumstances.
            response: what the host sent; ``None`` = only what is known before the fetch.
            trace: write down the steps.
            read_page: makes the page of the response; default: the installed reader
                (``ingather.plugins.readers``), without one sources that need a page are undefined.
            convert: makes the page of a document; raises ``ExtractError`` or ``IsolationError``.
            summarize: makes the attributes of a program's output; without it none are made.
            ip: address of the host, or how to find it.
            now_s: wall time; without it no attributes are made.
        """
        ev = self.evaluation(candidate, ip=ip)
        steps: list[TraceStep] = []
        self.rehearse(ev, steps if trace else None)
        passed = self.metadata(ev)
        flags: list[str] = []
        links: Iterable[Link] = ()
        attributes: Attributes = {}
        if response is not None and passed:
            self.respond(ev, response, self._reader(response, read_page))
            while (wanted := self.data(ev)) is not None:
                _convert(ev, wanted, response, convert, flags)
            links = self.enumerate(ev)
            if now_s is not None and summarize is not None and ev.generation.allowed:
                self.summarized(ev, {name: summarize(name, response) for name in self.programs})
            if now_s is not None:
                attributes = self.generate(ev, now_s=now_s, ip=response.address)
        return Decision(
            ev.url,
            ev.enumeration,
            ev.generation,
            ev.site.name if ev.site is not None else "",
            ev.source,
            tuple(steps),
            tuple(links),
            ev.over_max,
            attributes,
            tuple(flags),
        )

    def _reader(self, response: Response, read_page: PageReader | None) -> Callable[[], Page] | None:
        if read_page is not None:
            return lambda: read_page(response)
        installed = installed_page_reader()
        if installed is None:
            return None
        stated = response.header("content-type") or None
        return lambda: installed(
            response.body, url=response.url, content_type=stated, headers=response.headers, agent=self._agent
        )


_BEGIN, _ENUMERATION, _GENERATION, _END = range(4)


def _convert(
    ev: Evaluation, wanted: Convert, response: Response, convert: Converter | None, flags: list[str]
) -> None:
    if convert is None:
        ev.conversion_failed("no converter")
        flags.append("conversion-skipped")
        return
    try:
        ev.converted(convert(wanted, response))
    except Exception as error:  # noqa: BLE001 - a converter may fail in any way; that is a remark on the document
        reason = str(getattr(error, "reason", "") or type(error).__name__)
        ev.conversion_failed(reason)
        flags.append(f"conversion-failed:{reason}")


def _run(state: State, steps: tuple[Step, ...], start: int = 0) -> Convert | None:
    """Run *steps* from number *start*; stop at a denial (kept in the state) or a wanted conversion.

    ``state.at`` is the number of the step that stopped it.
    """
    if state.trace is not None:
        return _run_traced(state, steps, start, state.trace)
    at = start
    for step in steps[start:] if start else steps:
        try:
            outcome = step.run(state)
        except Exception as error:  # noqa: BLE001 - filters fail closed, whatever a function does
            outcome = step.failed(error)
        if outcome is not None:
            state.at = at
            if type(outcome) is Convert:
                return outcome
            if isinstance(outcome, Verdict):
                if not outcome.allowed:
                    state.verdict = outcome
                    return None
            elif outcome is AGAIN:
                state.again = step
                return None
            else:
                state.verdict = step.failed(TypeError(f"returned {type(outcome).__name__}"))
                return None
        at += 1
    return None


def _run_traced(state: State, steps: tuple[Step, ...], start: int, trace: list[TraceStep]) -> Convert | None:
    """Run *steps* one at a time by :func:`_run`, writing down what each saw and did."""
    for at in range(start, len(steps)):
        step = steps[at]
        before = dict(state.own or {}), dict(state.attributes), len(state.links)
        try:
            value = step.value(state)
        except Exception:  # noqa: BLE001 - the step itself will fail the same way and say so
            value = None
        state.trace = None
        wanted = _run(state, steps[: at + 1], at)
        state.trace = trace
        trace.append(_told(state, step, value, before, wanted))
        if wanted is not None or not state.verdict.allowed or state.again is not None:
            return wanted
    return None


def _once(step: Step) -> str:
    """Run a Setup or Shutdown directive; return why it failed, ``""`` if it did not."""
    try:
        outcome = step.run(None)
    except Exception as error:  # noqa: BLE001 - whatever a function does
        outcome = step.failed(error)
    return outcome.reason if isinstance(outcome, Verdict) and not outcome.allowed else ""


def _told(
    state: State,
    step: Step,
    value: str | None,
    before: tuple[dict[str, Value], dict[str, tuple[str, ...]], int],
    wanted: Convert | None,
) -> TraceStep:
    verdict, reason, rule = "continue", "", ""
    if wanted is not None:
        verdict, reason = (
            "convert",
            f"the body is to be converted from {wanted.media_type or 'an unknown type'}",
        )
    elif state.again is not None:
        verdict, reason = "restart", "the resource is judged again from MetaData"
    elif not state.verdict.allowed:
        verdict = "error" if state.verdict.category is Exclusion.ERROR else "deny"
        reason = state.verdict.reason
        rule = state.verdict.where if state.verdict.where != step.where else ""
    else:
        own, attributes, links = before
        changes = [f"{k}={_shown(v)}" for k, v in (state.own or {}).items() if k not in own or own[k] != v]
        changes += [f"{k}={_shown(v)}" for k, v in state.attributes.items() if attributes.get(k) != v]
        changes += [f"{k} removed" for k in attributes if k not in state.attributes]
        found = sum(1 for link in state.links.values() if link is not None)
        if len(state.links) > links:
            changes.append(f"{found} links")
        if step.directive.function == "filterrules-process" and state.evaluation.site is not None:
            site = state.evaluation.site
            changes.append(f"site {site.name}")
            rule = site.where
        reason = ", ".join(dict.fromkeys(changes))
    line = step.active if isinstance(step, ConvertSteps) else step
    if isinstance(step, ConvertSteps) and verdict == "continue" and not reason:
        reason = f"none of {step.lines} lines is for this type"
    return TraceStep(
        state.role,
        line.directive.phase,
        line.directive.text,
        line.where,
        step.source,
        value,
        verdict,
        reason,
        rule,
    )


def _shown(value: object) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else "undefined" if value is None else str(value)
    text = " ".join(text.split())
    limit = 80
    return text if len(text) <= limit else f"{text[:limit]}..."
