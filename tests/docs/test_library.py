"""The library's page: what it promises is there, and its examples do what they show."""

import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "library.md").read_text("utf-8")
FACES = re.findall(r"^\| \[`ingather\.([\w.]+)\.(\w+)\(([^`]*)\)`\]", TEXT, re.MULTILINE)
# What a program that reads one page or one feed need not load: databases, indexes, servers, libcurl.
HEAVY = ("apsw", "tantivy", "pycurl", "uvicorn", "starlette", "ingather.app", "ingather.catalog")


def test_every_example_does_what_it_shows() -> None:
    examples = doctest.DocTestParser().get_doctest(TEXT, {}, "library", "docs/reference/library.md", 0)
    assert len(examples.examples) > 50
    said: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize(
    ("room", "name", "arguments"), FACES, ids=[f"{room}.{name}" for room, name, _ in FACES]
)
def test_every_name_takes_what_the_page_says(room: str, name: str, arguments: str) -> None:
    face = getattr(import_module(f"ingather.{room}"), name)
    assert inspect.getdoc(face)
    parameters = inspect.signature(face).parameters
    kind: object = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for said in (one.strip() for one in arguments.split(",")):
        if said == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        said_name, _, default = said.partition("=")
        assert parameters[said_name].kind is kind
        assert not default or repr(parameters[said_name].default) == default
    unsaid = set(parameters) - {one.strip().partition("=")[0] for one in arguments.split(",")}
    assert all(parameters[one].default is not inspect.Parameter.empty for one in unsaid)


def test_the_names_load_without_warnings_and_without_what_they_do_not_need() -> None:
    imports = "\n".join(f"from ingather.{room} import {name}" for room, name, _ in FACES)
    code = f"import sys\n{imports}\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "", "")


def test_the_page_names_every_face() -> None:
    assert len(FACES) == 16
