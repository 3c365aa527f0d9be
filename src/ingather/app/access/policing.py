"""policy-acl.txt over the catalog: whoever opens the writer has it judge new documents by the rules.

When the rules change, all documents are placed anew; a run that dies meanwhile does it again at its next start.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from ingather.access.policy import acl_of_readers, policy_acls
from ingather.access.readacl import acl_of_readacl
from ingather.app.home import Home
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.loading import Loaded
from ingather.conf.policyacl import PolicyAcl
from ingather.conf.sources.source import SourceConf
from ingather.model.acl import Acl

__all__ = [
    "PLACED",
    "place_by_pieces",
    "place_when_changed",
    "policy_digest",
    "use_defaults",
    "use_policy",
    "use_policy_of",
]

PLACED: Final = "policy-placed"
"""Under which name the catalog remembers the rules by which its documents were placed."""
_NAME: Final = "policy-acl.txt"
_RESCUES: Final = b"\0policy-rescues-broken"
"""Behind the digest of the rules by which documents were placed: rules rescue broken chains."""
Write = Callable[[Callable[[Any, Applied], Any]], Awaitable[Any]]


def use_policy(writer: CatalogWriter, policy: PolicyAcl | None) -> None:
    """Have *writer* judge documents by *policy* from now on (``None`` = there are no rules), and read their ``readacl``."""
    writer.access.use_policy(policy_acls(policy) if policy is not None else None)
    writer.access.use_readacl(acl_of_readacl)
    writer.access.use_rescues(on=_rescues(writer.memory.recall(PLACED)))


def use_policy_of(writer: CatalogWriter, home: Home) -> None:
    """As :func:`use_policy`, with the rules that stand in the home; with broken ones nobody sees what is written."""
    policy, wrong = _of_home(home)
    if wrong:
        broken = Acl(f"policy:{_NAME}", problem=f"{_NAME} cannot be used: {wrong}")
        writer.access.use_policy(lambda _url: (broken,))
        writer.access.use_readacl(acl_of_readacl)
    else:
        use_policy(writer, policy)


def _of_home(home: Home) -> tuple[PolicyAcl | None, str]:
    """Return the rules, ``None`` if there is no file, and why they cannot be used."""
    try:
        text = (home.config / _NAME).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None, ""
    except (OSError, UnicodeDecodeError) as error:
        return None, str(error)
    policy, said = PolicyAcl.parse(text, _NAME)
    return policy, next((str(d) for d in said if d.is_error), "")


def policy_digest(
    loaded: Loaded, sources: Mapping[str, SourceConf] | None = None, *, rescues: bool = False
) -> bytes:
    """Return what tells one set of rules from another, empty for none.

    Args:
        loaded: the rules.
        sources: whose default ACLs count where no rule does.
        rescues: rules rescue broken chains.
    """
    defaults = sorted((name, source.acl) for name, source in (sources or {}).items() if source.acl)
    said = b"\0" + repr(defaults).encode() if defaults else b""
    return loaded.files.get(_NAME, "").encode() + said + (_RESCUES if rescues else b"")


def use_defaults(writer: CatalogWriter, sources: Mapping[str, SourceConf]) -> None:
    """Write the default ACLs of *sources*; inside a transaction. One that cannot be read lets nobody see the documents."""
    names = writer.applier.names
    for name, source in sources.items():
        if not source.acl and names.known_source(name) is None:
            continue
        number = names.source(name, source.kind, source.access)
        names.set_inherited(number, inherited=source.acls_inherited)
        writer.access.use_default(
            number, acl_of_readers(source.acl, f"source:{name}") if source.acl else None
        )


def _rescues(digest: bytes) -> bool:
    return digest.endswith(_RESCUES)


async def place_by_pieces(
    write: Write, loaded: Loaded, sources: Mapping[str, SourceConf], *, rescues: bool = False
) -> bool:
    """Place every document under the rules of *loaded*; return whether that was due.

    Each piece is a transaction of its own, so that visits and pushes commit in between. A death meanwhile is made good at the
    next start by :func:`place_when_changed`.

    Args:
        write: runs a job on the keeper's writer, durable when it returns.
        loaded: the rules, which the writer uses already.
        sources: with their default ACLs, as they were when the writer was opened.
        rescues: whether they rescue broken chains, as they did when the writer was opened.
    """
    digest = policy_digest(loaded, sources, rescues=rescues)
    if await write(lambda w, _: w.memory.recall(PLACED)) == digest:
        return False
    after = 0
    while after := await write(partial(_piece, after)):
        pass
    await write(lambda w, _: w.memory.remember(PLACED, digest))
    return True


def _piece(after: int, writer: CatalogWriter, applied: Applied) -> int:
    return writer.access.place(applied, after=after)


def place_when_changed(
    writer: CatalogWriter,
    loaded: Loaded,
    sources: Mapping[str, SourceConf],
    now_s: float,
    *,
    rescues: bool = False,
) -> bool:
    """Place every document under the rules of *loaded* and the default ACLs of *sources*; return whether that was due.

    *rescues*: whether rules decide where a document's own chain is broken (``access.policy-rescues-broken``).
    """
    before, digest = writer.memory.recall(PLACED), policy_digest(loaded, sources, rescues=rescues)
    writer.access.use_rescues(on=rescues)
    writer.transaction(lambda w: use_defaults(w, sources))
    if before == digest:
        return False
    both = _rescues(before) != rescues
    if both and not rescues:
        writer.transaction(lambda w: w.access.end_rescues())
    after = 0
    while True:
        after = writer.transaction(lambda w, at=after: _some(w, at, now_s, both=both))  # type: ignore[misc]
        if not after:
            break
    writer.transaction(lambda w: w.memory.remember(PLACED, digest))
    return True


def _some(writer: CatalogWriter, after: int, now_s: float, *, both: bool) -> int:
    writer.applier.now_s = now_s
    return writer.access.place(Applied(), after=after, both=both)
