"""One URL on its way through both filters: what is known of it, and each filter's own view."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import md5
from types import MappingProxyType
from typing import Any

from ingather.filters.sources import Value, reader
from ingather.filters.trace import TraceStep
from ingather.filters.types import HTML_TYPES, media_type
from ingather.model.candidate import Candidate
from ingather.model.counted import Count
from ingather.model.page import Page
from ingather.model.phase import Role
from ingather.model.resource import Response
from ingather.model.verdict import ALLOW, Verdict

__all__ = ["Convert", "Evaluation", "State"]

_NO_SUMMARIES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType({})
_PORTS = {"http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22, "smb": 445}
_SITE_SOURCES = frozenset({"url", "protocol", "host", "path", "depth"})


@dataclass(frozen=True, slots=True)
class Convert:
    """A directive wants the body converted; *media_type* is what it is taken for, ``""`` = unknown."""

    media_type: str
    where: str
    role: Role


class Evaluation:
    """A URL being judged.

    Made by :meth:`Engine.evaluation`. Attributes of the URL are split once; everything else is
    computed when a directive asks for it.
    """

    __slots__ = (
        "_ip",
        "_md5",
        "_page",
        "_reader",
        "answers",
        "asked",
        "asking",
        "candidate",
        "constants",
        "conversion",
        "conversion_reason",
        "depth",
        "enumerating",
        "generating",
        "host",
        "over_max",
        "path",
        "port",
        "query",
        "response",
        "rule_memo",
        "scheme",
        "shared",
        "site",
        "stage",
        "summaries",
        "url",
    )

    def __init__(
        self,
        candidate: Candidate,
        ip: str | Callable[[], str | None] | None = None,
        constants: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.candidate = candidate
        self.constants = constants
        self.url = url = candidate.url
        self.depth = candidate.depth
        scheme, _, rest = url.partition("://")
        self.scheme = scheme
        authority, slash, target = rest.partition("/")
        self.path, mark, query = (slash + target or "/").partition("?")
        self.query = query if mark else None
        host, colon, port = authority.rpartition(":")
        if colon and port.isdigit():
            self.host, self.port = host, int(port)
        else:
            self.host, self.port = authority, _PORTS.get(scheme, 0)
        self._ip = ip
        self.response: Response | None = None
        self._reader: Callable[[], Page] | None = None
        self._page: Page | None = None
        self._md5: str | None = None
        self.conversion: Page | None = None
        self.conversion_reason = ""
        self.over_max = 0
        self.summaries: Mapping[str, Mapping[str, tuple[str, ...]]] = _NO_SUMMARIES
        """By name of the program, as :meth:`Engine.summaries` asked for them."""
        self.site: Any = None
        self.rule_memo: Any = None
        self.answers: dict[str, bool] | None = None
        """By role, whether filter-by-max lets one more pass; ``None`` = the engine counts for itself."""
        self.asking = False
        """Whether the turn of this URL has come, so that it counts."""
        self.asked: list[Count] = []
        """Questions that MetaData came to and that have no answer yet."""
        self.stage = 0
        self.shared = True
        self.enumerating = State(self, Role.ENUMERATION)
        self.generating = State(self, Role.GENERATION)

    # --- verdicts and what the caller wants to know ---

    @property
    def enumeration(self) -> Verdict:
        """Whether links are followed, as far as is known by now."""
        return self.enumerating.verdict

    @property
    def generation(self) -> Verdict:
        """Whether there is a description, as far as is known by now."""
        return self.generating.verdict

    @property
    def source(self) -> str:
        """Source of the site that the URL belongs to; ``""`` before filterrules-process or without a site."""
        return self.site.source if self.site is not None else ""

    @property
    def database(self) -> str:
        """Where the site wants its descriptions; ``""`` = it says nothing."""
        return self.site.database if self.site is not None else ""

    @property
    def dedupe(self) -> str:
        """``file:line`` of the filter-by-md5 that ran in the generation filter, or ``""``."""
        return self.generating.dedupe

    @property
    def dedupe_enumeration(self) -> str:
        """The same of the enumeration filter."""
        return self.enumerating.dedupe

    # --- facts on demand ---

    def respond(self, response: Response, reader: Callable[[], Page] | None) -> None:
        """Attach what the host sent; *reader* is called at most once, when a directive wants the page."""
        self.response = response
        self._reader = reader
        self._page = None
        for state in (self.enumerating, self.generating):
            state.forget_kinds()

    def page(self) -> Page | None:
        """Return the page as it was read from the response."""
        if self._page is None and self._reader is not None:
            self._page = self._reader()
        return self._page

    @property
    def ip(self) -> str | None:
        """Address of the host, if the caller knows one."""
        if callable(self._ip):
            self._ip = self._ip()
        return self._ip

    @property
    def md5(self) -> str:
        """Digest of the body, content encoding removed: 32 hexadecimal digits; the caller may set it."""
        if self._md5 is None:
            body = self.response.body if self.response is not None else b""
            self._md5 = md5(body, usedforsecurity=False).hexdigest()
        return self._md5

    @md5.setter
    def md5(self, value: str) -> None:
        self._md5 = value

    def end(self) -> None:
        """Break the ring of evaluation and states; verdicts stay readable, nothing more can be asked.

        A ring waits for the collector, with everything that a page brought: 90 objects a page, hundreds of megabytes
        before the collector comes by.
        """
        for state in (self.enumerating, self.generating):
            del state.evaluation

    # --- conversion ---

    def converted(self, page: Page) -> None:
        """Give the page that the wanted conversion made; one with nothing in it counts as failed."""
        if page.text or page.title or page.metas or page.links:
            self.conversion = page
        else:
            self.conversion_failed("empty")

    def conversion_failed(self, reason: str) -> None:
        """Say why there is none: body and type stay, the filters go on."""
        self.conversion_reason = reason or "failed"


class State:
    """One filter's view of a resource: its own copy of the sources, written only when changed (DEC-2).

    ``own`` has what was assigned (``None`` = cleared); it is lent to the other filter after steps
    that both have in common, and copied before the next write.
    """

    __deletable__ = ("evaluation",)  # read by mypyc: attributes of compiled classes stay otherwise
    __slots__ = (
        "_kinds",
        "again",
        "anew",
        "at",
        "attributes",
        "dedupe",
        "dry",
        "evaluation",
        "lent",
        "links",
        "now_s",
        "own",
        "restarted",
        "role",
        "tested",
        "told",
        "touched",
        "trace",
        "tried",
        "used",
        "verdict",
    )

    def __init__(self, evaluation: Evaluation, role: Role) -> None:
        self.evaluation = evaluation
        self.role = role
        self.own: dict[str, Value] | None = None
        self.lent = False
        self.touched = False
        self.verdict = ALLOW
        self.used: Page | None = None
        self.tried = False
        self.dedupe = ""
        self.dry = False
        self.at = 0
        self.trace: list[TraceStep] | None = None
        self._kinds: tuple[str, str] | None = None
        self.links: dict[str, Any] = {}
        self.attributes: dict[str, tuple[str, ...]] = {}
        self.now_s = 0.0
        self.again: Any = None
        """The step that asked to have the resource judged again."""
        self.restarted = self.anew = False
        self.told = False
        """Whether filter.log has heard that this filter said no."""
        self.tested: list[str] = []
        """Rules that were tried, if filter.log wants to know."""

    # --- what functions use (ingather.plugins.Resource) ---

    @property
    def url(self) -> str:
        """Canonical URL."""
        return self.evaluation.url

    @property
    def response(self) -> Response | None:
        """The response, ``None`` before retrieval."""
        return self.evaluation.response

    def page(self) -> Page | None:
        """Return the converted page if this filter had the body converted, else the page as it came."""
        return self.used if self.used is not None else self.evaluation.page()

    def get(self, name: str) -> Value:
        """Return source *name* (lower case)."""
        return reader(name)(self)

    def set(self, name: str, value: Value) -> None:
        """Define source *name*, or make it undefined."""
        if self.own is None:
            self.own = {}
        elif self.lent:
            self.own = dict(self.own)
        self.lent = False
        self.own[name] = value
        if name == "type":
            self._kinds = None
        elif name in _SITE_SOURCES:
            self.touched = True

    # --- what built-ins use ---

    def borrow(self, other: "State") -> None:
        """Take over what *other* has assigned, without copying."""
        self.own = other.own
        self.lent = other.lent = True
        self.touched = other.touched
        self._kinds = other.known_kinds

    @property
    def known_kinds(self) -> tuple[str, str] | None:
        """What :meth:`kinds` has found, if it was asked."""
        return self._kinds

    def forget_kinds(self) -> None:
        """Compute the effective type anew when it is asked for."""
        self._kinds = None

    def kinds(self) -> tuple[str, str]:
        """Return the effective type (DEC-12) and what the bytes are taken for; ``type=`` may name either.

        The second differs from the first where the type is still what the header says, and for
        XHTML, which is read as ``text/html``.
        """
        found = self._kinds
        if found is None:
            response = self.evaluation.response
            stated = media_type(response.header("content-type") or "unknown") if response is not None else ""
            own = self.own
            assigned = own.get("type") if own is not None else None
            if isinstance(assigned, tuple):
                assigned = assigned[0]
            effective = media_type(assigned) if assigned else stated
            taken = effective
            if response is not None and effective == stated and self.used is None:
                page = self.evaluation.page()
                taken = (page.media_type if page is not None else "") or effective
            if taken in HTML_TYPES:
                taken = "text/html"
            found = self._kinds = (effective, taken)
        return found

    def restart(self) -> None:
        """Begin again, with the sources as they are now: links and description are forgotten."""
        self.again = None
        self.restarted = True
        self.verdict = ALLOW
        self.at = 0
        self.dedupe = ""
        self.links = {}
        self.attributes = {}
        self.touched = True
        if self.role is Role.ENUMERATION:
            self.evaluation.over_max = 0

    def use(self, page: Page) -> None:
        """Work on *page* from now on, as HTML."""
        self.used = page
        self.tried = True
        self.set("type", "text/html")
