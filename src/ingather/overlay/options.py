"""How a file of external metadata is to be read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from ingather.model.url import canonical

__all__ = [
    "DATES",
    "LIMIT_BYTES",
    "RESERVED",
    "SINGLE",
    "OnError",
    "Options",
    "Schemeless",
]

OnError = Literal["ignore_file", "keep_last_good", "skip_line", "fail"]
Schemeless = Literal["http", "any"]

DATES: Final = frozenset("dX")
"""Classes that hold one day each: the document's date, and its last day of validity."""
SINGLE: Final = frozenset("tdXf")
"""Classes of which the first layer that has one speaks alone."""
RESERVED: Final = frozenset("hikmuvK")
"""Classes that the original's indexer filled itself: accepted with a warning."""
LIMIT_BYTES: Final = 256 * 1024 * 1024
"""No file beyond this is looked into."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Options:
    """The switches of a source; the defaults are the documented behaviour of the original.

    Attributes:
        on_error: what a bad line does: ``ignore_file`` (no record of the file applies), ``keep_last_good`` (the last
            good version goes on), ``skip_line``, ``fail`` (:func:`ingather.overlay.read` raises).
        strict: punctuation outside quotes is an error instead of a warning.
        schemeless: what a prefix without a scheme stands for: ``http``, or ``any`` of http and https.
        schemes: which schemes a prefix may name.
        case_insensitive_hosts: host names (lower case, A-labels) whose paths are compared without regard to case.
        delimiter: parts the values of one element; ``""`` = none does.
        delimiters: the delimiter of single classes, before *delimiter*.
        permission_classes: classes that narrow access; refused unless *acl_overlay* is ``restrict``.
        acl_overlay: ``none`` or ``restrict``.
        limit_bytes: the largest file that is read.
        canonical: gives the key form of a URL: the method of the ``model.url.Canonicaliser`` by which the catalog's
            keys were made.
    """

    on_error: OnError = "ignore_file"
    strict: bool = False
    schemeless: Schemeless = "http"
    schemes: frozenset[str] = frozenset({"http", "https"})
    case_insensitive_hosts: frozenset[str] = frozenset()
    delimiter: str = "|"
    delimiters: Mapping[str, str] = field(default_factory=lambda: _NONE)
    permission_classes: frozenset[str] = frozenset()
    acl_overlay: Literal["none", "restrict"] = "none"
    limit_bytes: int = LIMIT_BYTES
    canonical: Callable[[str], str] = canonical

    def __post_init__(self) -> None:
        if self.on_error not in {"ignore_file", "keep_last_good", "skip_line", "fail"}:
            msg = f"on_error {self.on_error!r} is none of ignore_file, keep_last_good, skip_line and fail"
            raise ValueError(msg)
        if self.schemeless not in {"http", "any"}:
            msg = f"schemeless {self.schemeless!r} is neither http nor any"
            raise ValueError(msg)
        if self.acl_overlay == "restrict" and self.on_error in {"ignore_file", "skip_line"}:
            msg = f"acl_overlay=restrict with on_error={self.on_error} would widen access after a mistake"
            raise ValueError(msg)

    def delimiter_of(self, name: str) -> str:
        """Return what parts the values of class *name*."""
        return self.delimiters.get(name, self.delimiter)
