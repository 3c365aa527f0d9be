"""A server with TLS on loopback, with a certificate made for the test."""

import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = dt.datetime.now(dt.UTC)


def certificate(folder: Path, *names: str, begin: int = -2, end: int = 90) -> Path:
    """Write a certificate that signs itself and its key into *folder*; *begin*, *end*: days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    entries: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(text)) if text[0].isdigit() else x509.DNSName(text)
        for text in names
    ]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + dt.timedelta(days=begin))
        .not_valid_after(NOW + dt.timedelta(days=end))
        .add_extension(x509.SubjectAlternativeName(entries), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    with path.open("ab") as stream:
        stream.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return path


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b"<title>x</title>" if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pem: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Quiet)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(pem)

    def finish_request(self, request: object, client_address: object) -> None:
        # The handshake is the connection's own: one that never comes holds nobody else up.
        assert hasattr(request, "settimeout")
        request.settimeout(30)
        with self.tls.wrap_socket(request, server_side=True) as secured:  # type: ignore[arg-type]
            _Quiet(secured, client_address, self)

    def handle_error(self, *_: object) -> None:
        return


@contextmanager
def _serving(pem: Path) -> Iterator[int]:
    server = _Server(pem)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[Callable[..., tuple[int, Path]]]:
    """Start servers: certificate's names and days to (port, PEM file)."""
    stack: list[object] = []

    def start(*names: str, begin: int = -2, end: int = 90) -> tuple[int, Path]:
        folder = tmp_path / f"tls{len(stack)}"
        folder.mkdir()
        pem = certificate(folder, *names, begin=begin, end=end)
        serving = _serving(pem)
        stack.append(serving)
        return serving.__enter__(), pem

    yield start
    for serving in stack:
        serving.__exit__(None, None, None)  # type: ignore[attr-defined]
