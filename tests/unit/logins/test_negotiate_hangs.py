"""A KDC that hangs holds nobody up who ends."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.fetch.logins import Negotiate
from ingather.model.resource import Request, Response
from ingather.model.scope import Scope


async def send(request: Request, _scope: Scope, _dress: object) -> Response:
    return Response(request.url, 200)


def test_who_gives_up_ends_the_helper_that_waits_for_the_kdc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = "import sys; sys.stdin.readline(); sys.stdin.readline()"
    made: list[subprocess.Popen[bytes]] = []

    def started(_login: Negotiate) -> subprocess.Popen[bytes]:
        made.append(
            subprocess.Popen(
                [sys.executable, "-c", silent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        )
        return made[-1]

    monkeypatch.setattr(Negotiate, "_started", started)

    async def main() -> None:
        login = Negotiate(tmp_path / "keytab")
        asking = asyncio.create_task(login.ask(Request("http://host.example/"), Scope("far"), send))
        async with asyncio.timeout(60):
            while not made:  # noqa: ASYNC110 - it is made in a thread
                await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert made[0].poll() is not None

    asyncio.run(main())  # waits for the thread as well
