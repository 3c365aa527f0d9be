"""A mail server on loopback that remembers what it heard: STARTTLS, a login, mails; it refuses what a test says."""

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

__all__ = ["Post", "mail_server"]

_PATIENCE_S = 60.0


@dataclass
class Post:
    """What a mail server heard.

    Attributes:
        port: where it is.
        certificate: of its TLS, ``None`` = it has none.
        answers: a verb, or ``""`` for the greeting, to what is answered in place of yes.
        plain, secure: what was said before and behind STARTTLS, mails left out.
        mails: in order; to: the lines that named recipients.
    """

    port: int = 0
    certificate: Path | None = None
    tls: ssl.SSLContext | None = None
    answers: dict[str, str] = field(default_factory=dict)
    plain: bytes = b""
    secure: bytes = b""
    mails: list[Message] = field(default_factory=list)
    to: list[str] = field(default_factory=list)


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        self.post, self.encrypted = self.server.post, False
        self.stream: Any = self.request.makefile("rwb")
        try:
            self._talk()
        except OSError:
            return
        finally:
            self.stream.close()
            self.request.close()

    def _talk(self) -> None:
        self._say(self.post.answers.get("", "220 here"))
        while line := self.stream.readline():
            if self.encrypted:
                self.post.secure += line
            else:
                self.post.plain += line
            verb = line[:4].decode("ascii", "replace").upper().strip()
            refused = next((text for word, text in self.post.answers.items() if word[:4] == verb), None)
            if refused is not None:
                self._say(refused)
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                getattr(self, f"_{verb.lower()}", self._fine)(line)

    def _say(self, text: str) -> None:
        self.stream.write(text.encode() + b"\r\n")
        self.stream.flush()

    def _fine(self, _: bytes) -> None:
        self._say("250 fine")

    def _ehlo(self, _: bytes) -> None:
        self._say("250-here\r\n250-8BITMIME")
        self._say("250 AUTH PLAIN" if self.encrypted else "250 STARTTLS")

    def _star(self, _: bytes) -> None:
        assert self.post.tls is not None
        self._say("220 go on")
        self.stream.close()
        self.request = self.post.tls.wrap_socket(self.request, server_side=True)
        self.stream = self.request.makefile("rwb")
        self.encrypted = True

    def _auth(self, _: bytes) -> None:
        self._say("235 welcome")

    def _rcpt(self, line: bytes) -> None:
        self.post.to.append(line.decode().strip())
        self._say("250 yes")

    def _data(self, _: bytes) -> None:
        self._say("354 go on")
        body = b""
        while (row := self.stream.readline()) not in {b".\r\n", b""}:
            body += row
        self.post.mails.append(message_from_bytes(body))
        self._say("250 taken")


class _Server(socketserver.ThreadingTCPServer):
    def __init__(self, post: Post) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.post = post


@contextmanager
def mail_server(certificate: tuple[Path, Path] | None = None) -> Iterator[Post]:
    """Run one until the block ends; *certificate*: file and key of its TLS."""
    post = Post()
    if certificate is not None:
        post.certificate = certificate[0]
        post.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        post.tls.load_cert_chain(*certificate)
    with _Server(post) as server:
        post.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield post
        finally:
            server.shutdown()
            thread.join(_PATIENCE_S)
