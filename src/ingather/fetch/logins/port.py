"""What a login is, what keeps count of its refusals, and how one says that it failed."""

from dataclasses import dataclass
from typing import Protocol

from ingather.fetch.http_dress import Send
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Closed", "Ledger", "Login", "LoginError", "challenges"]


class LoginError(Exception):
    """A login that did not come about.

    Args:
        text: for people; no secret is in it.
        refused: the host was shown the secret and did not take it: this counts towards suspension.
    """

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.refused = refused


class Login(Protocol):
    """Carries out fetches of one credential; of one event loop."""

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Return the answer to *request*. A status of 401 says that the host refused us.

        Raises:
            LoginError: the page could not be asked for, because logging in failed.
        """


@dataclass(frozen=True, slots=True)
class Closed:
    """A credential that is not used now: why, and for how many seconds (``None`` = until somebody does something)."""

    text: str
    wait_s: float | None = None


class Ledger(Protocol):
    """Keeps count of a credential's refusals, for all processes together."""

    def begin(self, *, eager: bool = False) -> Closed | bool:
        """Count an attempt before it is made; ``False`` = another one is being made now, ask again. *eager*: a first refusal does not wait."""

    def closed(self, *, eager: bool = True) -> Closed | None:
        """Return why it is not used now. *eager*: a first refusal does not wait."""

    def tried(self) -> bool:
        """Whether an attempt is being made now."""

    def doubted(self) -> bool:
        """Whether refusals are counted against it, the attempt that is being made left out."""

    def ended(self, *, refused: bool, text: str = "") -> None:
        """Tell how an attempt ended: *refused*, or not for the secret's sake. A refusal counts also when it was not begun."""

    def succeeded(self) -> None:
        """Tell that the host took it: what was counted is forgotten."""


def challenges(answer: Response) -> list[tuple[str, str]]:
    """Return the schemes of a 401 (lower case) with what follows each: RFC 9110 section 11.6.1.

    A field may hold several; a word that is followed by a blank and no ``=`` begins another one.
    """
    found: list[tuple[str, str]] = []
    for name, value in answer.headers:
        if name.lower() != "www-authenticate":
            continue
        for part in _parts(value):
            word, _, rest = part.partition(" ")
            if "=" in word and found and not word.startswith("="):
                found[-1] = (found[-1][0], f"{found[-1][1]}, {part}" if found[-1][1] else part)
            elif word:
                found.append((word.lower(), rest.strip()))
    return found


def _parts(value: str) -> list[str]:
    """Cut at commas that stand outside of quotes."""
    parts, start, quoted, at = [], 0, False, 0
    while at < len(value):
        char = value[at]
        if char == "\\" and quoted:
            at += 1
        elif char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            parts.append(value[start:at].strip())
            start = at + 1
        at += 1
    parts.append(value[start:].strip())
    return [part for part in parts if part]
