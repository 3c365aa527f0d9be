"""Office files encrypted with a password, made by hand ([MS-OFFCRYPTO]); salts are fixed, nothing here is secret."""

import hashlib
import struct
from base64 import b64encode

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ingather.testing.documents import compound

__all__ = ["FILEPASS_SIZES", "WELL_KNOWN", "locked_agile", "locked_standard", "locked_workbook"]

WELL_KNOWN = "VelvetSweatshop"
_SALT, _OTHER_SALT, _INPUT = b"0123456789abcdef", b"fedcba9876543210", b"verifier's input"
_KEY = bytes(range(32))
_PLAIN = frozenset({0x0809, 0x002F, 0x0194, 0x0195, 0x00E1, 0x0196, 0x0138})


def _cbc(key: bytes, start: bytes, data: bytes) -> bytes:
    padded = data + bytes(-len(data) % 16)
    return Cipher(algorithms.AES(key), modes.CBC(start)).encryptor().update(padded)


def locked_agile(package: bytes, password: str = WELL_KNOWN, *, spins: int = 1000) -> bytes:
    """Return *package* in an OLE file, agile encryption, AES-256 and SHA-512."""
    digest = hashlib.sha512(_SALT + password.encode("utf-16-le")).digest()
    for spin in range(spins):
        digest = hashlib.sha512(struct.pack("<I", spin) + digest).digest()

    def sealed(block: str, data: bytes) -> str:
        key = hashlib.sha512(digest + bytes.fromhex(block)).digest()[:32]
        return b64encode(_cbc(key, _SALT, data)).decode()

    cipher = 'blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512"'
    info = (
        '<?xml version="1.0"?><encryption xmlns="http://schemas.microsoft.com/office/2006/encryption"'
        ' xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password">'
        f'<keyData saltSize="16" {cipher} saltValue="{b64encode(_OTHER_SALT).decode()}"/>'
        '<dataIntegrity encryptedHmacKey="" encryptedHmacValue=""/>'
        '<keyEncryptors><keyEncryptor uri="http://schemas.microsoft.com/office/2006/keyEncryptor/password">'
        f'<p:encryptedKey spinCount="{spins}" saltSize="16" {cipher} saltValue="{b64encode(_SALT).decode()}"'
        f' encryptedVerifierHashInput="{sealed("fea7d2763b4b9e79", _INPUT)}"'
        f' encryptedVerifierHashValue="{sealed("d7aa0f6d3061344e", hashlib.sha512(_INPUT).digest())}"'
        f' encryptedKeyValue="{sealed("146e0be7abacd0d6", _KEY)}"/></keyEncryptor></keyEncryptors></encryption>'
    )
    data = b"".join(
        _cbc(
            _KEY,
            hashlib.sha512(_OTHER_SALT + struct.pack("<I", number)).digest()[:16],
            package[at : at + 4096],
        )
        for number, at in enumerate(range(0, len(package), 4096))
    )
    return compound(
        {
            "EncryptionInfo": struct.pack("<HHI", 4, 4, 0x40) + info.encode(),
            "EncryptedPackage": struct.pack("<Q", len(package)) + data,
        }
    )


def locked_standard(package: bytes, password: str = WELL_KNOWN) -> bytes:
    """Return *package* in an OLE file, standard encryption, AES-128."""
    digest = hashlib.sha1(_SALT + password.encode("utf-16-le")).digest()  # noqa: S324 (the format's)
    for spin in range(50_000):
        digest = hashlib.sha1(struct.pack("<I", spin) + digest).digest()  # noqa: S324
    digest = hashlib.sha1(digest + bytes(4)).digest()  # noqa: S324
    inner = bytes(0x36 ^ byte for byte in digest.ljust(64, b"\0"))
    key = hashlib.sha1(inner).digest()[:16]  # noqa: S324

    def sealed(data: bytes) -> bytes:
        padded = data + bytes(-len(data) % 16)
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(padded)  # noqa: S305

    name = "Microsoft Enhanced RSA and AES Cryptographic Provider\0".encode("utf-16-le")
    header = struct.pack("<8I", 0x24, 0, 0x660E, 0x8004, 128, 24, 0, 0) + name
    proof = hashlib.sha1(_INPUT).digest()  # noqa: S324
    verifier = struct.pack("<I16s", 16, _SALT) + sealed(_INPUT) + struct.pack("<I", 20) + sealed(proof)
    return compound(
        {
            "EncryptionInfo": struct.pack("<HHII", 3, 2, 0x24, len(header)) + header + verifier,
            "EncryptedPackage": struct.pack("<Q", len(package)) + sealed(package),
        }
    )


def locked_workbook(stream: bytes, filepass_at: int, method: str, password: str = WELL_KNOWN) -> bytes:
    """Return the workbook *stream*, which has a record FilePass of *method*'s size at *filepass_at*, encrypted.

    Args:
        stream: records as BIFF8 has them.
        filepass_at: where the record's content begins.
        method: ``rc4``, ``cryptoapi`` or ``xor`` (the well-known password alone).
        password: what opens it.
    """
    secret = password.encode("utf-16-le")
    if method == "xor":
        content = struct.pack("<HHH", 0, 0xB359, 0x9A0A)
        return _changed(
            stream[:filepass_at] + content + stream[filepass_at + len(content) :], _obfuscated(stream)
        )
    if method == "rc4":
        base = hashlib.md5((hashlib.md5(secret).digest()[:5] + _SALT) * 16).digest()[:5]  # noqa: S324

        def key(block: int) -> bytes:
            return hashlib.md5(base + struct.pack("<I", block)).digest()  # noqa: S324

        sealed = _rc4(key(0), _INPUT + hashlib.md5(_INPUT).digest())  # noqa: S324
        content = struct.pack("<HHH", 1, 1, 1) + _SALT + sealed
    else:
        base = hashlib.sha1(_SALT + secret).digest()  # noqa: S324

        def key(block: int) -> bytes:
            return hashlib.sha1(base + struct.pack("<I", block)).digest()[:16]  # noqa: S324

        sealed = _rc4(key(0), _INPUT + hashlib.sha1(_INPUT).digest())  # noqa: S324
        header = struct.pack("<8I", 4, 0, 0x6801, 0x8004, 128, 1, 0, 0) + "RC4\0".encode("utf-16-le")
        content = struct.pack("<HHHII", 1, 2, 2, 4, len(header)) + header
        content += struct.pack("<I", 16) + _SALT + sealed[:16] + struct.pack("<I", 20) + sealed[16:]
    whole = stream[:filepass_at] + content + stream[filepass_at + len(content) :]
    blocks = (
        _rc4(key(number), whole[at : at + 1024]) for number, at in enumerate(range(0, len(whole), 1024))
    )
    return _changed(whole, b"".join(blocks))


FILEPASS_SIZES = {"xor": 6, "rc4": 54, "cryptoapi": 114}


def _rc4(key: bytes, data: bytes) -> bytes:
    return Cipher(ARC4(key), None).encryptor().update(data)


def _obfuscated(stream: bytes) -> bytes:
    keys = bytes.fromhex("876b9ae21ee305621e699660986e9404")
    out, position = bytearray(stream), 0
    while position + 4 <= len(stream):
        (size,) = struct.unpack_from("<H", stream, position + 2)
        for at in range(position + 4, position + 4 + size):
            turned = (stream[at] << 5 | stream[at] >> 3) & 0xFF
            out[at] = turned ^ keys[(at + size) % 16]
        position += 4 + size
    return bytes(out)


def _changed(plain: bytes, sealed: bytes) -> bytes:
    """Take from *sealed* what is encrypted in a workbook, the rest from *plain*."""
    out, position = bytearray(sealed), 0
    while position + 4 <= len(plain):
        kind, size = struct.unpack_from("<HH", plain, position)
        kept = 4 + size if kind in _PLAIN else 8 if kind == 0x0085 else 4  # noqa: PLR2004 (the place of a sheet)
        out[position : position + kept] = plain[position : position + kept]
        position += 4 + size
    return compound({"Workbook": bytes(out)})
