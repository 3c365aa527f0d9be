"""What the three readers of forms fill: small named values, and one payload that goes to the spool."""

from collections.abc import Callable, Collection
from typing import Final, Protocol

from ingather.web.feedgate.refusal import RefusedError, bad

__all__ = ["FORM_NAMES", "Form", "Payload", "Shape"]

FORM_NAMES: Final = frozenset(
    {"datasource", "feedtype", "groupsource", "replace", "cleanup", "dryrun", "wait", "waittocomplete"}
    | {"session", "part", "last"}
)
"""Names that mean something; every other field is read and forgotten."""
_LONGEST: Final = 4096
_MOST_PARTS: Final = 100


class Payload(Protocol):
    """Where the feed itself goes."""

    def write(self, piece: bytes) -> None:
        """Take the next bytes."""
        ...


class Shape(Protocol):
    """A reader of one kind of body."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body."""
        ...

    def finish(self) -> None:
        """See that the body is whole."""
        ...


class Form:
    """Values by name, and the payload.

    Args:
        payload_names: fields that are the feed.
        payload: where it goes.
        limit: bytes that it may have.
        seen: called with each known field when it is complete; may refuse.
    """

    def __init__(
        self,
        payload_names: Collection[str],
        payload: Payload,
        limit: int,
        seen: Callable[[str, str], None] = lambda _name, _value: None,
    ) -> None:
        self._payload_names = payload_names
        self._payload = payload
        self._limit = limit
        self._seen = seen
        self.values: dict[str, str] = {}
        self.payload_bytes = 0
        self.has_payload = False
        self.media = ""
        """Media type of the part that was the payload, lower case, ``""`` = not said."""
        self._name = ""
        self._value: bytearray | None = None
        self._in_payload = False
        self._parts = 0

    def is_payload(self, name: str) -> bool:
        """Whether the field *name* is the feed."""
        return name in self._payload_names

    def begin(self, name: str, media: str = "") -> None:
        """Begin a field.

        Raises:
            RefusedError: the feed is given twice, or there are too many fields.
        """
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise bad("the form has too many fields")
        self._name = name
        self._in_payload = self.is_payload(name)
        if self._in_payload:
            if self.has_payload:
                raise bad(f"the field {name!r} is given twice; send one feed in a request")
            self.has_payload = True
            self.media = media
        self._value = bytearray() if name in FORM_NAMES else None

    def piece(self, data: bytes) -> None:
        """Take the next bytes of the field that was begun.

        Raises:
            RefusedError: it is too long.
        """
        if self._in_payload:
            self.payload_bytes += len(data)
            if self.payload_bytes > self._limit:
                raise RefusedError(
                    413,
                    f"Error - the feed is larger than {self._limit} bytes; send it in several incremental feeds",
                )
            if data:
                self._payload.write(data)
        elif self._value is not None:
            self._value += data
            if len(self._value) > _LONGEST:
                raise bad(f"the field {self._name!r} is too long")

    def end(self) -> None:
        """End the field.

        Raises:
            RefusedError: it was given before with another value, or is refused by who looks at it.
        """
        if self._value is not None:
            value = _text(bytes(self._value))
            if self.values.setdefault(self._name, value) != value:
                raise bad(f"the field {self._name!r} is given twice, with two values")
            self._seen(self._name, value)
        self._value = None
        self._in_payload = False


def _text(raw: bytes) -> str:
    # A client may write its whole request in another charset; the values that count are ASCII in all of them.
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()
