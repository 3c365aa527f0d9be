"""Access rights: which documents a searcher may see, told to the index as chains.

Texts become principals in ``principals``, which also says when two of them are the same. ``metas`` reads access lists out
of metadata. ``decision`` is the written rule: may this viewer see what a chain of ACLs governs, and which entry says so.

The journey of a document's rights: its source says how open it is and ``publicity`` turns
that into an access chain id when the document is described (1 = everybody, 0 = nobody). An ACL of its own gives it a number
above that (``catalog.sqlite_access``).
The journey of a viewer's rights: ``evaluating`` judges all chains at once (``judging``), keeps what it found and judges again what
changed; ``visible`` holds, for one viewer and one state of the
rights, the set of chains whose documents may be shown; ``Visible.form`` is the shape in
which that set enters every query as a filter, before score, facet, count or snippet.

``needs`` are names of whom a searcher must be one beside all that: external metadata that narrows access.

Both ends fail closed: what is not known to be open is shown to nobody.
"""

from ingather.access.aclsource import AclSource
from ingather.access.decision import ChainStatus, Decision, Verdict, decide
from ingather.access.evaluating import Rights
from ingather.access.metas import MetaAcl, acl_of_metas
from ingather.access.needs import need_of, needs_of
from ingather.access.principals import Identity, identity, principal
from ingather.access.publicity import NOBODY, PUBLIC, chain_of
from ingather.access.visible import ANONYMOUS, Form, FormKind, Visible
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right

__all__ = [
    "ANONYMOUS",
    "NOBODY",
    "PUBLIC",
    "Acl",
    "AclEntry",
    "AclSource",
    "ChainStatus",
    "Decision",
    "Form",
    "FormKind",
    "Identity",
    "Inheritance",
    "MetaAcl",
    "Principal",
    "PrincipalScope",
    "Right",
    "Rights",
    "Verdict",
    "Visible",
    "acl_of_metas",
    "chain_of",
    "decide",
    "identity",
    "need_of",
    "needs_of",
    "principal",
]
