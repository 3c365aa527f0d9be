"""Keys of ``[source.NAME]`` that say when its pages are looked at again, and which sitemaps tell of them.

They are kept in one value of the source, :class:`RevisitConf`.
"""

from dataclasses import dataclass
from typing import Final

from ingather.conf.settings.kinds import Kind, Setting, Value
from ingather.errors import UnitError, UrlError
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split

__all__ = ["REVISIT_KEYS", "RevisitConf", "check_revisits", "revisit_field", "revisit_value"]

_MINUTE_S, _DAY_S = 60.0, 86_400.0


@dataclass(frozen=True, slots=True)
class RevisitConf:
    """When a source's pages are looked at again; the settings of the same names tell more. ``None``: as section ``politeness`` says.

    Attributes:
        recheck_min, recheck_max, recheck_first: bounds and beginning of the interval, seconds.
        host_visits: visits of one of its hosts in a day, 0 = any number.
        use_sitemaps: whether the sitemaps that robots.txt names are read.
        sitemaps: further ones; they may list whatever the filters let in.
    """

    recheck_min: float | None = None
    recheck_max: float | None = None
    recheck_first: float | None = None
    host_visits: int | None = None
    use_sitemaps: bool = True
    sitemaps: tuple[str, ...] = ()


REVISIT_KEYS: tuple[Setting, ...] = (
    Setting("source", "recheck-min", Kind.SECONDS, 3_600.0, "Not written: politeness.recheck-min.", low=_MINUTE_S),
    Setting("source", "recheck-max", Kind.SECONDS, 30 * _DAY_S, "Not written: politeness.recheck-max.", low=_MINUTE_S),
    Setting("source", "recheck-first", Kind.SECONDS, _DAY_S, "Not written: politeness.recheck-first.", low=_MINUTE_S),
    Setting("source", "host-visits", Kind.INT, 0, "Not written: politeness.host-visits.", low=0),
    Setting("source", "use-sitemaps", Kind.FLAG, default=True,
            help="Whether the sitemaps that robots.txt of its hosts names are read, and the pages that they list gathered. Kind site."),
    Setting("source", "sitemaps", Kind.WORDS, (),
            'Further sitemaps: "https://intranet.example/sitemap.xml". What they list on whatever host is gathered if the filters let it in. Kind site.'),
)  # fmt: skip

_KEYS: Final = frozenset(setting.key for setting in REVISIT_KEYS)


def revisit_field(key: str) -> str:
    """Return the field of :class:`RevisitConf` that *key* sets, ``""`` if it is none of them."""
    return key.replace("-", "_") if key in _KEYS else ""


def revisit_value(key: str, value: Value) -> object:
    """Return the value of *key* as :class:`RevisitConf` has it.

    Raises:
        UnitError: it is none.
    """
    if key == "sitemaps" and isinstance(value, tuple):
        return tuple(dict.fromkeys(_sitemap(str(text)) for text in value))
    return value


def check_revisits(conf: RevisitConf) -> dict[str, str]:
    """Say what is wrong with values together: key to text; empty if nothing is."""
    least, first, most = conf.recheck_min, conf.recheck_first, conf.recheck_max
    if least is not None and most is not None and least > most:
        return {"recheck-min": "recheck-min is longer than recheck-max"}
    if first is not None and ((least is not None and first < least) or (most is not None and first > most)):
        return {"recheck-first": "recheck-first does not lie between recheck-min and recheck-max"}
    return {}


def _sitemap(text: str) -> str:
    """Return a sitemap's URL as it is asked for: none of its parameters is dropped."""
    try:
        url = Canonicaliser(()).canonical(text.strip())
    except UrlError as error:
        raise UnitError(
            f"{text!r} cannot be a sitemap: {error.text}",
            hint='write it like "https://example.com/sitemap.xml"',
        ) from error
    if split(url).scheme not in {"http", "https"}:
        raise UnitError(f"{text!r} cannot be a sitemap", hint="sitemaps are read over http and https")
    return url
