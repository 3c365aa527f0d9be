"""``ingather backup`` and ``ingather restore``: a verified copy of a home while it runs, and a home of one."""

from pathlib import Path

import click

from ingather.cli.home_option import default_home, home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

__all__ = ["backup", "restore"]

_MEGA = 1_000_000
_FOLDER = click.Path(path_type=Path)


def _tell(text: str) -> None:
    click.echo(text, err=True)


@click.command("backup")
@click.argument("dest", type=_FOLDER)
@home_option
@click.option(
    "--secrets/--no-secrets",
    default=True,
    help="Whether files with secrets are taken along, with their modes.",
)
@click.option(
    "--read-back/--no-read-back", default=True, help="Whether everything is read again from the backup."
)
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def backup(  # noqa: PLR0913 - options
    dest: Path, *, home: Path, secrets: bool, read_back: bool, quiet: bool, as_json: bool
) -> int:
    """Copy the home to DEST, a new folder, also while it is served or crawled.

    In it: catalog, bodies, pushed feeds, configuration, secrets. Not in it: the index (restore makes it anew), logs.
    Exit status 1: something in the home itself does not read back; the backup holds the rest.
    """
    from ingather.app.backup import take_backup
    from ingather.app.clock import SystemClock

    place, read = open_home(home)
    taken = take_backup(
        place, read.settings, dest, SystemClock(), secrets=secrets, read_back=read_back, tell=_mute if quiet else _tell
    )  # fmt: skip
    if as_json:
        print_json(taken.form())
        return 1 if taken.damage else 0
    for note in taken.manifest.notes:
        click.echo(f"note: {note}", err=True)
    for line in taken.damage:
        click.echo(f"damaged in the home: {line}", err=True)
    made = taken.manifest
    how = "read back" if read_back else "not read back"
    click.echo(
        f"{taken.path}: {len(made.files)} files, {made.size / _MEGA:.1f} MB, up to change {made.sequence}, {how}"
    )
    return 1 if taken.damage else 0


@click.command("restore")
@click.argument("src", type=_FOLDER)
@click.option(
    "--home", type=_FOLDER, default=default_home, metavar="PATH", help="The new home: a folder that does not exist or is empty."
)  # fmt: skip
@click.option("--check", is_flag=True, help="Only read the backup and compare it with its manifest.")
@click.option("--index/--no-index", default=True, help="Whether the index is made, too.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def restore(  # noqa: PLR0913 - options
    src: Path, *, home: Path, check: bool, index: bool, quiet: bool, as_json: bool
) -> int:
    """Make a home of the backup SRC. Everything is checked; nothing that exists is overwritten.

    Exit status 1: the backup is damaged (then nothing is left behind), or something in the new home does not read back.
    """
    from ingather.app.backup import check_backup
    from ingather.app.backup import restore as make

    if check:
        manifest = check_backup(src)
        if as_json:
            print_json(
                {"backup": str(src), "taken": manifest.taken, "files": len(manifest.files), "ok": True}
            )
        else:
            click.echo(f"{src}: {len(manifest.files)} files of {manifest.taken} are as they were written")
        return 0
    done = make(src, home, index=index, tell=_mute if quiet else _tell)
    if as_json:
        print_json(done.form())
        return 1 if done.damage else 0
    for note in done.manifest.notes:
        click.echo(f"note: {note}", err=True)
    for line in done.damage:
        click.echo(f"damaged: {line}", err=True)
    shown = "no index" if done.documents is None else f"{counted(done.documents, 'document')} in search"
    click.echo(f"{done.path}: as of {done.manifest.taken}, {shown}")
    return 1 if done.damage else 0


def _mute(_: str) -> None:
    """Say nothing."""
