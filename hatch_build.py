"""Compile what is compiled of the product while it is built; without any of it the product does the same, slower.

* The walk over a page's tree (src/ingather/extract/walk/walk.c and its headers), always, when there is a C compiler. Without one,
  or when compiling fails, one line says so, and pages are walked in Python.
* With ``INGATHER_COMPILE=1``, for a wheel: the modules that every page goes through, by mypyc (build_compiled.py). That takes
  a minute and wants to succeed: the build ends when it does not, for somebody asked for it.
* With ``INGATHER_COMPILE=none``, nothing: the wheel is for any Python on any machine, and slower.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/ingather/extract/walk"
LIMIT_S = 120
FLAGS = ("-std=c11", "-O2", "-Werror=implicit-function-declaration", "-fPIC", "-shared")


def compile_walk(folder: Path) -> str:
    """Make ``walk.so`` from ``walk.c`` in *folder*; returns ``""``, or why there is none."""
    built, making = folder / "walk.so", folder / f"walk.{os.getpid()}.tmp"
    built.unlink(missing_ok=True)  # never one that other sources made
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(command[0]) is None:
        return f"no C compiler ({command[0]})"
    try:
        subprocess.run(  # noqa: S603 - the compiler, with our own flags
            [*command, *FLAGS, str(folder / "walk.c"), "-o", str(making)],
            check=True,
            capture_output=True,
            timeout=LIMIT_S,
        )
        making.replace(built)  # whole or not at all: somebody may be loading it
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        return f"{command[0]} failed: {said[0] if said else f'exit code {error.returncode}'}"
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]} failed: {error}"
    finally:
        making.unlink(missing_ok=True)
    return ""


def compile_modules(root: Path, folder: Path) -> dict[str, str]:
    """Make the libraries of the compiled modules in *folder*; returns where each lies in a wheel.

    Raises:
        RuntimeError: something refused; it has said why on standard error.
    """
    command = [sys.executable, str(root / "build_compiled.py"), str(folder)]
    if subprocess.run(command, check=False).returncode:  # noqa: S603 - our own program
        msg = "INGATHER_COMPILE=1, but the modules could not be compiled (unset it to build without)"
        raise RuntimeError(msg)
    return {str(path): str(path.relative_to(folder)) for path in folder.rglob("*.so")}


def wants_modules() -> bool:
    """Return whether the modules of ``[tool.ingather] compiled`` are to be compiled."""
    return os.environ.get("INGATHER_COMPILE", "0").strip().lower() in {"1", "true", "yes", "on"}


def wants_nothing() -> bool:
    """Return whether a wheel is to hold sources alone."""
    return os.environ.get("INGATHER_COMPILE", "").strip().lower() == "none"


class CompiledParts(BuildHookInterface[Any]):
    """Hatchling's hook: compiles before an editable installation or a wheel is made."""

    def dependencies(self) -> list[str]:
        """Return what building needs beside hatchling; build isolation installs it."""
        return list(self.config.get("compiling", ())) if wants_modules() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the libraries to what is built; a wheel with them belongs to this platform."""
        if version != "editable" and wants_nothing():
            return
        trouble = compile_walk(Path(self.root) / FOLDER)
        if trouble:
            self.app.display_warning(f"ingather is built without its compiled walk (optional): {trouble}")
        if version == "editable":
            return
        python = "py3-none"  # the walk knows nothing of Python
        if wants_modules():
            self._making = tempfile.TemporaryDirectory()
            build_data["force_include"] |= compile_modules(Path(self.root), Path(self._making.name))
            python = f"cp{sys.version_info.major}{sys.version_info.minor}"
            python = f"{python}-{python}"
        elif trouble:
            return
        build_data["pure_python"] = False
        platform = re.sub(r"\W", "_", sysconfig.get_platform())
        build_data["tag"] = f"{python}-{platform}"
        if not trouble:
            build_data["artifacts"].append(f"/{FOLDER}/walk.so")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Tidy up once the wheel is written."""
        if self._making is not None:
            self._making.cleanup()

    _making: tempfile.TemporaryDirectory[str] | None = None
