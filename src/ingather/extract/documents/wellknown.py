"""Excel's well-known password: what is "protected" without a password of its own is encrypted with this one.

[MS-OFFCRYPTO]: standard and agile encryption of packages; RC4, RC4 of CryptoAPI and obfuscation of old workbooks.
Whoever opens such a file in Excel is asked nothing. Any other password ends in ``encrypted``.
"""

import hashlib
import struct
from base64 import b64decode
from collections.abc import Mapping
from typing import Protocol

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ingather.errors import ExtractError
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["opened_package", "opened_workbook"]

_PASSWORD = "VelvetSweatshop".encode("utf-16-le")
_STANDARD_SPINS, _MOST_SPINS = 50_000, 10_000_000
_AGILE = (4, 4)
_SEGMENT, _BLOCK = 4096, 1024
_RC4, _CRYPTOAPI = (1, 1), frozenset({(2, 2), (3, 2), (4, 2)})
_VERIFIER_INPUT, _VERIFIER_VALUE, _KEY_VALUE = (
    bytes.fromhex("fea7d2763b4b9e79"),
    bytes.fromhex("d7aa0f6d3061344e"),
    bytes.fromhex("146e0be7abacd0d6"),
)
_XOR_MARK = 0x9A0A
_XOR_KEYS = bytes.fromhex("876b9ae21ee305621e699660986e9404")
_FILEPASS, _SHEET = 0x002F, 0x0085
_PLAIN = frozenset({0x0809, _FILEPASS, 0x0194, 0x0195, 0x00E1, 0x0196, 0x0138})
"""Records that are never encrypted: BOF, FilePass, UsrExcl, FileLock, InterfaceHdr, RRDInfo, RRDHead."""


def _other_password() -> ExtractError:
    return ExtractError(
        "the document needs a password",
        reason="encrypted",
        hint="publish it without one to have its text found",
    )


# --- packages: docx, xlsx, pptx ---------------------------------------------------------------------


def opened_package(info: bytes, package: bytes) -> bytes:
    """Return what the streams ``EncryptionInfo`` and ``EncryptedPackage`` hold.

    Raises:
        ExtractError: ``encrypted``: another password, or a way of encryption that is not known.
    """
    try:
        (size,) = struct.unpack_from("<Q", package)
        versions = struct.unpack_from("<HH", info)
        opened = _agile(info[8:], package[8:]) if versions == _AGILE else _standard(info, package[8:])
    except (struct.error, ValueError, LookupError) as error:
        raise _other_password() from error
    return opened[:size]


def _standard(info: bytes, data: bytes) -> bytes:
    """Undo standard encryption (2.3.4.4 to 2.3.4.9): AES in ECB mode, SHA-1."""
    (size,) = struct.unpack_from("<I", info, 8)
    (bits,) = struct.unpack_from("<I", info, 12 + 16)
    salt, verifier, _, proof = struct.unpack_from("<16s16sI32s", info, 12 + size + 4)
    digest = hashlib.sha1(salt + _PASSWORD).digest()  # noqa: S324 (the format's)
    for spin in range(_STANDARD_SPINS):
        digest = hashlib.sha1(struct.pack("<I", spin) + digest).digest()  # noqa: S324
    digest = hashlib.sha1(digest + bytes(4)).digest()  # noqa: S324
    halves = (
        bytes(a ^ b for a, b in zip(digest.ljust(64, b"\0"), bytes([pad]) * 64, strict=True))
        for pad in (0x36, 0x5C)
    )
    key = b"".join(hashlib.sha1(half).digest() for half in halves)[: bits // 8]  # noqa: S324
    cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305

    def plain(part: bytes) -> bytes:
        return cipher.decryptor().update(part[: len(part) // 16 * 16])

    if hashlib.sha1(plain(verifier)).digest() != plain(proof)[:20]:  # noqa: S324
        raise _other_password()
    return plain(data)


class _Agile(XmlReader):
    """The description of agile encryption: attributes of ``keyData`` and the first password's ``encryptedKey``."""

    def __init__(self) -> None:
        super().__init__()
        self.data: Mapping[str, str] = {}
        self.key: Mapping[str, str] = {}
        self.starts = {"keyData": self._data, "encryptedKey": self._key}

    def _data(self, attributes: Mapping[str, str]) -> None:
        self.data = dict(attributes)

    def _key(self, attributes: Mapping[str, str]) -> None:
        self.key = self.key or dict(attributes)


def _agile(description: bytes, data: bytes) -> bytes:
    """Undo agile encryption (2.3.4.10 to 2.3.4.15): AES in CBC mode, segments of 4,096 bytes."""
    told = _Agile()
    try:
        parse_xml([description], told)
    except BrokenXmlError as error:
        raise _other_password() from error
    hashed = _hash_of(told.key["hashAlgorithm"])
    salt, spins = b64decode(told.key["saltValue"]), int(told.key["spinCount"])
    if (
        spins > _MOST_SPINS
        or "CBC" not in told.data["cipherChaining"]
        or told.data["cipherAlgorithm"] != "AES"
    ):
        raise _other_password()
    digest = hashed(salt + _PASSWORD).digest()
    for spin in range(spins):
        digest = hashed(struct.pack("<I", spin) + digest).digest()
    size = int(told.key["keyBits"]) // 8

    def unlocked(name: str, block: bytes) -> bytes:
        key = hashed(digest + block).digest()[:size].ljust(size, b"\x36")
        return _cbc(key, salt[:16].ljust(16, b"\x36"), b64decode(told.key[name]))

    proof = hashed(
        unlocked("encryptedVerifierHashInput", _VERIFIER_INPUT)[: int(told.key["saltSize"])]
    ).digest()
    if unlocked("encryptedVerifierHashValue", _VERIFIER_VALUE)[: len(proof)] != proof:
        raise _other_password()
    key = unlocked("encryptedKeyValue", _KEY_VALUE)[:size]
    hashed, salt = _hash_of(told.data["hashAlgorithm"]), b64decode(told.data["saltValue"])
    return b"".join(
        _cbc(key, hashed(salt + struct.pack("<I", number)).digest()[:16], data[at : at + _SEGMENT])
        for number, at in enumerate(range(0, len(data), _SEGMENT))
    )


class _Hash(Protocol):
    def digest(self) -> bytes: ...


class _Hashing(Protocol):
    def __call__(self, data: bytes, /) -> _Hash: ...


def _hash_of(name: str) -> _Hashing:
    found: _Hashing = {
        "SHA1": hashlib.sha1, "SHA-1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA384": hashlib.sha384, "SHA512": hashlib.sha512,
    }[name.upper()]  # fmt: skip
    return found


def _cbc(key: bytes, start: bytes, data: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.CBC(start)).decryptor().update(data[: len(data) // 16 * 16])


# --- workbooks: xls ----------------------------------------------------------------------------------


def opened_workbook(stream: bytes, filepass: bytes) -> bytes:
    """Return a workbook's stream decrypted; *filepass* is the content of its record ``FilePass``.

    Raises:
        ExtractError: ``encrypted``.
    """
    try:
        (kind,) = struct.unpack_from("<H", filepass)
        if kind == 0:
            return _unobfuscated(stream, filepass)
        keys: _Keys = (
            _CryptoApi(filepass) if struct.unpack_from("<HH", filepass, 2) in _CRYPTOAPI else _Rc4(filepass)
        )
    except (struct.error, ValueError) as error:
        raise _other_password() from error
    return _decrypted(stream, keys)


class _Keys(Protocol):
    def key(self, block: int) -> bytes:
        """Return the key of a block of 1,024 bytes."""


class _Rc4:
    """RC4 with 40 bits out of MD5 (2.3.6)."""

    def __init__(self, filepass: bytes) -> None:
        version, salt, verifier, proof = struct.unpack_from("<4s16s16s16s", filepass, 2)
        if struct.unpack("<HH", version) != _RC4:
            raise _other_password()
        short = hashlib.md5(_PASSWORD).digest()[:5]  # noqa: S324 (the format's)
        self._base = hashlib.md5((short + salt) * 16).digest()[:5]  # noqa: S324
        plain = _rc4(self.key(0), verifier + proof)
        if hashlib.md5(plain[:16]).digest() != plain[16:]:  # noqa: S324
            raise _other_password()

    def key(self, block: int) -> bytes:
        return hashlib.md5(self._base + struct.pack("<I", block)).digest()  # noqa: S324


class _CryptoApi:
    """RC4 as CryptoAPI has it, SHA-1 (2.3.5)."""

    def __init__(self, filepass: bytes) -> None:
        (size,) = struct.unpack_from("<I", filepass, 10)
        (bits,) = struct.unpack_from("<I", filepass, 14 + 16)
        salt, verifier, _, proof = struct.unpack_from("<16s16sI20s", filepass, 14 + size + 4)
        self._bytes = (bits or 40) // 8
        self._base = hashlib.sha1(salt + _PASSWORD).digest()  # noqa: S324 (the format's)
        plain = _rc4(self.key(0), verifier + proof)
        if hashlib.sha1(plain[:16]).digest() != plain[16:]:  # noqa: S324
            raise _other_password()

    def key(self, block: int) -> bytes:
        key = hashlib.sha1(self._base + struct.pack("<I", block)).digest()[: self._bytes]  # noqa: S324
        return key.ljust(16, b"\0") if self._bytes == 5 else key  # noqa: PLR2004 (40 bits fill 128)


def _rc4(key: bytes, data: bytes) -> bytes:
    return Cipher(ARC4(key), None).decryptor().update(data)


def _decrypted(stream: bytes, keys: _Keys) -> bytes:
    """Decrypt all, then put back what was never encrypted: headers, some records, the places of sheets."""
    plain = bytearray()
    for block in range(-(-len(stream) // _BLOCK)):
        plain += _rc4(keys.key(block), stream[block * _BLOCK : (block + 1) * _BLOCK])
    position = 0
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        kept = 4 + size if kind in _PLAIN else 8 if kind == _SHEET else 4
        plain[position : position + kept] = stream[position : position + kept]
        position += 4 + size
    return _without_filepass(bytes(plain[: len(stream)]))


def _unobfuscated(stream: bytes, filepass: bytes) -> bytes:
    """Undo the obfuscation of method 1 (2.3.7.3): each byte turned and combined with one of sixteen."""
    if struct.unpack_from("<H", filepass, 4)[0] != _XOR_MARK:
        raise _other_password()
    tables = [
        bytes(((byte ^ key) >> 5 | (byte ^ key) << 3) & 0xFF for byte in range(256)) for key in _XOR_KEYS
    ]
    plain = bytearray(stream)
    position = 0
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        start = position + 4
        position = start + size
        if kind in _PLAIN:
            continue
        first = start + 4 if kind == _SHEET else start
        for at in range(first, min(position, len(stream))):
            plain[at] = tables[(at + size) % 16][stream[at]]
    return _without_filepass(bytes(plain))


def _without_filepass(stream: bytes) -> bytes:
    """Turn the record that says "encrypted" into one that nobody knows."""
    position = 0
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        if kind == _FILEPASS:
            return stream[:position] + b"\xff\x0f" + stream[position + 2 :]
        position += 4 + size
    return stream
