"""The date rule: an instant to the second where a date can be read, else its text; never "now"."""

import re
from functools import lru_cache
from typing import Final

from ingather.extract.dates import date_value

__all__ = ["listing_date", "tidy"]

_FRACTION: Final = re.compile(r"(:\d\d)[.,]\d+")
_HOUR_24: Final = re.compile(r"[T ]24:00(?::00)?(?:[.,]0+)?")
_FULL: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d)?")
_DAY_NAME: Final = re.compile(r"^[^\W\d_]{2,12}\.?,\s*")
_CIVIL_ZONE: Final = re.compile(
    r"\s+(?:CET|MET|BST|CEST|MEST|EET|EEST|WET|WEST|JST|KST|MSK|HKT|AKST|AKDT|HST)$"
)
_OFFSETS: Final = {
    "CET": "+0100", "MET": "+0100", "BST": "+0100", "WEST": "+0100", "CEST": "+0200", "MEST": "+0200", "EET": "+0200",
    "EEST": "+0300", "MSK": "+0300", "WET": "+0000", "JST": "+0900", "KST": "+0900", "HKT": "+0800",
    "AKST": "-0900", "AKDT": "-0800", "HST": "-1000",
}  # fmt: skip


def tidy(text: str | None) -> str:
    """Return *text* with blanks collapsed."""
    return " ".join(text.split()) if text else ""


@lru_cache(2048)
def listing_date(text: str) -> str:
    """Return the date in *text*: RFC 3339 UTC to the second, or the text itself if no instant can be read.

    *text* has its blanks collapsed (:func:`tidy`). Fractions of a second are dropped, a date without a zone is UTC. A wrong
    reading that is always the same does no harm; only the difference from the last reading counts.
    """
    if not text:
        return ""
    if _CIVIL_ZONE.search(text):  # a zone that RFC 822 does not have would be read as none
        return date_value(_plainer(text)) or text
    return date_value(text) or date_value(_plainer(text)) or text


def _plainer(text: str) -> str:
    """Rewrite what feeds do to dates: day names in any language, civil zones, fractions, hour 24 of ISO."""
    plain = _FRACTION.sub(r"\1", text)
    if _FULL.match(plain):
        return plain.replace("t", "T").replace("z", "Z")
    if _HOUR_24.search(plain):
        return plain  # the next day: not worth a reading of its own, the text stands for it
    plain = _DAY_NAME.sub("", plain)
    zone = _CIVIL_ZONE.search(plain)
    return f"{plain[: zone.start()]} {_OFFSETS[zone[0].strip()]}" if zone else plain
