"""No pattern of ours has a possessive or atomic group: Python 3.11.2, Debian 12's, matches them wrongly (gh-106052).

Possessive single characters and classes (``[a-z]*+``) are sound there, and what keeps our patterns linear.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import ingather

_ROOT = Path(__file__).parents[3]
_PACKAGE = Path(ingather.__file__).parent
_SINGLE = {"LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY"}
_FUNCTIONS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_STANDING_IN = "x"

_RECORDER = """
import importlib, json, pkgutil, re, sys
from re import _parser
from pathlib import Path
import ingather

root = str(Path(ingather.__file__).parent)
seen = []
real = _parser.parse

def parse(pattern, flags=0, state=None):
    frame = sys._getframe(1)
    while frame and (frame.f_code.co_filename.endswith(("/enum.py", "/functools.py")) or "/re/" in frame.f_code.co_filename):
        frame = frame.f_back
    where = frame.f_code.co_filename if frame else ""
    if where.startswith(root):
        text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        seen.append([f"{where[len(root) + 1:]}:{frame.f_lineno}", text, int(flags), isinstance(pattern, bytes)])
    return real(pattern, flags) if state is None else real(pattern, flags, state)

_parser.parse = parse
re.purge()
for module in pkgutil.walk_packages(ingather.__path__, "ingather."):
    if not module.name.endswith("__main__") and not module.name.startswith("ingather.testing.absent."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.startswith("ingather"):
                raise
json.dump(seen, sys.stdout)
"""
"""Imports everything and writes each pattern that is made meanwhile, however it was put together."""


def refused_groups(tree: Any) -> Iterator[str]:
    """Yield what a parsed pattern has that Python 3.11.2 gets wrong."""
    for operation, argument in tree:
        name = str(operation)
        if name == "ATOMIC_GROUP":
            yield "an atomic group"
        elif name == "POSSESSIVE_REPEAT" and [str(op) for op, _ in argument[2]] not in ([s] for s in _SINGLE):
            yield "a possessive group"
        yield from _inside(argument)


def _inside(argument: Any) -> Iterator[str]:
    if isinstance(argument, _parser.SubPattern):
        yield from refused_groups(argument)
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _inside(part)


def refused(pattern: str | bytes, flags: int = 0) -> list[str]:
    return sorted(set(refused_groups(_parser.parse(pattern, flags))))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(?:ab)*+", ["a possessive group"]),
        (r"(?:a|bc)?+x", ["a possessive group"]),
        (r"(a)++", ["a possessive group"]),
        (r"x(?:y(?:ab){2,3}+)*", ["a possessive group"]),
        (r"(?=(?>a))", ["an atomic group"]),
        (rb"(?:<(?>a|b)*+)", ["a possessive group", "an atomic group"]),
        (r"[a-z]*+\w++.?+a{2}+[^x]*+(?:ab)*", []),
        (r"[()*+]", []),
    ],
)
def test_the_rule_tells_groups_from_single_characters(pattern: str | bytes, found: list[str]) -> None:
    assert refused(pattern) == found


def test_no_pattern_that_a_module_makes_has_such_a_group() -> None:
    run = subprocess.run([sys.executable, "-c", _RECORDER], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert len(seen) > 200, "the recorder sees the patterns"
    found = {
        where: (groups, text)
        for where, text, flags, raw in seen
        if (groups := refused(text.encode("latin-1") if raw else text, flags))
    }
    assert not found, "write it with bounded greedy groups and possessive classes"


def test_no_pattern_that_a_function_makes_has_such_a_group() -> None:
    found = {}
    for path in _sources():
        for where, pattern in _given_patterns(ast.parse(path.read_text(encoding="utf-8"))):
            try:
                groups = refused(pattern)
            except (re.error, ValueError):  # a part that stands elsewhere was needed: by its look
                text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
                groups = re.findall(r"\(\?>|\)(?:[*+?]|\{[\d,]*\})\+", text)
            if groups:
                found[f"{path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path}:{where}"] = groups
    assert not found, "write it with bounded greedy groups and possessive classes"


def _sources() -> Iterable[Path]:
    yield from _PACKAGE.rglob("*.py")
    yield from (_ROOT / "benchmarks").rglob("*.py")


def _given_patterns(tree: ast.Module) -> Iterator[tuple[int, str | bytes]]:
    """Yield the patterns of calls of :mod:`re`, as far as they stand there; ``x`` for what is put in."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of = node.func.value
        if isinstance(of, ast.Name) and of.id == "re" and node.func.attr in _FUNCTIONS:
            written = _written(node.args[0])
            if written:
                yield node.lineno, written


def _written(node: ast.expr) -> str | bytes:
    match node:
        case ast.Constant(value=str() | bytes() as value):
            return value
        case ast.JoinedStr(values=values):
            return "".join(str(_written(value)) for value in values)
        case ast.BinOp(left=left, right=right):
            one, other = _written(left), _written(right)
            if isinstance(one, bytes) == isinstance(other, bytes):
                return one + other  # type: ignore[operator]
            return next(part for part in (one, other) if part != _STANDING_IN)
        case _:
            return _STANDING_IN
