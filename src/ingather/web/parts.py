"""What ``app`` hands to the listeners: callables and values, no concrete class of another room."""

from collections.abc import Callable
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from ingather.access import Visible
from ingather.model.viewer import Viewer
from ingather.ports.clock import Clock
from ingather.search import SearchRequest, SearchResults
from ingather.web.asking import Paging
from ingather.web.auth.credentials import Secret
from ingather.web.auth.people import People, SignOn
from ingather.web.auth.proxies import Proxies
from ingather.web.auth.throttle import LoginLimits
from ingather.web.boards import (
    AccessDesk,
    Accounts,
    FeedBoard,
    GroupBoard,
    Operations,
    OverlayBoard,
    RssBoard,
    Tree,
)
from ingather.web.boundary import RequestLimits
from ingather.web.deletion_board import DeletionBoard
from ingather.web.feedgate.intake import Intake
from ingather.web.hosts_board import HostsBoard
from ingather.web.metering import HttpMetrics
from ingather.web.ownhosts import OwnHosts
from ingather.web.report_board import ReportBoard
from ingather.web.robot_board import RobotBoard
from ingather.web.site_board import SiteBoard
from ingather.web.trap_board import TrapBoard

__all__ = ["AdminParts", "Health", "Readiness", "SearchParts", "WebLimits"]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a listener can do its work; *text* is one word or sentence fit for everybody (``ok``)."""

    ok: bool = True
    text: str = "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a listener should get requests now.

    Attributes:
        reasons: (name, sentence) of each reason why not; none = ready. Fit for everybody.
        notes: sentences about what an operator wanted so.
    """

    reasons: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Bounds of the two listeners.

    Attributes:
        request: what one request may bring.
        query_s: seconds for a search, waiting for a thread included.
        search_threads: searches that run at once (tantivy lets go of the interpreter's lock).
        search_waiting: searches that may wait for a thread; more are answered 503 at once.
        admin_threads: admin calls that run at once.
        admin_s: seconds for an admin call without network.
        explain_s: seconds for an explanation, which may fetch.
        failures: wrong tokens that one address may show at once ...
        failures_refill_s: ... and seconds until it may show one more. Beyond that ...
        failures_pause_s: ... every token from there is answered so much later.
        session_idle_s: seconds without a request that end a browser's session.
        session_life_s: seconds after which a session ends whatever it did.
        logins: how often logins of the search page may fail.
        login_threads: passwords that are looked at at once (46 ms and 19 MiB each) ...
        login_waiting: ... and logins that may wait for that.
    """

    request: RequestLimits = field(default_factory=RequestLimits)
    query_s: float = 2.0
    search_threads: int = 4
    search_waiting: int = 64
    admin_threads: int = 4
    admin_s: float = 60.0
    explain_s: float = 180.0
    failures: int = 10
    failures_refill_s: float = 6.0
    failures_pause_s: float = 1.0
    session_idle_s: float = 1_800.0
    session_life_s: float = 43_200.0
    logins: LoginLimits = field(default_factory=LoginLimits)
    login_threads: int = 2
    login_waiting: int = 16


@dataclass(frozen=True, slots=True)
class SearchParts:
    """Everything behind the search listener.

    Attributes:
        search: answers one search (``SearchService.search``); called from ``limits.search_threads`` threads at once.
        health: asked on every ``/health``; must not block, and must not depend on hidden documents.
        ready: asked on every ``/ready``, the same holds for it.
        hosts: the names by which this listener may be called, ``None`` = any. Naming
            them keeps a foreign page from reading what it finds by pointing a name of its own here.
        name: what the page calls itself.
        metrics: where requests are counted, if anywhere.
        limits: bounds.
        people: who may log in or show a token; ``None`` = everybody is anonymous.
        sees: what somebody may see as the rights are now; without it everybody sees what is public.
        proxies: who is believed about who searches.
        sign_on: the identity provider at which people may log in, if there is one.
        clock: for the pace of logins (monotonic); needed with *people*.
        paging: how many results a page has, and at most.
        nothing: why no document was gathered yet, ``""`` = there are some; without names, for anybody may read it.
    """

    search: Callable[[SearchRequest], SearchResults]
    health: Callable[[], Health]
    ready: Callable[[], Readiness] = Readiness
    hosts: OwnHosts | None = None
    name: str = "Ingather"
    metrics: HttpMetrics | None = None
    limits: WebLimits = field(default_factory=WebLimits)
    people: People | None = None
    sees: Callable[[Viewer], Visible] | None = None
    proxies: Proxies = field(default_factory=Proxies)
    sign_on: SignOn | None = None
    clock: Clock | None = None
    paging: Paging = field(default_factory=Paging)
    nothing: Callable[[], str] = str


@dataclass(frozen=True, slots=True)
class AdminParts:
    """Everything behind the admin listener.

    Attributes:
        token: the admin token of this home.
        clock: for sessions and failure counts (monotonic).
        registry: what ``/metrics`` shows.
        metrics: where requests are counted; made over the same *registry*, shared with the search listener.
        health: asked on every ``/health``; must not block.
        ready: asked on every ``/ready``; must not block.
        explain: ``explain(url, fetch)`` -> the answer of ``ingather explain --json``.
        status: the status document; see ``docs/reference/http.md`` for the members that the page knows.
        operations: removal by hand, held deletions.
        reconfigure: ``reconfigure(stage, author, note, base)`` lets the robot go on under a staged configuration (made of
            the one with the digest *base*, if it says one), or, with an empty *stage*, under what stands in ``config/``; answers ``version``, ``changed``, ``running``.
            Raises ``ConfigurationError`` with every finding, and the old one goes on. ``None`` = there is no robot.
        intake: takes feeds under the feed gate's addresses; ``None`` = nothing does.
        rdm: answers an RDM message with (HTTP status, SOIF), whatever its bytes are; ``None`` = there is no such address.
        hosts: the names by which this listener may be called.
        search_url: address of the search page for the link on the status page, ``""`` = none.
        version: of Ingather, for the foot of the page.
        limits: bounds.
        people: whose tokens are believed; ``None`` = the admin token alone opens.
        accounts: local users and tokens; ``None`` = there are no such addresses.
        groups, access: memberships, and who may see what; ``None`` = there are no such addresses.
        feeds: pushed feeds; ``None`` = there are no such addresses.
        overlay: external metadata; ``None`` = there are no such addresses.
        rss: feeds that sites publish; ``None`` = there are no such addresses.
        sites: sites and converters; ``None`` = there are no such addresses.
        robot: the robot under control; ``None`` = there are no such addresses.
        host_names: looks at sites, and hosts with two names; ``None`` = there are no such addresses.
        deletions: tombstones, holds, decisions; ``None`` = there are no such addresses.
        reports: reports and the history of runs; ``None`` = there are no such addresses.
        traps: crawler traps; ``None`` = there are no such addresses.
    """

    token: Secret
    clock: Clock
    registry: CollectorRegistry
    health: Callable[[], Health]
    explain: Callable[[str, bool], Tree]
    status: Callable[[], Tree]
    operations: Operations
    reconfigure: Callable[[str, str, str, str], Tree] | None = None
    rdm: Callable[[bytes], tuple[int, bytes]] | None = None
    intake: Intake | None = None
    metrics: HttpMetrics | None = None
    hosts: OwnHosts = field(default_factory=OwnHosts)
    search_url: str = ""
    version: str = ""
    limits: WebLimits = field(default_factory=WebLimits)
    people: People | None = None
    accounts: Accounts | None = None
    groups: GroupBoard | None = None
    access: AccessDesk | None = None
    feeds: FeedBoard | None = None
    overlay: OverlayBoard | None = None
    rss: RssBoard | None = None
    robot: RobotBoard | None = None
    sites: SiteBoard | None = None
    host_names: HostsBoard | None = None
    ready: Callable[[], Readiness] = Readiness
    deletions: DeletionBoard | None = None
    reports: ReportBoard | None = None
    traps: TrapBoard | None = None
