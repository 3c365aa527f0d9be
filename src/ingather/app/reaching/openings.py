"""Settings of sources that trust or show more than usual, told of at each start."""

from collections.abc import Iterator, Mapping

from ingather.conf.sources.source import SourceConf
from ingather.log import get

__all__ = ["openings", "tell_openings"]

_log = get("fetch")


def openings(sources: Mapping[str, SourceConf]) -> Iterator[tuple[str, str]]:
    """Yield (source, sentence) for each setting of a source that trusts or shows more than usual."""
    for name, source in sources.items():
        if source.reach.public:
            yield (
                name,
                "public = true: everybody may find its documents, also those fetched with credentials or read from files",
            )
        if source.reach.smb_guest:
            yield (
                name,
                "smb-guest = true: SMB servers are asked as a guest, unsigned, where no credential is for them",
            )
        if not source.verify_tls:
            yield name, "verify-tls = false: certificates of its hosts are not checked"


def tell_openings(sources: Mapping[str, SourceConf]) -> None:
    """Log :func:`openings`, as is done at each start."""
    for name, what in openings(sources):
        _log.warning("a source is more open than usual", source=name, setting=what)
