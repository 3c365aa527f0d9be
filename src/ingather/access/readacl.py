"""``readacl`` of resource descriptions: who may read a document, as RDs and metadata say it.

The old server checked it against user, role and organisation (robot specification, section 12.4); how its values were
spelt is not written down anywhere. Read are ``user=NAME`` and ``group=NAME`` with their synonyms, and distinguished
names; one a value, or several with ``;`` between. Whatever else stands there may be a denial for all we know: the list
then lets nobody read.
"""

import re
from collections.abc import Sequence
from typing import Final

from ingather.access.principals import principal
from ingather.model.acl import Acl, AclEntry, PrincipalScope, Right

__all__ = ["acl_of_readacl"]

_WORD: Final = re.compile(r"\s*([A-Za-z-]+)\s*([=:])\s*(.*?)\s*", re.DOTALL)
_USER, _GROUP = PrincipalScope.USER, PrincipalScope.GROUP
_SCOPES: Final = {
    "user": _USER, "userid": _USER, "group": _GROUP, "role": _GROUP,
    "org": _GROUP, "organization": _GROUP, "organisation": _GROUP,
}  # fmt: skip
_NAMED: Final = {"uid": _USER, "cn": _GROUP, "ou": _GROUP, "o": _GROUP, "dc": _GROUP}
"""What a distinguished name names, by its first attribute: people have a uid, roles a cn, organisations the others."""
_ODD: Final = frozenset('*!<>"\\\0\r\n')
_MOST: Final = 1_000


def acl_of_readacl(lists: Sequence[Sequence[str]]) -> Acl:
    """Return the ACL that *lists* (the values of ``readacl``, layer by layer) come to; entries only permit.

    Layers that say different things, and a list with a word that cannot be read, let nobody see the document
    (``problem``). Names are compared with case.
    """
    read = [_entries(values) for values in lists]
    wrong = next((one for one in read if isinstance(one, str)), None)
    if isinstance(wrong, str):
        return Acl("", problem=wrong)
    sets = {frozenset(one) for one in read}
    if len(sets) != 1:
        return Acl("", problem="readacl: layers of the description say different things")
    return Acl("", tuple(dict.fromkeys(read[0])))  # type: ignore[arg-type]


def _entries(values: Sequence[str]) -> list[AclEntry] | str:
    words = [word for value in values for word in value.split(";") if word.strip()]
    if not words:
        return "readacl: it is empty"
    if len(words) > _MOST:
        return f"readacl: more than {_MOST} names"
    found = []
    for word in words:
        who = None
        match = _WORD.fullmatch(word)
        if match is not None and not _ODD.intersection(word):
            key, sign, name = match[1].lower(), match[2], match[3]
            if key in _SCOPES:
                who = principal(name, _SCOPES[key])
            elif key in _NAMED and sign == "=" and name:
                who = principal(word.strip(), _NAMED[key])
        if who is None or not who.name:
            return f"readacl: {word.strip()[:100]!r} is neither user=NAME nor group=NAME"
        found.append(AclEntry(Right.PERMIT, who))
    return found
