r"""POSIX extended regular expressions, translated for RE2.

Bracket classes (``[[:alpha:]]`` as they are, ``[[.x.]]``, ``[[=x=]]``), literal backslashes
inside brackets, ``\<`` and ``\>`` as word boundaries. The longest-leftmost rule does not matter:
only "does it match" is asked.
"""

__all__ = ["PosixError", "translate"]

_LETTER_ESCAPES = frozenset("wWsSbBdDtnrfv")


class PosixError(ValueError):
    """Not an expression; *offset* is inside the pattern."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.offset = offset


def translate(pattern: str) -> str:
    """Return *pattern* in RE2's syntax.

    Raises:
        PosixError: an open bracket, or a backslash at the end.
    """
    out: list[str] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            out.append(_escape(pattern, i))
            i += 2
        elif c == "[":
            text, i = _bracket(pattern, i)
            out.append(text)
        else:
            out.append(c)
            i += 1
    return "".join(out)


def _escape(pattern: str, at: int) -> str:
    c = pattern[at + 1 : at + 2]
    if not c:
        text = "a backslash at the end"
        raise PosixError(text, at)
    if c in "<>":
        return r"\b"
    if c.isdigit():
        text = "back-references are not supported"
        raise PosixError(text, at)
    if c.isalpha() and c.isascii() and c not in _LETTER_ESCAPES:
        return c
    return c if not c.isascii() else "\\" + c


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Translate the bracket expression at *at*; return it and the offset behind it."""
    i = at + 1
    out = ["["]
    if pattern[i : i + 1] == "^":
        out.append("^")
        i += 1
    first = True
    while i < len(pattern):
        c = pattern[i]
        if c == "]" and not first:
            return "".join(out) + "]", i + 1
        first = False
        kind = pattern[i + 1 : i + 2]
        if c == "[" and kind and kind in ":.=":
            close = pattern.find(kind + "]", i + 2)
            if close < 0:
                text = f"[{kind} without {kind}]"
                raise PosixError(text, i)
            inner = pattern[i + 2 : close]
            out.append(f"[:{inner}:]" if kind == ":" else _literals(inner))
            i = close + 2
            continue
        out.append(c if c == "-" else _literals(c))
        i += 1
    text = "missing ]"
    raise PosixError(text, at)


def _literals(text: str) -> str:
    return "".join("\\" + c if c in "\\[]^-&~" else c for c in text)
