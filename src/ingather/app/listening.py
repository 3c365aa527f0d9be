"""The two sockets of ``ingather serve``: search and admin, bound before anything starts."""

import socket

from ingather.conf.settings.values import Settings
from ingather.errors import PortInUseError
from ingather.web import ConnectionLimits

__all__ = ["Listeners", "bind", "connection_limits"]


def bind(address: tuple[str, int], name: str) -> socket.socket:
    """Return a listening socket.

    Raises:
        PortInUseError: the address is taken or not ours; the text says which listener wanted it.
    """
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise PortInUseError(
            f"the {name} listener cannot have {host}:{port}: {error.strerror}",
            hint=f"stop who has it, or set listen.{name} in ingather.toml",
        ) from error
    return listener


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Return the bounds of a listener's connections."""
    return ConnectionLimits(
        total=settings.count("limits.connections"),
        per_address=settings.count("limits.address-clients"),
        head_s=settings.seconds("limits.request-head-timeout"),
    )


class Listeners:
    """Both sockets, bound before anything starts, so that a taken port is known at once."""

    def __init__(self, settings: Settings) -> None:
        self.search = bind(settings.address("listen.search"), "search")
        try:
            self.admin = bind(settings.address("listen.admin"), "admin")
        except PortInUseError:
            self.search.close()
            raise

    def close(self) -> None:
        """Give both addresses back."""
        self.search.close()
        self.admin.close()

    @property
    def own_ports(self) -> tuple[tuple[str, int], ...]:
        """(address, port) of both; never fetched from."""
        return tuple((str(s.getsockname()[0]), int(s.getsockname()[1])) for s in (self.search, self.admin))

    @property
    def urls(self) -> tuple[str, str]:
        """Addresses of the search page and of the admin page."""
        made = []
        for listener in (self.search, self.admin):
            host, port = listener.getsockname()[:2]
            shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
            made.append(f"http://{shown}:{port}/")
        return made[0], made[1]
