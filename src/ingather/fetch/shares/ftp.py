"""The fetcher for ftp and ftps: folders as pages of links, files with what the server knows of them.

A request is one or more transfers over one connection: of a file that is known already size and date are asked first, and a
name that is no file is tried as a folder, to which the answer then redirects. Data connections go to the address that was
checked and no other, whatever the server says (``PASV`` answers that name another one are not believed).
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import pycurl

from ingather.fetch.shares.account import ANONYMOUS, Account, Target
from ingather.fetch.shares.ftp_base import LineFetcher, Visit
from ingather.fetch.shares.ftp_lines import Exchange
from ingather.fetch.shares.ftp_listing import read_list, read_mlsd
from ingather.fetch.shares.listing import listing_response
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.scope import Scope

__all__ = ["FtpFetcher", "FtpReach"]

_IMPLICIT_PORT: Final = 990
_UNKNOWN_COMMAND: Final = frozenset({500, 501, 502, 503, 504, 522})
_BUSY: Final = frozenset({450, 451, 452})
_GONE: Final = 421
_NO: Final = frozenset({550, 553})
_DENIED: Final = re.compile(r"denied|permission|not allowed|forbidden|not authori[sz]ed", re.IGNORECASE)
_ABSENT: Final = re.compile(r"no such|not found|not exist", re.IGNORECASE)
_REMEMBERED: Final = 4096
_NO_ADDRESS: Final = "user@domain"
"""The vendor's placeholder: nobody's address."""
_CURL_TLS_TROUBLE: Final = 64  # CURLE_USE_SSL_FAILED
_NOT_FOUND: Final = frozenset({9, 19, 78})  # access to the folder denied, RETR refused, no such file
_LOGIN_DENIED: Final = 67
_PROTOCOL: Final = frozenset({8, 11, 13, 14, 17, 30, 31, 84})
_DATA_TROUBLE: Final = frozenset({10, 12})  # nobody connected to us


@dataclass(frozen=True, slots=True)
class FtpReach:
    """How servers of a source are spoken to.

    Attributes:
        active: they connect to us for data (``PORT``), instead of we to them.
        implicit: TLS begins with the connection at every port of ``ftps:``, not at 990 alone.
    """

    active: bool = False
    implicit: bool = False


class FtpFetcher(LineFetcher):
    """Asks for ftp and ftps URLs.

    Args:
        reach: by source.
        email: password of anonymous logins, as servers ask for it.
        parts: see :class:`LineFetcher`.
    """

    def __init__(
        self,
        *args: Any,
        reach: Callable[[str], FtpReach] = lambda _: FtpReach(),
        email: str = "",
        **parts: Any,
    ) -> None:
        super().__init__(*args, **parts)
        self._reach = reach
        good = "@" in email and email.isascii() and email.isprintable() and email != _NO_ADDRESS
        self._email = email if good else "anonymous@"
        self._no_mlsd: OrderedDict[str, None] = OrderedDict()

    def options(self, target: Target, scope: Scope, account: Account | None) -> dict[int, object]:
        """Return libcurl's options for connections to *target*."""
        options: dict[int, object] = {
            pycurl.PROTOCOLS: pycurl.PROTO_FTP | pycurl.PROTO_FTPS,
            pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_SINGLECWD,
            pycurl.FTP_SKIP_PASV_IP: 1,
            pycurl.USERNAME: account.user if account else ANONYMOUS,
            pycurl.PASSWORD: account.password if account else self._email,
        }
        if self.active(scope):
            options[pycurl.FTPPORT] = "-"
        if target.scheme == "ftps":
            options[pycurl.USE_SSL] = pycurl.USESSL_ALL
            options[pycurl.FTPSSLAUTH] = pycurl.FTPAUTH_TLS
            if self.ca_file is not None:
                options[pycurl.CAINFO] = self.ca_file
        return options

    def active(self, scope: Scope) -> bool:
        """Whether servers connect to us for data."""
        return self._reach(scope.source).active

    def url(self, visit: Visit, path: str = "") -> str:
        """Return the URL; libcurl's ``ftps`` is TLS from the connection's begin."""
        target = visit.target
        implicit = target.port == _IMPLICIT_PORT or self._reach(visit.scope.source).implicit
        scheme = "ftps" if target.scheme == "ftps" and implicit else "ftp"
        return f"{scheme}://{target.host}:{target.port}{path or target.path}"

    # -- folders ----------------------------------------------------------------------------------

    def folder(self, visit: Visit) -> Response | Failure:
        """List a folder by MLSD, or LIST where servers do not know that."""
        request, origin = visit.request, f"{visit.target.host}:{visit.target.port}"
        mlsd = origin not in self._no_mlsd
        got = self._listed(visit, "MLSD" if mlsd else "")
        if mlsd and got.code and got.reply in _UNKNOWN_COMMAND:
            self._no_mlsd[origin] = None
            while len(self._no_mlsd) > _REMEMBERED:
                self._no_mlsd.popitem(last=False)
            mlsd, got = False, self._listed(visit, "")
        if got.code:
            return self.trouble(visit, got)
        entries = (read_mlsd if mlsd else read_list)(got.body)
        answer = listing_response(
            request,
            entries,
            wire_bytes=len(got.body),
            address=got.address,
            authorized=visit.account is not None,
        )
        return replace(answer, cut=True) if got.cut else answer

    def _listed(self, visit: Visit, command: str) -> Exchange:
        wanted = visit.request.method == "GET"
        return visit.line.run(
            self.url(visit), most=self.most(visit.request), cut=True, command=command, body=wanted
        )

    # -- files ------------------------------------------------------------------------------------

    def is_folder(self, visit: Visit, got: Exchange) -> bool:
        """Ask for the name as a folder, where the server would not give it as a file."""
        if got.code not in _NOT_FOUND or got.reply not in _NO:
            return False
        return not visit.line.run(self.url(visit, f"{visit.target.path}/"), most=0, body=False).code

    # -- what else servers say --------------------------------------------------------------------

    def trouble(self, visit: Visit, got: Exchange) -> Response | Failure:  # noqa: PLR0911 - one a kind of trouble
        """Say what an exchange that failed means, by libcurl's code and the server's reply."""
        url, reply = visit.request.url, got.reply
        said = got.lines[-1].decode("latin-1").strip() if got.lines and reply else ""
        if visit.line.refused:
            return self.failure(visit, got)
        if reply == _GONE:
            return Failure(url, FailureKind.CONNECT, said or got.message, got.address)
        if got.code == _LOGIN_DENIED:
            return self.plain(visit, 401, got.address)
        if got.code == _CURL_TLS_TROUBLE:
            return Failure(
                url, FailureKind.TLS, f"the server offers no TLS: {said or got.message}", got.address
            )
        if got.code in _NOT_FOUND and reply in _BUSY:
            return self.plain(visit, 503, got.address)
        if got.code in _NOT_FOUND and reply in _NO:
            denied = _DENIED.search(said) is not None and _ABSENT.search(said) is None
            return self.plain(visit, 403 if denied else 404, got.address)
        if got.code in _DATA_TROUBLE:
            return Failure(url, FailureKind.CONNECT, f"no data connection: {got.message}", got.address)
        if got.code in _PROTOCOL or got.code in _NOT_FOUND:
            return Failure(url, FailureKind.PROTOCOL, said or got.message, got.address)
        return self.failure(visit, got)
