"""A folder becomes a feed: a record for each file, its type by its extension, its date from the disk."""

import mimetypes
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ingather.client.writing import FeedWriter
from ingather.client.xmltext import FeedWriteError

__all__ = ["FolderFeed", "feed_of_folder"]

MOST_BYTES: Final = 30 << 20
"""What clients of an appliance send of a document at most (GSA feeds specification, section 15)."""


@dataclass(slots=True)
class FolderFeed:
    """What became of the files of a folder.

    Attributes:
        files: records that were written.
        left_out: ``(path, reason)`` of what could not be written.
    """

    files: int = 0
    left_out: list[tuple[Path, str]] = field(default_factory=list)


def feed_of_folder(
    folder: Path,
    url_prefix: str,
    writer: FeedWriter,
    *,
    most_bytes: int = MOST_BYTES,
    except_for: Collection[Path] = (),
) -> FolderFeed:
    """Write a record for each regular file below *folder*, in the order of their paths.

    Names that begin with a dot are passed over, and links are not followed. A file's URL is *url_prefix*, a slash, and its path
    with what a URL cannot hold percent-encoded (as UTF-8).

    Args:
        folder: where the files are.
        url_prefix: absolute URL of *folder*.
        writer: takes the records.
        most_bytes: files beyond this are left out.
        except_for: files that are passed over, the feed itself say.
    """
    made = FolderFeed()
    without = {path.resolve() for path in except_for}
    for path in _files(folder, made):
        if path.resolve() in without:
            continue
        try:
            about = path.stat()
            if about.st_size > most_bytes:
                made.left_out.append((path, f"it is larger than {most_bytes} bytes"))
                continue
            name = quote(os.fsencode(path.relative_to(folder)))
            writer.add(
                f"{url_prefix.rstrip('/')}/{name}",
                content=path.read_bytes(),
                mimetype=mimetype_of(path),
                last_modified=datetime.fromtimestamp(about.st_mtime, UTC),
            )
        except FeedWriteError as error:
            made.left_out.append((path, error.text))
        except (OSError, ValueError, OverflowError) as error:
            made.left_out.append((path, getattr(error, "strerror", None) or str(error)))
        else:
            made.files += 1
    return made


def mimetype_of(path: Path) -> str:
    """Return the type that the file's extension says, ``application/octet-stream`` if it says none."""
    kind, encoding = mimetypes.guess_type(path.name)
    if encoding:  # report.txt.gz is no text/plain
        return {"gzip": "application/gzip", "bzip2": "application/x-bzip2"}.get(
            encoding, "application/octet-stream"
        )
    return kind or "application/octet-stream"


def _files(folder: Path, made: FolderFeed) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        made.left_out.append((Path(os.fsdecode(error.filename)), error.strerror or str(error)))

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path
