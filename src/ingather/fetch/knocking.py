"""One connection to a port, to see whether somebody is there and which certificate is shown; nothing is asked.

For people who look at a host. The connection goes through the egress gate as every other: scheme, host and port by the scope, every
address before, the peer at the socket.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Final, Literal

from ingather.fetch.egress import EgressGate, Refusal
from ingather.model.resource import FailureKind
from ingather.model.scope import Scope

__all__ = ["Knock", "Knocker", "Shown"]

_ADDRESSES: Final = 2
"""Of a host that are tried: one of each family, as a rule."""
_TLS_PORTS: Final = frozenset({443, 8443})


@dataclass(frozen=True, slots=True)
class Knock:
    """What came of a connection to *port*: ``refused`` by the gate, ``proxied`` = none was made, else what the host did; *detail* for people."""

    port: int
    state: Literal["open", "closed", "silent", "refused", "proxied"]
    address: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The certificate that a host shows.

    Attributes:
        der: as it came; empty = none came.
        trouble: why its chain is not believed, ``""`` = it is.
        detail: why none came.
        version: of TLS, as negotiated.
        address: the peer.
    """

    der: bytes = b""
    trouble: str = ""
    detail: str = ""
    version: str = ""
    address: str = ""


class Knocker:
    """Connects through *gate*; belongs to its event loop, keeps nothing open.

    Args:
        gate: where a scope may go.
        connect_s, tls_s: patience with a connection, with a handshake.
        ca_file: certificates to trust instead of the system's (PEM).
    """

    def __init__(
        self, gate: EgressGate, *, connect_s: float = 10.0, tls_s: float = 10.0, ca_file: str | None = None
    ) -> None:
        self._gate = gate
        self._connect_s, self._tls_s = connect_s, tls_s
        self._ca_file = ca_file

    async def knock(self, host: str, port: int, scope: Scope) -> Knock:
        """Connect to *port* and hang up."""
        scheme = "https" if port in _TLS_PORTS and "https" in scope.schemes else "http"
        if scheme not in scope.schemes:
            scheme = "https"
        admitted = await self._gate.admit(scheme, host, port, scope, url=f"{scheme}://{host}:{port}/")
        if isinstance(admitted, Refusal):
            state: Literal["closed", "refused"] = (
                "refused" if admitted.kind is FailureKind.EGRESS else "closed"
            )
            return Knock(port, state, detail=admitted.detail)
        last = Knock(port, "closed")
        for address in admitted[:_ADDRESSES]:
            try:
                _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), self._connect_s)
            except TimeoutError:
                last = Knock(port, "silent", address, f"no answer in {self._connect_s:g} s")
            except OSError as error:
                last = Knock(port, "closed", address, error.strerror or str(error))
            else:
                peer = str(writer.get_extra_info("peername", ("",))[0])
                writer.transport.abort()
                refused = self._gate.peer_refusal(peer, port, scope)
                return Knock(port, "refused", peer, refused) if refused else Knock(port, "open", peer)
        return last

    async def certificate(self, host: str, port: int, scope: Scope, *, believe: bool = True) -> Shown:
        """Return the certificate at *port*; one that is not believed is read by a second handshake.

        *believe*: whether its chain is judged; without that it is one handshake in any case.
        """
        admitted = await self._gate.admit("https", host, port, scope, url=f"https://{host}:{port}/")
        if isinstance(admitted, Refusal):
            return Shown(detail=admitted.detail)
        believing = ssl.create_default_context(cafile=self._ca_file)
        believing.check_hostname = False  # the name is compared apart, so that both can be told
        seeing = ssl.create_default_context(cafile=self._ca_file)
        seeing.check_hostname, seeing.verify_mode = False, ssl.CERT_NONE
        first = await self._handshake(host, port, admitted[0], believing if believe else seeing, scope)
        if not first.trouble or not believe:
            return first
        second = await self._handshake(host, port, admitted[0], seeing, scope)
        return Shown(
            second.der, first.trouble, second.detail or second.trouble, second.version, second.address
        )

    async def _handshake(
        self, host: str, port: int, address: str, context: ssl.SSLContext, scope: Scope
    ) -> Shown:
        try:
            _, writer = await asyncio.wait_for(
                asyncio.open_connection(address, port, ssl=context, server_hostname=host.strip("[]")),
                self._connect_s + self._tls_s,
            )
        except ssl.SSLCertVerificationError as error:
            return Shown(trouble=error.verify_message or str(error), address=address)
        except TimeoutError:
            return Shown(detail=f"no handshake in {self._connect_s + self._tls_s:g} s", address=address)
        except ssl.SSLError as error:
            return Shown(detail=f"no TLS: {error.reason or error}", address=address)
        except (OSError, ValueError) as error:
            return Shown(detail=getattr(error, "strerror", None) or str(error), address=address)
        peer = str(writer.get_extra_info("peername", ("",))[0])
        made = writer.get_extra_info("ssl_object")
        der, version = made.getpeercert(binary_form=True) or b"", made.version() or ""
        writer.transport.abort()
        if refused := self._gate.peer_refusal(peer, port, scope):
            return Shown(detail=refused, address=peer)
        return Shown(der, version=version, address=peer)
