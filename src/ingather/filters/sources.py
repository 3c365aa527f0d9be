"""Sources by name: where each value comes from (section 2.2), and in which form it is compared."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ingather.filters.types import media_type

__all__ = ["ALIASES", "Read", "Value", "comparer", "first", "reader"]

Value = str | tuple[str, ...] | None
State = Any
"""``ingather.filters.evaluation.State``, which is built upon this file."""

Read = Callable[[State], Value]
ALIASES = {"enumeration filter": "enumeration-filter", "generation filter": "generation-filter"}
_MEDIA_TYPES = frozenset({"type", "content-type", "sniffed-type"})


def _header(name: str) -> Read:
    def read(state: State) -> Value:
        response = state.evaluation.response
        if response is None:
            return None
        return response.header(name) or _meta(name)(state)

    return read


def _meta(name: str) -> Read:
    def read(state: State) -> Value:
        if state.evaluation.response is None:
            return None
        page = state.page()
        values = page.metas.get(name) if page is not None else None
        if not values:
            return None
        return values[0] if len(values) == 1 else tuple(values)

    return read


def _content_type(state: State) -> Value:
    response = state.evaluation.response
    return None if response is None else response.header("content-type") or "unknown"


def _content_length(state: State) -> Value:
    response = state.evaluation.response
    if response is None:
        return None
    stated = response.header("content-length").strip()
    return stated if stated.isdigit() else str(len(response.body))


@lru_cache(maxsize=1024)
def _stated_charset(content_type: str) -> str:
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""


def _charset(state: State) -> Value:
    response = state.evaluation.response
    if response is None:
        return None
    stated = _stated_charset(response.header("content-type"))
    if stated:
        return stated
    page = state.page()
    return (page.charset or None) if page is not None else None


def _sniffed_type(state: State) -> Value:
    page = state.evaluation.page() if state.evaluation.response is not None else None
    return (page.media_type or None) if page is not None else None


def _title(state: State) -> Value:
    page = state.page() if state.evaluation.response is not None else None
    return (page.title or None) if page is not None else None


def _of(read: Callable[[Any], Value]) -> Read:
    return lambda state: read(state.evaluation)


_BASE: dict[str, Read] = {
    "depth": _of(lambda ev: str(ev.depth)),
    "host": _of(lambda ev: ev.host),
    "ip": _of(lambda ev: ev.ip),
    "protocol": _of(lambda ev: ev.scheme),
    "path": _of(lambda ev: ev.path),
    "url": _of(lambda ev: ev.url),
    "query": _of(lambda ev: ev.query),
    "content-type": _content_type,
    "content-length": _content_length,
    "content-charset": _charset,
    "content-encoding": _header("content-encoding"),
    "expires": _header("expires"),
    "last-modified": _header("last-modified"),
    "sniffed-type": _sniffed_type,
    "title": _title,
    "csid": _of(lambda ev: ev.constants.get("csid") or None),
    "enumeration-filter": _of(lambda ev: ev.constants.get("enumeration-filter")),
    "generation-filter": _of(lambda ev: ev.constants.get("generation-filter")),
    # Only ever assigned, never a META name's:
    "type": lambda _: None,
    "md5": lambda _: None,
    "rd-expires": lambda _: None,
    "rd-last-modified": lambda _: None,
}


@lru_cache(maxsize=1024)
def reader(name: str) -> Read:
    """Return the function that reads source *name* (lower case) of a filter's view."""
    name = ALIASES.get(name, name)
    base = _BASE.get(name) or _meta(name.removeprefix("meta:"))

    def read(state: State) -> Value:
        own: Mapping[str, Value] | None = state.own
        if own is not None and name in own:
            return own[name]
        return base(state)

    return read


def first(value: Value) -> str | None:
    """Return the one text of a source, the first of several."""
    if value is None or isinstance(value, str):
        return value
    return value[0] if value else None


def comparer(name: str) -> Read:
    """Return the function that reads source *name* in the form in which it is compared.

    Media types lose their parameters; a host that was not assigned is the bare name and
    ``host:port``, both (DEC-8).
    """
    read = reader(name)
    if name in _MEDIA_TYPES:

        def read_type(state: State) -> Value:
            value = read(state)
            return media_type(value) if isinstance(value, str) else value

        return read_type
    if name == "host":

        def read_host(state: State) -> Value:
            own: Mapping[str, Value] | None = state.own
            if own is not None and "host" in own:
                return own["host"]
            ev = state.evaluation
            return (ev.host, f"{ev.host}:{ev.port}")

        return read_host
    return read
