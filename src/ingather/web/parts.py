"""What ``app`` hands to the listeners: callables and values, no concrete class of another room."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from prometheus_client import CollectorRegistry

from ingather.access import Visible
from ingather.model.viewer import Viewer
from ingather.ports.clock import Clock
from ingather.search import SearchRequest, SearchResults
from ingather.web.auth.credentials import Secret
from ingather.web.auth.people import People, SignOn
from ingather.web.auth.proxies import Proxies
from ingather.web.auth.throttle import LoginLimits
from ingather.web.boundary import RequestLimits
from ingather.web.feedgate.intake import Intake
from ingather.web.metering import HttpMetrics

__all__ = [
    "AccessDesk",
    "Accounts",
    "AdminParts",
    "FeedBoard",
    "GroupBoard",
    "Health",
    "Operations",
    "OverlayBoard",
    "RssBoard",
    "SearchParts",
    "Tree",
    "WebLimits",
]

Tree = Mapping[str, Any]
"""A JSON object: text, numbers, booleans, ``None``, lists and objects of them."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a listener can do its work; *text* is one word or sentence fit for everybody (``ok``)."""

    ok: bool = True
    text: str = "ok"


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
        failures_refill_s: ... and seconds until it may show one more.
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
    session_idle_s: float = 1_800.0
    session_life_s: float = 43_200.0
    logins: LoginLimits = field(default_factory=LoginLimits)
    login_threads: int = 2
    login_waiting: int = 16


class Operations(Protocol):
    """What the operator decides; what ``ingather remove``, ``undelete`` and ``holds`` do. Called from several threads.

    A target is a URL; one that ends in ``/`` or ``*`` means everything that starts so. Answers are
    what those commands print with ``--json``; the members named here are counted on.
    """

    def remove(self, target: str) -> Tree:
        """Take documents out at once, undoably; ``removed`` says how many.

        Raises:
            UsageError: *target* is no URL.
        """

    def undelete(self, target: str) -> Tree:
        """Undo deletions; ``restored`` says how many documents are back.

        Raises:
            UsageError: *target* is no URL.
        """

    def classify(self) -> Tree:
        """Ask the queries of all categories and tag what they find: ``queries``, ``documents``, ``changed``.

        Raises:
            UsageError: a query cannot be asked.
        """

    def holds(self) -> Sequence[Tree]:
        """Return the open holds: ``id``, ``source``, ``reason``, ``opened`` (epoch seconds), ``documents``, ``sample``."""

    def close_hold(self, number: int, *, release: bool) -> Tree:
        """Carry the deletions of a hold out (*release*) or drop them; ``documents`` says how many it held.

        Raises:
            UsageError: no such hold is open.
        """


class Accounts(Protocol):
    """Local users and tokens, for the operator; what ``ingather user`` and ``token`` do. Called from several threads.

    Answers are what those commands print with ``--json``. A *form* is what the request's fields say.
    """

    def users(self) -> Tree:
        """Return ``users``, each with ``name``, ``principal``, ``disabled``, ``created``, ``password_set``."""

    def add_user(self, form: Mapping[str, str]) -> Tree:
        """Add a user: ``name``, ``password``, and if wanted ``domain``, ``namespace``.

        Raises:
            UsageError: there is one, or a value is not fit.
        """

    def set_password(self, form: Mapping[str, str]) -> Tree:
        """Set the ``password`` of ``name``; the user's sessions end.

        Raises:
            UsageError: there is no such user, or the password is not fit.
        """

    def set_disabled(self, name: str, *, disabled: bool) -> Tree:
        """Let a user in no more, or again; sessions end.

        Raises:
            UsageError: there is no such user.
        """

    def delete_user(self, name: str) -> Tree:
        """Delete a user.

        Raises:
            UsageError: there is no such user.
        """

    def tokens(self) -> Tree:
        """Return ``tokens``, each with ``name``, ``rights``, ``created``, ``expires``, ``revoked``."""

    def add_token(self, form: Mapping[str, str]) -> Tree:
        """Make a token: ``name``, ``rights`` (words with commas), ``days``; its text is ``token``, this once.

        Raises:
            UsageError: the name was given before, or a value is not fit.
        """

    def revoke_token(self, name: str) -> Tree:
        """End a token.

        Raises:
            UsageError: none of that name is in force.
        """


class GroupBoard(Protocol):
    """Memberships of groups; what ``ingather groups`` does. Called from several threads.

    Answers are what those commands print with ``--json``.
    """

    def listed(self, text: str = "", *, limit: int = 100) -> Tree:
        """Return ``sources`` and ``groups`` whose name has *text*."""

    def shown(self, *, user: str = "", group: str = "", namespace: str = "") -> Tree:
        """Return the groups of a user, or who is in a group.

        Raises:
            UsageError: not one of the two is named.
        """

    def begin(self, source: str, mode: str) -> Tree:
        """Begin a load of memberships; ``load`` is its key.

        Raises:
            UsageError: the source has no name, or the mode is none.
        """

    def add(self, load: str, body: bytes) -> Tree:
        """Add JSON lines to a load.

        Raises:
            UsageError: no such load is open.
        """

    def finish(self, load: str, *, complete: bool, repaired: bool = False, trouble: str = "") -> Tree:
        """End a load and return its report.

        Raises:
            UsageError: no such load is open.
        """

    def clean_up(self, source: str) -> Tree:
        """Remove the memberships of a source; ``removed`` says how many.

        Raises:
            UsageError: the source has no name.
        """


class AccessDesk(Protocol):
    """Who may see what, and why; what ``ingather access`` does. Called from several threads."""

    def explain(self, url: str, user: str, groups: Sequence[str] = ()) -> Tree:
        """Return whether a user may see a URL, and why.

        Raises:
            UrlError: *url* is no URL.
            UsageError: a name is empty.
        """

    def broken(self, *, limit: int = 1_000) -> Tree:
        """Return the URLs whose ACLs cannot be evaluated."""

    def who(self, url: str, *, limit: int = 1_000) -> Tree:
        """Return who can see a URL.

        Raises:
            UrlError: *url* is no URL.
        """


class OverlayBoard(Protocol):
    """External metadata; what ``ingather overlay`` does. Called from several threads.

    Answers are what those commands print with ``--json``. Each raises ``UsageError`` for what cannot be.
    """

    def explain(self, url: str) -> Tree:
        """Return why a URL gets what it gets."""

    def stats(self) -> Tree:
        """Return for each line how many documents it touches."""

    def diff(self, body: bytes, source: str = "", *, name: str = "", old: str = "current") -> Tree:
        """Return what another file would change."""

    def compare(self, old: str = "current", new: str = "config") -> Tree:
        """Return what lies between two versions."""

    def history(self) -> Sequence[Tree]:
        """Return what was in force when, newest first."""

    def records(self) -> Sequence[Tree]:
        """Return the records that were set here."""

    def exported(self, kind: str) -> str:
        """Return them as ``json``, ``csv`` or ``cfg``."""

    def expired(self) -> Sequence[Tree]:
        """Return the documents whose last day is over."""

    def put(self, prefix: str, classes: Mapping[str, Sequence[str]], author: str) -> Tree:
        """Set the record of a prefix."""

    def delete(self, prefix: str, author: str) -> Tree:
        """Take the record of a prefix away."""

    def replace(self, body: str, kind: str, author: str) -> Tree:
        """Let the records be exactly these."""

    def set_hidden(self, url: str, author: str, *, hidden: bool) -> Tree:
        """Let an expired document be found, or no more."""

    def files(self, version: str = "current") -> Mapping[str, str]:
        """Return the texts of a version by layer."""

    def publish(self, author: str, note: str = "") -> Tree:
        """Put what stands in the files in force now."""

    def rollback(self, version: int, author: str) -> Tree:
        """Put an old version in force again."""


class FeedBoard(Protocol):
    """Pushed feeds; what ``ingather feed list``, ``show``, ``records``, ``retry``, ``replay`` and ``delete`` do.

    Feeds are named by name or number. Each raises ``UsageError`` for a feed that is not known, or when what is asked
    for cannot be done with it. Called from several threads.
    """

    def listed(self, *, datasource: str = "", before: int = 0, limit: int = 100) -> Tree:
        """Return ``feeds``, newest first, and the ``backlog`` in records."""

    def shown(self, name: str) -> Tree:
        """Return one feed."""

    def records(self, name: str, *, after: int = 0, limit: int = 1000, state: str = "") -> Sequence[Tree]:
        """Return the receipts of a feed."""

    def file(self, name: str) -> Path:
        """Return where the original lies."""

    def retry(self, name: str) -> Tree:
        """Apply a feed that ended from its beginning once more; return it."""

    def replay(self, name: str) -> Tree:
        """Push the file of a feed again; return the new feed."""

    def forget(self, name: str) -> Tree:
        """Forget a feed that ended, with receipts and file."""

    def delete_documents(self, datasource: str) -> Tree:
        """Delete what feeds brought for a data source; return the feed of type "deleted" that does it."""

    def sources(self) -> Sequence[Tree]:
        """Return every source, with what it owns and what was pushed for it."""

    def source(self, name: str) -> Tree:
        """Return one source, with states, settings and last feeds."""

    def delete_source(self, name: str) -> Tree:
        """Delete the documents that feeds brought for a source; return the feed that does it."""

    def switch_source(self, name: str, *, off: bool) -> Tree:
        """Disable a source, or enable it again; return it."""

    def destroy(self, name: str) -> Tree:
        """Forget the feeds of a source that has no documents any more."""


class RssBoard(Protocol):
    """Feeds that sites publish, for the operator; what ``ingather rss`` does. Called from several threads.

    Raises ``UsageError`` for a feed, source, state or URL that there is not.
    """

    def feeds(self, source: str = "") -> Sequence[Tree]:
        """Return the feeds, of one source or of all."""

    def status(self) -> Tree:
        """Return the sources with what waits for a person, and the newest notices."""

    def feed(self, name: str) -> Tree:
        """Return one feed, by number or URL."""

    def documents(
        self,
        *,
        source: str = "",
        feed: str = "",
        states: Sequence[str] = (),
        after: int = 0,
        limit: int = 100,
    ) -> Tree:
        """Return listed documents in the order of their rows, and ``after`` for the next page."""

    def explain(self, url: str) -> Tree:
        """Return what feeds say of a document, how it stands and what happens next."""

    def conflicts(self, source: str = "") -> Sequence[Tree]:
        """Return documents that a feed lists and another source owns."""

    def opml(self) -> bytes:
        """Return the feeds as OPML."""

    def poll(self, target: str) -> Tree:
        """Have a feed, a source's feeds or ``all`` polled now."""

    def pause(self, target: str) -> Tree:
        """Poll them no more."""

    def resume(self, target: str) -> Tree:
        """Poll them again."""

    def add(
        self,
        url: str,
        source: str = "",
        assignments: Sequence[str] = (),
        *,
        every: bool = False,
        write: bool = False,
    ) -> Tree:
        """Look at a URL and say what would become of its feeds; with *write* put them into the settings."""

    def import_opml(self, body: bytes, source: str = "", *, write: bool = False) -> Tree:
        """Say what taking over an OPML file would do; with *write* do it."""


@dataclass(frozen=True, slots=True)
class SearchParts:
    """Everything behind the search listener.

    Attributes:
        search: answers one search (``SearchService.search``); called from ``limits.search_threads`` threads at once.
        health: asked on every ``/health``; must not block, and must not depend on hidden documents.
        hosts: host names by which this listener may be called besides IP literals, ``None`` = any. Naming
            them keeps a foreign page from reading what it finds by pointing a name of its own here.
        name: what the page calls itself.
        metrics: where requests are counted, if anywhere.
        limits: bounds.
        people: who may log in or show a token; ``None`` = everybody is anonymous.
        sees: what somebody may see as the rights are now; without it everybody sees what is public.
        proxies: who is believed about who searches.
        sign_on: the identity provider at which people may log in, if there is one.
        clock: for the pace of logins (monotonic); needed with *people*.
    """

    search: Callable[[SearchRequest], SearchResults]
    health: Callable[[], Health]
    hosts: tuple[str, ...] | None = None
    name: str = "Ingather"
    metrics: HttpMetrics | None = None
    limits: WebLimits = field(default_factory=WebLimits)
    people: People | None = None
    sees: Callable[[Viewer], Visible] | None = None
    proxies: Proxies = field(default_factory=Proxies)
    sign_on: SignOn | None = None
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class AdminParts:
    """Everything behind the admin listener.

    Attributes:
        token: the admin token of this home.
        clock: for sessions and failure counts (monotonic).
        registry: what ``/metrics`` shows.
        metrics: where requests are counted; made over the same *registry*, shared with the search listener.
        health: asked on every ``/health``; must not block.
        explain: ``explain(url, fetch)`` -> the answer of ``ingather explain --json``.
        status: the status document; see ``docs/reference/http.md`` for the members that the page knows.
        operations: removal by hand, held deletions.
        reconfigure: ``reconfigure(stage, author, note)`` lets the robot go on under a staged configuration, or,
            with an empty *stage*, under what stands in ``config/``; answers ``version``, ``changed``, ``running``.
            Raises ``ConfigurationError`` with every finding, and the old one goes on. ``None`` = there is no robot.
        intake: takes feeds under the feed gate's addresses; ``None`` = nothing does.
        rdm: answers an RDM message with (HTTP status, SOIF), whatever its bytes are; ``None`` = there is no such address.
        hosts: host names by which this listener may be called besides IP literals.
        search_url: address of the search page for the link on the status page, ``""`` = none.
        version: of Ingather, for the foot of the page.
        limits: bounds.
        people: whose tokens are believed; ``None`` = the admin token alone opens.
        accounts: local users and tokens; ``None`` = there are no such addresses.
        groups, access: memberships, and who may see what; ``None`` = there are no such addresses.
        feeds: pushed feeds; ``None`` = there are no such addresses.
        overlay: external metadata; ``None`` = there are no such addresses.
        rss: feeds that sites publish; ``None`` = there are no such addresses.
    """

    token: Secret
    clock: Clock
    registry: CollectorRegistry
    health: Callable[[], Health]
    explain: Callable[[str, bool], Tree]
    status: Callable[[], Tree]
    operations: Operations
    reconfigure: Callable[[str, str, str], Tree] | None = None
    rdm: Callable[[bytes], tuple[int, bytes]] | None = None
    intake: Intake | None = None
    metrics: HttpMetrics | None = None
    hosts: tuple[str, ...] = ("localhost",)
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
