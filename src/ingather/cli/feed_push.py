"""``ingather feed push`` and ``ingather feed make``: feeds from the sender's side; no home is needed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ingather.model.feed import FeedHeader

__all__ = ["make", "push"]

_TYPES = ("full", "incremental", "metadata-and-url")
_MODES = ("incremental", "full", "replace", "cleanup")
_LARGEST = 1_000_000_000
_STANDARD_TRIES = 12


@click.command("push")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--to", required=True, metavar="HOST[:PORT]", help="Where to; ports: 19900, with TLS 19902.")
@click.option("--source", default="", metavar="NAME", help="Data source; default: what the feed says itself.")
@click.option(
    "--type", "feedtype", default="", metavar="TYPE",
    help="full, incremental or metadata-and-url; default: what the feed says itself.",
)  # fmt: skip
@click.option("--groups", type=click.Choice(_MODES), help="FILE has memberships of groups: what to do.")
@click.option("--jsonl", is_flag=True, help="FILE has JSON lines, which only Ingather takes.")
@click.option("--tls", is_flag=True, help="Speak TLS.")
@click.option("--insecure", is_flag=True, help="Do not check the server's certificate.")
@click.option(
    "--token-file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The token of the data source is in this file.",
)  # fmt: skip
@click.option("--compress", is_flag=True, help="Send the request as gzip.")
@click.option(
    "--tries", type=click.IntRange(1, 1000), default=_STANDARD_TRIES, show_default=True,
    help="How often at most, while connections break.",
)  # fmt: skip
def push(  # noqa: PLR0913, PLR0917 - click gives it so
    file: Path | None,
    to: str,
    source: str,
    feedtype: str,
    groups: str | None,
    jsonl: bool,  # noqa: FBT001
    tls: bool,  # noqa: FBT001
    insecure: bool,  # noqa: FBT001
    token_file: Path | None,
    compress: bool,  # noqa: FBT001
    tries: int,
) -> int:
    """Push FILE to an Ingather or to a Google Search Appliance.

    It waits while the server's backlog is high, and tries again when the connection breaks. Exit status 1: the server
    did not take it.
    """
    from ingather.client import FeedClient, PushError, Target
    from ingather.errors import UsageError

    target = Target.read(to, tls=tls, verify=not insecure)
    if (file is None) != (groups == "cleanup"):
        raise UsageError("name a file to push", hint="only --groups cleanup goes without")
    if file is not None and not file.is_file():
        raise UsageError(f"{file} is no file")
    token = token_file.read_text("utf-8").strip() if token_file else ""
    client = FeedClient(
        target, token=token, compress=compress, tries=tries, notice=lambda text: click.echo(text, err=True)
    )
    try:
        if groups is not None:
            pushed = client.push_groups(file, _named(source), groups)
        else:
            assert file is not None  # noqa: S101 (see above)
            if not (source and feedtype):
                header = _header(file, jsonl=jsonl)
                source, feedtype = source or header.datasource, feedtype or header.feedtype
            kind = feedtype.strip().lower().replace("_", "-")
            if kind not in _TYPES:
                raise UsageError(f"the type of the feed is {kind!r}", hint=f"say --type {', '.join(_TYPES)}")
            media = "application/x-ndjson" if jsonl else "text/xml"
            pushed = client.push(file, _named(source), kind, media=media)
    except PushError as error:
        click.echo(f"ingather: {target}: {error}", err=True)
        return 1
    click.echo(f"taken by {target}" + (f" as {pushed.feed}" if pushed.feed else ""))
    return 0


def _named(source: str) -> str:
    from ingather.client import FeedWriteError, check_datasource
    from ingather.errors import UsageError

    try:
        return check_datasource(source)
    except FeedWriteError as error:
        raise UsageError(error.text, hint=f"say --source NAME: {error.hint}") from error


def _header(file: Path, *, jsonl: bool) -> "FeedHeader":
    from ingather.errors import FeedError, UsageError
    from ingather.feeds.reading import read_items
    from ingather.model.feed import FeedHeader

    if not jsonl:
        try:
            with file.open("rb") as stream:
                first = next(iter(read_items(stream)))
        except FeedError as error:
            raise FeedError(f"{file}: {error.text}", reason=error.reason, hint=error.hint) from error
        if isinstance(first, FeedHeader):
            return first
    raise UsageError(
        "say --source and --type", hint="ingather feed push FILE --to HOST --source NAME --type incremental"
    )


@click.command("make")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--url-prefix", required=True, metavar="URL", help="URL of DIR; a file's URL begins with it.")
@click.option(
    "-o", "--output", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The feed that is written.",
)  # fmt: skip
@click.option("--source", default="files", show_default=True, metavar="NAME", help="Data source of the feed.")
@click.option(
    "--type", "feedtype", type=click.Choice(("full", "incremental")), default="incremental", show_default=True,
    help="full: files that are gone will be deleted.",
)  # fmt: skip
def make(folder: Path, url_prefix: str, output: Path, source: str, feedtype: str) -> int:
    """Make a feed of the files in DIR, with the types that their extensions say.

    Hidden files and links are passed over. Files that cannot be read are named, and the exit status is 1; then no
    full feed is written, because it would delete them.
    """
    from ingather.client import FeedWriteError, FeedWriter, feed_of_folder
    from ingather.client.xmltext import check_url
    from ingather.errors import UsageError

    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    try:
        check_url(url_prefix, "URL prefix")
    except FeedWriteError as error:
        raise UsageError(error.text, hint=error.hint) from error
    half = output.with_name(f".{output.name}.{os.getpid()}")
    done = False
    try:
        with half.open("wb") as out, FeedWriter(out, _named(source), feedtype) as writer:
            made = feed_of_folder(folder, url_prefix, writer, except_for=(half, output))
        for path, reason in made.left_out:
            click.echo(f"ingather: {path}: left out: {reason}", err=True)
        if not made.files or (made.left_out and feedtype == "full"):
            why = "files are missing from it" if made.files else "there are no files"
            click.echo(f"ingather: no feed was written: {why}", err=True)
            return 1
        half.replace(output)
        done = True
    finally:
        if not done:
            half.unlink(missing_ok=True)
    click.echo(f"{output}: {made.files} files, {writer.size} bytes")
    if writer.size > _LARGEST:
        click.echo("ingather: an appliance takes 1 GB at most; make feeds of parts of DIR", err=True)
    return 1 if made.left_out else 0
