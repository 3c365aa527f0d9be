"""How much one document may cost: limits as given, and the budget that counts against them.

A document is a tree (an archive in a mail in an archive): all of it draws on one
:class:`Budget`. Whoever passes a limit gets :class:`LimitReachedError`; what was read so
far is kept and flagged ``cut``.
"""

from dataclasses import dataclass

__all__ = ["Budget", "ConversionLimits", "LimitReachedError"]


@dataclass(frozen=True, slots=True)
class ConversionLimits:
    """What one conversion may produce and unpack, counted over the whole tree of parts.

    Attributes:
        unpacked_bytes: what comes out of compressed members, whatever their headers claim.
        members: archive members, mail parts, sheets' and slides' parts.
        depth: documents inside documents; the outermost is at depth 0.
        pages: PDF pages.
        text_bytes: text in UTF-8.
        links: links; further ones are left out and flagged ``links-truncated``.
        parts_bytes: bytes of attachments handed on; larger ones are left out, flagged ``parts-dropped``.
    """

    unpacked_bytes: int = 400_000_000
    members: int = 20_000
    depth: int = 5
    pages: int = 20_000
    text_bytes: int = 5_000_000
    links: int = 20_000
    parts_bytes: int = 32 * 1024 * 1024


class LimitReachedError(Exception):
    """Reading stops here; *limit* is the name of the attribute of :class:`ConversionLimits`, or ``blocks``, ``elements``, ``names``, ``nesting``, ``tokens``."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"the limit for {limit} is reached")
        self.limit = limit


class Budget:
    """What is left of the limits; shared by a document and everything inside it."""

    __slots__ = ("_members", "_pages", "_text", "_unpacked", "limits", "parts_left")

    def __init__(self, limits: ConversionLimits) -> None:
        self.limits = limits
        self._unpacked = limits.unpacked_bytes
        self._members = limits.members
        self._pages = limits.pages
        self._text = limits.text_bytes
        self.parts_left = limits.parts_bytes

    @property
    def unpacked_left(self) -> int:
        """Bytes that may still come out of compressed members."""
        return self._unpacked

    def take_unpacked(self, size: int) -> None:
        """Count *size* bytes that came out of a compressed member.

        Raises:
            LimitReachedError: more came out than is allowed.
        """
        self._unpacked -= size
        if self._unpacked < 0:
            raise LimitReachedError("unpacked_bytes")

    def take_member(self) -> None:
        """Count one member.

        Raises:
            LimitReachedError: there are more than is allowed.
        """
        self._members -= 1
        if self._members < 0:
            raise LimitReachedError("members")

    def take_page(self) -> None:
        """Count one page.

        Raises:
            LimitReachedError: there are more than is allowed.
        """
        self._pages -= 1
        if self._pages < 0:
            raise LimitReachedError("pages")

    def take_text(self, text: str) -> str:
        """Return as much of *text* as is still allowed, and count it.

        Afterwards :attr:`text_spent` says whether the limit is reached.
        """
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size <= self._text:
            self._text -= size
            return text
        kept = text.encode("utf-8", "replace")[: max(self._text, 0)].decode("utf-8", "ignore")
        self._text = -1
        return kept

    @property
    def text_spent(self) -> bool:
        """Whether more text came than is allowed."""
        return self._text < 0
