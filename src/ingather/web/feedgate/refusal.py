"""Why a request is not taken: a status and one line of text that old clients print."""

from typing import Final

__all__ = ["DISK_TEXT", "INTERNAL_TEXT", "UNAUTHORIZED_TEXT", "RefusedError", "bad"]

UNAUTHORIZED_TEXT: Final = "Error - Unauthorized Request"
INTERNAL_TEXT: Final = "Internal Error"
DISK_TEXT: Final = "Feed not accepted due to insufficient disk space. Contact Google for Work Support."
"""The appliance's own words (GSA feeds specification, section 5): clients know them."""


class RefusedError(Exception):
    """The request is answered with *status* and *text*; nothing of it is kept."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def bad(reason: str) -> RefusedError:
    """Return the refusal of a request that is wrong in itself."""
    return RefusedError(400, f"Error - {reason}")
