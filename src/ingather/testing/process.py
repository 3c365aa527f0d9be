"""A server of the kit as a process of its own, for tests whose crawler must not share its interpreter."""

import json
import subprocess
import sys
import urllib.request
from typing import Self

from ingather.testing.server import Seen

__all__ = ["ServerProcess"]


class ServerProcess:
    """``python -m MODULE ARGUMENTS`` as a child; it prints its origins, one a line, when it is ready.

    ``ServerProcess("--seed", "7", "--sites", "5")`` serves a synthetic web. Use as a context manager.
    The child ends with its parent.
    """

    def __init__(self, *arguments: str, module: str = "ingather.testing.web", origins: int = 1) -> None:
        if module == "ingather.testing.web":
            arguments = ("--with-parent", *arguments)
            origins = int(arguments[arguments.index("--sites") + 1]) if "--sites" in arguments else 3
        # The interpreter, a module of ours and a test's own arguments: nothing comes from outside.
        self._child = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True
        )
        assert self._child.stdout is not None
        self.origins = tuple(self._child.stdout.readline().strip() for _ in range(origins))
        if not all(self.origins):
            self.stop()
            msg = f"{module} did not start"
            raise OSError(msg)

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._child.pid

    def requests(self) -> list[Seen]:
        """Return what was asked so far."""
        return [Seen(*json.loads(line)) for line in self._ask("/-/requests").splitlines()]

    def generation(self, number: int) -> None:
        """Let the web change to another generation."""
        self._ask(f"/-/generation?{number}")

    def stop(self) -> None:
        """End the server and wait for it; kill it if it does not end."""
        self._child.terminate()
        try:
            self._child.wait(60)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        finally:
            if self._child.stdout is not None:
                self._child.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ask(self, path: str) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.origins[0] + path, timeout=60) as got:
            body: bytes = got.read()
        return body
