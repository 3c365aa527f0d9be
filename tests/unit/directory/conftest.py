"""Certificates for directories of tests."""

import ssl
from pathlib import Path

import pytest

from ingather.app.certificates import ensure_certificate


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS for localhost, and the file that makes it trusted."""
    certificate, key = ensure_certificate(tmp_path_factory.mktemp("directory"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate
