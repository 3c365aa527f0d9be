"""What in a URL may go on for ever: dates, tokens, page numbers, parameters, folders that repeat. Pure.

:func:`shapes_of` takes a path with its query apart once and says of which possible traps the URL is a part. A shape is
only a suspicion; :mod:`ingather.robot.traps.finding` counts what came of it.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["Shape", "shapes_of"]

_MOST_CHARS: Final = 2_000
_YEARS: Final = range(1000, 10_000)
_DATED_PATH: Final = re.compile(
    r"(?<![0-9])([1-9][0-9]{3})([/_.-]?)(1[0-2]|0?[1-9])(?:\2(3[01]|[12][0-9]|0?[1-9]))?(?![0-9])"
)
_YEAR: Final = re.compile("[1-9][0-9]{3}")
_DATE_NAMES: Final = re.compile(
    r"(?:^|[-_])(?:date|day|month|year|mon|week|datum|tag|monat|jahr|fecha|mes|annee|mois|jour|cal|calendar|start|from|to|end|d|m|y|ym)$",
    re.IGNORECASE,
)
_MONTH_NAMES: Final = frozenset({"month", "mon", "m", "monat", "mes", "mois"})
_YEAR_NAMES: Final = frozenset({"year", "y", "jahr", "annee"})
_PAGE_NAMES: Final = frozenset(
    {
        "page",
        "p",
        "pg",
        "paged",
        "pagenum",
        "pageno",
        "start",
        "offset",
        "skip",
        "from",
        "seite",
        "pagina",
        "cursor",
    }
)
_SESSION_NAMES: Final = frozenset(
    {"jsessionid", "phpsessid", "sessionid", "session_id", "session", "sid", "aspsessionid", "cftoken", "cfid", "zenid", "oscsid",
     "s_id", "sess", "token", "nonce"}
)  # fmt: skip
_TOKEN: Final = re.compile(
    r"(?=[A-Za-z0-9_.~-]*[0-9])(?=[A-Za-z0-9_.~-]*[A-Za-z])[A-Za-z0-9_.~-]{16,}|[0-9a-fA-F]{16,}"
)
_PATH_TOKEN: Final = re.compile(r"/\(S\(([^)]+)\)\)/|;([a-z_]*sess[a-z_]*)=([^/?;]+)", re.IGNORECASE)
_PAGED_PATH: Final = re.compile(r"/(page|seite|pagina|p)[/-]?([0-9]{1,9})(?=/|$|\.)", re.IGNORECASE)
_LONGEST_UNIT: Final = 4


class Shape(NamedTuple):
    """A URL as part of a possible trap.

    Attributes:
        kind: ``calendar``, ``session``, ``facets``, ``paging`` or ``loop``.
        name: the path with what varies as ``{...}``: what URLs of one trap have in common.
        value: what varies: a date as YYYYMMDD (00 = no day), a page number, a token, the parameters.
        rest: of a session the URL without its token, else ``""``.
    """

    kind: str
    name: str
    value: str
    rest: str = ""


def shapes_of(path: str) -> list[Shape]:
    """Return what *path* (with its query) may be a part of; most URLs give none."""
    if len(path) > _MOST_CHARS:
        return []
    bare, _, query = path.partition("?")
    pairs = [part.partition("=")[::2] for part in query.split("&")] if query else []
    found: list[Shape] = []
    date = _dated(bare, pairs)
    if date is not None:
        found.append(date)
    found += _sessions(path, bare, pairs)
    number = _numbered(bare, pairs)
    if number is not None:
        found.append(number)
    if len(pairs) > 1:
        found.append(
            Shape("facets", f"{bare}?", "&".join(sorted(f"{name}={value}" for name, value in pairs)))
        )
    loop = _loop(bare[: bare.rfind("/") + 1])
    if loop:
        found.append(Shape("loop", loop, bare))
    return found


def _dated(bare: str, pairs: list[tuple[str, str]]) -> Shape | None:
    named = {name.lower(): value for name, value in pairs if _DATE_NAMES.search(name)} if pairs else {}
    if named:
        year = next((named[name] for name in _YEAR_NAMES if named.get(name, "").isdecimal()), "")
        if year and int(year) in _YEARS:
            month = next((named[name] for name in _MONTH_NAMES if named.get(name, "").isdecimal()), "0")
            day = next(
                (named[name] for name in ("day", "d", "tag", "jour") if named.get(name, "").isdecimal()), "0"
            )
            return Shape(
                "calendar",
                f"{bare}?{_year_name(pairs)}={{year}}",
                f"{int(year):04}{int(month[:2]):02}{int(day[:2]):02}",
            )
        for name, value in pairs:
            match = _DATED_PATH.fullmatch(value) if name.lower() in named else None
            if match is not None:
                return Shape("calendar", f"{bare}?{name}={{date}}", _day(match))
    matches = list(_DATED_PATH.finditer(bare)) if _YEAR.search(bare) else []
    if matches:
        match = matches[-1]
        name = bare[: match.start()] + "{date}"
        return Shape("calendar", name, _day(match))
    return None


def _year_name(pairs: list[tuple[str, str]]) -> str:
    return next(name for name, _ in pairs if name.lower() in _YEAR_NAMES)


def _day(match: re.Match[str]) -> str:
    return f"{int(match[1]):04}{int(match[3]):02}{int(match[4] or 0):02}"


def _sessions(path: str, bare: str, pairs: list[tuple[str, str]]) -> list[Shape]:
    found = []
    match = _PATH_TOKEN.search(bare) if ";" in bare or "(" in bare else None
    if match is not None:
        token, name = (match[1], "/(S({token}))/") if match[1] else (match[3], f";{match[2]}={{token}}")
        rest = bare.replace(match[0], "/" if match[1] else "", 1)
        found.append(Shape("session", name, token, rest + path[len(bare) :]))
    for name, value in pairs:
        if name.lower() in _SESSION_NAMES or _TOKEN.fullmatch(value):
            rest = "&".join(f"{other}={kept}" for other, kept in pairs if other != name)
            found.append(Shape("session", f"?{name}={{token}}", value, f"{bare}?{rest}" if rest else bare))
    return found


def _numbered(bare: str, pairs: list[tuple[str, str]]) -> Shape | None:
    for name, value in pairs:
        if name.lower() in _PAGE_NAMES and value.isascii() and value.isdecimal() and len(value) <= 9:  # noqa: PLR2004 - digits
            rest = "&".join(f"{other}={kept}" for other, kept in pairs if other != name)
            return Shape("paging", f"{bare}?{name}={{number}}" + (f" & {rest}" if rest else ""), value)
    match = _PAGED_PATH.search(bare)
    if match is None:
        return None
    return Shape("paging", bare[: match.start(2)] + "{number}" + bare[match.end(2) :], match[2])


@lru_cache(maxsize=4_096)  # most URLs of a host lie in folders that other URLs lie in
def _loop(folder: str) -> str:
    """Return the folders that the path *folder* repeats one after the other (``/a/b``), ``""`` if it repeats none.

    One folder must stand there three times, several together twice.
    """
    segments = [segment for segment in folder.split("/")[1:] if segment]
    if len(set(segments)) == len(segments):
        return ""
    for size in range(1, _LONGEST_UNIT + 1):
        needed = 2 if size == 1 else size
        equal = 0
        for at, (one, other) in enumerate(zip(segments, segments[size:], strict=False)):
            equal = equal + 1 if one == other else 0
            if equal == needed:
                start = at - needed + 1
                return "/" + "/".join(segments[start : start + size])
    return ""
