"""The helper process for Kerberos: gives SPNEGO tokens for hosts, one keytab a process, because MIT Kerberos is told by its environment.

``python -I -m ingather.fetch.http_tickets`` with ``KRB5_CLIENT_KTNAME`` and ``KRB5CCNAME`` set. A line with a host comes in, a line goes out: a
token in base64, or ``!`` and why there is none. It ends when its input does.

libcurl brings MIT Kerberos along, but gives tokens to nobody. So it is let speak with a host of our own at the other end of a pair of
sockets, and what it would send there is the token: no host is asked, and nothing of the network is reached but the KDC.
"""

import socket
import sys
import threading
from contextlib import suppress
from typing import Final

import pycurl

__all__ = ["main", "token"]

_PREFIX: Final = b"authorization: negotiate "
_TIMEOUT_S: Final = 45
_NO: Final = b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n"
_YES: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_FAILED: Final = "gss_init_sec_context() failed: "


def token(host: str) -> str:
    """Return a token for ``HTTP@host`` in base64, or ``!`` and why there is none."""
    ours, theirs = socket.socketpair()
    found: list[str] = []
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(theirs, found), daemon=True)
    listener.start()

    def note(kind: int, text: bytes | str) -> None:
        line = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if kind == pycurl.INFOTYPE_TEXT and _FAILED in line:
            said.append(line.partition(_FAILED)[2].strip())

    curl = pycurl.Curl()
    try:
        for option, value in (
            (pycurl.URL, f"http://{host}/"),
            (pycurl.PROXY, ""),
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.RESOLVE, [f"{host}:80:127.0.0.1"]),  # nobody is asked; the name stays the one of the host
            (pycurl.HTTPAUTH, pycurl.HTTPAUTH_GSSNEGOTIATE),
            (pycurl.USERPWD, ":"),
            (pycurl.OPENSOCKETFUNCTION, lambda _purpose, _address: ours),
            (pycurl.SOCKOPTFUNCTION, lambda _socket, _purpose: pycurl.SOCKOPT_ALREADY_CONNECTED),
            (pycurl.VERBOSE, 1),
            (pycurl.DEBUGFUNCTION, note),
            (pycurl.TIMEOUT, _TIMEOUT_S),
            (pycurl.NOSIGNAL, 1),
        ):
            curl.setopt(option, value)
        with suppress(pycurl.error):  # what it says of a host that is none does not count
            curl.perform()
    except pycurl.error as error:
        said.append(str(error))
    finally:
        curl.close()
        ours.close()
        theirs.close()
        listener.join(_TIMEOUT_S)
    if found:
        return found[0]
    why = said[0] if said else "no token was made"
    return "!" + "".join(char if char.isprintable() else " " for char in why)[:300]


def _listen(end: socket.socket, found: list[str]) -> None:
    """Be the host: say no until a token comes."""
    data = b""
    with suppress(OSError):
        while chunk := end.recv(1 << 16):
            data += chunk
            while b"\r\n\r\n" in data:
                head, data = data.split(b"\r\n\r\n", 1)
                lines = [line for line in head.split(b"\r\n") if line.lower().startswith(_PREFIX)]
                found += (line[len(_PREFIX) :].decode("ascii") for line in lines)
                end.sendall(_YES if found else _NO)


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(f"{token(line.strip())}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
