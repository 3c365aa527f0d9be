"""Building with compiled modules: what is asked for, when, and that it runs."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_modules_are_there_in_order_and_once() -> None:
    names = load("build_compiled").names()
    assert names == sorted(set(names))
    assert [name for name in names if not (ROOT / "src" / name).is_file()] == []


@pytest.mark.parametrize(
    ("said", "wanted"), [(None, False), ("0", False), ("", False), ("1", True), ("true", True)]
)
def test_modules_are_compiled_for_who_asks(
    said: str | None, *, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INGATHER_COMPILE", raising=False)
    if said is not None:
        monkeypatch.setenv("INGATHER_COMPILE", said)
    hook = load("hatch_build")
    assert hook.wants_modules() is wanted
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    parts = hook.CompiledParts(str(ROOT), told["hooks"]["custom"], None, None, "", "wheel")
    assert bool(parts.dependencies()) is wanted


@pytest.mark.skipif(
    not load("build_compiled").compiler(),
    reason="no C compiler or no Python.h: apt-get install build-essential python3-dev",
)
def test_a_compiled_module_goes_before_its_source(tmp_path: Path) -> None:
    build = [sys.executable, str(ROOT / "build_compiled.py"), str(tmp_path), "ingather/fetch/freshness.py"]
    assert subprocess.run(build, capture_output=True, check=False).returncode == 0
    program = (
        "import ingather.fetch; ingather.fetch.__path__.insert(0, 'ingather/fetch'); import ingather.fetch.freshness as f; "
        "print(f.__file__.endswith('.so'), f.fresh_s(lambda name: 'max-age=60' if name == 'cache-control' else '', now_s=0.0))"
    )
    sources = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=sources,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True 60.0\n", done.stderr
