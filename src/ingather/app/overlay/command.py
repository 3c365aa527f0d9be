"""The operator's command that says whether new external metadata may come into force (``overlay.pre-index-command``)."""

import subprocess
from pathlib import Path
from typing import Final

from ingather.errors import ConfigurationError
from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["run_command"]

_LINES_OF_OUTPUT: Final = 20


def run_command(command: str, folder: Path, limit_s: float) -> None:
    """Run *command* in *folder*.

    Raises:
        ConfigurationError: it failed, or took longer than *limit_s*.
    """
    try:
        # The operator's own line of ingather.toml, as cron has it.
        ran = subprocess.run(  # noqa: S602
            command, shell=True, cwd=folder, capture_output=True, timeout=limit_s, check=False, stdin=subprocess.DEVNULL
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(command, str(error)) from error
    if ran.returncode:
        said = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip().splitlines()
        raise _refused(command, " / ".join([f"it ended with {ran.returncode}", *said[-_LINES_OF_OUTPUT:]]))


def _refused(command: str, why: str) -> ConfigurationError:
    what = f"overlay.pre-index-command ({command[:200]}) failed: {why[:2_000]}"
    hint = "the external metadata of before stays in force"
    return ConfigurationError((Diagnostic("E-COMMAND", Place("ingather.toml", 1), what, hint=hint),))
