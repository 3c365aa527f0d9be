"""Passwords of local users: Argon2id, and as long a look at those of nobody.

Parameters are the least that OWASP's password storage cheat sheet names for Argon2id (19 MiB, two passes, one lane):
46 ms for a look, so that a few may be had at once. The verifier says its own parameters, so that they can grow.
"""

import secrets
import unicodedata

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from ingather.errors import UsageError

__all__ = ["LEAST_CHARS", "MOST_CHARS", "Passwords"]

LEAST_CHARS = 10
MOST_CHARS = 1_024


class Passwords:
    """Makes and compares verifiers; any thread may ask."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
        self._nobodys = self._hasher.hash(secrets.token_bytes(16))

    def verifier(self, password: str) -> str:
        """Return what is kept of *password*.

        Raises:
            UsageError: it is too short or too long, or no text.
        """
        if not LEAST_CHARS <= len(password) <= MOST_CHARS:
            raise UsageError(
                f"a password has {LEAST_CHARS} to {MOST_CHARS} characters", hint="a few words will do"
            )
        try:
            return self._hasher.hash(_bytes(password))
        except UnicodeEncodeError as error:
            raise UsageError("the password is not valid Unicode", hint="type another one") from error

    def fits(self, verifier: str | None, password: str) -> bool:
        """Say whether *verifier* is of *password*; ``None`` (there is no such user) takes as long and is not."""
        try:
            self._hasher.verify(self._nobodys if verifier is None else verifier, _bytes(password))
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return verifier is not None


def _bytes(password: str) -> bytes:
    # The same letters come composed from one keyboard and decomposed from another.
    return unicodedata.normalize("NFKC", password).encode()
