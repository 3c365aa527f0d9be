"""What the admin listener lets operators do, as protocols: one board for each kind of thing; ``app`` has them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ingather.model.decided import By

__all__ = [
    "AccessDesk",
    "Accounts",
    "FeedBoard",
    "GroupBoard",
    "Operations",
    "OverlayBoard",
    "RssBoard",
    "Tree",
]

Tree = Mapping[str, Any]
"""A JSON object: text, numbers, booleans, ``None``, lists and objects of them."""


class Operations(Protocol):
    """What the operator decides; what ``ingather remove``, ``undelete`` and ``holds`` do. Called from several threads.

    A target is a URL; one that ends in ``/`` or ``*`` means everything that starts so. Answers are
    what those commands print with ``--json``; the members named here are counted on.
    """

    def remove(self, target: str, by: By, *, yes: bool = False, dry_run: bool = False) -> Tree:
        """Take documents out at once, undoably; ``removed`` says how many, ``decision`` by which number just this is undone.

        With *dry_run* nothing is done; ``removed``, ``sample`` and ``too_much`` say what would go.

        Raises:
            UsageError: *target* is no URL.
            ConsentError: more would go than a threshold allows, and *yes* was not said.
        """

    def undelete(self, target: str, by: By) -> Tree:
        """Undo deletions; ``restored`` says how many documents are back.

        Raises:
            UsageError: *target* is no URL.
        """

    def undo(self, form: Mapping[str, str], by: By) -> Tree:
        """Undo the deletions of a ``run``, ``reason``, ``hold``, ``source`` or ``decision``; ``restored`` says how many documents are back.

        Raises:
            UsageError: *form* has none of these, or a number is none.
        """

    def classify(self) -> Tree:
        """Ask the queries of all categories and tag what they find: ``queries``, ``documents``, ``changed``.

        Raises:
            UsageError: a query cannot be asked.
        """

    def holds(self) -> Sequence[Tree]:
        """Return the open holds: ``id``, ``source``, ``reason``, ``opened`` (epoch seconds), ``documents``, ``sample``, ``why``."""

    def close_hold(self, number: int, *, release: bool, by: By) -> Tree:
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

    def record(self, prefix: str) -> Tree | None:
        """Return the record of a prefix, ``None`` if there is none."""

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

    def conflicts(self, name: str = "", *, after: int = 0, limit: int = 1000) -> Sequence[Tree]:
        """Return URLs that one source owns and another names, too."""

    def delete_source(self, name: str, by: By) -> Tree:
        """Delete the documents of a source; return the feed that does it, or what was ``deleted`` and whether that was all (``done``)."""

    def switch_source(self, name: str, *, off: bool) -> Tree:
        """Disable a source, or enable it again; return it."""

    def destroy(self, name: str) -> Tree:
        """Forget the feeds of a source that has no documents any more, and what feeds and sitemaps listed for it."""


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
