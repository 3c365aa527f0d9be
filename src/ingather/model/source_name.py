"""Names of sources: they keep the case in which they were first written or pushed, and are compared without it.

The appliance allows capitals in names of data sources (GSA feeds specification, section 4.1); sections of ``ingather.toml``,
tokens, folders of lists, commands and the API name the same sources.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeVar, overload

__all__ = ["BySource", "same_source", "source_key", "spelled"]

T = TypeVar("T")
D = TypeVar("D")


def source_key(name: str) -> str:
    """Return what names of one source have in common: *name* in lower case; names have no letters beside those of ASCII."""
    return name.lower() if name.isascii() else name


def same_source(one: str, other: str) -> bool:
    """Whether two names are of one source."""
    return one == other or source_key(one) == source_key(other)


def spelled(name: str, known: Iterable[str]) -> str:
    """Return *name* as *known* has it: letter by letter, else without its case, else as it is."""
    names = list(known)
    if name in names:
        return name
    wanted = source_key(name)
    return next((one for one in names if source_key(one) == wanted), name)


class BySource(dict[str, T]):
    """Values by the name of a source. A name that is there letter by letter counts before one that differs in case.

    Whoever goes through it meets the names as they were written. What :func:`dict` makes of it compares letter by letter again.
    """

    def __init__(self, values: "Mapping[str, T] | Iterable[tuple[str, T]]" = ()) -> None:
        super().__init__()
        self._written: dict[str, str] = {}
        for name, value in dict(values).items():
            self[name] = value

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __setitem__(self, name: str, value: T) -> None:
        super().__setitem__(name, value)
        self._written.setdefault(source_key(name), name)

    def __delitem__(self, name: str) -> None:
        written = self.written(name)
        super().__delitem__(name if written is None else written)
        self._written = {}
        for left in self:
            self._written.setdefault(source_key(left), left)

    def __missing__(self, name: str) -> T:
        written = self._written.get(source_key(name))
        if written is None:
            raise KeyError(name)
        return super().__getitem__(written)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and source_key(name) in self._written)

    @overload
    def get(self, name: str, default: None = None, /) -> T | None: ...
    @overload
    def get(self, name: str, default: T, /) -> T: ...
    @overload
    def get(self, name: str, default: D, /) -> T | D: ...
    def get(self, name: str, default: Any = None, /) -> Any:
        """Return the value of *name*, *default* if there is none."""
        written = self.written(name)
        return default if written is None else self[written]

    def written(self, name: str) -> str | None:
        """Return *name* as it is written here, ``None`` if it is not."""
        return name if super().__contains__(name) else self._written.get(source_key(name))

    def listed(self: "BySource[list[Any]]", name: str) -> list[Any]:
        """Return the list of *name*, made if there is none."""
        if name not in self:
            self[name] = []
        return self[name]

    def with_(self, more: Mapping[str, T]) -> Self:
        """Return these values with those of *more*, which take the place of values of the same source."""
        made = type(self)(self)
        for name, value in more.items():
            made[made.written(name) or name] = value
        return made
