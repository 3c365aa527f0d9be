"""Where each key of a TOML document stands: what the standard library's reader does not tell.

Works on text that ``tomllib`` has accepted, so it follows the shape and judges nothing.
"""

import re
from collections.abc import Callable, Sequence

__all__ = ["TomlPlaces"]

Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_LONG = re.compile(r'"{3}(?:[^\\]|\\.)*?"{3,5}|\'{3}.*?\'{3,5}', re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class TomlPlaces:
    """Line and column (from 1) of every table header and key."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._places: dict[Path, tuple[int, int]] = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._scan()

    def find(self, path: Sequence[str]) -> tuple[int, int]:
        """Return line and column of *path*, else of the nearest table above it, else (1, 1)."""
        for length in range(len(path), 0, -1):
            place = self._places.get(tuple(path[:length]))
            if place:
                return place
        return 1, 1

    def _scan(self) -> None:
        table: Path = ()
        text = self._text
        while self._at < len(text):
            self._blank(newlines=True)
            if self._at >= len(text):
                break
            start = self._at
            if text[start] == "[":
                self._at += 2 if text.startswith("[[", start) else 1
                self._blank()
                start = self._at
                table = self._key()
                self._note(table, start)
                self._line_end()
            else:
                self._pair(table)
            if self._at == start:  # not TOML after all: do not stand still
                self._at += 1

    def _pair(self, table: Path) -> None:
        start = self._at
        path = table + self._key()
        self._note(path, start)
        self._blank()
        if self._text[self._at : self._at + 1] == "=":
            self._at += 1
            self._value(path)

    def _value(self, path: Path) -> None:
        self._blank(newlines=True)
        opening = self._text[self._at : self._at + 1]
        if opening == "{":
            self._items("}", lambda: self._pair(path))
        elif opening == "[":
            self._items("]", lambda: self._value(()))
        elif not self._string():
            while self._at < len(self._text) and self._text[self._at] not in ",]}#\n":
                self._at += 1

    def _items(self, closing: str, item: Callable[[], None]) -> None:
        self._at += 1
        while True:
            self._blank(newlines=True)
            char = self._text[self._at : self._at + 1]
            before = self._at
            if char in {closing, "", ","}:
                self._at += 1
                if char != ",":
                    return
            else:
                item()
                self._at += self._at == before  # not TOML after all: do not stand still

    def _string(self) -> bool:
        match = _LONG.match(self._text, self._at) or _STRING.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match is not None

    def _key(self) -> Path:
        parts = []
        while True:
            self._blank()
            match = _BARE.match(self._text, self._at) or _STRING.match(self._text, self._at)
            if not match:
                break
            parts.append(_plain(match[0]))
            self._at = match.end()
            self._blank()
            if self._text[self._at : self._at + 1] != ".":
                break
            self._at += 1
        return tuple(parts)

    def _note(self, path: Path, at: int) -> None:
        if path and path not in self._places:
            line = self._text.count("\n", 0, at) + 1
            self._places[path] = line, at - self._line_starts[line - 1] + 1

    def _blank(self, *, newlines: bool = False) -> None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char == "#":
                self._line_end()
            elif char in " \t\r" or (newlines and char == "\n"):
                self._at += 1
            else:
                return

    def _line_end(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end


def _plain(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    return _ESCAPE.sub(_unescaped, key[1:-1]) if key[0] == '"' else key


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _SIMPLE.get(code, code)
