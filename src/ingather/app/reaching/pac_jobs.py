"""The one job of a process that runs a PAC file: ask it about a URL. Once the engine is there the process can open nothing any more."""

import resource
import time
from collections.abc import Mapping
from hashlib import sha256

import msgspec

from ingather.app.confined.converter import Job
from ingather.fetch.proxies.pac_script import Said, Script, state_of

__all__ = ["JOBS"]

_made: dict[bytes, Script] = {}


def _ask(body: bytes, options: Mapping[str, str]) -> bytes:
    """Ask the script *body*; options ``url``, ``host``, ``state`` (``pac_script.state_of``). The answer is a ``Said`` in JSON."""
    _shut_files()
    digest, state = sha256(body).digest(), options["state"]
    script = _made.get(digest)
    if script is None:
        script = Script(body, state)
        if script.began.error or script.began.needs:
            return _told(script.began)
        _made.clear()
        _made[digest] = script
    said = script.find(options["url"], options["host"], state)
    if said.error:
        _made.clear()  # what it left behind is not to be built on
    return _told(said)


def _told(said: Said) -> bytes:
    return msgspec.json.encode(said)


def _shut_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard:
        time.localtime()  # reads the machine's time zone
        state = state_of({}, (), 0.0)
        # Loads what is loaded when it is first needed.
        for warm in (b"\xff", b"function FindProxyForURL() { throw 1 }"):
            script = Script(warm, state)
            _told(script.began if script.began.error else script.find("", "", state))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


JOBS: Mapping[str, Job] = {"pac": _ask}
