"""Who may say what by feeds: the grant of a sender, and the policy that is asked for every statement of a feed.

A sender is trusted by its address, or shows a token that was given to it. A trusted sender may speak about every URL, as an
appliance let it, unless the settings of a source narrow that (``takes-over``, ``taken-over``). A token is bounded: it speaks
through its own data sources, about URLs below its prefixes that belong to no other source, and about groups in its own name spaces.

Who owns a URL decides. Another source takes it over, changes its rights or deletes it only where both sides allow that: for a
trusted sender neither setting says no, for a token both say yes.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from ingather.access.principals import fold
from ingather.model.acl import Principal
from ingather.model.source_name import source_key

__all__ = ["TRUSTED", "FeedAuthority", "Grant", "Sender", "UnauthorizedError", "grant_in"]

_BEHIND: Final = frozenset("/?;#&")
"""What may stand behind a prefix: ``http://h/hr`` covers ``http://h/hr/a``, not ``http://h/hrx``."""


class UnauthorizedError(Exception):
    """The sender may not say this; the text says why, and which setting or command would allow it."""


class Grant(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a sender may say, as it was when its feed was taken; it is kept with the feed.

    Attributes:
        token: name of the token, ``""`` = a trusted sender, for whom nothing below counts.
        sources: keys of the data sources that it may push to.
        prefixes: canonical URLs at or below which it may speak; none = any URL that belongs to no other source.
        acls: it may write access lists of what it pushes.
        group_sources: keys of the sources of memberships that it may push to.
        namespaces: name spaces whose groups it may give members to, folded; none = it may push no memberships.
    """

    token: str = ""
    sources: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    acls: bool = True
    group_sources: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether it speaks for its own sources alone."""
        return bool(self.token)

    def admits(self, datasource: str, *, groups: bool) -> bool:
        """Whether feeds to *datasource* are taken: of documents, or of *groups*."""
        if not self.bounded:
            return True
        name = source_key(datasource)
        return name in self.group_sources and bool(self.namespaces) if groups else name in self.sources

    def covers(self, url: str) -> bool:
        """Whether canonical *url* lies at or below one of the prefixes, or there are none."""
        return not self.prefixes or self.names(url)

    def names(self, url: str) -> bool:
        """Whether a prefix names canonical *url* or something above it."""
        return any(
            url.startswith(prefix)
            and (len(url) == len(prefix) or prefix[-1] in _BEHIND or url[len(prefix)] in _BEHIND)
            for prefix in self.prefixes
        )

    def refusal_of_group(self, group: Principal) -> str:
        """Return why members of *group* cannot be named, ``""`` = they can."""
        if not self.bounded or fold(group.namespace) in self.namespaces:
            return ""
        return (
            f"the token {self.token} may not name members of groups in the name space {group.namespace!r}; "
            f"allow it with: ingather feed token {self.token} --namespace {group.namespace}"
        )


TRUSTED: Final = Grant()
"""Of senders that are trusted by their address, of people with the role, of the operator."""


class Sender(msgspec.Struct, frozen=True):
    """Who pushed a feed: the address, as text, and what it may say."""

    address: str
    grant: Grant = TRUSTED


def grant_in(fields: Mapping[str, Any]) -> Grant:
    """Return the grant among what is kept of a feed; a feed that an older version took has that of a trusted sender."""
    return msgspec.convert(fields.get("grant", {}), Grant)


class FeedAuthority:
    """Answers for one feed: may its sender, through its data source, say this?

    Args:
        grant: of the sender.
        datasource: that it pushes to.
        takes_over: what the data source's settings say of taking what belongs to others; ``None`` = nothing.
        taken_over: what the settings of other sources say of that, by their keys (``model.source_name``).
    """

    def __init__(
        self, grant: Grant, datasource: str, *, takes_over: bool | None, taken_over: Mapping[str, bool]
    ) -> None:
        self.grant = grant
        self._datasource = datasource
        self._takes_over, self._taken_over = takes_over, taken_over

    @property
    def is_open(self) -> bool:
        """Whether nothing is ever refused: the usual case, in which no owner need be looked up."""
        return (
            not self.grant.bounded
            and self._takes_over is not False
            and False not in self._taken_over.values()
        )

    def check_url(self, url: str) -> None:
        """See that the sender may speak about canonical *url* at all.

        Raises:
            UnauthorizedError: it lies outside the prefixes of the token.
        """
        if not self.grant.covers(url):
            raise UnauthorizedError(
                f"the token {self.grant.token} may not speak about this URL: it is for {', '.join(self.grant.prefixes)}; "
                f"allow it with: ingather feed token {self.grant.token} --prefix URL"
            )

    def check_acl(self) -> None:
        """See that the sender may write access lists.

        Raises:
            UnauthorizedError: it may not.
        """
        if not self.grant.acls:
            raise UnauthorizedError(
                f"the token {self.grant.token} may not write access lists; allow it with: "
                f"ingather feed token {self.grant.token} --acls"
            )

    def check_owner(self, owner: str) -> None:
        """See that the sender may change what belongs to the source *owner*, which is not its own.

        Raises:
            UnauthorizedError: it may not.
        """
        theirs = self._taken_over.get(source_key(owner))
        if theirs is False:
            raise UnauthorizedError(
                f"it belongs to {owner}, whose documents others do not take, change or delete (taken-over)"
            )
        if self._takes_over is False:
            raise UnauthorizedError(
                f"it belongs to {owner}, and {self._datasource} takes, changes or deletes no documents of others (takes-over)"
            )
        if self.grant.bounded and not (theirs and self._takes_over):
            raise UnauthorizedError(
                f"it belongs to {owner}, and a token for {self._datasource} does not speak for others; to let it, write "
                f"takes-over = true in [source.{self._datasource}] and taken-over = true in [source.{owner}]"
            )

    def check_parent(self, url: str, *, inherited: bool) -> None:
        """See that the sender may give *url*, which has no owner yet, an ACL.

        *inherited*: ACLs of other sources inherit from it; then only a token whose prefixes name it may.

        Raises:
            UnauthorizedError: it may not.
        """
        if inherited and self.grant.bounded and not self.grant.names(url):
            raise UnauthorizedError(
                f"documents of other sources inherit from it, and no prefix of the token {self.grant.token} names it; "
                f"allow it with: ingather feed token {self.grant.token} --prefix {url}"
            )
