"""Who may see what, and why: one user and one URL, the broken chains, everybody who sees a URL.

Every answer is made of what search itself goes by: the catalog's chains and marks, the memberships in force, the written
rule. Nothing is guessed: what is not known is said not to be known.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ingather.access.decision import (
    RESCUABLE,
    ChainStatus,
    Decision,
    chain_defect,
    decide_for,
)
from ingather.access.groups import Expansion, MembershipSource, expand
from ingather.access.principals import PrincipalKey, identity, key_of
from ingather.access.publicity import NOBODY, PUBLIC
from ingather.explain.access_chains import AclFacts, broken_chains, governing
from ingather.explain.access_forms import entry_form, principal_form, principal_text
from ingather.explain.access_reasons import acl_form, by_marks, reason_of, unknown_form
from ingather.model.acl import Acl, Principal, PrincipalScope
from ingather.model.url import spellings

__all__ = ["AccessExplainer", "AccessParts", "DocumentFacts"]

_MATCHED: Final = 200


class MemberFacts(Protocol):
    """See ``catalog.sqlite_groups_reader.Member``."""

    @property
    def member(self) -> int: ...
    @property
    def key(self) -> PrincipalKey: ...
    @property
    def who(self) -> Principal: ...


class GroupFacts(MembershipSource, Protocol):
    """See ``catalog.sqlite_groups_reader``."""

    def below(self, groups: Sequence[int], *, most: int) -> Sequence[MemberFacts]: ...
    def written_as(self, folded: Sequence[int]) -> Sequence[tuple[int, PrincipalKey]]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What is known of a document besides its rights.

    Attributes:
        id: row.
        source: that owns it.
        state: in words: described, held, deleted ...
        indexed: whether the index holds it, ``None`` = there is no index.
        behind: changes that the index has not applied yet.
    """

    id: int
    source: str
    state: str
    indexed: bool | None
    behind: int


@dataclass(frozen=True)
class AccessParts:
    """What answering needs; each call of the first two makes a reader that is closed after the answer.

    Attributes:
        acls: ACLs and chains, ``None`` = there is no catalog yet.
        groups: memberships.
        document: what is known of a canonical URL; ``None`` = it is not known as a document.
        cut_domains: as search has it.
        meant: the canonical URL that a person means who types one; raises :class:`UrlError`.
    """

    acls: Callable[[], AclFacts | None]
    groups: Callable[[], GroupFacts]
    document: Callable[[str], DocumentFacts | None]
    cut_domains: bool = True
    meant: Callable[[str], str] = lambda text: spellings(text)[-1]


class AccessExplainer:
    """Answers questions about access, each a JSON-ready tree. Any thread may ask."""

    def __init__(self, parts: AccessParts) -> None:
        self._parts = parts

    def explain(
        self, text: str, users: Collection[Principal], groups: Collection[Principal] = ()
    ) -> dict[str, Any]:
        """Return whether somebody may see a URL, and why.

        Args:
            text: the URL.
            users: his principals; none = whoever did not log in.
            groups: that a directory or a proxy would say he is in, besides those of memberships.

        Raises:
            UrlError: *text* is no URL.
        """
        url = self._parts.meant(text if "://" in text else f"https://{text}")
        with _Open(self._parts) as (acls, members):
            if acls is None or members is None:
                return unknown_form(url, users)
            found = expand(members, users, groups, cut_domains=self._parts.cut_domains)
            return self._explained(url, acls, found)

    def broken(self, *, limit: int = 1_000) -> dict[str, Any]:
        """Return the URLs whose chain of ACLs cannot be evaluated, each with the reason: nobody sees them.

        ``rescued``: policy rules decide about that one instead.
        """
        with _Open(self._parts) as (acls, _):
            if acls is None:
                return {"broken": [], "more": False}
            with acls.snapshot():
                listed = acls.documents_of(sorted(broken_chains(acls)), limit=limit + 1)
                rows = []
                for url, _number in listed[:limit]:
                    defect = chain_defect(acls.chain_of(url))
                    if defect is not None:
                        status, at, detail = defect
                        rescued = status in RESCUABLE and bool(acls.rescue_of(url))
                        rows.append(
                            {
                                "url": url,
                                "status": str(status),
                                "at": at,
                                "reason": detail,
                                "rescued": rescued,
                            }
                        )
            return {"broken": rows, "more": len(listed) > limit}

    def who(self, text: str, *, limit: int = 1_000) -> dict[str, Any]:
        """Return who can see a URL: every user that its ACLs or the memberships name is tried.

        Users whom nothing names but a directory cannot be listed; the groups that permit are, for them.

        Raises:
            UrlError: *text* is no URL.
        """
        url = self._parts.meant(text if "://" in text else f"https://{text}")
        with _Open(self._parts) as (acls, members):
            if acls is None or members is None:
                return {**unknown_form(url, ()), "users": [], "groups": [], "more": False}
            answer = self._explained(url, acls, Expansion(()))
            answer = {
                name: answer[name]
                for name in ("url", "document", "index", "chain", "status", "reason", "rescued")
            }
            if answer["chain"] in {NOBODY, PUBLIC, None} or answer["status"] != ChainStatus.CHAIN_OK:
                return answer | {
                    "everybody": answer["chain"] == PUBLIC,
                    "users": [],
                    "groups": [],
                    "more": False,
                }
            chain, _ = governing(acls, url)
            with members.snapshot():
                users, more = self._seeing(chain, members, limit)
            named = {
                e.principal: None
                for acl in chain
                for e in acl.entries
                if e.principal.scope is PrincipalScope.GROUP
            }
            permitting = [
                principal_form(group) for group in named
                if decide_for(chain, identity((), expand(members, (), (group,)).groups)).permitted
            ]  # fmt: skip
            reason = f"{len(users)} users that are known by name can see it"
            return answer | {
                "reason": reason,
                "everybody": False,
                "users": users,
                "groups": permitting,
                "more": more,
            }

    def _explained(self, url: str, acls: AclFacts, found: Expansion) -> dict[str, Any]:
        with acls.snapshot():
            facts = self._parts.document(url)
            marks = None if facts is None else acls.marks_of(facts.id)
            chain, rescued = governing(acls, url)
        answer: dict[str, Any] = {
            "url": url,
            "users": [principal_form(who) for who in found.users],
            "groups": [
                {**principal_form(group), "way": [principal_text(step) for step in found.way(group)]}
                for group in found.groups
            ],
            "document": None if facts is None else {"id": facts.id, "source": facts.source, "state": facts.state},
            "index": None if facts is None else {"indexed": facts.indexed, "behind": facts.behind},
            "chain": None if marks is None else marks[2],
            "acls": [], "rescued": None if rescued is None else {"status": str(rescued[0]), "at": rescued[1], "reason": rescued[2]},
        }  # fmt: skip
        if chain and not (marks is not None and marks[2] == NOBODY):
            decision = decide_for(
                chain, identity(found.users, found.groups, cut_domains=self._parts.cut_domains)
            )
            answer |= self._by_acls(chain, decision, found)
            if rescued is not None:
                answer["reason"] = (
                    f"its own chain is broken ({rescued[2]}), so policy rules decide (access.policy-rescues-broken): {answer['reason']}"
                )
        else:
            answer |= by_marks(marks)
            answer["acls"] = [acl_form(acl, "", ()) for acl in chain]
        answer["sees"] = answer["permitted"] and facts is not None and bool(facts.indexed)
        if facts is None:
            answer["reason"] += "; it is not known as a document, so there is nothing to see"
        elif answer["permitted"] and not facts.indexed:
            answer["reason"] += f"; but it is not in search: {facts.state}"
        return answer

    def _by_acls(self, chain: Sequence[Acl], decision: Decision, found: Expansion) -> dict[str, Any]:
        said = {step.url: step for step in decision.steps}
        names = self._names(found)
        forms = []
        for acl in chain:
            step = said.get(acl.url)
            matched = [
                {**entry_form(entry), "by": names.get(key_of(entry.principal), [])}
                for entry in (step.matched if step else ())
            ]
            forms.append(acl_form(acl, "" if step is None else str(step.verdict), matched[:_MATCHED]))
        return {
            "permitted": decision.permitted, "verdict": str(decision.verdict), "status": str(decision.status),
            "reason": reason_of(decision, names), "decided_by": decision.url or None,
            "entry": None if decision.entry is None else entry_form(decision.entry), "acls": forms,
        }  # fmt: skip

    def _names(self, found: Expansion) -> dict[PrincipalKey, list[str]]:
        """Return for each form in which somebody is offered the way by which it is his."""
        names: dict[PrincipalKey, list[str]] = {}
        for who in found.users:
            for key in identity((who,), cut_domains=self._parts.cut_domains):
                names.setdefault(key, [principal_text(who)])
        for group in found.groups:
            way = [principal_text(step) for step in found.way(group)]
            for key in identity((), (group,)):
                names.setdefault(key, way)
        return names

    def _seeing(
        self, chain: Sequence[Acl], members: GroupFacts, limit: int
    ) -> tuple[list[dict[str, Any]], bool]:
        """Try every user whom the chain or the memberships below its groups name; at most *limit* of them."""
        named = [entry.principal for acl in chain for entry in acl.entries]
        candidates = {_bare(who): None for who in named if who.scope is PrincipalScope.USER}
        groups = [who for who in named if who.scope is PrincipalScope.GROUP]
        for who in _users_below(groups, members, most=limit + 1):
            candidates[who] = None
        more = len(candidates) > limit
        seeing = []
        for who in list(candidates)[:limit]:
            found = expand(members, (who,), cut_domains=self._parts.cut_domains)
            decision = decide_for(chain, identity((who,), found.groups, cut_domains=self._parts.cut_domains))
            if decision.permitted and decision.entry is not None:
                by = self._names(found).get(key_of(decision.entry.principal), [])
                seeing.append({**principal_form(who), "by": by, "entry": entry_form(decision.entry)})
        return seeing, more


class _Open:
    """Both readers, closed at the end."""

    def __init__(self, parts: AccessParts) -> None:
        self._parts = parts
        self._acls: AclFacts | None = None
        self._groups: GroupFacts | None = None

    def __enter__(self) -> tuple[AclFacts | None, GroupFacts | None]:
        self._acls = self._parts.acls()
        if self._acls is not None:
            self._groups = self._parts.groups()
        return self._acls, self._groups

    def __exit__(self, *_: object) -> None:
        for reader in (self._acls, self._groups):
            if reader is not None:
                reader.close()


def _users_below(groups: Sequence[Principal], members: GroupFacts, *, most: int) -> Iterator[Principal]:
    """Yield at most *most* users who are in *groups*, nested ones followed down."""
    forms: set[PrincipalKey] = {key_of(group) for group in groups}
    met: set[int] = set()
    given = 0
    while forms and given < most:
        known = members.find(sorted(forms))
        folded = [number for key, number in known.items() if not key[1]]
        below = {number for key, number in known.items() if key[1]}
        below.update(number for number, _ in members.written_as(folded))
        fresh = sorted(below - met)
        met.update(fresh)
        forms = set()
        if not fresh:
            return
        for member in members.below(fresh, most=most * 10):
            if member.key[0] is PrincipalScope.GROUP:
                forms.add(member.key)
            elif given < most:
                given += 1
                yield member.who  # as a membership wrote him


def _bare(who: Principal) -> Principal:
    return Principal(who.scope, who.name, who.domain, who.namespace)
