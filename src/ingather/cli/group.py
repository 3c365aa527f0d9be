"""The group of all verbs: help that tells the journey, verbs imported when they are called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from ingather import __version__
from ingather.cli import CHAPTERS, Verb

__all__ = ["root"]

_ABOUT = "Gathers documents for enterprise search: crawls, keeps, indexes, finds, explains."
_FIRST = """\
First use, in three lines:

  ingather init ./home
  ingather crawl --home ./home https://intranet.example/
  ingather search --home ./home "holiday form"
"""
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Verbs(click.Group):
    """Finds a command in the table and imports it then."""

    def __init__(self, verbs: Mapping[str, Verb], **rest: Any) -> None:
        super().__init__(**rest)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = self._verbs.get(cmd_name)
        if verb is None:
            return None
        module, _, name = verb.target.partition(":")
        command: click.Command = getattr(import_module(module), name)
        command.context_settings = {**_SETTINGS, **command.context_settings}
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self._verbs:
            from ingather.conf.names import suggestion

            hint = suggestion(args[0], self._verbs)
            raise click.UsageError(f"there is no verb {args[0]!r}{f', {hint}' if hint else ''}", ctx)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"usage: ingather VERB [OPTION...]\n\n{_ABOUT}\n")
        if {"init", "crawl", "search"} <= self._verbs.keys():
            formatter.write(f"\n{_FIRST}")
        width = max(len(name) for name in self._verbs)
        of_verbs = dict.fromkeys(verb.chapter for verb in self._verbs.values())
        for chapter in sorted(
            of_verbs, key=lambda one: CHAPTERS.index(one) if one in CHAPTERS else len(CHAPTERS)
        ):
            formatter.write(f"\n{chapter}:\n\n")
            for name, verb in self._verbs.items():
                if verb.chapter == chapter:
                    formatter.write(f"  {name:{width}}  {verb.about}\n")
        formatter.write(
            "\ningather VERB --help tells more; exit status 0 done, 1 no or failed, 2 called wrongly.\n"
        )


def root(verbs: Mapping[str, Verb]) -> click.Command:
    """Return the command ``ingather`` with *verbs*."""

    @click.version_option(__version__, prog_name="ingather", message="%(prog)s %(version)s")
    @click.pass_context
    def start(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    return _Verbs(
        verbs,
        name="ingather",
        callback=start,
        params=getattr(start, "__click_params__", []),
        invoke_without_command=True,
        context_settings=_SETTINGS,
    )
