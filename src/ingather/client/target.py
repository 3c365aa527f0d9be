"""Where feeds are pushed to: host, port, TLS."""

import ssl
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from typing import Final, Self
from urllib.parse import urlsplit

from ingather.errors import UsageError

__all__ = ["HTTPS_PORT", "HTTP_PORT", "Target"]

HTTP_PORT: Final = 19900
HTTPS_PORT: Final = 19902
"""The ports of an appliance, and of Ingather."""


@dataclass(frozen=True, slots=True)
class Target:
    """An appliance or an Ingather.

    Attributes:
        host: name or address, IPv6 without brackets.
        port: of its feed gate.
        tls: whether it is spoken to over TLS.
        verify: whether its certificate is checked; the one that an appliance made itself fails that.
    """

    host: str
    port: int = HTTP_PORT
    tls: bool = False
    verify: bool = True

    @classmethod
    def read(cls, text: str, *, tls: bool = False, verify: bool = True) -> Self:
        """Read ``HOST[:PORT]``, or a URL of which the path does not count; without a port the usual one.

        Raises:
            UsageError: it is none.
        """
        text = text.strip()
        try:
            parts = urlsplit(text if "://" in text else f"//{text}")
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port, parts = "", None, urlsplit("")
        if (
            not host
            or any(map(str.isspace, host))
            or parts.scheme not in {"", "http", "https"}
            or "@" in parts.netloc
        ):
            raise UsageError(
                f"{text!r} is no place to push to", hint="write HOST, HOST:PORT or [ADDRESS]:PORT"
            )
        tls = tls or parts.scheme == "https"
        return cls(host, port or (HTTPS_PORT if tls else HTTP_PORT), tls, verify)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def connect(self, timeout_s: float) -> HTTPConnection:
        """Return a connection that is not open yet."""
        if not self.tls:
            return HTTPConnection(self.host, self.port, timeout=timeout_s)
        context = ssl.create_default_context()
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return HTTPSConnection(self.host, self.port, timeout=timeout_s, context=context)
