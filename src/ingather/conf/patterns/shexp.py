r"""Shell expressions of the Netscape servers, translated for RE2.

``*`` ``?`` ``[a-z]`` ``[^az]`` ``(a|b)`` ``$`` and ``pattern~exception``; the whole value must
match; a backslash quotes. :func:`is_wildcard` tells whether a pattern that calls itself a
regular expression is really one of these (rule 2 of section 6).
"""

import re
from dataclasses import dataclass

__all__ = ["Shexp", "ShexpError", "is_wildcard", "translate"]

_SPECIAL = frozenset("\\.+*?()|[]{}^$")
_IDIOM = re.compile(r"(?<!\\)(?:\\\\|\\\\\\\\)\*")
_LEADING = re.compile(r"(?:^|(?<!\\)[\^(|])\*")
_SINGLE = re.compile(r"(?<!\\)\\\*")


class ShexpError(ValueError):
    """Not a shell expression; *offset* is inside the pattern."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Shexp:
    """Anchored RE2 expressions of the pattern and its exception, and how the pattern reads in plain form."""

    expression: str
    exception: str | None
    shown: str
    literal_asterisk: bool


def is_wildcard(pattern: str, *, single: bool) -> bool:
    r"""Tell whether *pattern* uses a wildcard idiom.

    Two or four backslashes before ``*``; a ``*`` at the start or after ``^``, ``(``, ``|``; with
    *single* (sources that hold no asterisk) also ``\*``.
    """
    if _IDIOM.search(pattern) or _LEADING.search(pattern):
        return True
    return single and _SINGLE.search(pattern) is not None


def translate(pattern: str, *, single: bool) -> Shexp:
    r"""Return *pattern* for RE2; with *single* a lone ``\*`` is a wildcard too.

    Raises:
        ShexpError: unbalanced parentheses or brackets.
    """
    return _Translation(pattern, single=single).run()


class _Translation:
    """A cursor over the pattern, writing the expression and the plain form side by side."""

    def __init__(self, pattern: str, *, single: bool) -> None:
        self.pattern = pattern
        self.single = single
        self.parts: list[list[str]] = [[]]
        self.shown: list[str] = []
        self.open: list[int] = []
        self.literal_asterisk = False

    def run(self) -> Shexp:
        i = 1 if self.pattern.startswith("^") else 0
        while i < len(self.pattern):
            i = self._step(i)
        if self.open:
            text = "missing )"
            raise ShexpError(text, self.open[-1])
        bodies = ["".join(part) for part in self.parts]
        return Shexp(
            _anchored(bodies[0]),
            _anchored(bodies[1]) if len(bodies) > 1 else None,
            "".join(self.shown),
            self.literal_asterisk,
        )

    def _emit(self, expression: str, shown: str) -> None:
        self.parts[-1].append(expression)
        self.shown.append(shown)

    def _step(self, i: int) -> int:
        c = self.pattern[i]
        if c == "\\":
            return self._backslashes(i)
        if c == "[":
            return self._bracket(i)
        if c == "~" and not self.open and len(self.parts) == 1:
            self.parts.append([])
            self.shown.append("~")
        elif c == "(":
            self.open.append(i)
            self._emit("(?:", c)
        elif c == ")":
            if not self.open:
                text = "unexpected )"
                raise ShexpError(text, i)
            self.open.pop()
            self._emit(")", c)
        elif c == "|" and not self.open:
            self._emit("\\|", "\\|")
        elif c == "$" and i + 1 < len(self.pattern) and self.pattern[i + 1] not in ")|~":
            self._emit("\\$", "\\$")
        else:
            plain = {"*": ".*", "?": ".", "|": "|", "$": "$"}.get(c)
            self._emit(plain or _literal(c), c)
        return i + 1

    def _backslashes(self, i: int) -> int:
        end = i
        while end < len(self.pattern) and self.pattern[end] == "\\":
            end += 1
        c = self.pattern[end : end + 1]
        count = end - i
        if not c:
            self._emit("\\\\", "\\\\")
        elif c == "*" and (count in {2, 4} or (count == 1 and self.single)):
            self._emit(".*", "*")
        else:
            # However many backslashes the publishing system made of one: the character is meant as it is.
            self.literal_asterisk |= c == "*"
            self._emit(_literal(c), c if c not in "*?()|[]~$" else "\\" + c)
        return end + 1

    def _bracket(self, i: int) -> int:
        at = i + 1
        negated = self.pattern[at : at + 1] in {"^", "!"}
        at += negated
        close = self.pattern.find("]", at + 1)
        if close < 0:
            text = "missing ]"
            raise ShexpError(text, i)
        inner = "".join("\\" + c if c in "\\[]^&~" else c for c in self.pattern[at:close])
        self._emit(f"[{'^' if negated else ''}{inner}]", self.pattern[i : close + 1])
        return close + 1


def _literal(c: str) -> str:
    return "\\" + c if c in _SPECIAL else c


def _anchored(body: str) -> str:
    return f"^(?:{body})$" if "|" in body else f"^{body}$"
