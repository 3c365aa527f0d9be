"""The bytes of a feed as UTF-8, with the way back to their offsets.

Order: byte order mark, the look of UTF-16, the XML declaration, UTF-8. What a declaration calls UTF-16 and is not
(programs that print a string which says so) is UTF-8.
"""

import codecs
import re
from collections import deque
from typing import Final, NamedTuple, Protocol

from ingather.errors import FeedError
from ingather.extract.labels import codec_of

__all__ = ["ByteStream", "FeedEncoding", "Transcoder", "detect"]

HEAD_BYTES: Final = 4096
"""How much of a feed :func:`detect` wants to see."""

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE: Final = (
    (re.compile(rb"(?:[\t\n\r ]\x00)*<\x00"), "utf-16-le"),
    (re.compile(rb"(?:\x00[\t\n\r ])*\x00<"), "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"[\x00-\x20]*<\?xml[^>]*?encoding\s*=\s*[\"']\s*([^\"'>]{1,60}?)\s*[\"']")
_WIDE_LABEL: Final = re.compile(r"(?:utf-?16|utf-?32|ucs-?[24]|iso-10646-ucs-[24]|unicode).*", re.IGNORECASE)
_SPAN_BYTES: Final = 16 * 1024
_LOST: Final = chr(0xDC80)
"""What bytes become that the encoding does not have: a surrogate, at which strict parsing stops."""


class ByteStream(Protocol):
    """What feeds are read from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most *size* bytes, ``b""`` at the end."""
        ...


class FeedEncoding(NamedTuple):
    """How to read a feed: Python codec, length of its byte order mark, what is odd about it (``""`` = nothing)."""

    codec: str
    skip: int
    warning: str = ""


def detect(head: bytes) -> FeedEncoding:
    """Return how to decode the feed that begins with *head*.

    Raises:
        FeedError: the declaration names an encoding that nobody knows.
    """
    for mark, codec in _BOMS:
        if head.startswith(mark):
            return FeedEncoding(codec, len(mark))
    for form, codec in _WIDE:
        if form.match(head):
            return FeedEncoding(codec, 0)
    declared = _DECLARED.match(head)
    if declared is None:
        return FeedEncoding("utf-8", 0)
    label = declared.group(1).decode("latin-1")
    if _WIDE_LABEL.fullmatch(label):
        return FeedEncoding("utf-8", 0, f"the declaration says {label}, the bytes are not: read as UTF-8")
    found = codec_of(label)
    if found is None or found.startswith("iso2022"):  # with shifts no offset can be begun at
        raise FeedError(
            f"the feed is declared as {label!r}, an encoding that is not known",
            reason="refused",
            hint="send it in UTF-8",
        )
    return FeedEncoding(found, 0)


def _mark_lost(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _LOST, error.end


codecs.register_error("ingather-feed", _mark_lost)


class _Span(NamedTuple):
    """A stretch of the text: where it begins in UTF-8 and in the source, and its source bytes."""

    at: int
    source: int
    raw: bytes


class Transcoder:
    """Makes UTF-8 of a stream in any encoding, and says where a UTF-8 offset lies in the source."""

    def __init__(self, stream: ByteStream, encoding: FeedEncoding, *, offset: int) -> None:
        """Read *stream*, which stands at source offset *offset* (behind a byte order mark)."""
        self._stream = stream
        self._codec = encoding.codec
        self._plain = encoding.codec in {"utf-8", "ascii"}
        self._origin = offset
        self._decoder = codecs.getincrementaldecoder(self._codec)("ingather-feed")
        self._spans: deque[_Span] = deque()
        self._made = 0
        self._read = offset
        self._left = b""
        self.ended = False

    def read(self, size: int) -> bytes:
        """Return about *size* more bytes of UTF-8, ``b""`` only at the end."""
        while not self.ended:
            raw = self._stream.read(size)
            if not raw:
                self.ended = True
            if self._plain:
                return raw
            made = self._transcode(raw)
            if made:
                return made
        return b""

    def _transcode(self, raw: bytes) -> bytes:
        parts = []
        # What the decoder has kept back of the last span belongs to the next one.
        for start in range(0, len(raw), _SPAN_BYTES) or (0,):
            piece = raw[start : start + _SPAN_BYTES]
            final = not raw
            text = self._decoder.decode(piece, final)
            kept = self._decoder.getstate()[0] if not final else b""
            whole = self._left + piece
            used = whole[: len(whole) - len(kept)]
            self._left = whole[len(used) :]
            made = text.encode("utf-8", "surrogatepass")
            if used:
                self._spans.append(_Span(self._made, self._read, used))
            self._made += len(made)
            self._read += len(used)
            parts.append(made)
        return b"".join(parts)

    def source_of(self, at: int, text_before: bytes) -> int:
        """Return the source offset of UTF-8 offset *at*.

        Args:
            at: UTF-8 offset since the start of this transcoder; offsets may only grow from call to call.
            text_before: the UTF-8 text directly before *at*, at least back to the start of its span
                (:meth:`span_start`).
        """
        if self._plain:
            return self._origin + at
        self.forget(at)
        if not self._spans:
            return self._read
        span = self._spans[0]
        if at <= span.at:
            return span.source
        head = text_before[len(text_before) - (at - span.at) :]
        return span.source + self._length(span.raw, head.decode("utf-8", "surrogatepass"))

    def forget(self, at: int) -> None:
        """Say that nothing before UTF-8 offset *at* will be asked for."""
        while len(self._spans) > 1 and self._spans[1].at <= at:
            self._spans.popleft()

    def span_start(self, at: int) -> int:
        """Return where the span that holds UTF-8 offset *at* begins, in UTF-8."""
        if self._plain:
            return at
        start = 0
        for span in self._spans:
            if span.at > at:
                break
            start = span.at
        return start

    def _length(self, raw: bytes, text: str) -> int:
        """Return how many bytes of *raw* decode to *text*, its beginning."""
        try:
            guess = len(text.encode(self._codec))
        except UnicodeError:
            guess = -1
        if guess >= 0 and self._decoded(raw[:guess]) == text:
            return guess
        low, high = 0, len(raw)
        while low < high:
            middle = (low + high) // 2
            if len(self._decoded(raw[:middle])) < len(text):
                low = middle + 1
            else:
                high = middle
        return low

    def _decoded(self, raw: bytes) -> str:
        return codecs.getincrementaldecoder(self._codec)("ingather-feed").decode(raw)
