"""What the readers write into: blocks of text, links, parts, metadata, flags, within the budget.

A reader calls :meth:`Draft.write` for running text and :meth:`Draft.end_block` where a
paragraph, row or cell group ends; :meth:`Draft.finish` makes the :class:`Converted`.
"""

import html
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ingather.errors import ExtractError
from ingather.extract.documents.limits import Budget, LimitReachedError
from ingather.model.page import Converted

__all__ = ["Draft", "clean"]

_UNWANTED = re.compile("[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufffe\uffff]")
_NO_TITLE = re.compile(
    r"\s*|(?:.*[\\/])?[^\\/]{1,200}\.(?:docx?|docm|dotx?|pdf|od[tspg]|rtf|xlsx?|xlsm|pptx?|ppsx?|indd|qxd|pmd?|fm|tex|dvi|e?ps|wpd|txt|html?|pages|key)"
    r"|microsoft (?:office )?(?:word|excel|powerpoint|publisher) - .*|untitled(?:[ -]?\d+)?|no title|title"
    r"|(?:document|presentation|slide|sheet|tabelle|feuil|hoja|foglio|book|mappe|page) ?\d*|powerpoint[ -]presentation|.{301,}",
    re.IGNORECASE,
)
"""What programs write where nobody gave a title: nothing, the file's name, a default."""
_LONGEST_TITLE = 200
_MAX_URL = 8192
_MAX_VALUE = 10_000
_MAX_VALUES = 400
_MAX_HEADING = 6
_DEEPEST_ASIDE = 50
_MOST_BLOCKS = 1_000_000

EmbeddedReader = Callable[[bytes, "Draft", str, str | None], None]
"""Reads (body, draft, name, declared type) into the draft; raises ExtractError if it cannot."""


def clean(text: str) -> str:
    """Fold white space and drop what no text may hold (controls, lone surrogates, non-characters)."""
    if not text.isascii() or not text.isprintable():
        text = _UNWANTED.sub("", text)
    return " ".join(text.split())


class Draft:
    """A document being read. Text, links, parts, flags and budget are shared with embedded documents."""

    def __init__(self, budget: Budget, embedded: EmbeddedReader) -> None:
        self.budget = budget
        self.metadata: dict[str, str] = {}
        self.depth: int = 0
        self._embedded = embedded
        self._blocks: list[tuple[int, str]] = []
        self._links: list[tuple[str, str]] = []
        self._known_urls: set[str] = set()
        self._parts: list[tuple[str, bytes]] = []
        self._flags: dict[str, None] = {}
        self._inline: list[str] = []
        self._level = 0
        self._headline = ""
        self._asides: list[tuple[list[str], int]] = []
        self._anchors: list[list[str]] = []

    def _inner(self) -> "Draft":
        """Return a draft for a document inside this one: metadata of its own, everything else shared."""
        inner = Draft(self.budget, self._embedded)
        inner.depth = self.depth + 1
        inner._blocks, inner._links, inner._known_urls = self._blocks, self._links, self._known_urls
        inner._parts, inner._flags = self._parts, self._flags
        return inner

    # --- text -------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Add running text to the open block.

        Raises:
            LimitReachedError: the text limit is reached; what fitted was kept.
        """
        if not text:
            return
        kept = self.budget.take_text(text)
        self._inline.append(kept)
        for anchor in self._anchors:
            anchor.append(kept)
        if self.budget.text_spent:
            self._close_block()
            raise LimitReachedError("text_bytes")

    def end_block(self) -> None:
        """Close the open block; an empty one leaves nothing.

        Raises:
            LimitReachedError: there are more blocks than any document needs.
        """
        self._close_block()
        if len(self._blocks) > _MOST_BLOCKS:
            raise LimitReachedError("blocks")

    def _close_block(self) -> None:
        if self._inline:
            text = "".join(self._inline)
            self._inline = []
            for line in text.split("\n"):
                if line := clean(line):
                    if self._level and not self._headline and not _NO_TITLE.fullmatch(line):
                        self._headline = line[:_LONGEST_TITLE]
                    self._blocks.append((self._level, line))
                    self.budget.take_text("\n")
        self._level = 0

    def heading(self, level: int) -> None:
        """Make the open block a heading of *level* (1 to 6)."""
        self._level = min(max(level, 1), _MAX_HEADING)

    def block(self, text: str, *, level: int = 0) -> None:
        """Write *text* as a block of its own; *level* 1 to 6 makes it a heading."""
        self.end_block()
        if level:
            self.heading(level)
        self.write(text)
        self.end_block()

    def open_aside(self) -> None:
        """Begin blocks that stand inside an unfinished one (a text box in a paragraph): they come before it."""
        if len(self._asides) >= _DEEPEST_ASIDE:
            raise LimitReachedError("nesting")
        self._asides.append((self._inline, self._level))
        self._inline, self._level = [], 0

    def close_aside(self) -> None:
        """End what :meth:`open_aside` began and go on with the unfinished block."""
        self.end_block()
        if self._asides:
            self._inline, self._level = self._asides.pop()

    def settle(self) -> None:
        """Close whatever is open, whatever the limits say: reading is over."""
        self._close_block()
        while self._asides:
            self._inline, self._level = self._asides.pop()
            self._close_block()
        self._anchors.clear()

    @property
    def has_text(self) -> bool:
        """Whether any text was written."""
        return bool(self._blocks or self._inline)

    # --- links ------------------------------------------------------------------------------

    def open_anchor(self) -> None:
        """Begin collecting the text that is written from here as a link's anchor."""
        if len(self._anchors) >= _DEEPEST_ASIDE:
            raise LimitReachedError("nesting")
        self._anchors.append([])

    def close_anchor(self, url: str) -> None:
        """End the innermost anchor; with a *url* it becomes a link."""
        words = self._anchors.pop() if self._anchors else []
        if url:
            self.link(url, "".join(words))

    @property
    def open_anchors(self) -> int:
        """How many anchors are open."""
        return len(self._anchors)

    def drop_anchors(self, keep: int = 0) -> None:
        """Forget all but the outer *keep* anchors: a part ends, and with it what began there."""
        del self._anchors[keep:]

    def link(self, url: str, anchor: str = "") -> None:
        """Add a link as written in the document; places inside it (``#...``) are no links."""
        url = clean(url)
        if not url or url.startswith("#") or len(url) > _MAX_URL:
            return
        if len(self._links) >= self.budget.limits.links:
            self.flag("links-truncated")
            return
        self._known_urls.add(url)
        self._links.append((url, clean(anchor[:_MAX_VALUE])))

    def link_once(self, url: str) -> None:
        """Add a link without anchor unless its URL is there already."""
        if clean(url) not in self._known_urls:
            self.link(url)

    # --- parts, metadata, flags ---------------------------------------------------------------

    def embed(self, name: str, body: bytes, content_type: str | None = None, *, keep: bool = True) -> None:
        """Read an embedded document or attachment into the text; *keep* hands its bytes on as a part.

        One that cannot be read is handed on as a part in any case, and is no error.
        """
        self.end_block()
        label = clean(name)
        if keep:
            self.part(label, body)
        if self.depth >= self.budget.limits.depth:
            self.flag("cut")
            return
        if label:
            self.block(label)
        inner = self._inner()
        try:
            self._embedded(body, inner, name, content_type)
        except ExtractError as error:
            if error.reason == "memory":
                raise
            if error.reason == "encrypted":
                self.flag("part-encrypted")
            if not keep:
                self.part(label, body)
        finally:
            inner.settle()

    def part(self, name: str, body: bytes) -> None:
        """Hand *body* on as it is, if the limit for such bytes allows it."""
        if len(body) > self.budget.parts_left or len(self._parts) >= self.budget.limits.members:
            self.flag("parts-dropped")
            return
        self.budget.parts_left -= len(body)
        self._parts.append((clean(name), body))

    def meta(self, name: str, value: str | None) -> None:
        """Say something about the document; the first value of a name stays, empty ones do not count."""
        text = clean((value or "")[:_MAX_VALUE])
        if text and name not in self.metadata and len(self.metadata) < _MAX_VALUES:
            self.metadata[name] = text

    def suggest_title(self, text: str) -> None:
        """Name what stands largest on the first page: the title if the document gives none, nor a heading."""
        if not self._headline and not _NO_TITLE.fullmatch(line := clean(text)):
            self._headline = line[:_LONGEST_TITLE]

    @property
    def lacks_title(self) -> bool:
        """Whether the title that the document gives is none: empty, a file's name, or what a program puts there."""
        return _NO_TITLE.fullmatch(self.metadata.get("title", "")) is not None

    def flag(self, name: str) -> None:
        """Set a flag of the result."""
        self._flags[name] = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags set so far."""
        return tuple(self._flags)

    @contextmanager
    def until_limit(self) -> Iterator[None]:
        """Let a reached limit end the reading with flag ``cut``, keeping what was read."""
        try:
            yield
        except LimitReachedError:
            self.flag("cut")
        finally:
            self.settle()

    # --- the result ---------------------------------------------------------------------------

    def finish(self) -> Converted:
        """Make the result of what was written; the first heading stands in for a title that is none."""
        self.settle()
        if self._headline and self.lacks_title:
            self.metadata["title"] = self._headline
        return Converted(
            text="\n".join(text for _, text in self._blocks),
            html=self._html(),
            links=tuple(self._links),
            parts=tuple(self._parts),
            metadata=dict(self.metadata),
            flags=tuple(self._flags),
        )

    def _html(self) -> str:
        escape = html.escape
        language = self.metadata.get("language", "")
        lines = ["<!DOCTYPE html>", f'<html lang="{escape(language)}">' if language else "<html>"]
        lines.append(f'<head><meta charset="utf-8"><title>{escape(self.metadata.get("title", ""))}</title>')
        for name, value in self.metadata.items():
            if name not in {"title", "language"}:
                lines.append(f'<meta name="{escape(name)}" content="{escape(value)}">')
        lines.append("</head><body>")
        for level, text in self._blocks:
            tag = f"h{level}" if level else "p"
            lines.append(f"<{tag}>{escape(text, quote=False)}</{tag}>")
        if self._links:
            lines.append("<ul>")
            lines += [f'<li><a href="{escape(url)}">{escape(text)}</a></li>' for url, text in self._links]
            lines.append("</ul>")
        lines.append("</body></html>")
        return "\n".join(lines)
