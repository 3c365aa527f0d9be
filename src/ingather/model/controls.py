"""What a response's head says about its document, as adaptors say it (GSA feeds specification, section 13)."""

import msgspec

from ingather.model.acl import Acl

__all__ = ["Controls"]


class Controls(msgspec.Struct, array_like=True):
    """Crawl-time headers, read. ``None`` means everywhere that the head says nothing of it. Field order is the wire order.

    Attributes:
        metadata: external metadata, in order, lower-case names; ``()`` clears. Reserved names are not in it.
        acl: the document's ACL; with ``Acl.problem`` nobody may see it.
        acl_from_metas: *acl* came as ``google:acl…`` pairs.
        no_acl: an empty ``acl=``: what there is of an ACL goes.
        secured: whether it is for some people only; ``None`` = not said.
        display_url: ``""`` clears.
        once: it is not to be fetched again by schedule.
        locked, scoring: as the attributes of a record.
        withheld: why nobody may see the document, although the host said nothing that could be stored (a head over the limit).
        notes: what the operator should know, in words.
        heeded: all of it counts, because the source says so; else the catalog knows whether it does, and if not only what
            closes a document counts.
        opened: it was got with credentials or is a file, and its source shows that to everybody (``public``).
    """

    metadata: tuple[tuple[str, str], ...] | None = None
    acl: Acl | None = None
    acl_from_metas: bool = False
    no_acl: bool = False
    secured: bool | None = None
    display_url: str | None = None
    once: bool | None = None
    locked: bool | None = None
    scoring: str | None = None
    withheld: str = ""
    notes: tuple[str, ...] = ()
    heeded: bool = False
    opened: bool = False
