"""Compile the walk over a page's tree (src/ingather/extract/walk/walk.c and its headers) when there is a C compiler.

It is an optional part: without a compiler, or when compiling fails, one line says so and the product is
built without it; pages are then walked in Python.
"""

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
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


class CompiledWalk(BuildHookInterface[Any]):
    """Hatchling's hook: compiles before an editable installation or a wheel is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the library to what is built; a wheel with it belongs to this platform."""
        trouble = compile_walk(Path(self.root) / FOLDER)
        if trouble:
            self.app.display_warning(f"ingather is built without its compiled walk (optional): {trouble}")
        elif version != "editable":
            build_data["pure_python"] = False
            platform = re.sub(r"\W", "_", sysconfig.get_platform())
            build_data["tag"] = f"py3-none-{platform}"  # the library knows nothing of Python
            build_data["artifacts"].append(f"/{FOLDER}/walk.so")
