"""Compile the modules that every page goes through, by mypyc: ``python build_compiled.py FOLDER [MODULE...]``.

Without modules, those in ``pyproject.toml`` (``[tool.ingather] compiled``). A compiled module lies beside its source and goes
before it; without it the same source is interpreted and does the same, slower. hatch_build.py runs this for wheels, never
for editable installations, so what developers run is what they read; ``./run compiled`` runs the tests on the compiled product.

Libraries are not looked into: what they return is checked where it is used, whatever their stubs promise, and what is built does
not depend on what happens to be installed.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
MYPY = (
    "--config-file=", "--no-site-packages", "--ignore-missing-imports", "--explicit-package-bases", "--namespace-packages",
    "--cache-dir", os.devnull, "--disable-error-code=call-arg",
)  # fmt: skip
# Calls between modules stay inside the library: nobody outside looks for their names.
FLAGS = (
    "-fPIC",
    "-DNDEBUG",
    "-fvisibility=hidden",
    "-fno-semantic-interposition",
    "-fno-strict-aliasing",
    "-fwrapv",
)


def names() -> list[str]:
    """Return the modules to compile, as paths below ``src``."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [str(name) for name in told["tool"]["ingather"]["compiled"]]


def compiler() -> list[str]:
    """Return the C compiler's command; empty when there is none, or no headers of this Python."""
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    there = shutil.which(command[0]) and Path(sysconfig.get_path("include"), "Python.h").is_file()
    return command if there else []


def build(folder: Path, modules: Sequence[str]) -> list[Path]:
    """Compile *modules*; returns the libraries, laid below *folder* as they are to lie below ``src``.

    Raises:
        subprocess.CalledProcessError: the C compiler refuses.
        SystemExit: mypy or mypyc refuses; it has said why on standard error.
    """
    from mypyc.build import mypycify

    cc = compiler()
    os.chdir(ROOT / "src")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    with tempfile.TemporaryDirectory() as made:
        extensions = mypycify(
            [*MYPY, *modules],
            opt_level="2",
            debug_level="0",
            multi_file=True,
            target_dir=made,
            group_name="ingather",
        )
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = [
                (e, pool.map(lambda source, e=e: _object(cc, e, source, made), _longest_first(e.sources)))
                for e in extensions
            ]
            return [
                _link(cc, list(objects), folder / (e.name.replace(".", "/") + suffix)) for e, objects in jobs
            ]


def _longest_first(sources: Iterable[str]) -> list[str]:
    return sorted(sources, key=lambda source: -Path(source).stat().st_size)


def _object(cc: Sequence[str], extension: Any, source: str, made: str) -> str:
    handle, out = tempfile.mkstemp(suffix=".o", dir=made)
    os.close(handle)
    told = [flag for flag in extension.extra_compile_args if flag != "-Werror"]
    where = [f"-I{path}" for path in (*extension.include_dirs, sysconfig.get_path("include"))]
    subprocess.run([*cc, *told, *FLAGS, *where, "-c", source, "-o", out], check=True)  # noqa: S603 - the compiler, with our own flags
    return out


def _link(cc: Sequence[str], objects: Sequence[str], out: Path) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*cc, "-shared", *objects, "-o", str(out)], check=True)  # noqa: S603 - as above
    return out


def main() -> None:
    """Compile into the folder that is named."""
    modules = sys.argv[2:] or names()
    for library in build(Path(sys.argv[1]).absolute(), modules):
        print(library)  # noqa: T201 - a program


if __name__ == "__main__":
    main()
