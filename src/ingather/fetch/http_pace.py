"""The pace of one request in flight: which phase it is in, and whether that has taken too long."""

import socket

import pycurl

from ingather.fetch.http_engine import Transfer
from ingather.fetch.limits import Limits
from ingather.model.resource import FailureKind

__all__ = ["judge_pace", "tick_of"]

Verdict = tuple[FailureKind, str]


def tick_of(limits: Limits) -> float:
    """Seconds between two looks: a quarter of the shortest limit, between 10 ms and half a second."""
    shortest_s = min(
        limits.connect_s, limits.tls_s, limits.first_byte_s, limits.rate_window_s, limits.total_s
    )
    return min(0.5, max(0.01, shortest_s / 4))


def judge_pace(transfer: Transfer, elapsed_s: float, limits: Limits) -> Verdict | None:
    """Say which limit *transfer*, begun *elapsed_s* ago, has passed; ``None`` for none.

    The kernel tells whether it is connected, libcurl when the request went out and the first byte came.
    """
    if elapsed_s > limits.total_s:
        return FailureKind.TOTAL_TIMEOUT, f"no end within {limits.total_s:g} s"
    curl = transfer.curl
    ready_s = curl.getinfo(pycurl.PRETRANSFER_TIME)
    if not ready_s:
        return _before_request(transfer, elapsed_s, limits)
    first_s = curl.getinfo(pycurl.STARTTRANSFER_TIME)
    if not first_s:
        if elapsed_s - ready_s > limits.first_byte_s:
            return FailureKind.FIRST_BYTE_TIMEOUT, f"no byte within {limits.first_byte_s:g} s"
        return None
    return _during_response(transfer, first_s, elapsed_s, limits)


def _before_request(transfer: Transfer, elapsed_s: float, limits: Limits) -> Verdict | None:
    if not transfer.connected_s and _is_connected(transfer.fd):
        transfer.connected_s = elapsed_s
    if not transfer.connected_s:
        if elapsed_s > limits.connect_s:
            return FailureKind.CONNECT_TIMEOUT, f"no connection within {limits.connect_s:g} s"
    elif elapsed_s - transfer.connected_s > limits.tls_s:
        return FailureKind.TLS_TIMEOUT, f"no TLS handshake within {limits.tls_s:g} s"
    return None


def _is_connected(fd: int) -> bool:
    """Ask the kernel: libcurl tells the time of the TCP connection only after the TLS handshake."""
    if fd < 0:
        return False
    try:
        borrowed = socket.socket(fileno=fd)
    except OSError:
        return False
    try:
        borrowed.getpeername()
    except OSError:
        return False
    else:
        return True
    finally:
        borrowed.detach()


def _during_response(transfer: Transfer, first_s: float, elapsed_s: float, limits: Limits) -> Verdict | None:
    transfer.mark_s = transfer.mark_s or first_s
    window_s = elapsed_s - transfer.mark_s
    if not limits.min_rate_bytes_s or window_s < limits.rate_window_s:
        return None
    came = transfer.curl.getinfo(pycurl.SIZE_DOWNLOAD_T) + transfer.curl.getinfo(pycurl.HEADER_SIZE)
    rate = (came - transfer.mark_bytes) / window_s
    if rate < limits.min_rate_bytes_s:
        return FailureKind.TOO_SLOW, f"{rate:.0f} bytes a second over {limits.rate_window_s:g} s"
    transfer.mark_s, transfer.mark_bytes = elapsed_s, came
    return None
