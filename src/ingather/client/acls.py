"""ACLs and principals as elements of feeds (GSA feeds specification, sections 11.2, 11.3 and 12).

What the reader would understand in another way is refused: a denial that is misread is a leak.
"""

from ingather.client.xmltext import FeedWriteError, attributes, check_url, escape, is_plain
from ingather.model.acl import DEFAULT_NAMESPACE, Acl, Inheritance, Principal

__all__ = ["acl_element", "principal_element"]

_SEPARATORS = "\\/@"


def acl_element(acl: Acl, *, url: str, delete: bool = False) -> str:
    """Return an ``acl`` element: free if *url* is the URL that it belongs to, bound if *url* is ``""``.

    Raises:
        FeedWriteError: it cannot be trusted (``Acl.problem``), or a name in it cannot be written.
    """
    where = url or acl.url
    if acl.problem:
        raise FeedWriteError(f"{where}: the ACL cannot be trusted: {acl.problem}")
    inheritance = None if acl.inheritance is Inheritance.LEAF_NODE else str(acl.inheritance)
    parent = check_url(acl.inherit_from, "inherit-from") if acl.inherit_from.strip() else None
    pairs = [
        ("url", url or None),
        ("action", "delete" if delete else None),
        ("inheritance-type", inheritance),
        ("inherit-from", parent),
    ]
    entries = "".join(
        principal_element(entry.principal, where, access=str(entry.right)) for entry in acl.entries
    )
    tag = f"acl{attributes(where, pairs)}"
    return f"<{tag}>{entries}</acl>" if entries else f"<{tag}/>"


def principal_element(who: Principal, where: str, *, access: str = "") -> str:
    """Return a ``principal`` element; *access* ``""`` = of a group feed, whose values are in upper case.

    Raises:
        FeedWriteError: the name is empty, or a reader would split it in another way.
    """
    text, unqualified = _text_of(who, where)
    scope, case = str(who.scope), None
    if not who.case_sensitive:
        case = "everything-case-insensitive"
    if not access:
        scope, case = scope.upper(), case and case.upper().replace("-", "_")
    namespace = who.namespace.strip() or DEFAULT_NAMESPACE
    if not is_plain(text) or not is_plain(namespace):
        raise FeedWriteError(f"{where}: the principal {text[:100]!r} holds a control character")
    pairs = [
        ("scope", scope),
        ("access", access or None),
        ("namespace", None if namespace == DEFAULT_NAMESPACE else namespace),
        ("case-sensitivity-type", case),
        ("principal-type", "unqualified" if unqualified else None),
    ]
    return f"<principal{attributes(where, pairs)}>{escape(text)}</principal>"


def _text_of(who: Principal, where: str) -> tuple[str, bool]:
    r"""Return the text of a principal, and whether it must not be split: ``domain\name``, else the name alone."""
    if not who.name.strip() or who.name != who.name.strip() or who.domain != who.domain.strip():
        raise FeedWriteError(f"{where}: the principal {who.name[:100]!r} is empty or has blanks around it")
    if not who.domain:
        return who.name, any(mark in who.name for mark in _SEPARATORS)
    if any(mark in who.domain for mark in "\\="):
        raise FeedWriteError(f"{where}: the domain {who.domain[:100]!r} of a principal holds \\ or =")
    return f"{who.domain}\\{who.name}", False
