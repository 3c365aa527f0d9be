"""A certificate for feeds over https that signs itself, as the appliance had one; made once, with the machine's ``openssl``."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Final

from ingather.errors import IngatherError

__all__ = ["CertificateError", "ensure_certificate"]

_DAYS: Final = 3650
_GIVE: Final = "set feeds.certificate and feeds.certificate-key to PEM files, or feeds.tls to false"


class CertificateError(IngatherError):
    """There is no certificate that can be used."""


def ensure_certificate(folder: Path) -> tuple[Path, Path]:
    """Return certificate and key in *folder*; they are made if they are not there.

    RSA with 2,048 bits, because clients may be as old as the appliance.

    Raises:
        CertificateError: they cannot be made; the hint says how to give one.
    """
    certificate, key = folder / "certificate.pem", folder / "certificate-key.pem"
    if certificate.exists() and key.exists():
        return certificate, key
    program = shutil.which("openssl")
    if program is None:
        raise CertificateError("there is no certificate, and no openssl here to make one", hint=_GIVE)
    name = socket.gethostname()[:64] or "localhost"
    names = ",".join(dict.fromkeys((f"DNS:{name}", "DNS:localhost", "IP:127.0.0.1", "IP:::1")))
    new_certificate, new_key = certificate.with_suffix(".new"), key.with_suffix(".new")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(new_key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
        subprocess.run(  # noqa: S603 - fixed arguments, no shell
            [
                program, "req", "-x509", "-newkey", "rsa:2048", "-sha256", "-nodes", "-days", str(_DAYS), "-subj", f"/CN={name}",
                "-addext", f"subjectAltName={names}", "-keyout", str(new_key), "-out", str(new_certificate),
            ],
            check=True, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        new_key.replace(key)
        new_certificate.replace(certificate)
    except subprocess.CalledProcessError as error:
        told = " ".join(error.stderr.decode("utf-8", "replace").split())[-200:]
        raise CertificateError(f"openssl made no certificate: {told}", hint=_GIVE) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CertificateError(f"no certificate could be made: {error}", hint=_GIVE) from error
    return certificate, key
