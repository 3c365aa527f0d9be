"""The binary form of an access list's entries."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec

from ingather.model.acl import AclEntry, Inheritance, Principal, PrincipalScope, Right

__all__ = ["digest_of", "inheritance_of", "number_of", "pack_entries", "unpack_entries"]

_DIGEST_BYTES: Final = 16
_TYPES: Final = tuple(Inheritance)
_Entry = tuple[bool, bool, str, str, str, bool]

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Entry]).decode


def pack_entries(entries: Sequence[AclEntry]) -> bytes:
    """Return *entries* as msgpack: [deny, group, namespace, domain, name, with case] of each, in order."""
    return _encode(
        [
            (
                entry.right is Right.DENY,
                entry.principal.scope is PrincipalScope.GROUP,
                entry.principal.namespace,
                entry.principal.domain,
                entry.principal.name,
                entry.principal.case_sensitive,
            )
            for entry in entries
        ]
    )


def unpack_entries(blob: bytes) -> tuple[AclEntry, ...]:
    """Return what :func:`pack_entries` made."""
    return tuple(
        AclEntry(
            Right.DENY if deny else Right.PERMIT,
            Principal(
                PrincipalScope.GROUP if group else PrincipalScope.USER, name, domain, namespace, with_case
            ),
        )
        for deny, group, namespace, domain, name, with_case in _decode(blob)
    )


def digest_of(packed: bytes) -> bytes:
    """Return the digest by which packed entries are known."""
    return sha256(packed).digest()[:_DIGEST_BYTES]


def number_of(inheritance: Inheritance) -> int:
    """Return the number that stands for *inheritance* in the catalog."""
    return _TYPES.index(inheritance)


def inheritance_of(number: int) -> Inheritance:
    """Return the type that *number* stands for."""
    return _TYPES[number]
