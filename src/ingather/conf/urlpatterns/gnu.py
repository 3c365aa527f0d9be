r"""GNU extended regular expressions, translated for RE2.

RE2 accepts some GNU syntax and gives it another meaning: ``\<`` and ``\>`` (a literal there), ``a{,3}``, a backslash in a
set (a literal in GNU), ``a+?`` (an optional ``a+`` in GNU), ``(?...)``, ``\d`` (the letter in GNU). All of it is
rewritten or refused here. Only "does it match somewhere" is asked, so longest and lazy do not matter.
"""

import re
from typing import Final

__all__ = ["GnuError", "translate"]

_INTERVAL: Final = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_SAME: Final = frozenset("bBsSwW")
_ANCHORS: Final = {"`": r"\A", "'": r"\z", "<": r"\b", ">": r"\b"}
_CLASSES: Final = frozenset(
    (
        "alnum",
        "alpha",
        "blank",
        "cntrl",
        "digit",
        "graph",
        "lower",
        "print",
        "punct",
        "space",
        "upper",
        "xdigit",
    )
)


class GnuError(ValueError):
    """Not an expression that we run; *kind* is the diagnostic's name, *offset* is inside the expression."""

    def __init__(self, kind: str, text: str, offset: int) -> None:
        super().__init__(text)
        self.kind = kind
        self.offset = offset


def translate(expression: str) -> tuple[str, frozenset[str]]:
    r"""Return *expression* in RE2's syntax, and what to warn of: ``approximate`` (``\<``), ``perl-class`` (``\d``).

    Raises:
        GnuError: of kind ``leading-star``, ``backreference``, ``collating`` or ``regex``.
    """
    return _Translation(expression).run()


class _Translation:
    """One pass from left to right; the last atom is known, so that a repeated repetition can be wrapped."""

    def __init__(self, expression: str) -> None:
        self.text = expression
        self.at = 0
        self.out: list[str] = []
        self.warned: set[str] = set()
        self.opened: list[int] = []  # where in `out` the groups begin
        self.atom = -1  # where in `out` the last atom begins, -1 = there is none
        self.repeated = False

    def run(self) -> tuple[str, frozenset[str]]:
        while self.at < len(self.text):
            self._one(self.text[self.at])
        if self.opened:
            raise GnuError("regex", "a ( without its )", self._unclosed())
        return "".join(self.out), frozenset(self.warned)

    def _unclosed(self) -> int:
        return max(self.text.find("("), 0)

    def _one(self, char: str) -> None:
        if char == "\\":
            self._escape()
        elif char == "[":
            self._bracket()
        elif char in "*+?{":
            self._repetition(char)
        elif char == "(":
            if self.text[self.at + 1 : self.at + 2] == "?":
                raise GnuError("regex", "(? begins nothing in a GNU expression", self.at)
            self.opened.append(len(self.out))
            self._put("(", atom=False)
        elif char == ")":
            if not self.opened:
                raise GnuError("regex", "a ) without its (", self.at)
            begins = self.opened.pop()
            self._put(")", atom=False)
            self.atom = begins
        elif char in "|^$":
            self._put(char, atom=False)
        else:
            self._put(char)

    def _put(self, text: str, *, atom: bool = True, length: int = 1) -> None:
        self.atom = len(self.out) if atom else -1
        self.out.append(text)
        self.repeated = False
        self.at += length

    def _escape(self) -> None:
        char = self.text[self.at + 1 : self.at + 2]
        if not char:
            raise GnuError("regex", "a backslash at the end", self.at)
        if char in _ANCHORS:
            if char in "<>":
                self.warned.add("approximate")
            self._put(_ANCHORS[char], atom=False, length=2)
        elif char in "123456789":
            raise GnuError("backreference", "back-references are not supported", self.at)
        elif char in _SAME:
            self._put(f"\\{char}", atom=char not in "bB", length=2)
        elif char.isascii() and char.isalnum():
            self.warned.add("perl-class")
            self._put(char, length=2)
        else:
            self._put(re.escape(char), length=2)

    def _repetition(self, char: str) -> None:
        text, length = char, 1
        if char == "{":
            found = _INTERVAL.match(self.text, self.at)
            if found is None or not (found[1] or found[3] or found[2]):
                self._put(r"\{")
                return
            low, comma, high = found[1] or "0", found[2] or "", found[3] or ""
            text, length = f"{{{low}{comma}{high}}}", found.end() - self.at
        if self.atom < 0:
            if char == "*":
                raise GnuError("leading-star", "a star at the beginning repeats nothing", self.at)
            raise GnuError("regex", f"{char} repeats nothing", self.at)
        if self.repeated:
            if char != "?":
                raise GnuError("regex", "a repetition of a repetition", self.at)
            self.out[self.atom] = f"(?:{self.out[self.atom]}"
            self.out.append(")")
        self.out.append(text)
        self.repeated = True
        self.at += length

    def _bracket(self) -> None:
        begin, at, out = self.at, self.at + 1, ["["]
        if self.text[at : at + 1] == "^":
            out.append("^")
            at += 1
        first = True
        while at < len(self.text):
            char = self.text[at]
            if char == "]" and not first:
                out.append("]")
                self._put("".join(out), length=at + 1 - begin)
                return
            first = False
            kind = self.text[at + 1 : at + 2]
            if char == "[" and kind and kind in ".=":
                raise GnuError("collating", f"[{kind} names a collating element", at)
            if char == "[" and kind == ":":
                close = self.text.find(":]", at + 2)
                name = self.text[at + 2 : close] if close >= 0 else ""
                if name not in _CLASSES:
                    raise GnuError("regex", f"there is no class [:{name[:20]}:]", at)
                out.append(f"[:{name}:]")
                at = close + 2
                continue
            out.append(f"\\{char}" if char in "\\[]^&~" else char)
            at += 1
        raise GnuError("regex", "a [ without its ]", begin)
