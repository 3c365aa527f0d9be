"""Fetchers of the protocols beside http, made from settings and sources."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from ingather.app import wiring
from ingather.app.secrets import require_private
from ingather.conf import Loaded
from ingather.conf.settings.values import Settings
from ingather.conf.sources.reach import ReachConf
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError
from ingather.fetch.logins import Login, LoginError
from ingather.fetch.shares.account import Account
from ingather.fetch.shares.files import FileFetcher, FileReach
from ingather.model.source_name import BySource
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.ports.resolver import Resolver

__all__ = ["Guards", "Passwords", "protocol_fetchers", "web_fetcher"]

Passwords = Callable[[str, str], tuple[str, str] | None]
"""(URL, source) to name and password, ``None`` = none; raises ``LoginError`` when they cannot be used."""

Guards = Callable[[str, str], Login | None]
"""(URL, source) to who counts refusals of that account."""

_FTP: Final = frozenset({"ftp", "ftps"})
_NOWHERE: Final = ReachConf()


def protocol_fetchers(  # noqa: PLR0913 - the parts that fetchers are made of
    loaded: Loaded,
    settings: Settings,
    sources: Mapping[str, SourceConf],
    *,
    home: Path | None,
    clock: Clock,
    resolver: Resolver,
    passwords: Passwords = lambda _url, _source: None,
    guards: Guards = lambda _url, _source: None,
    own_ports: Collection[tuple[str, int]] = (),
) -> dict[str, Fetcher]:
    """Return a fetcher for each protocol beside http that one of *sources* names, and for files.

    Args:
        loaded: robot.conf with limits and address, the media types of file names.
        settings: limits.
        sources: with their schemes and their reach.
        home: never read as files.
        clock: the time.
        resolver: names to addresses.
        passwords: accounts of ftp, sftp and smb.
        guards: who counts their refusals.
        own_ports: (address, port) of our own listeners.
    """
    schemes = frozenset().union(*(source.schemes for source in sources.values()))
    limits, robot = wiring.fetch_limits(settings, loaded.robot), loaded.robot

    def reach(source: str) -> ReachConf:
        return sources[source].reach if source in sources else _NOWHERE

    def account(url: str, source: str) -> Account | None:
        found = passwords(url, source)
        key = reach(source).ssh_key if url.startswith("sftp:") else ""
        return None if found is None else Account(*found, key_file=_private(key))

    def file_reach(source: str) -> FileReach:
        own = reach(source)
        return FileReach(own.roots, own.file_hidden, links=own.file_links, metadata=own.file_metadata)

    made: dict[str, Fetcher] = {}
    if schemes & _FTP:
        from ingather.fetch.shares.ftp import FtpFetcher, FtpReach

        def ftp_reach(source: str) -> FtpReach:
            return FtpReach(active=reach(source).ftp_active, implicit=reach(source).ftps_implicit)

        ftp = FtpFetcher(
            limits, resolver=resolver, own_ports=own_ports, clock=clock, account=account, guard=guards, type_of=loaded.mime.type_of,
            reach=ftp_reach, email=str(robot.email),
        )  # fmt: skip
        made |= dict.fromkeys(_FTP, ftp)
    if "sftp" in schemes:
        from ingather.fetch.shares.sftp import SftpFetcher, SftpReach

        def sftp_reach(source: str) -> SftpReach:
            return SftpReach(host_keys=reach(source).host_keys, known_hosts=reach(source).known_hosts)

        made["sftp"] = SftpFetcher(
            limits, resolver=resolver, own_ports=own_ports, clock=clock, account=account, guard=guards, type_of=loaded.mime.type_of,
            reach=sftp_reach,
        )  # fmt: skip
    if "smb" in schemes:
        from ingather.fetch.shares.smb import SmbFetcher

        made["smb"] = SmbFetcher(
            limits, resolver=resolver, own_ports=own_ports, clock=clock, account=account, guard=guards, type_of=loaded.mime.type_of,
            guest=lambda source: reach(source).smb_guest,
        )  # fmt: skip
    never = () if home is None else (str(home),)
    made["file"] = FileFetcher(  # also when no source names it: it says so
        limits, clock=clock, reach=file_reach, never=never, type_of=loaded.mime.type_of
    )
    return made


def web_fetcher(http: Fetcher, sources: Mapping[str, SourceConf]) -> Fetcher:
    """Return *http*, asking for folders as WebDAV where one of *sources* says so."""
    dav = BySource((name, True) for name, source in sources.items() if source.reach.webdav)
    if not dav:
        return http
    from ingather.fetch.shares.webdav import DavFetcher

    return DavFetcher(http, dav.__contains__)


def _private(path: str) -> str:
    """Return *path* if it is a file of its owner alone.

    Raises:
        LoginError: it is not, or cannot be read.
    """
    if not path:
        return ""
    try:
        with Path(path).open("rb") as stream:
            require_private(Path(path), stream.fileno(), "a private key")
    except OSError as error:
        raise LoginError(f"{path} cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise LoginError(error.text) from None
    return path
