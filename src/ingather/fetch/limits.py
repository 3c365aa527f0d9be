"""Every limit of a fetch in one place, with its default."""

from dataclasses import dataclass

__all__ = ["Limits", "RobotsLimits"]

_MIB = 1 << 20
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost.

    Attributes:
        connect_s: from the checked addresses to an established TCP connection.
        tls_s: TLS handshake.
        first_byte_s: from the request sent to the first byte of the response.
        total_s: from start to last byte.
        min_rate_bytes_s: least mean rate of a response over each ``rate_window_s``; 0 = any.
        rate_window_s: see above.
        max_wire_bytes: body as it travels, before content decoding; 0 = unlimited.
        max_decoded_bytes: body after content decoding.
        max_ratio: decoded bytes for each wire byte, judged beyond ``ratio_after_bytes``.
        ratio_after_bytes: decoded bytes below which no ratio is suspect.
        max_head_bytes: status line and header fields together.
        max_head_fields: header fields.
        max_long_head_bytes, max_long_head_fields: the same for ``Request.long_head``. libcurl has limits of its own: 300 KiB
            together, and about 100 KiB for one field.
        max_redirects: hops of one chain.
        max_retry_after_s: longest wait that a host may ask for.
    """

    connect_s: float = 10.0
    tls_s: float = 10.0
    first_byte_s: float = 30.0
    total_s: float = 120.0
    min_rate_bytes_s: int = 512
    rate_window_s: float = 30.0
    max_wire_bytes: int = 10 * _MIB
    max_decoded_bytes: int = 32 * _MIB
    max_ratio: int = 100
    ratio_after_bytes: int = _MIB
    max_head_bytes: int = 64 * 1024
    max_head_fields: int = 128
    max_long_head_bytes: int = 300 * 1024
    max_long_head_fields: int = 2_000
    max_redirects: int = 5
    max_retry_after_s: float = 7 * _DAY_S


@dataclass(frozen=True, slots=True)
class RobotsLimits:
    """What is asked of, and believed about, a robots.txt (RFC 9309 section 2).

    Attributes:
        max_bytes: how much of a file is read; the RFC asks for at least 500 KiB, files of 850 KB with rules at their end were seen.
        max_redirects: consecutive redirects that are followed, to other hosts too (at least 5).
        ttl_s: longest time for which an answer is used (at most 24 h).
        min_ttl_s: shortest time, whatever ``Cache-Control`` says.
        retry_s: first pause after an unreachable robots.txt, doubled with every failure.
        max_retry_s: longest such pause.
        report_s: a host whose robots.txt was unreachable for so long is reported; it stays closed.
    """

    max_bytes: int = 2 << 20
    max_redirects: int = 5
    ttl_s: float = _DAY_S
    min_ttl_s: float = 600.0
    retry_s: float = 300.0
    max_retry_s: float = 4 * 3600.0
    report_s: float = 30 * _DAY_S
