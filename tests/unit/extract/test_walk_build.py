"""Building the compiled walk: with a compiler, without one, and when compiling fails."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.delenv("CC", raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path, hook: ModuleType) -> Path:
    for source in sources(ROOT / hook.FOLDER):
        shutil.copy(ROOT / hook.FOLDER / source, tmp_path)
    return tmp_path


def sources(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.[ch]"))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc): apt-get install gcc libc6-dev")
def test_a_compiler_makes_the_library_and_leaves_nothing_else(hook: ModuleType, folder: Path) -> None:
    assert hook.compile_walk(folder) == ""
    assert sorted(path.name for path in folder.iterdir()) == sorted([*sources(folder), "walk.so"])


def test_without_a_compiler_it_says_so_and_an_old_library_goes(
    hook: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "walk.so").write_bytes(b"of other sources")
    monkeypatch.setenv("CC", "/nonexistent/cc")
    assert hook.compile_walk(folder) == "no C compiler (/nonexistent/cc)"
    assert sorted(path.name for path in folder.iterdir()) == sources(folder)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc): apt-get install gcc libc6-dev")
def test_what_does_not_compile_is_said_in_one_line(hook: ModuleType, folder: Path) -> None:
    (folder / "walk.c").write_text("int walk_page(void) { return memmem(1); }\n")
    trouble = hook.compile_walk(folder)
    assert trouble.startswith("cc failed: ")
    assert "\n" not in trouble
    assert sorted(path.name for path in folder.iterdir()) == sources(folder)
