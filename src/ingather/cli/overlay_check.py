"""``ingather overlay check`` and ``concatenate``: validate files of external metadata, make one of those of profiles."""

import sys
from decimal import Decimal
from pathlib import Path

import click

from ingather.cli.home_option import home_option

__all__ = ["check", "concatenate", "validated"]

_REFUSED = 1
_BROKEN = 3
_SHOWN = 20

_threshold_option = click.option(
    "--threshold", default="0", show_default=True, metavar="F", help="Share of bad lines to tolerate, 0 to 1."
)


@click.command("check")
@click.option("--source", default="", metavar="NAME", help="Whose file; default: the file of all sources.")
@_threshold_option
@home_option
def check(source: str, threshold: str, home: Path) -> int:
    """Find every mistake in a source's external_metadata.cfg.

    Exit status 0: accepted, or there is no file; 1: more bad lines than the threshold; 2: called wrongly; 3: a file
    could not be read or written.
    """
    return validated(home, source, "check", threshold)


@click.command("concatenate")
@click.option("--source", required=True, metavar="NAME", help="Whose profiles.")
@_threshold_option
@click.option("--force", is_flag=True, help="Replace a file that was written by hand.")
@home_option
def concatenate(source: str, threshold: str, home: Path, *, force: bool) -> int:
    """Write the good lines of all profiles of a source into its external_metadata.cfg.

    Exit status as of check.
    """
    return validated(home, source, "concatenate", threshold, force=force)


def validated(path: Path, source: str, mode: str, threshold: str, *, force: bool = False) -> int:
    """Do what both commands and the original's do; return the exit status.

    Raises:
        UsageError: a word is wrong, or there is no such source.
    """
    from ingather.app.home import Home
    from ingather.app.overlay.validating import check_source, concatenate_source, log_file
    from ingather.errors import ConfigurationError, IngatherError, UsageError
    from ingather.overlay.validating import threshold_of

    try:
        tolerated: Decimal = threshold_of(threshold)
        home = Home.open(path)
        if mode == "check":
            outcome = check_source(home, source, tolerated)
        else:
            outcome = concatenate_source(home, source, tolerated, force=force)
    except (UsageError, ConfigurationError):
        raise
    except IngatherError as error:
        click.echo(f"ingather: {error}", err=True)
        return _BROKEN
    except OSError as error:
        click.echo(f"ingather: {error.filename}: {error.strerror}", err=True)
        return _BROKEN
    _tell(outcome, str(log_file(home, source)))
    if outcome.written is not None:
        click.echo(f"{outcome.written}: {outcome.lines} lines written")
    return 0 if outcome.accepted else _REFUSED


def _tell(outcome: object, log: str) -> None:
    from ingather.app.overlay.validating import Outcome
    from ingather.overlay.findings import log_line

    assert isinstance(outcome, Outcome)  # noqa: S101 - imported late
    validation = outcome.validation
    if validation is None:
        click.echo("there is no file, and nothing to do")
        return
    for found in validation.diagnostics[:_SHOWN]:
        click.echo(log_line(found), err=True)
    if len(validation.diagnostics) > _SHOWN:
        click.echo(f"... the others stand in {log}", err=True)
    sys.stderr.flush()
    for remark in validation.remarks:
        click.echo(f"warning: {remark}", err=True)
    click.echo(f"{validation.verdict}; log: {log}")
