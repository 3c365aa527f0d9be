"""The command port of a served home: where it listens, who is believed, what its words do.

Loopback (IPv4 and IPv6), unless ``remote-access``: then every address, with TLS and the certificate of the feed gate. Without a
certificate it stays on loopback and says so.
"""

import hmac
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ingather.app.certificates import CertificateError
from ingather.errors import ConfigurationError
from ingather.log import get
from ingather.robot.commandport import CommandPort, Verb

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering
    from ingather.app.robot.conductor import Conductor

__all__ = ["RobotPort"]

_log = get("robot")
_ANYWHERE = "0.0.0.0"  # noqa: S104 - remote-access asks for it
_LOOPBACK = "127.0.0.1"
_SIX = {_ANYWHERE: "::", _LOOPBACK: "::1"}


class RobotPort:
    """Opens, moves and closes the port as robot.conf says; on the keeper's loop."""

    def __init__(self, conductor: "Conductor", gathering: "Gathering") -> None:
        self._conductor, self._gathering = conductor, gathering
        self._port: CommandPort | None = None
        self._as: tuple[int, bool] = (0, False)
        self.trouble = ""

    async def renew(self) -> None:
        """Listen as the configuration in force says; whoever is connected stays so while nothing changes."""
        robot = self._gathering.loaded.robot
        wanted = int(robot.command_port), bool(robot.remote_access)
        if wanted == self._as and not self.trouble:
            return
        await self.close()
        self._as, self.trouble = wanted, ""
        number, remote = wanted
        if not number:
            return
        host, tls = _LOOPBACK, None
        if remote:
            try:
                host, tls = _ANYWHERE, self._tls()
            except (CertificateError, ConfigurationError) as error:
                host = _LOOPBACK
                self.trouble = f"no TLS, so remote hosts are not let in: {error}"
                _log.error("the command port stays on loopback", error=str(error))
        port = CommandPort(self._verbs(), self._knows)
        try:
            await port.open(host, number, tls, also=_SIX[host])
        except OSError as error:
            self.trouble = f"{host}:{number} cannot be had: {error.strerror or error}"
            _log.error("the command port is not open", error=self.trouble)
            return
        self._port = port
        _log.info("command port", host=host, port=number, tls=tls is not None)

    async def close(self) -> None:
        """Listen no more."""
        if self._port is not None:
            await self._port.close()
            self._port = None

    def form(self) -> dict[str, Any] | None:
        """Return where it listens, and what is wrong with it; ``None`` = it is not wanted."""
        if not self._as[0]:
            return None
        address = self._port.address if self._port is not None else None
        return {
            "address": f"{address[0]}:{address[1]}" if address else None,
            "tls": address is not None and address[0] == _ANYWHERE,
            "trouble": self.trouble,
        }

    def _tls(self) -> ssl.SSLContext:
        from ingather.app.feeds.gate import tls_context

        return tls_context(self._gathering.home, self._gathering.settings)

    def _knows(self, token: str) -> bool:
        own = self._gathering.home.admin_token()
        return hmac.compare_digest(token.encode("utf-8", "replace"), own.encode())

    def _verbs(self) -> dict[str, Verb]:
        from ingather.app.robot.commands import RobotCommands

        robot = RobotCommands(self._gathering)

        def plain(name: str) -> Verb:
            call: Callable[[], Any] = getattr(robot, name)

            async def act(_: Any) -> str:
                answer = await call()
                return f"the robot is {answer['state']}"

            return Verb(0, 0, act, name.upper())

        def told(name: str, least: int, most: int, usage: str) -> Verb:
            call: Callable[..., Any] = getattr(robot, name)

            async def act(words: Any) -> str:
                answer = dict(await call(*words))
                state = answer.pop("state")
                said = ", ".join(f"{key} {value}" for key, value in answer.items() if value is not None)
                return f"{said}; the robot is {state}"

            return Verb(least, most, act, usage)

        return {
            "STATUS": Verb(0, 0, lambda _: robot.status(), "STATUS"),
            **{name.upper(): plain(name) for name in ("start", "stop", "pause", "resume", "quit", "reload")},
            "CLEAR": told("clear", 0, 0, "CLEAR"),
            "ADD": told("add", 1, 2, "ADD url [depth]"),
            "SLOW": told("slow", 2, 2, "SLOW host delay"),
            "BLOCK": told("block", 1, 1, "BLOCK host"),
            "UNBLOCK": told("unblock", 1, 1, "UNBLOCK host"),
            "LOGLEVEL": told("loglevel", 1, 1, "LOGLEVEL n"),
        }
