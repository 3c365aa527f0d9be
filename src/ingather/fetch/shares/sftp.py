"""The fetcher for sftp: folders as pages of links, files with size and date. A host key that nobody vouched for is refused."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pycurl

from ingather.fetch.shares.account import Account, Target
from ingather.fetch.shares.ftp_base import LineFetcher, Visit
from ingather.fetch.shares.ftp_lines import Exchange
from ingather.fetch.shares.ftp_listing import read_list
from ingather.fetch.shares.listing import listing_response
from ingather.fetch.shares.ssh_hosts import fingerprint, is_fingerprinted, is_known
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.scope import Scope

__all__ = ["SftpFetcher", "SftpReach"]

_GOOD_KEY, _BAD_KEY = 0, 1
_KNOWN_HOSTS_BYTES: Final = 4 << 20
_NOT_FOUND: Final = 78
_DENIED: Final = 9
_LOGIN_DENIED: Final = 67
_SSH: Final = 79
_KEY_TROUBLE: Final = 60


@dataclass(frozen=True, slots=True)
class SftpReach:
    """Whom a source believes.

    Attributes:
        host_keys: fingerprints, each for all hosts or with the name of its host before it.
        known_hosts: a file of OpenSSH's form; ``""`` = none.
    """

    host_keys: tuple[str, ...] = ()
    known_hosts: str = ""


class SftpFetcher(LineFetcher):
    """Asks for sftp URLs, whose paths begin at the server's root.

    Args:
        reach: by source.
        parts: see :class:`LineFetcher`.
    """

    def __init__(
        self, *args: Any, reach: Callable[[str], SftpReach] = lambda _: SftpReach(), **parts: Any
    ) -> None:
        super().__init__(*args, **parts)
        self._reach = reach
        self._unknown: dict[tuple[str, str], str] = {}

    def active(self, scope: Scope) -> bool:
        """Never."""
        del scope
        return False

    def options(self, target: Target, scope: Scope, account: Account | None) -> dict[int, object]:
        """Return libcurl's options for connections to *target*."""
        reach, host = self._reach(scope.source), target.host.strip("[]")

        def judge(_kind: int, key: bytes) -> int:
            good = is_fingerprinted(host, key, reach.host_keys) or is_known(
                host, target.port, key, _text_of(reach.known_hosts)
            )
            if not good:
                self._unknown[scope.source, host] = fingerprint(key)
            return _GOOD_KEY if good else _BAD_KEY

        options: dict[int, object] = {
            pycurl.PROTOCOLS: pycurl.PROTO_SFTP,
            pycurl.SSH_HOSTKEYFUNCTION: judge,
            pycurl.USERNAME: account.user if account else "",
        }
        if account is not None and account.key_file:
            options[pycurl.SSH_AUTH_TYPES] = pycurl.SSH_AUTH_PUBLICKEY
            options[pycurl.SSH_PRIVATE_KEYFILE] = account.key_file
            if account.password:
                options[pycurl.KEYPASSWD] = account.password
        else:
            options[pycurl.SSH_AUTH_TYPES] = pycurl.SSH_AUTH_PASSWORD | pycurl.SSH_AUTH_KEYBOARD
            options[pycurl.PASSWORD] = account.password if account else ""
        return options

    def refused(self, target: Target, scope: Scope, account: Account | None) -> Response | Failure | None:
        """Answer 401 when there is no account: nobody is anonymous over ssh."""
        if account is None:
            url = f"sftp://{target.host}{'' if target.port == 22 else f':{target.port}'}{target.path}"  # noqa: PLR2004 - ssh
            return Response(url, 401)
        del scope
        return None

    def work(self, visit: Visit) -> Response | Failure:
        """Make the request, in a thread; what was said of the host's key is judged anew."""
        self._unknown.pop((visit.scope.source, visit.target.host.strip("[]")), None)
        return super().work(visit)

    def url(self, visit: Visit, path: str = "") -> str:
        """Return the URL with its port."""
        target = visit.target
        return f"sftp://{target.host}:{target.port}{path or target.path}"

    def folder(self, visit: Visit) -> Response | Failure:
        """List a folder as ``ls`` does."""
        got = self._listed(visit)
        if got.code:
            return self.trouble(visit, got)
        answer = listing_response(
            visit.request, read_list(got.body), wire_bytes=len(got.body), address=got.address, authorized=True
        )
        return replace(answer, cut=True) if got.cut else answer

    def _listed(self, visit: Visit, path: str = "") -> Exchange:
        return visit.line.run(self.url(visit, path), most=self.most(visit.request), cut=True)

    def is_folder(self, visit: Visit, got: Exchange) -> bool:
        """Ask for the name as a folder: one has no content, which libcurl calls a general trouble of ssh."""
        return got.code == _SSH and not self._listed(visit, f"{visit.target.path}/").code

    def trouble(self, visit: Visit, got: Exchange) -> Response | Failure:  # noqa: PLR0911 - one a kind of trouble
        """Say what an exchange that failed means."""
        host = visit.target.host.strip("[]")
        unknown = self._unknown.get((visit.scope.source, host))
        if visit.line.refused:
            return self.failure(visit, got)
        if unknown is not None:
            detail = (
                f"the host key of {host} is {unknown} and nobody vouched for it; if it is the right one, write "
                f'host-keys = ["{host} {unknown}"] into [source.{visit.scope.source}]'
            )
            return Failure(visit.request.url, FailureKind.TLS, detail, got.address)
        if got.code == _NOT_FOUND:
            return self.plain(visit, 404, got.address)
        if got.code == _DENIED:
            return self.plain(visit, 403, got.address)
        if got.code == _LOGIN_DENIED:
            return self.plain(visit, 401, got.address)
        if got.code == _SSH:
            return Failure(visit.request.url, FailureKind.PROTOCOL, got.message, got.address)
        return self.failure(visit, got)


def _text_of(path: str) -> str:
    if not path:
        return ""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_KNOWN_HOSTS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
