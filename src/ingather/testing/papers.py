"""Certificates of a CA of our own, made by the openssl command."""

import shutil
import subprocess
from pathlib import Path

__all__ = ["make_papers"]

_CLIENT = "extendedKeyUsage=clientAuth"
_NAMES = {"localhost": "subjectAltName=DNS:localhost,IP:127.0.0.1", "anna": _CLIENT, "bert": _CLIENT}
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def make_papers(folder: Path) -> bool:
    """Put a CA (ca.pem), a server for localhost, and clients anna and bert (NAME.pem, NAME.key, bert's key closed with ``kanari-pass``) into *folder*.

    Return ``False`` if there is no openssl command.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        return False

    def call(*words: str) -> None:
        # The program that we looked up, with our own arguments.
        subprocess.run([openssl, *words], check=True, capture_output=True, cwd=folder, timeout=60)  # noqa: S603

    issuer = ("-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=CA")
    call("req", "-x509", *_KEY, "-nodes", *issuer)
    for name, extra in _NAMES.items():
        closed = ("-passout", "pass:kanari-pass") if name == "bert" else ("-nodes",)
        call("req", *_KEY, *closed, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "ext").write_text(extra)
        call("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out", f"{name}.pem", "-extfile", "ext")  # fmt: skip
        (folder / f"{name}.key").chmod(0o600)
    return True
