"""Every exception that Ingather raises, on one page.

One base, one subclass per kind of trouble, data in attributes. A driver's own
exception never leaves the adapter that met it: it is wrapped with ``raise ... from``.
A failed *item* (one URL, one document) is a value, never one of these.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

__all__ = [
    "CatalogDamagedError",
    "CatalogError",
    "ConfigurationError",
    "ConflictError",
    "ConsentError",
    "DirectoryError",
    "DiskFullError",
    "ExtractError",
    "FeedError",
    "Finding",
    "HomeError",
    "HomeLockedError",
    "IndexDamagedError",
    "IndexingError",
    "IngatherError",
    "IsolationError",
    "PortInUseError",
    "ProxyError",
    "QueryError",
    "RobotStateError",
    "StorageError",
    "UnitError",
    "UnknownNameError",
    "UrlError",
    "UsageError",
]


class IngatherError(Exception):
    """Base of all; *hint* says what to do, in one sentence."""

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text


class UsageError(IngatherError):
    """A command was called wrongly: exit status 2, one line."""


class UnknownNameError(UsageError):
    """What was named is not there: nothing of that *kind* (``source``, ``run``) has the *name*."""

    def __init__(self, text: str, *, kind: str, name: str, hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.kind = kind
        self.name = name


class Finding(Protocol):
    """What a refused configuration carries: ``ingather.model.diagnostic.Diagnostic`` in practice."""

    @property
    def is_error(self) -> bool:
        """Whether this finding alone refuses the configuration."""


class ConfigurationError(IngatherError):
    """Configuration was refused whole; *diagnostics* lists every finding, warnings too.

    *bodies*: name -> bytes of the files that were read, so that a terminal can show the lines in question.
    """

    def __init__(
        self, diagnostics: Sequence[Finding], *, bodies: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        errors = [d for d in diagnostics if d.is_error]
        super().__init__("\n".join(str(d) for d in errors) or "configuration refused")
        self.diagnostics = tuple(diagnostics)
        self.bodies = bodies


class ConflictError(IngatherError):
    """What was to be changed is not any more what it was when it was read; nothing was changed."""


class ConsentError(IngatherError):
    """What is wanted has consequences that a person has to agree to; nothing was changed."""


class RobotStateError(IngatherError):
    """The robot cannot do that in the state it is in, which *state* names; nothing was changed."""

    def __init__(self, text: str, *, state: str = "", hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.state = state


class DirectoryError(IngatherError):
    """The directory (LDAP) cannot be asked, or what it says cannot be relied on: show nothing."""


class UnitError(IngatherError, ValueError):
    """A size, duration, share or switch could not be read."""


class UrlError(IngatherError, ValueError):
    """Text that is not a URL we can gather."""


class HomeError(IngatherError):
    """The home folder is missing, unreadable or not one of ours."""


class HomeLockedError(HomeError):
    """Another process owns this home; *owner* says which."""

    def __init__(self, text: str, *, owner: str = "", hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.owner = owner


class PortInUseError(IngatherError):
    """A listener's address is taken."""


class DiskFullError(IngatherError):
    """Free space is below the reserve: new work is refused, nothing is lost."""


class CatalogError(IngatherError):
    """The catalog could not do what was asked; nothing of the batch was kept."""


class StorageError(CatalogError):
    """One call of the operating system for the catalog's file failed; nothing was kept, and the same may be tried again."""


class CatalogDamagedError(CatalogError):
    """The catalog or a body file does not read back as written; *place* names what."""

    def __init__(self, text: str, *, place: str = "", hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.place = place


class IndexingError(IngatherError):
    """The index could not be written or read."""


class IndexDamagedError(IndexingError):
    """The index on disk is broken or of another schema: rebuild it from the catalog; *place* names what."""

    def __init__(self, text: str, *, place: str = "", hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.place = place


class QueryError(IngatherError, ValueError):
    """A search query beyond its bounds; *text* is fit for the searcher."""


class ExtractError(IngatherError):
    """A document could not be read; *reason* is one of the documented flags."""

    def __init__(self, text: str, *, reason: str = "failed", hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.reason = reason


class FeedError(ExtractError):
    """A pushed feed cannot be read at all; *reason*: ``refused`` (it must not be read), ``failed`` (it is none)."""


class WebFeedError(IngatherError):
    """A web feed, or a list of such, cannot be had or is none."""


class ProxyError(IngatherError):
    """Which proxy a request takes cannot be found out."""


class IsolationError(IngatherError):
    """An isolated job died or passed its limits; *reason*: ``died``, ``timeout``, ``memory``, ``cpu``.

    A fifth reason is no verdict on the document: ``unavailable``, no converter could be started or
    all were closed. It counts no strike.
    """

    def __init__(self, text: str, *, reason: str, hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.reason = reason
