"""What a function of one's own is handed: the filter it stands in, and the resource."""

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

from ingather.model.page import Page
from ingather.model.phase import Phase, Role

__all__ = ["FilterView", "Record", "Resource"]

Value = str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FilterView:
    """The filter that the line stands in, and the line (``file:line``)."""

    name: str
    role: Role
    phase: Phase
    where: str


class Record(MutableMapping[str, tuple[str, ...]]):
    """The description being made: attribute names (no case) to their values.

    ``rd["author"] = "Ann"`` or a row of texts; ``rd.add("classification", "News")`` adds what is not there
    yet. It can be changed in Generate alone.
    """

    __slots__ = ("_attributes", "_open")

    def __init__(self, attributes: dict[str, tuple[str, ...]], *, may_write: bool) -> None:
        self._attributes = attributes
        self._open = may_write

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._attributes[name.lower()]

    def __setitem__(self, name: str, value: str | Iterable[str]) -> None:
        self._writable()
        self._attributes[_name(name)] = _texts(value)

    def __delitem__(self, name: str) -> None:
        self._writable()
        del self._attributes[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def add(self, name: str, value: str) -> None:
        """Add *value* to attribute *name* unless it has it."""
        there = self._attributes.get(name.lower(), ())
        if value not in there:
            self[name] = (*there, value)

    def _writable(self) -> None:
        if not self._open:
            text = "the description can be changed by Generate lines only"
            raise TypeError(text)


class Resource:
    """One resource in one filter; what is changed here is invisible to the other filter."""

    __slots__ = ("_state", "rd")

    def __init__(self, state: Any, phase: Phase) -> None:
        self._state = state
        self.rd = Record(state.attributes, may_write=phase is Phase.GENERATE)

    @property
    def url(self) -> str:
        """Canonical URL, whatever was assigned to the source of that name."""
        return str(self._state.url)

    @property
    def depth(self) -> int:
        """Links from the starting point."""
        return int(self._state.evaluation.depth)

    @property
    def fetched(self) -> bool:
        """Whether there is a response: not in MetaData."""
        return self._state.response is not None

    @property
    def status(self) -> int:
        """Status of the response, 0 without one."""
        response = self._state.response
        return response.status if response is not None else 0

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Fields of the response's head."""
        response = self._state.response
        return tuple(response.headers) if response is not None else ()

    @property
    def body(self) -> bytes:
        """Body of the response, content encoding removed."""
        response = self._state.response
        return bytes(response.body) if response is not None else b""

    @property
    def page(self) -> Page | None:
        """The parsed document, read on demand; a converted one if the filter had it converted."""
        found: Page | None = self._state.page()
        return found

    @property
    def restarted(self) -> bool:
        """Whether a function asked to judge it again, and this is that second time."""
        return bool(self._state.restarted)

    def get(self, name: str) -> Value:
        """Return a source (no case): text, several texts, or ``None`` when undefined."""
        found: Value = self._state.get(name.strip().lower())
        return found

    def first(self, name: str) -> str:
        """Return the first text of a source, ``""`` when undefined."""
        value = self.get(name)
        if isinstance(value, tuple):
            return value[0] if value else ""
        return value or ""

    def values(self, name: str) -> tuple[str, ...]:
        """Return all texts of a source."""
        value = self.get(name)
        return (value,) if isinstance(value, str) else value or ()

    def set(self, name: str, value: str | Iterable[str] | None) -> None:
        """Define a source, or make it undefined with ``None``."""
        name = _name(name)
        if value is None or isinstance(value, str):
            self._state.set(name, value)
        else:
            texts = _texts(value)
            self._state.set(name, texts[0] if len(texts) == 1 else texts or None)


def _name(name: str) -> str:
    found = name.strip().lower()
    if not found:
        text = "a name is empty"
        raise ValueError(text)
    return found


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)
    for one in texts:
        if not isinstance(one, str):
            text = f"a value must be text, not {type(one).__name__}"
            raise TypeError(text)
    return texts
