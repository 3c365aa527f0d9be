"""One PAC file in a JavaScript engine: read once, asked often. It runs in a process of its own (``app.reaching.pac_jobs``).

The engine has no network, files, timers or modules; memory, stack and processor time are bounded. What a script may call is in ``pac.js``.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec

import quickjs

__all__ = ["MOST_BYTES", "Said", "Script", "state_of"]

MOST_BYTES: Final = 1 << 20
"""Of a PAC file."""
_MEMORY: Final = 32 << 20
_STACK: Final = 512 << 10
_TIME_S: Final = 1.0
_HELPERS: Final = Path(__file__).with_name("pac.js").read_text("utf-8")
_Text = Annotated[str, msgspec.Meta(max_length=4096)]


class Said(msgspec.Struct, frozen=True):
    """What came of a question: an answer, names that have to be resolved first, or an error."""

    answer: _Text = ""
    error: _Text = ""
    needs: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=253)], ...], msgspec.Meta(max_length=64)
    ] = ()
    alerts: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=20)] = ()


_SAID: Final = msgspec.json.Decoder(Said)


def state_of(known: Mapping[str, Sequence[str]], own: Sequence[str], now_s: float) -> str:
    """Return what a script may know of the world, as it is handed to it.

    Args:
        known: names (lower case) with their addresses, none for a name that does not exist.
        own: this machine's addresses.
        now_s: seconds since the epoch.
    """
    return json.dumps(
        {"known": {k: list(v) for k, v in known.items()}, "own": list(own), "now": now_s * 1000}
    )


class Script:
    """A PAC file that was read.

    Args:
        body: the file; UTF-8, or else Latin-1.
        state: of :func:`state_of`.

    Attributes:
        began: what reading it came to; with needs or an error it cannot be asked.
    """

    def __init__(self, body: bytes, state: str) -> None:
        self._context = quickjs.Context()
        self._context.set_memory_limit(_MEMORY)
        self._context.set_max_stack_size(_STACK)
        self._context.set_time_limit(_TIME_S)
        self._run = self._context.eval(_HELPERS)
        try:
            text = body.removeprefix(b"\xef\xbb\xbf").decode()
        except UnicodeDecodeError:
            text = body.decode("latin-1")
        if "\0" in text:
            self.began = Said(error="it is no text")
        else:
            self.began = self._read(text, state)

    def _read(self, text: str, state: str) -> Said:
        said = self._said("begin", state)
        if said.error:
            return said
        try:
            self._context.eval(text)  # as a script: in eval() its const and let would be nobody's
        except quickjs.JSException as error:
            said = self._said("told")
            return said if said.needs else Said(error=_words(error))
        return self._said("told")

    def find(self, url: str, host: str, state: str) -> Said:
        """Ask it about *url*."""
        return self._said("find", url, host, state)

    def _said(self, *parameters: str) -> Said:
        try:
            told = self._run(*parameters)
        except quickjs.JSException as error:
            return Said(error=_words(error))
        try:
            said = _SAID.decode(told)
            # Without memory the engine has none for an error either, and throws null.
            return Said(error="it takes too much memory, or threw null") if said.error == "null" else said
        except (msgspec.DecodeError, TypeError, ValueError):
            return Said(error="its answer cannot be read")


def _words(error: Exception) -> str:
    """Return the engine's own words for an end that no script can catch."""
    line = str(error).partition("\n")[0][:200]
    if "interrupted" in line:
        return "it takes too long"
    return "it takes too much memory" if "out of memory" in line else line or "it failed"
