"""A small FTP server that says what it is told to: accounts, MLSD, and lies that no honest server tells."""

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass
class Script:
    """What it answers.

    Attributes:
        greeting: first line; one that begins with 421 ends the connection.
        account: name and password that are let in; ``None`` = anybody.
        folders: listings by path.
        files: contents by path.
        mlsd: whether it knows MLSD.
        passive: what PASV names in place of its own address.
        epsv: whether it knows EPSV.
        refusal: answer to a file that is not there.
    """

    greeting: str = "220 ready"
    account: tuple[str, str] | None = None
    folders: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    mlsd: bool = True
    passive: str = ""
    epsv: bool = True
    refusal: str = "550 no such file"


class Ftpd:
    """The server, in threads; ``commands`` has every line that it was told."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.commands: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(30)
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._ended = False
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        with socket.create_connection(("127.0.0.1", self.port), timeout=10):
            pass  # wakes the one who accepts
        self._accepting.join(30)
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
        self._listener.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            if self._ended:
                connection.close()
                return
            connection.settimeout(30)
            self._open.append(connection)
            thread = threading.Thread(target=self._talk, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _talk(self, connection: socket.socket) -> None:
        session = _Session(self, connection)
        try:
            with connection, connection.makefile("rb") as lines:
                session.say(self.script.greeting)
                if self.script.greeting.startswith("421"):
                    return
                for line in lines:
                    text = line.decode("utf-8", "surrogateescape").strip()
                    self.commands.append(text)
                    if not session.hear(*text.partition(" ")[::2]):
                        return
        except OSError:
            return
        finally:
            session.end()


class _Session:
    def __init__(self, server: Ftpd, connection: socket.socket) -> None:
        self.script, self._connection = server.script, connection
        self._user, self._folder, self._data = "", "/", None
        self._listening: socket.socket | None = None

    def say(self, text: str) -> None:
        self._connection.sendall(text.encode() + b"\r\n")

    def end(self) -> None:
        if self._listening is not None:
            self._listening.close()

    def hear(self, verb: str, rest: str) -> bool:
        known = getattr(self, f"on_{verb.lower()}", None)
        if verb.upper() == "QUIT":
            return False
        if known is None:
            self.say("500 unknown")
        else:
            known(rest)
        return True

    def on_user(self, rest: str) -> None:
        self._user = rest
        self.say("331 password")

    def on_pass(self, rest: str) -> None:
        account = self.script.account
        self.say("230 in" if account is None or account == (self._user, rest) else "530 not logged in")

    def on_pwd(self, _rest: str) -> None:
        self.say('257 "/"')

    def on_type(self, _rest: str) -> None:
        self.say("200 fine")

    def on_cwd(self, rest: str) -> None:
        folder = rest if rest.startswith("/") else f"{self._folder.rstrip('/')}/{rest}"
        if f"{folder.rstrip('/')}/" in self.script.folders:
            self._folder = f"{folder.rstrip('/')}/"
            self.say("250 there")
        else:
            self.say(self.script.refusal)

    def on_epsv(self, _rest: str) -> None:
        if not self.script.epsv:
            self.say("500 unknown")
            return
        self.say(f"229 Entering (|||{self._wait()}|)")

    def on_pasv(self, _rest: str) -> None:
        port = self._wait()
        address = self.script.passive or "127,0,0,1"
        self.say(f"227 Entering ({address},{port >> 8},{port & 255})")

    def _wait(self) -> int:
        self.end()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(30)
        return int(self._listening.getsockname()[1])

    def _send(self, body: bytes) -> None:
        if self._listening is None:
            self.say("425 no data connection")
            return
        self.say("150 coming")
        data, _ = self._listening.accept()
        with data:
            data.sendall(body)
        self.say("226 done")

    def on_mlsd(self, _rest: str) -> None:
        if self.script.mlsd:
            self._send(self.script.folders[self._folder])
        else:
            self.say("500 unknown")

    def on_list(self, _rest: str) -> None:
        self._send(self.script.folders[self._folder])

    def _body(self, name: str) -> bytes | None:
        return self.script.files.get(self._folder + name)

    def on_size(self, rest: str) -> None:
        body = self._body(rest)
        self.say(self.script.refusal if body is None else f"213 {len(body)}")

    def on_mdtm(self, rest: str) -> None:
        self.say(self.script.refusal if self._body(rest) is None else "213 20231114221320")

    def on_rest(self, _rest: str) -> None:
        self.say("350 fine")

    def on_retr(self, rest: str) -> None:
        body = self._body(rest)
        if body is None:
            self.say(self.script.refusal)
        else:
            self._send(body)
