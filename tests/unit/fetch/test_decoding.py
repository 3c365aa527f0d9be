"""One layer of content encoding, bounded: what a decoder may cost, and what it must not believe."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import brotli
from ingather.fetch.decoding import Undecodable, decode_body, encoding_of
from ingather.model.resource import FailureKind

MIB = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def zstd_stream(body: bytes) -> bytes:
    packer = zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compressobj()
    return packer.compress(body) + packer.flush()


def zstd_skippable(body: bytes) -> bytes:
    return b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard.compress(body)


def two_members(body: bytes) -> bytes:
    middle = len(body) // 2
    return gzip.compress(body[:middle]) + gzip.compress(body[middle:])


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip in members": ("gzip", two_members),
    "gzip with trailing junk": ("gzip", lambda body: gzip.compress(body) + b"\0\0\0"),
    "deflate": ("deflate", zlib.compress),
    "deflate without wrapper": ("deflate", raw_deflate),
    "brotli": ("br", lambda body: brotli.compress(body, quality=4)),
    "zstd": ("zstd", zstandard.compress),
    "zstd of unknown size": ("zstd", zstd_stream),
    "zstd in frames": ("zstd", lambda body: zstandard.compress(body[:5]) + zstandard.compress(body[5:])),
    "zstd after a skippable frame": ("zstd", zstd_skippable),
}


@pytest.mark.parametrize("name", PACKERS)
@given(body=st.binary(min_size=1, max_size=3000))
def test_what_was_packed_comes_out(name: str, body: bytes) -> None:
    encoding, pack = PACKERS[name]
    assert decode_body(pack(body), encoding, max_bytes=MIB) == body


@pytest.mark.parametrize("name", PACKERS)
def test_more_than_one_step_comes_out(name: str) -> None:
    encoding, pack = PACKERS[name]
    body = b"".join(b"%d;" % (n * n) for n in range(100_000))
    assert decode_body(pack(body), encoding, max_bytes=4 * MIB) == body


@pytest.mark.parametrize("name", [name for name in PACKERS if "junk" not in name])
def test_a_body_that_ends_early_is_a_failure(name: str) -> None:
    encoding, pack = PACKERS[name]
    packed = pack(b"".join(b"%d;" % (n * n) for n in range(2000)))
    for length in (len(packed) // 3, len(packed) - 1):
        answer = decode_body(packed[:length], encoding, max_bytes=MIB)
        assert isinstance(answer, Undecodable), length
        assert answer.kind is FailureKind.ENCODING


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
@given(junk=st.binary(min_size=1, max_size=200))
def test_junk_never_fails_otherwise(encoding: str, junk: bytes) -> None:
    answer = decode_body(junk, encoding, max_bytes=1000)
    assert isinstance(answer, bytes | Undecodable)


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip": ("gzip", lambda: gzip.compress(bytes(64 * MIB))),
    "deflate": ("deflate", lambda: zlib.compress(bytes(64 * MIB))),
    "brotli": ("br", lambda: brotli.compress(bytes(64 * MIB), quality=5)),
    "zstd": ("zstd", lambda: zstandard.compress(bytes(64 * MIB))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_recognised_before_it_is_unpacked(name: str) -> None:
    encoding, make = BOMBS[name]
    bomb = make()
    tracemalloc.start()
    try:
        ratio = decode_body(bomb, encoding, max_bytes=1 << 40)
        size = decode_body(bomb, encoding, max_bytes=2 * MIB, max_ratio=1 << 30)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(ratio, Undecodable)
    assert ratio.kind is FailureKind.RATIO
    assert isinstance(size, Undecodable)
    assert size.kind is FailureKind.DECODED_TOO_LARGE
    assert peak < 24 * MIB


def test_a_high_ratio_below_a_mebibyte_is_no_bomb() -> None:
    assert decode_body(gzip.compress(bytes(MIB)), "gzip", max_bytes=2 * MIB) == bytes(MIB)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_the_limit_is_exact(encoding: str) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "br": brotli.compress,
        "zstd": zstandard.compress,
        "deflate": zlib.compress,
    }
    body = pack[encoding](b"x" * 5000)
    assert decode_body(body, encoding, max_bytes=5000) == b"x" * 5000
    answer = decode_body(body, encoding, max_bytes=4999)
    assert isinstance(answer, Undecodable)
    assert answer.kind is FailureKind.DECODED_TOO_LARGE
    assert decode_body(body, encoding, max_bytes=4999, cut=True) == b"x" * 4999


def test_a_zstd_window_beyond_8_mib_is_refused() -> None:
    """RFC 9659: a decoder need not, and ours does not, keep more."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=0)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    answer = decode_body(packer.compress(b"x" * 100) + packer.flush(), "zstd", max_bytes=MIB)
    assert isinstance(answer, Undecodable)
    assert answer.kind is FailureKind.ENCODING


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("", ""),
        ("identity", ""),
        ("GZip", "gzip"),
        (" x-gzip ", "gzip"),
        ("br", "br"),
        ("identity, zstd", "zstd"),
        ("utf-8", ""),
    ],
)
def test_rfc9110_8_4_names(header: str, encoding: str) -> None:
    assert encoding_of(header) == encoding


@pytest.mark.parametrize("header", ["gzip, gzip", "gzip,br", "compress", "x-unknown", "gzip;q=1"])
def test_stacked_and_unknown_encodings_are_refused(header: str) -> None:
    answer = encoding_of(header)
    assert isinstance(answer, Undecodable)
    assert answer.kind is FailureKind.ENCODING
