"""A group of verbs that stand in a table, imported when they are called: a command pays for its own imports alone."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup", "loaded"]


def loaded(target: str) -> click.Command:
    """Import what *target* (``module:attribute``) names and return the command."""
    module, _, name = target.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


class LazyGroup(click.Group):
    """Finds a verb in *verbs* (to ``module:attribute``, in the order of the help) and imports it then."""

    def __init__(self, *args: Any, verbs: Mapping[str, str], **rest: Any) -> None:
        super().__init__(*args, **rest)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the verb's command; ``None`` if there is none of that name."""
        target = self._verbs.get(cmd_name)
        return None if target is None else loaded(target)
