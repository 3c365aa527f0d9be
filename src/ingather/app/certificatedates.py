"""Until when a certificate is good: the one date of X.509 (RFC 5280, 4.1.2.5) that operators ask for."""

import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = ["end_of", "not_after"]

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_GENERALIZED: Final = 0x18
_LONG: Final = 0x80
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def not_after(path: Path) -> float:
    """Return the wall time at which the first certificate in *path* (PEM) ends.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no certificate.
    """
    text = path.read_text("ascii", "replace")
    begin = text.find(_BEGIN)
    end = text.find(_END, begin)
    if begin < 0 or end < 0:
        raise ValueError("it holds no certificate")
    return end_of(ssl.PEM_cert_to_DER_cert(text[begin : end + len(_END)] + "\n"))


def end_of(der: bytes) -> float:
    """Return the wall time at which the certificate *der* ends.

    Raises:
        ValueError: it is none.
    """
    whole, _ = _field(der, 0, _SEQUENCE)
    signed, _ = _field(whole, 0, _SEQUENCE)
    at = 0
    if signed[:1] == bytes([_VERSION]):
        _, at = _field(signed, at)
    for _ in range(3):  # serial number, algorithm, issuer
        _, at = _field(signed, at)
    validity, _ = _field(signed, at, _SEQUENCE)
    _, at = _field(validity, 0)
    kind = validity[at] if at < len(validity) else -1
    date, _ = _field(validity, at)
    return _time(kind, date)


def _field(data: bytes, at: int, want: int | None = None) -> tuple[bytes, int]:
    """Return what the DER field at *at* holds, and where the next one begins."""
    if at + 2 > len(data) or (want is not None and data[at] != want):
        raise ValueError("it is no certificate")
    size, begin = data[at + 1], at + 2
    if size & _LONG:
        count = size & ~_LONG
        size, begin = int.from_bytes(data[begin : begin + count], "big"), begin + count
    if begin + size > len(data):
        raise ValueError("it is cut off")
    return data[begin : begin + size], begin + size


def _time(kind: int, text: bytes) -> float:
    if kind not in {_UTC_TIME, _GENERALIZED}:
        raise ValueError("it has no end")
    shown = text.decode("ascii", "replace")
    if kind == _UTC_TIME:  # two digits of the year: 50 and later are of the last century
        shown = ("19" if shown[:2] >= "50" else "20") + shown
    return datetime.strptime(shown, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
