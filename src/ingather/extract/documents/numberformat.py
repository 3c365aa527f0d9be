"""Numbers as a spreadsheet shows them: number formats, and dates as shown and as ISO 8601.

ECMA-376 part 1, 18.8.30 and 18.8.31 (formats and their built-in numbers). What cannot be
shown for want of room in a cell is shown in full here: a search looks for the digits.
"""

import datetime as dt
import math
import re
from functools import lru_cache

__all__ = ["BUILT_IN", "general", "is_date", "iso_date", "shown"]

BUILT_IN: dict[int, str] = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "$#,##0;($#,##0)",
    6: "$#,##0;($#,##0)",
    7: "$#,##0.00;($#,##0.00)",
    8: "$#,##0.00;($#,##0.00)",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "m/d/yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy/m/d"),
    **dict.fromkeys((32, 33, 34, 35), "h:mm"),
}

_LITERAL = re.compile(r'"([^"]*)"?|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*](?P<fill>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|(?P<bracket>\[[^\]]*\])|(?P<noon>am/pm|a/p)|(?P<field>y+|m+|d+|h+|s+|\.0+|e+|g+|b+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS = re.compile(r"[#0?][#0?,.]*")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LAST_DAY = 2_958_466  # 9999-12-31 and one
_FULL_DIGITS = 1e15
_EPOCH_1900 = dt.datetime(1899, 12, 30)  # noqa: DTZ001 (a spreadsheet's time has no zone)
_EPOCH_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001
_PHANTOM_LEAP_DAY = 60
_LONGEST_CODE = 500
_MOST_DECIMALS = 30


@lru_cache(maxsize=1024)
def is_date(code: str) -> bool:
    """Whether a number of format *code* is a date, a time of day or a duration."""
    section = code.split(";", 1)[0]
    bare = _LITERAL.sub(
        lambda found: found[0] if _is_elapsed(found[0]) else "", section[:_LONGEST_CODE]
    ).lower()
    if bare == "general" or any(sign in bare for sign in "#?@"):
        return False
    return any(letter in bare.replace("e+", "").replace("e-", "") for letter in "ymdhs")


def _is_elapsed(text: str) -> bool:
    return text.lower() in {"[h]", "[hh]", "[m]", "[mm]", "[s]", "[ss]"}


def moment(value: float, *, from_1904: bool) -> dt.datetime | None:
    """Return the moment that serial number *value* stands for, to the millisecond, or ``None``."""
    if not 0 <= value < _LAST_DAY:
        return None
    if not from_1904 and value < _PHANTOM_LEAP_DAY:
        value += 1  # 1900 had no 29 February; the file format says it had
    epoch = _EPOCH_1904 if from_1904 else _EPOCH_1900
    try:
        return epoch + dt.timedelta(milliseconds=round(value * 86_400_000))
    except OverflowError:
        return None


def iso_date(value: float, *, from_1904: bool = False) -> str:
    """Return serial number *value* as ``2007-02-14``, ``2007-02-14T13:05:00`` or ``""`` for a mere time."""
    when = moment(value, from_1904=from_1904)
    if when is None or value < 1:
        return ""
    if when.time() == dt.time():
        return when.date().isoformat()
    return when.isoformat(timespec="seconds")


def shown(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return *value* as a cell of format *code* shows it (English names, no padding)."""
    code = code[:_LONGEST_CODE]
    if is_date(code):
        text = _shown_date(value, code.split(";", 1)[0], from_1904=from_1904)
        return text or general(value)
    if not math.isfinite(value):
        return ""
    sections = _sections(code)
    section, magnitude, sign = sections[0], value, ""
    if value < 0:
        magnitude = -value
        if len(sections) > 1:
            section = sections[1]
        else:
            sign = "-"
    elif value == 0 and len(sections) > 2:  # noqa: PLR2004 (the third section is for zero)
        section = sections[2]
    return sign + _shown_number(magnitude, section)


def general(value: float) -> str:
    """Return *value* as format ``General`` shows it, whole numbers in full."""
    if not math.isfinite(value):
        return ""
    if value == int(value) and abs(value) < _FULL_DIGITS:
        return str(int(value))
    text = f"{value:.10g}"
    return text.replace("e+", "E+").replace("e-", "E-")


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[str, ...]:
    parts, start, quoted = [], 0, False
    for position, letter in enumerate(code):
        if letter == '"':
            quoted = not quoted
        elif letter == ";" and not quoted:
            parts.append(code[start:position])
            start = position + 1
    parts.append(code[start:])
    return tuple(parts)


@lru_cache(maxsize=1024)
def _plan(section: str) -> tuple[str, str, str]:
    """Return what stands before the digits, the digits' pattern, what stands after."""
    kept: list[str] = []
    marks: list[str] = []
    for found in _TOKEN.finditer(section):
        literal = found["quoted"] or found["escaped"] or found["currency"]
        if literal:
            kept.append(literal)
            marks.append("L" * len(literal))
        elif (
            found["fill"] is None
            and found["bracket"] is None
            and found["elapsed"] is None
            and found[0][0] != '"'
        ):
            kept.append(found[0])
            marks.append(found[0])
    text, mask = "".join(kept), "".join(marks)
    digits = _DIGITS.search(mask)
    if digits is None:
        return text, "", ""
    end = digits.end()
    if exponent := re.compile(r"[Ee][+-]?[0#?]+").match(mask, end):
        end = exponent.end()
    elif fraction := re.compile(r" *[#?0]*/[#?0-9]+").match(mask, end):
        end = fraction.end()
    return text[: digits.start()], mask[digits.start() : end], text[end:]


def _shown_number(value: float, section: str) -> str:
    if section.lower().strip() in {"general", "", "@"}:
        return general(value)
    before, pattern, after = _plan(section)
    if not pattern:
        return before.replace("General", general(value)).replace("@", general(value))
    if "%" in before or "%" in after:
        value *= 100
    return f"{before}{_digits(value, pattern)}{after}".strip()


def _digits(value: float, pattern: str) -> str:
    if "/" in pattern:
        return general(value)
    mantissa, letter, exponent = pattern.replace("e", "E").partition("E")
    while mantissa.endswith(","):  # each trailing comma divides by a thousand
        mantissa, value = mantissa[:-1], value / 1000
    whole, point, decimals = mantissa.partition(".")
    places = min(sum(decimals.count(sign) for sign in "0#?"), _MOST_DECIMALS)
    if letter:
        text = f"{value:.{places}E}"
        digits, _, power = text.partition("E")
        width = exponent.count("0")
        return f"{digits}E{'-' if power.startswith('-') else '+'}{power.lstrip('+-').lstrip('0').rjust(width, '0')}"
    text = f"{value:,.{places}f}" if "," in whole else f"{value:.{places}f}"
    if point and (optional := decimals.count("#") + decimals.count("?")):
        head, _, tail = text.partition(".")
        tail = tail[: places - optional] + tail[places - optional :].rstrip("0")
        text = f"{head}.{tail}" if tail else head
    needed = whole.count("0")
    head, dot, tail = text.partition(".")
    if needed == 0 and head == "0":
        head = "" if dot else "0"
    return head.rjust(needed, "0") + dot + tail


# --- dates -----------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _date_plan(section: str) -> tuple[tuple[str, str], ...]:
    """Return (kind, text) pairs; a month that follows hours or precedes seconds is minutes."""
    plan: list[tuple[str, str]] = []
    for found in _TOKEN.finditer(section):
        group = found.lastgroup or "other"
        if group in {"quoted", "escaped", "currency"}:
            plan.append(("text", found[group]))
        elif group == "other":
            plan.append(("text", found[0]))
        elif group in {"elapsed", "noon", "field"}:
            plan.append((group, found[group].lower()))
    fields = [index for index, (kind, _) in enumerate(plan) if kind in {"field", "elapsed"}]
    for order, index in enumerate(fields):
        kind, text = plan[index]
        if kind != "field" or text not in {"m", "mm"}:
            continue
        before = plan[fields[order - 1]][1] if order else ""
        following = plan[fields[order + 1]][1] if order + 1 < len(fields) else ""
        if before.startswith("h") or following.startswith("s"):
            plan[index] = ("minute", text)
    return tuple(plan)


def _shown_date(value: float, section: str, *, from_1904: bool) -> str:
    plan = _date_plan(section)
    when = moment(value, from_1904=from_1904)
    if when is None:
        return ""
    halves = any(kind == "noon" for kind, _ in plan)
    tenths = any(kind == "field" and text.startswith(".") for kind, text in plan)
    if not tenths:
        when += dt.timedelta(milliseconds=500)
    return "".join(_date_field(kind, text, when, value, halves=halves) for kind, text in plan).strip()


def _date_field(kind: str, text: str, when: dt.datetime, value: float, *, halves: bool) -> str:
    if kind == "text":
        return text
    if kind == "noon":
        return ("AM" if when.hour < 12 else "PM")[: 1 if text == "a/p" else 2]  # noqa: PLR2004
    if kind == "minute":
        return f"{when.minute:0{len(text)}d}"
    if kind == "elapsed":
        seconds = round(value * 86_400)
        count = {"h": seconds // 3600, "m": seconds // 60, "s": seconds}[text[0]]
        return f"{count:0{len(text)}d}"
    return _calendar_field(text, when, halves=halves)


def _calendar_field(text: str, when: dt.datetime, *, halves: bool) -> str:
    size = len(text)
    letter = text[0]
    value = ""
    if letter in "yeb":
        value = f"{when.year:04d}" if size > 2 or letter == "e" else f"{when.year % 100:02d}"  # noqa: PLR2004
    elif letter == "m":
        name = _MONTHS[when.month - 1]
        value = (f"{when.month}", f"{when.month:02d}", name[:3], name, name[0])[min(size, 5) - 1]
    elif letter == "d":
        name = _DAYS[when.weekday()]
        value = (f"{when.day}", f"{when.day:02d}", name[:3], name)[min(size, 4) - 1]
    elif letter == "h":
        hour = (when.hour % 12 or 12) if halves else when.hour
        value = f"{hour:0{min(size, 2)}d}"
    elif letter == "s":
        value = f"{when.second:0{min(size, 2)}d}"
    elif letter == ".":
        value = f".{when.microsecond // 1000:03d}"[:size]
    return value
