"""Templates to text: autoescaped always, strict about missing names, and with the few filters that pages need."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from ingather.web.assets import load_assets

__all__ = ["crumbs", "link_target", "plain", "render", "shown_target"]

_LINKED = frozenset({"http", "https", "ftp"})
_SHARES = frozenset({"file", "smb", "notes"})
# Control characters, and those that turn the direction of what follows them.
_UNPRINTABLE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]"
)
_CRUMBS = 4
_THREE_FIGURES = 1_000


def link_target(url: str) -> str:
    """Return *url* if a page may link to it (http, https, ftp), else ``""``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme.lower() in _LINKED and parts.netloc and not _UNPRINTABLE.search(url) else ""


def shown_target(url: str) -> str:
    """Return *url* if a result may link to it: as :func:`link_target`, and shares and documents of other programs."""
    found = link_target(url)
    if found or _UNPRINTABLE.search(url):
        return found
    scheme, colon, rest = url.partition(":")
    return url if colon and scheme.lower() in _SHARES and rest.strip("/") else ""


def plain(text: object) -> str:
    """Return *text* without characters that have no look but change that of others."""
    return _UNPRINTABLE.sub("", str(text))


def crumbs(url: str) -> list[str]:
    """Return host and path of *url* as people read them, the middle of a long path as ``…``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [plain(url)]
    host = plain(parts.netloc.rpartition("@")[2])
    if not host:
        return [plain(url)]
    steps = [plain(unquote(step)) for step in parts.path.split("/") if step]
    if parts.query:
        steps.append("?" + plain(unquote(parts.query.replace("+", " "))))
    if len(steps) > _CRUMBS:
        steps = [steps[0], "…", *steps[-2:]]
    return [host, *steps]


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of the package.

    Raises:
        jinja2.UndefinedError: a template wants a name that was not given.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    # Both settings are promises: nothing stored becomes markup, nothing missing becomes blank.
    made = Environment(
        loader=PackageLoader("ingather.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["asset"] = load_assets().url
    made.filters.update(
        crumbs=crumbs,
        day=_day,
        link_target=link_target,
        moment=_moment,
        plain=plain,
        count=_count,
        amount=_bytes,
    )
    return made


def _moment(value: object) -> str:
    """An instant as ``2026-11-21 14:05 UTC``, from seconds since the epoch or RFC 3339; else as it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M} UTC"
        except (ValueError, OSError, OverflowError):
            return str(value)
    text = str(value)
    return (
        f"{text[:10]} {text[11:16]} UTC"
        if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*Z", text)
        else plain(text)
    )


def _day(value: object) -> str:
    """The date of an instant: ``2026-11-21``, the same in every language."""
    return _moment(value)[:10]


def _count(value: object) -> str:
    """A number with thin spaces between its thousands, which no language reads as anything else."""
    if isinstance(value, float):
        return f"{value:,.1f}".replace(",", "\u202f")
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else plain(value)


def _bytes(value: float) -> str:
    """A number of bytes to three figures: ``1.24 MiB``."""
    size = float(value)
    units = ["TiB", "GiB", "MiB", "KiB", "bytes"]
    while size >= _THREE_FIGURES and len(units) > 1:
        size /= 1_024
        units.pop()
    return f"{size:.3g} {units[-1]}"
