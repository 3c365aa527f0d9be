"""What a verb raises becomes one message on standard error and an exit status."""

import sys

import click

from ingather.cli.findings import told
from ingather.errors import ConfigurationError, IngatherError, UsageError

__all__ = ["status_of"]

_FAILED = 1
_MISUSED = 2
_INTERRUPTED = 130


def status_of(error: BaseException) -> int | None:
    """Say what is to be said about *error* and return the exit status; ``None`` = it is a bug of ours."""
    lines: list[str] = []
    status: int | None = _FAILED
    match error:
        case click.exceptions.Exit():
            status = error.exit_code
        case click.Abort() | KeyboardInterrupt():
            lines, status = ["ingather: interrupted"], _INTERRUPTED
        case click.ClickException():
            lines, status = [f"ingather: {_usage(error)}"], error.exit_code
        case UsageError():
            lines, status = [f"ingather: {error}"], _MISUSED
        case ConfigurationError():
            lines = list(told(error.diagnostics, error.bodies if sys.stderr.isatty() else None))
        case IngatherError():
            lines = [f"ingather: {error}"]
        case OSError() if error.filename is not None:
            lines = [f"ingather: {error.filename}: {error.strerror}"]
        case _:
            status = None
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201 - the command line speaks
    return status


def _usage(error: click.ClickException) -> str:
    """Return one line: what was wrong, and whose help to read."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "ingather"
    if (
        isinstance(error, click.exceptions.NoArgsIsHelpError)
        and context
        and isinstance(context.command, click.Group)
    ):
        return f"which one: {' or '.join(context.command.list_commands(context))}? see {command} --help"
    if (
        isinstance(error, click.exceptions.NoSuchOption)
        and context
        and isinstance(context.command, click.Group)
    ):
        verbs = context.command.list_commands(context)
        if any(_takes(context, verb, error.option_name) for verb in verbs):
            return (
                f"{error.option_name} stands behind the verb: {command} VERB {error.option_name} ..., "
                f"where VERB is {' or '.join(verbs)}"
            )
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}; see {command} --help"


def _takes(context: click.Context, verb: str, option: str) -> bool:
    group = context.command
    command = group.get_command(context, verb) if isinstance(group, click.Group) else None
    return command is not None and any(option in parameter.opts for parameter in command.params)
